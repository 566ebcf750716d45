"""The faults of a table, counted by kind and column while it is read, and reported together at the
end.

Of each kind its number, its first place and some examples are kept, however large the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from netsharp_engine.data.errors import DataError
from netsharp_engine.excerpt import excerpt

#: The most columns of a kind of fault that are named, and the most values of each that are shown.
MOST_COLUMNS = 6
MOST_SHOWN = 4
#: The most sentences about the table as a whole that are kept.
MOST_SENTENCES = 20
SHOWN_CHARACTERS = 24


class Kind(NamedTuple):
    """The wording of a kind of fault, to follow its number, and how to fix it.

    ``{names}`` is replaced by the names of the columns as a run file lists them.
    """

    one: str
    many: str
    remedy: str


KINDS = {
    "ragged": Kind(
        "row has another number of values than the first",
        "rows have another number of values than the first",
        "Correct the lines, quote values that hold the delimiter, or set delimiter.",
    ),
    "missing": Kind(
        "value is missing",
        "values are missing",
        'Fill them, or set missing = "mean", "zero", "indicator" or "drop" (--missing mean).',
    ),
    "text": Kind(
        "value is text",
        "values are text",
        "Correct them, or, if the column holds categories, declare it categorical: "
        "categorical = [{names}] (--categorical).",
    ),
    "like": Kind(
        "value is not a plain number",
        "values are not plain numbers",
        "Write dates, times, shares and thousands as plain numbers, or leave the column out: "
        "exclude = [{names}] (--exclude).",
    ),
    "comma": Kind(
        "value has a decimal comma",
        "values have a decimal comma",
        "Write all numbers of the table alike, with a point, or with a comma and "
        'decimal = "comma" (--decimal comma).',
    ),
    "point": Kind(
        "value has a point where numbers have a decimal comma",
        "values have a point where numbers have a decimal comma",
        'Write all numbers of the table alike, or set decimal = "point" (--decimal point).',
    ),
    "large": Kind(
        "value is too large or infinite", "values are too large or infinite", "Correct or scale."
    ),
    "label": Kind(
        "label is missing",
        "labels are missing",
        'Fill them, or leave such rows out: missing = "drop" (--missing drop).',
    ),
    "unlike label": Kind(
        "label is not a finite number",
        "labels are not finite numbers",
        'Correct them, or, if they are classes, set task = "classification" '
        "(--task classification).",
    ),
    "weight": Kind(
        "weight is missing, not finite or negative",
        "weights are missing, not finite or negative",
        "Weights are numbers from 0 on: correct them, or name another column: weight (--weight).",
    ),
    "mark": Kind(
        "mark does not say whether the row is for validation",
        "marks do not say whether the row is for validation",
        "Write 1 or 0, or 'validation' or 'train'.",
    ),
}


@dataclass(slots=True)
class FaultyColumn:
    """The faults of one kind in one column: the place and the sentence are the first one's."""

    place: str
    sentence: str
    count: int = 0
    shown: dict[str, None] = field(default_factory=dict)


class TableFaults:
    """The faults of a table so far; empty is false."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[tuple[int, str], FaultyColumn]] = {}
        self._sentences: dict[str, None] = {}
        #: Lines of the present chunk whose cells of a column were reported, by the column.
        self.reported_lines: dict[int, set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._groups or self._sentences)

    def add_sentence(self, sentence: str) -> None:
        """Add a sentence about the table as a whole, or about a column."""
        if len(self._sentences) < MOST_SENTENCES:
            self._sentences[sentence] = None

    def add(
        self,
        kind: str,
        column: tuple[int, str],
        first: Callable[[], tuple[str, str]],
        *,
        shown: str | None = None,
        count: int = 1,
    ) -> None:
        """Add faults of a column, its number from 1 and its name; ``first`` gives the place of the
        first of them and a sentence about it alone.
        """
        columns = self._groups.setdefault(kind, {})
        known = columns.get(column)
        if known is None:
            known = columns[column] = FaultyColumn(*first())
        known.count += count
        if shown is not None and len(known.shown) <= MOST_SHOWN:
            known.shown[excerpt(shown, SHOWN_CHARACTERS)] = None

    def count(self, column: tuple[int, str], *kinds: str) -> int:
        """Return the number of faults of these kinds in a column."""
        found = (self._groups.get(kind, {}).get(column) for kind in kinds)
        return sum(one.count for one in found if one is not None)

    def error(self, path: str) -> DataError:
        """Return the error with all faults: a single one in its own sentence, more in one line each
        kind.
        """
        single = [each for group in self._groups.values() for each in group.values()]
        if not self._sentences and len(single) == 1 and single[0].count == 1:
            return DataError(single[0].sentence)
        if len(self._sentences) == 1 and not single:
            return DataError(next(iter(self._sentences)))
        groups = self._groups.items()
        lines = [*self._sentences, *(_line(kind, group, path) for kind, group in groups)]
        if len(lines) == 1:
            return DataError(f"{path}: {lines[0]}")
        head = f"{path}: {len(lines)} kinds of faults, all that were found:"
        return DataError("\n".join((head, *(f"  {line}" for line in lines))))


def _line(kind: str, group: dict[tuple[int, str], FaultyColumn], path: str) -> str:
    """Return the sentence about all faults of a kind; places in the file of this path are without
    it.
    """
    words, total = KINDS[kind], sum(each.count for each in group.values())
    what = f"{total:,} {words.one if total == 1 else words.many}"
    names = ", ".join(f'"{excerpt(name)}"' for _, name in list(group)[:MOST_COLUMNS])
    more = len(group) - MOST_COLUMNS
    remedy = words.remedy.replace("{names}", f"{names}, ..." if more > 0 else names)
    if len(group) == 1:
        ((number, name), one), *_ = group.items()
        where = f"column {number} '{excerpt(name)}': " if number else ""
        return f"{where}{what}{_shown(one)} ({_first(one, path)}). {remedy}"
    parts = [
        f"column {number} '{excerpt(name)}' {one.count:,}{_shown(one)} ({_first(one, path)})"
        for (number, name), one in list(group.items())[:MOST_COLUMNS]
    ]
    rest = f"; and in {more:,} more columns" if more > 0 else ""
    return f"{what} in {len(group):,} columns: {'; '.join(parts)}{rest}. {remedy}"


def _first(one: FaultyColumn, path: str) -> str:
    return f"first in {one.place.removeprefix(f'{path}, ')}"


def _shown(one: FaultyColumn) -> str:
    """Return examples of the values, where there are any to show."""
    if not one.shown:
        return ""
    some = list(one.shown)
    cut = some[:MOST_SHOWN] + (["..."] if len(some) > MOST_SHOWN else [])
    return f": {', '.join(cut)}"
