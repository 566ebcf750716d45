"""Features as expressions of a row's columns: indicators of texts, what stands for missing numbers,
and the normaliser.

A row has no features, and so no answer, where a number is missing that the model has nothing for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.tsql.words import clamped, distinct_names, number, quoted_name, text

if TYPE_CHECKING:
    from netsharp_engine.data.encoding import Encoding, Feature
    from netsharp_engine.data.normalizers import Normalizer

#: So many features are chosen by one CASE.
_AT_ONCE = 32
#: Behind a text, since trailing blanks count for nothing where texts are compared.
_END = "."


class ColumnText(NamedTuple):
    """A column of the rows: its identifier, whether it holds numbers, the expression of the cell
    that features are made of, the condition that it is known (empty where it always is), and an
    expression for each feature.
    """

    identifier: str
    numeric: bool
    cell: str
    condition: str
    features: tuple[str, ...]


def column_texts(
    encoding: Encoding, normalizer: Normalizer, key: str, dtype: str
) -> list[ColumnText]:
    """Return the columns that a model reads; ``key`` is a name that is taken."""
    names = distinct_names((one.name for one in encoding.columns), [key])
    found: list[ColumnText] = []
    at = 0
    for name, column in zip(names, encoding.columns, strict=True):
        identifier = quoted_name(name)
        if column.levels is None:
            cell, condition, plain = _of_numbers(identifier, column, dtype)
        else:
            cell, condition, plain = _of_texts(identifier, column.levels, encoding.unknown)
        values = [_normalized(one, normalizer, at + place) for place, one in enumerate(plain)]
        found.append(ColumnText(identifier, column.levels is None, cell, condition, tuple(values)))
        at += len(plain)
    return found


def _of_numbers(identifier: str, column: Feature, dtype: str) -> tuple[str, str, list[str]]:
    """The cell, when it is known, and the features of a column of numbers."""
    # What the engine reads is rounded to its own type first.
    rounded = f"CAST(CAST(r.{identifier} AS real) AS double precision)"
    cell = rounded if dtype == "float32" else f"r.{identifier}"
    value = f"c.{identifier}"
    if column.fill is None:
        return cell, f"r.{identifier} IS NOT NULL", [value]
    found = [f"COALESCE({value}, {number(column.fill)})"]
    found += [f"CASE WHEN {value} IS NULL THEN 1E0 ELSE 0E0 END"] * column.marked
    return cell, "", found


def _of_texts(identifier: str, levels: Sequence[str], unknown: bool) -> tuple[str, str, list[str]]:
    """The cell and the indicators of a column of texts: one that was never seen, or is missing, has
    an indicator of its own, or none.
    """
    known = [text(level + _END) for level in levels]
    found = [f"CASE WHEN c.{identifier} = {one} THEN 1E0 ELSE 0E0 END" for one in known]
    if unknown:
        among = f"c.{identifier} IN ({', '.join(known)})"
        found.append(f"CASE WHEN {among} THEN 0E0 ELSE 1E0 END" if known else "1E0")
    return f"CONCAT(r.{identifier}, {text(_END)})", "", found


def _normalized(value: str, normalizer: Normalizer, feature: int) -> str:
    if normalizer.name == "none":
        return value
    if normalizer.name == "binning":
        edges = normalizer.edges[feature].tolist()
        cases = [
            f"WHEN {value} >= {number(edge)} THEN {number(place / len(edges))}"
            for place, edge in reversed(list(enumerate(edges, 1)))
        ]
        return f"CASE {' '.join(cases)} ELSE 0E0 END" if cases else "0E0"
    if normalizer.name == "robust":
        low, high = (float(one[feature]) for one in normalizer.bounds())
        value = clamped(value, low, high)
    offset, scale = float(normalizer.offset[feature]), float(normalizer.scale[feature])
    return f"({value} - {number(offset)}) * {number(scale)}"


def cell_lines(columns: Sequence[ColumnText], key: str, rows: str) -> Iterator[str]:
    """Yield the lines of a SELECT of cells that features are made of, in rows that have all."""
    yield f"SELECT r.{key},"
    for place, one in enumerate(columns, 1):
        yield f"    {one.cell} AS {one.identifier}" + "," * (place < len(columns))
    yield f"FROM {rows} AS r"
    known = [one.condition for one in columns if one.condition]
    yield from (f"{'AND' if place else 'WHERE'} {one}" for place, one in enumerate(known))


def feature_lines(columns: Sequence[ColumnText], key: str, cells: str) -> Iterator[str]:
    """Yield the lines of a SELECT of (row, unit, value): 1 as unit 0, and each feature.

    Cells are read again for every few features: one CASE of all would cost their square.
    """
    values = list(chain(["1E0"], *(one.features for one in columns)))
    for start in range(0, len(values), _AT_ONCE):
        if start:
            yield "UNION ALL"
        part = dict(enumerate(values[start : start + _AT_ONCE], start))
        yield f"SELECT c.{key}, f.[unit], CASE f.[unit]"
        yield from (f"    WHEN {unit} THEN {one}" for unit, one in part.items())
        yield "    END AS [value]"
        units = ", ".join(f"({unit})" for unit in part)
        yield f"FROM {cells} AS c CROSS JOIN (VALUES {units}) AS f ([unit])"
