"""Features as rows of tables: what each is made of, what stands for a missing number, and how it is
normalised; and the SELECTs that make features of a row's columns by them.

A row has no features, and so no answer, where a number is missing that the model has nothing for.
Whatever the number of levels and bins, the query stays as long as the columns are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.excerpt import excerpt
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.tsql.words import distinct_names, quoted_name, text

if TYPE_CHECKING:
    from netsharp_engine.data.encoding import Encoding, Feature
    from netsharp_engine.data.normalizers import Normalizer

#: The most columns that one CASE turns into rows, with a branch for each.
_AT_ONCE = 32
#: Appended to a text, since comparison of texts ignores trailing blanks.
_END = "."
#: How long a text may be with that, in units of UTF-16 [Microsoft: nchar and nvarchar].
_LONGEST_TEXT = 4000
#: What a cell may hold.
TEXT_TYPE = f"nvarchar({_LONGEST_TEXT - len(_END)})"
#: Kinds of features: a number, 1 where it is missing, 1 where a text is this level, and 1 where it
#: is none that is known.
NUMBER, MISSING, LEVEL, OTHER = range(4)


class ColumnText(NamedTuple):
    """A column of the rows: its identifier, whether it holds numbers, the expression of the cell
    that features are made of, and the condition that it is known (empty where it always is).
    """

    identifier: str
    numeric: bool
    cell: str
    condition: str


class FeatureRow(NamedTuple):
    """A feature: its unit, the number of its column, its kind, the level, what stands for a missing
    number, the bounds of its values, and the offset and scale of (value - offset) * scale.
    """

    unit: int
    column: int
    kind: int
    level: str | None = None
    fill: float | None = None
    low: float | None = None
    high: float | None = None
    offset: float = 0.0
    scale: float = 1.0


class Bin(NamedTuple):
    """The value of a feature from ``low`` up to below ``high``; None where nothing bounds it."""

    unit: int
    low: float | None
    high: float | None
    value: float


class FeatureTables(NamedTuple):
    """The columns that a model reads, its features, and their bins where it has any."""

    columns: tuple[ColumnText, ...]
    features: tuple[FeatureRow, ...]
    bins: tuple[Bin, ...] | None


def feature_tables(
    encoding: Encoding, normalizer: Normalizer, key: str, dtype: str
) -> FeatureTables:
    """Return the tables of a model's features; ``key`` is a name that is already used.

    Raises ExportError for a level that no column of SQL Server holds.
    """
    names = distinct_names((one.name for one in encoding.columns), [key])
    columns: list[ColumnText] = []
    plain: list[FeatureRow] = []
    for place, (name, column) in enumerate(zip(names, encoding.columns, strict=True)):
        identifier = quoted_name(name)
        if column.levels is None:
            columns.append(_of_numbers(identifier, column, dtype))
            plain += _number_rows(place, column, dtype)
        else:
            cell = f"CONCAT(r.{identifier}, {text(_END)})"
            columns.append(ColumnText(identifier, False, cell, ""))
            plain += _level_rows(place, column, column.levels, encoding.unknown)
    numbered = (one._replace(unit=unit) for unit, one in enumerate(plain, 1))
    if normalizer.name == "binning":
        return FeatureTables(tuple(columns), tuple(numbered), tuple(_bins(normalizer)))
    return FeatureTables(tuple(columns), tuple(_normalized(numbered, normalizer)), None)


def _of_numbers(identifier: str, column: Feature, dtype: str) -> ColumnText:
    # What the engine reads is rounded to its own type first.
    rounded = f"CAST(CAST(r.{identifier} AS real) AS double precision)"
    cell = rounded if dtype == "float32" else f"r.{identifier}"
    condition = f"r.{identifier} IS NOT NULL" if column.fill is None else ""
    return ColumnText(identifier, True, cell, condition)


def _number_rows(place: int, column: Feature, dtype: str) -> Iterator[FeatureRow]:
    # A missing number is filled before it is rounded, so that it may lie on the edge of a bin.
    fill = None if column.fill is None else float(np.dtype(dtype).type(column.fill))
    yield FeatureRow(0, place, NUMBER, fill=fill)
    if column.marked:
        yield FeatureRow(0, place, MISSING)


def _level_rows(
    place: int, column: Feature, levels: Sequence[str], unknown: bool
) -> Iterator[FeatureRow]:
    """Yield the indicators of texts: an unknown one has one of its own, or none."""
    for level in levels:
        units = len(level.encode("utf-16-le", "surrogatepass")) // 2
        if units + len(_END) > _LONGEST_TEXT:
            raise ExportError(
                f"The column '{column.name}' has a level of {units:,} characters, "
                f"'{excerpt(level)}': a column of SQL Server holds {_LONGEST_TEXT:,}, one of which "
                "marks the end here. Export it with --to onnx."
            )
        yield FeatureRow(0, place, LEVEL, level + _END)
    if unknown:
        yield FeatureRow(0, place, OTHER)


def _normalized(rows: Iterator[FeatureRow], normalizer: Normalizer) -> Iterator[FeatureRow]:
    if normalizer.name == "none":
        yield from rows
        return
    low, high = (one.tolist() for one in normalizer.bounds())
    scales = zip(low, high, normalizer.offset.tolist(), normalizer.scale.tolist(), strict=True)
    for row, (least, most, offset, scale) in zip(rows, scales, strict=True):
        yield row._replace(low=_bound(least), high=_bound(most), offset=offset, scale=scale)


def _bound(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _bins(normalizer: Normalizer) -> Iterator[Bin]:
    for unit, one in enumerate(normalizer.edges, 1):
        edges = one.tolist()
        bounds = zip([None, *edges], [*edges, None], strict=True)
        for place, (low, high) in enumerate(bounds):
            yield Bin(unit, low, high, place / max(len(edges), 1))


def cell_lines(columns: Sequence[ColumnText], key: str, rows: str) -> Iterator[str]:
    """Yield the lines of a SELECT of cells that features are made of, in rows that have all."""
    yield f"SELECT r.{key},"
    for place, one in enumerate(columns, 1):
        yield f"    {one.cell} AS {one.identifier}" + "," * (place < len(columns))
    yield f"FROM {rows} AS r"
    known = [one.condition for one in columns if one.condition]
    yield from (f"{'AND' if place else 'WHERE'} {one}" for place, one in enumerate(known))


def column_lines(columns: Sequence[ColumnText], key: str, cells: str) -> Iterator[str]:
    """Yield the lines of a SELECT of (row, column, number, text): a row for each cell.

    Cells are read again for every few columns: one CASE of all would cost their square.
    """
    texts = not all(one.numeric for one in columns)
    for start in range(0, len(columns), _AT_ONCE):
        part = list(enumerate(columns[start : start + _AT_ONCE], start))
        if start:
            yield "UNION ALL"
        yield f"SELECT c.{key}, n.[column],"
        yield from _chosen(part, True, "double precision", "number" + "," * texts)
        if texts:
            yield from _chosen(part, False, f"nvarchar({_LONGEST_TEXT})", "text")
        places = ", ".join(f"({place})" for place, _ in part)
        yield f"FROM {cells} AS c CROSS JOIN (VALUES {places}) AS n ([column])"


def _chosen(
    part: Sequence[tuple[int, ColumnText]], numeric: bool, kind: str, name: str
) -> Iterator[str]:
    plain, comma, _ = name.partition(",")
    found = [(place, one.identifier) for place, one in part if one.numeric == numeric]
    if not found:
        yield f"    CAST(NULL AS {kind}) AS [{plain}]{comma}"
        return
    yield "    CASE n.[column]"
    yield from (f"        WHEN {place} THEN c.{identifier}" for place, identifier in found)
    yield f"        END AS [{plain}]{comma}"


def plain_lines(columns: Sequence[ColumnText], key: str, cells: str, table: str) -> Iterator[str]:
    """Yield the lines of a SELECT of features before they are normalised, with how they are.

    The level of a text is looked up first: its unit is [level], NULL where it is none of them.
    """
    texts = not all(one.numeric for one in columns)
    yield f"SELECT c.{key}, f.[unit], f.[low], f.[high], f.[offset], f.[scale],"
    yield "    CASE f.[kind]"
    yield f"        WHEN {NUMBER} THEN COALESCE(c.[number], f.[fill])"
    yield f"        WHEN {MISSING} THEN CASE WHEN c.[number] IS NULL THEN 1E0 ELSE 0E0 END"
    if texts:
        yield f"        WHEN {LEVEL} THEN CASE WHEN l.[unit] = f.[unit] THEN 1E0 ELSE 0E0 END"
        yield f"        WHEN {OTHER} THEN CASE WHEN l.[unit] IS NULL THEN 1E0 ELSE 0E0 END"
    yield "        END AS [value]"
    yield f"FROM {cells} AS c"
    if texts:
        yield f"LEFT JOIN {table} AS l ON l.[column] = c.[column] AND l.[level] = c.[text]"
    yield f"JOIN {table} AS f ON f.[column] = c.[column]"


def feature_lines(key: str, plain: str, cells: str, bins: str | None) -> Iterator[str]:
    """Yield the lines of a SELECT of (row, unit, value): each feature, and 1 as unit 0."""
    if bins is None:
        bounded = (
            "CASE WHEN p.[value] < p.[low] THEN p.[low] "
            "WHEN p.[value] > p.[high] THEN p.[high] ELSE p.[value] END"
        )
        yield f"SELECT p.{key}, p.[unit], ({bounded} - p.[offset]) * p.[scale] AS [value]"
        yield f"FROM {plain} AS p"
    else:
        yield f"SELECT p.{key}, p.[unit], b.[value]"
        yield f"FROM {plain} AS p"
        yield f"JOIN {bins} AS b ON b.[unit] = p.[unit]"
        yield "AND (b.[low] IS NULL OR b.[low] <= p.[value])"
        yield "AND (b.[high] IS NULL OR p.[value] < b.[high])"
    yield "UNION ALL"
    yield f"SELECT c.{key}, 0, 1E0"
    yield f"FROM {cells} AS c"
