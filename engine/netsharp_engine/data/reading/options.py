"""The options of reading tables, and the part that each column plays.

It turns names and numbers of columns into indexes; it must not read rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netsharp_engine.cells import column_finder, find_column, usual_label
from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.faults import TableFaults
from netsharp_engine.data.reading.request import Source
from netsharp_engine.excerpt import excerpt

ColumnName = str | int


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of a table before it is read.

    A column is given by name or by number from 1. ``split`` names a column whose cells mark
    validation rows; ``more_labels`` are further numbers that a regression predicts; ``labels`` are
    IDX label files, one per image file; ``header``, ``delimiter``, ``decimal`` and ``encoding`` are
    guessed when None; ``columns`` are the features, in this order, all that play no other part when
    empty; ``missing`` is a choice of the setting, and ``filling`` another for rows that a model
    answers; ``task`` is ``classification`` or ``regression``; ``rows`` limits the rows read.
    """

    label: ColumnName | None = None
    more_labels: tuple[ColumnName, ...] = ()
    labels: tuple[str, ...] = ()
    weight: ColumnName | None = None
    split: ColumnName | None = None
    categorical: tuple[ColumnName, ...] = ()
    columns: tuple[ColumnName, ...] = ()
    exclude: tuple[ColumnName, ...] = ()
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: str = "error"
    filling: str | None = None
    task: str = "classification"
    rows: int | None = None
    dtype: str = "float32"

    def expected_names(self) -> tuple[str, ...]:
        """Return the names that a header must hold."""
        given = (
            *(self.label, self.weight, self.split),
            *(*self.more_labels, *self.categorical, *self.columns, *self.exclude),
        )
        return tuple(name for name in given if isinstance(name, str) and not name.isdecimal())


@dataclass(frozen=True, slots=True)
class Roles:
    """The indexes of a source's columns by the part they play; features in the order of the file,
    or in that of the columns that are named as features.

    ``found`` are the detected categories; ``counter`` is a first column that only counts rows,
    which is not a feature.
    """

    features: tuple[int, ...]
    categorical: frozenset[int]
    label: int | None
    weight: int | None
    split: int | None
    more_labels: tuple[int, ...] = ()
    found: frozenset[int] = frozenset()
    counter: int | None = None

    @property
    def numeric(self) -> tuple[int, ...]:
        """Return the features that are numbers."""
        return tuple(index for index in self.features if index not in self.categorical)

    @property
    def categories(self) -> tuple[int, ...]:
        """Return the features that are categories."""
        return tuple(index for index in self.features if index in self.categorical)


def column_index(names: Sequence[str], column: ColumnName, part: str, path: str) -> int:
    """Return the index of a column given by name or number; raises DataError with the nearest
    names.
    """
    return _index_of(find_column(names, column), names, column, part, path)


def _index_of(
    found: int | None, names: Sequence[str], column: ColumnName, part: str, path: str
) -> int:
    if found is not None:
        return found
    if str(column).isdecimal():
        raise DataError(
            f"{path} has {len(names)} columns: there is no {part} column {excerpt(column)}."
        )
    hint = nearest(str(column), names)
    raise DataError(f"{path} has no {part} column '{excerpt(column)}'.{hint}")


def resolve_roles(
    source: Source,
    options: ReadOptions,
    faults: TableFaults | None = None,
    *,
    need_label: bool = True,
) -> Roles:
    """Return the part of every column of ``source``; raises DataError.

    With ``faults``, faults of columns that are missing are added to these, and the others still
    have their parts.
    """
    found = column_finder(source.names)

    def find(column: ColumnName | None, part: str) -> int | None:
        if column is None:
            return None
        try:
            return _index_of(found(column), source.names, column, part, source.path)
        except DataError as error:
            report(error)
            return None

    def report(error: DataError) -> None:
        if faults is None:
            raise error
        faults.add_sentence(str(error))

    weight = find(options.weight, "weight")
    split = find(options.split, "validation")
    try:
        label = _label_index(source, options, need_label)
    except DataError as error:
        report(error)
        label = None
    for sentence in source.doubles:
        report(DataError(sentence))
    excluded = {find(column, "excluded") for column in options.exclude}
    categorical = {find(column, "categorical") for column in options.categorical}
    more = tuple(
        index for index in (find(one, "label") for one in options.more_labels) if index is not None
    )
    apart = {label, weight, split, *more} | excluded
    labels = ((index, "label") for index in (label, *more))
    for index, part in (*labels, (weight, "weight"), (split, "validation")):
        if index is not None and (index in categorical or index in excluded):
            report(
                DataError(
                    f"{source.path}: column '{source.names[index]}' is the {part} column and "
                    f"cannot also be {'categorical' if index in categorical else 'excluded'}."
                )
            )
    chosen = dict.fromkeys(find(column, "feature") for column in options.columns)
    every: Iterable[int | None] = chosen if options.columns else range(len(source.names))
    features = tuple(index for index in every if index is not None and index not in apart)
    if not features:
        raise DataError(f"{source.path} has no column left for the features.")
    named = frozenset(index for index in categorical if index is not None and index not in apart)
    return Roles(features, named, label, weight, split, more)


def more_labels(names: Sequence[str], options: ReadOptions, path: str) -> tuple[int, ...]:
    """Return the indexes of further label columns; raises DataError."""
    return tuple(column_index(names, name, "label", path) for name in options.more_labels)


def _label_index(source: Source, options: ReadOptions, need_label: bool) -> int | None:
    if options.label is not None:
        if not need_label and find_column(source.names, options.label) is None:
            return None
        return column_index(source.names, options.label, "label", source.path)
    if source.label is not None:
        return source.names.index(source.label)
    usual = usual_label(source.names)
    if usual is not None:
        return usual
    if not need_label:
        return None
    some = ", ".join(source.names[:12]) + (", ..." if len(source.names) > 12 else "")
    raise DataError(
        f"{source.path}: which column is the label? Name it with 'label' or --label. "
        f"The columns are: {some}."
    )
