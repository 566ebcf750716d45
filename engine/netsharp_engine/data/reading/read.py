"""Reads files into a Table, chunk by chunk; which columns are categories is found on the way.

All faults of a table are counted while it is read, and raised together in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from netsharp_engine.cells import cell_kind
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.checks import CellCheck, Numbered
from netsharp_engine.data.reading.faults import TableFaults
from netsharp_engine.data.reading.files import Meter, ProgressCallback, find_files
from netsharp_engine.data.reading.options import ReadOptions, Roles, resolve_roles
from netsharp_engine.data.reading.request import Chunk, Request, Source
from netsharp_engine.data.reading.sources import open_sources
from netsharp_engine.data.storage.stores import MEMORY, Store
from netsharp_engine.data.table import Codes, Column, Table, name_order
from netsharp_engine.data.texts import numbered
from netsharp_engine.excerpt import excerpt

MOST_NAMED = 6


def read_table(
    paths: str | Sequence[str],
    options: ReadOptions | None = None,
    *,
    directory: str = ".",
    progress: ProgressCallback | None = None,
    need_label: bool = True,
    store: Store = MEMORY,
) -> Table:
    """Return all rows of one or several files or globs as one table.

    Columns that hold text alone become categories, and an unnamed first column that counts the rows
    is left out; both are among the table's ``notes``. Its arrays are in ``store``: in memory the
    peak is the table in ``options.dtype`` plus some 70 MB, in files these alone. ``progress`` is
    called about ten times a second. Raises DataError, which names all faults of the table.
    """
    options = options or ReadOptions()
    files = find_files(paths, directory)
    sources = open_sources(files, options)
    guess = Guess(sources[0].texts, sources[0].counts)
    while True:
        faults = TableFaults()
        roles = guessed_roles(sources[0], options, guess, faults, need_label=need_label)
        building = _Building(sources[0], roles, options, faults, store)
        meter = Meter(files, progress)
        for source in sources:
            _read_source(source, building, meter)
            if building.full:
                break
        better = building.revised(guess)
        if better is None:
            break
        guess = better
    if faults:
        raise faults.error(files[0])
    return building.table(tuple(files))


def _read_source(source: Source, building: _Building, meter: Meter) -> None:
    building.begin(source)
    for chunk in source.chunks(building.request_for(source), meter):
        building.add(source, chunk)
        if building.full:
            return
    meter.finish_file(source.path)


class Guess:
    """The assumptions about a table while it is read: columns of ``texts``, a first column that
    ``counts`` rows; ``numbers`` are columns that turned out to hold some.
    """

    def __init__(
        self, texts: frozenset[int], counts: bool, numbers: frozenset[int] = frozenset()
    ) -> None:
        self.texts = texts - numbers
        self.counts = counts
        self.numbers = numbers


def guessed_roles(
    source: Source,
    options: ReadOptions,
    guess: Guess,
    faults: TableFaults | None = None,
    *,
    need_label: bool = True,
) -> Roles:
    """Return the part of every column where columns of text are categories; faults as
    `resolve_roles`. Raises DataError.
    """
    roles = resolve_roles(source, options, faults, need_label=need_label)
    features, counter = roles.features, None
    if (
        guess.counts
        and not options.columns
        and features[:1] == (0,)
        and len(features) > 1
        and 0 not in roles.categorical
    ):
        features, counter = features[1:], 0
    found = guess.texts & frozenset(features) - roles.categorical
    return replace(
        roles,
        features=features,
        categorical=roles.categorical | found,
        found=found,
        counter=counter,
    )


class _Building:
    """Collects the chunks of all sources."""

    def __init__(
        self,
        first: Source,
        roles: Roles,
        options: ReadOptions,
        faults: TableFaults,
        store: Store,
    ) -> None:
        self._first = first
        self._roles = roles
        self._options = options
        self._faults = faults
        self._regression = options.task == "regression"
        self._numeric = roles.numeric
        dtype: np.dtype[np.floating] = np.dtype(options.dtype)
        self._numbers = store.growing(len(self._numeric), dtype)
        self._codes = [_Coding(store) for _ in roles.categories]
        self._labels = _Coding(store)
        self._targets = store.growing(1 + len(roles.more_labels), np.float64)
        self._weights = store.growing(1, np.float64)
        self._held_out = store.growing(1, np.bool_)
        self._seen = np.zeros(len(self._numeric), np.bool_)
        self._counted: float | None = None
        self._begins = True
        self._counts = True
        self._remarks: dict[str, None] = {}

    @property
    def full(self) -> bool:
        """Return whether the limit of rows is reached."""
        return self._options.rows is not None and self._numbers.rows >= self._options.rows

    def begin(self, source: Source) -> None:
        """Begin with another source, whose rows may be counted from the start."""
        self._begins = True

    def request_for(self, source: Source) -> Request:
        """Return the request for this source, whose columns may be in another order."""
        roles, places = self._roles, self._places(source)
        targets = (roles.label, *roles.more_labels) if self._regression else ()
        more = (*targets, roles.weight, roles.counter)
        numeric = [*self._numeric, *(index for index in more if index is not None)]
        text = [*roles.categories, *((roles.split,) if roles.split is not None else ())]
        either = None if self._regression else roles.label
        return Request(
            tuple(places[index] for index in numeric),
            tuple(places[index] for index in text),
            None if either is None else places[either],
            self._faults,
            {places[index]: kind for index, kind in self._apart()},
            {there: index for index, there in enumerate(places)},
        )

    def _apart(self) -> list[tuple[int, str]]:
        """Return columns of numbers that are not features, and the kind of fault that a text in
        them is.
        """
        roles = self._roles
        labels = (roles.label, *roles.more_labels) if self._regression else ()
        found = [(index, "unlike label") for index in labels if index is not None]
        return found if roles.weight is None else [*found, (roles.weight, "weight")]

    def _places(self, source: Source) -> Sequence[int]:
        """Return the index of each column of the first source in this one."""
        names = self._first.names
        if source is self._first or not (source.named and self._first.named):
            return range(len(names))
        there = {name: index for index, name in enumerate(source.names)}
        return [there[name] for name in names]

    def _numbered(self, index: int) -> Numbered:
        return index + 1, self._first.names[index]

    def add(self, source: Source, chunk: Chunk) -> None:
        """Check and store a chunk, cut at the limit of rows."""
        limit = self._options.rows
        if limit is not None:
            chunk = chunk.head(min(chunk.count, limit - self._numbers.rows))
        count = len(self._numeric)
        features = chunk.numbers[:, :count]
        columns = [self._numbered(index) for index in self._numeric]
        drops = self._options.missing == "drop"
        checker = CellCheck(source, chunk, self._faults, drops=drops)
        stored = stored_as(features, self._options.dtype)
        checker.features(features, stored, columns, self._options.missing)
        self._numbers.append(stored)
        if not self._seen.all():
            self._seen |= ~np.isnan(features).all(axis=0)
        for coding, texts in zip(self._codes, chunk.texts, strict=False):
            coding.add(texts)
        self._add_parts(chunk, checker, count)
        self._faults.reported_lines.clear()
        for sentence in source.remarks:
            self._remarks[sentence] = None

    def _add_parts(self, chunk: Chunk, checker: CellCheck, column: int) -> None:
        roles = self._roles
        if roles.label is not None and self._regression:
            labels = (roles.label, *roles.more_labels)
            targets = chunk.numbers[:, column : column + len(labels)]
            for place, index in enumerate(labels):
                checker.targets(targets[:, place], self._numbered(index))
            self._targets.append(targets)
            column += len(labels)
        elif roles.label is not None:
            assert chunk.either is not None
            self._labels.add(checker.class_names(chunk.either, self._numbered(roles.label)))
        if roles.weight is not None:
            weight = chunk.numbers[:, column]
            checker.weights(weight, self._numbered(roles.weight))
            self._weights.append(weight[:, None])
            column += 1
        if roles.counter is not None:
            self._count_on(chunk.numbers[:, column])
        if roles.split is not None:
            marks = checker.held_out(chunk.texts[-1], self._numbered(roles.split))
            self._held_out.append(marks[:, None])

    def _count_on(self, values: npt.NDArray[np.float64]) -> None:
        """Follow a first column that counts rows, in each file from the start or in all of them."""
        starts = values[0] in (0, 1) if self._begins and len(values) else False
        due = values[0] if starts else self._counted
        self._begins = False
        if due is None or not np.array_equal(values, due + np.arange(len(values))):
            self._counts = False
        else:
            self._counted = due + len(values)

    def revised(self, guess: Guess) -> Guess | None:
        """Return a better guess, where a column turned out to be otherwise; None where it held."""
        roles = self._roles
        texts, numbers = set(guess.texts), set(guess.numbers)
        if not self._first.typed:
            for index, coding in zip(roles.categories, self._codes, strict=True):
                if index in roles.found and not coding.holds_text():
                    numbers.add(index)
        for place, index in enumerate(self._numeric):
            column = self._numbered(index)
            with_text = self._faults.count(column, "text")
            others = self._faults.count(column, "like", "comma", "point", "large")
            if with_text and not others and index not in numbers:
                texts |= set() if self._seen[place] else {index}
        counts = guess.counts and (roles.counter is None or self._counts)
        known = (guess.texts, guess.numbers, guess.counts)
        better = Guess(frozenset(texts), counts, frozenset(numbers))
        return None if (better.texts, better.numbers, better.counts) == known else better

    def table(self, files: tuple[str, ...]) -> Table:
        """Return the finished table; raises DataError when there are no rows."""
        roles, names = self._roles, self._first.names
        if not self._numbers.rows:
            raise DataError(f"{files[0]} has no rows below its header.")
        coded = [coding.take() for coding in self._codes]
        levels = {index: found[0] for index, found in zip(roles.categories, coded, strict=True)}
        table = Table(
            columns=tuple(Column(names[i], i, levels.get(i)) for i in roles.features),
            numbers=self._numbers.take(),
            codes=tuple(codes for _, codes in coded),
            label=None if roles.label is None else names[roles.label],
            more_labels=tuple(names[index] for index in roles.more_labels),
            named=self._first.named,
            width=len(names),
            paths=files,
        )
        if roles.label is not None and self._regression:
            targets = self._targets.take()
            table.targets = targets if roles.more_labels else targets[:, 0]
        elif roles.label is not None:
            table.classes, table.class_codes = self._labels.take()
        if roles.weight is not None:
            table.weights = self._weights.take()[:, 0]
        if roles.split is not None:
            table.held_out = self._held_out.take()[:, 0]
        table.notes = (*self._remarks, *self._notes(table))
        return table

    def _notes(self, table: Table) -> list[str]:
        """Return sentences about what was detected of columns."""
        roles, names = self._roles, self._first.names
        notes = []
        if roles.counter is not None:
            notes.append(
                "The first column has no name and counts the rows: it is left out. To train with "
                "it, give it a name."
            )
        found = [column for column in table.columns if column.position in roles.found]
        if found:
            some = ", ".join(
                f"'{excerpt(names[column.position])}' ({len(column.levels or ()):,} levels)"
                for column in found[:MOST_NAMED]
            )
            more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
            notes.append(
                f"Taken as categories, since all values are text: {some}{more}. To leave one out, "
                "name it in exclude."
            )
        return notes


class _Coding:
    """Texts as codes, in order of appearance until they are sorted at the end; "" is -1."""

    def __init__(self, store: Store) -> None:
        self._index: dict[str, int] = {}
        self._store = store
        self._codes = store.growing(1, np.int32)

    def add(self, texts: Sequence[str]) -> None:
        index = self._index

        def code(text: str) -> int:
            return index.setdefault(text, len(index)) if text else -1

        self._codes.append(numbered(texts, code)[:, None])

    def holds_text(self) -> bool:
        """Return whether no text of them is a number, or written like one."""
        return all(cell_kind(text) in ("missing", "text") for text in self._index)

    def take(self) -> tuple[tuple[str, ...], Codes]:
        names = tuple(sorted(self._index, key=name_order))
        order = np.full(len(names) + 1, -1, np.int32)
        for code, name in enumerate(names):
            order[self._index[name]] = code
        codes = self._codes.take()
        sorted_codes = self._store.computed(len(codes), 1, np.int32, lambda cut: order[codes[cut]])
        return names, sorted_codes[:, 0]


def stored_as(values: npt.NDArray[np.float64], dtype: str) -> npt.NDArray[np.floating]:
    """Return numbers in the type they are kept in, of the same shape; those too large for it become
    infinite.
    """
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)
