"""The one SELECT that scores rows: features of columns, a step of the network after another, and
the answers.

Sums are kept as rows (row, unit, value), so that a network of any width is a few joins.  Each
common table expression but the first is read once: SQL Server works one out again wherever it is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.tsql.features import (
    ColumnText,
    cell_lines,
    column_lines,
    feature_lines,
    plain_lines,
)
from netsharp_engine.exporting.tsql.network import MOST, RESPONSE, SUM, Step, SteppedNetwork, Units
from netsharp_engine.exporting.tsql.words import clamped, number, quoted_name, text

if TYPE_CHECKING:
    from netsharp_engine.data.scaling import TargetScale

#: The bound of arguments of the exponential function: SQL Server stops where a float overflows,
#: beyond e^709.
_EXPONENT = 700.0
#: From here on the logarithm of 1 + e^x is x in float64: e^-40 is below its precision.
_LINEAR = 40.0


class Answers(NamedTuple):
    """The answers: classes, or numbers in the units of ``scale``; the names of the columns."""

    classes: tuple[str, ...] | None
    scale: TargetScale | None
    columns: tuple[str, ...]


class QueryNames(NamedTuple):
    """The names in a query: the key of rows, and the tables with their schema; None for that of
    bins where features have none.
    """

    key: str
    features: str
    bins: str | None
    weights: str


class Expression(NamedTuple):
    """A common table expression: its name and its lines."""

    name: str
    lines: tuple[str, ...]


def _exponential(value: str) -> str:
    return f"EXP({clamped(value, -_EXPONENT, _EXPONENT)})"


_FUNCTIONS = {
    "sigmoid": f"1E0 / (1E0 + {_exponential('-s.[value]')})",
    "tanh": f"1E0 - 2E0 / (1E0 + {_exponential('2E0 * s.[value]')})",
    "rlinear": "CASE WHEN s.[value] > 0E0 THEN s.[value] ELSE 0E0 END",
    "srlinear": f"CASE WHEN s.[value] > {number(_LINEAR)} THEN s.[value] "
    f"ELSE LOG(1E0 + {_exponential('s.[value]')}) END",
    "abs": "ABS(s.[value])",
    "square": "s.[value] * s.[value]",
    "sqrt": "SQRT(CASE WHEN s.[value] > 0E0 THEN s.[value] ELSE 0E0 END)",
    "brlinear": clamped("s.[value]", 0, 1),
}


def select(
    network: SteppedNetwork, columns: Sequence[ColumnText], answers: Answers, names: QueryNames
) -> str:
    """Return the query, which reads rows of ``@rows``, and features and weights of tables. Raises
    ExportError for an activation that nothing is written for.
    """
    key = names.key
    parts = [
        Expression("cells", tuple(cell_lines(columns, key, "@rows"))),
        Expression("columns", tuple(column_lines(columns, key, "[cells]"))),
        Expression("plain", tuple(plain_lines(columns, key, "[columns]", names.features))),
        Expression("features", tuple(feature_lines(key, "[plain]", "[cells]", names.bins))),
    ]
    for place, step in enumerate(network.steps, 1):
        parts += _step(step, place, parts[-1].name, names)
    parts += _answering(network.output, answers, parts[-1].name, names)
    lines: list[str] = []
    for one in parts:
        lines.append(f"{'WITH ' if not lines else ''}{quoted_name(one.name)} AS (")
        lines += [f"    {line}" for line in one.lines]
        lines.append(")," if one is not parts[-1] else ")")
    return "\n".join([*lines, *_last(answers, parts[-1].name, names)])


def _step(step: Step, place: int, before: str, names: QueryNames) -> Iterator[Expression]:
    """Yield the sums along the edges of a step, and the functions that are applied to them."""
    key = names.key
    sums = f"step {place}"
    yield Expression(
        sums,
        (
            f"SELECT v.{key}, w.[destination] AS [unit], {_gathered(step)} AS [value]",
            f"FROM {quoted_name(before)} AS v",
            f"JOIN {names.weights} AS w ON w.[step] = {place} AND w.[source] = v.[unit]",
            f"GROUP BY v.{key}, w.[destination]",
        ),
    )
    soft = [one for one in step.layers if one.function == "softmax"]
    if soft:
        yield from _softened(soft, sums, names)
        sums = f"{sums} as powers"
    for one in step.layers:
        if one.function not in (*_FUNCTIONS, "linear", "softmax"):
            raise ExportError(
                f"{one.name}: nothing of T-SQL is written for the activation '{one.function}' yet."
            )
    plain = [one for one in step.layers if one.function in _FUNCTIONS]
    if plain or soft:
        cases = [f"WHEN {_within(one)} THEN {_FUNCTIONS[one.function]}" for one in plain]
        cases += [f"WHEN {_within(one)} THEN s.[value] / s.[total]" for one in soft]
        yield Expression(
            f"layers {place}",
            (
                f"SELECT s.{key}, s.[unit], CASE",
                *(f"    {one}" for one in cases),
                "    ELSE s.[value] END AS [value]",
                f"FROM {_with_totals(soft, sums, key)} AS s",
            ),
        )


def _with_totals(soft: Sequence[Units], sums: str, key: str) -> str:
    if not soft:
        return quoted_name(sums)
    over = f"PARTITION BY p.{key}, p.[layer]"
    return (
        f"(SELECT p.{key}, p.[unit], p.[value], SUM(p.[value]) OVER ({over}) AS [total] "
        f"FROM {quoted_name(sums)} AS p)"
    )


def _softened(soft: Sequence[Units], sums: str, names: QueryNames) -> Iterator[Expression]:
    """Yield powers of e, relative to the largest of their layer; other values unchanged."""
    layers = " ".join(f"WHEN {_within(one)} THEN {place}" for place, one in enumerate(soft, 1))
    yield Expression(
        f"{sums} by layer",
        (
            f"SELECT s.{names.key}, s.[unit], s.[value], CASE {layers} ELSE 0 END AS [layer]",
            f"FROM {quoted_name(sums)} AS s",
        ),
    )
    yield Expression(
        f"{sums} as powers",
        (
            f"SELECT m.{names.key}, m.[unit], m.[layer],",
            f"    CASE WHEN m.[layer] > 0 THEN {_exponential('(m.[value] - m.[most])')}"
            " ELSE m.[value] END AS [value]",
            f"FROM (SELECT b.{names.key}, b.[unit], b.[layer], b.[value], "
            f"MAX(b.[value]) OVER (PARTITION BY b.{names.key}, b.[layer]) AS [most] "
            f"FROM {quoted_name(f'{sums} by layer')} AS b) AS m",
        ),
    )


def _within(layer: Units) -> str:
    return f"s.[unit] BETWEEN {layer.first} AND {layer.last}"


def _gathered(step: Step) -> str:
    if step.kind == SUM:
        return "SUM(v.[value] * w.[weight])"
    if step.kind == MOST:
        return "MAX(v.[value])"
    assert step.kind == RESPONSE
    centre = "SUM(CASE WHEN w.[weight] IS NULL THEN v.[value] ELSE 0E0 END)"
    squares = "SUM(COALESCE(w.[weight], 0E0) * v.[value] * v.[value])"
    cases = [
        f"WHEN w.[destination] BETWEEN {one.first} AND {one.last} "
        f"THEN {centre} * POWER({number(one.offset)} + {squares}, {number(one.power)})"
        for one in step.layers
    ]
    return f"CASE {' '.join(cases)} ELSE {centre} END"


def _answering(
    output: Units, answers: Answers, before: str, names: QueryNames
) -> Iterator[Expression]:
    key, where = names.key, f"WHERE v.[unit] BETWEEN {output.first} AND {output.last}"
    if answers.classes is None:
        columns = [
            f"MAX(CASE WHEN v.[unit] = {output.first + place} THEN v.[value] END) AS [{place}]"
            for place in range(output.size)
        ]
        yield _pivoted(key, columns, before, where)
        return
    yield Expression("outputs", tuple(_outputs(output, before, where, key)))
    share = f"o.[share] / SUM(o.[share]) OVER (PARTITION BY o.{key})"
    even = number(1 / len(answers.classes))
    yield Expression(
        "shares",
        (
            f"SELECT o.{key}, o.[class],",
            f"    CASE WHEN SUM(o.[share]) OVER (PARTITION BY o.{key}) = 0E0 THEN {even}"
            f" ELSE {share} END AS [share],",
            f"    ROW_NUMBER() OVER (PARTITION BY o.{key} ORDER BY o.[value] DESC, o.[class])"
            " AS [place]",
            "FROM [outputs] AS o",
        ),
    )
    columns = ["MAX(CASE WHEN v.[place] = 1 THEN v.[class] END) AS [best]"]
    columns += [
        f"MAX(CASE WHEN v.[class] = {place} THEN v.[share] END) AS [{place}]"
        for place in range(len(answers.classes))
    ]
    yield _pivoted(key, columns, "shares", "")


def _pivoted(key: str, columns: Sequence[str], before: str, where: str) -> Expression:
    """Return answers as the columns of a row."""
    lines = [f"SELECT v.{key},", *(f"    {one}," for one in columns[:-1]), f"    {columns[-1]}"]
    lines += [f"FROM {quoted_name(before)} AS v", *[where] * bool(where), f"GROUP BY v.{key}"]
    return Expression("answers", tuple(lines))


def _outputs(output: Units, before: str, where: str, key: str) -> Iterator[str]:
    """Yield the lines with the network's answer for each class, and its share before
    normalisation.
    """
    source = f"FROM {quoted_name(before)} AS v"
    share = clamped("v.[value]", 0, 1)
    if output.size == 1:
        yield f"SELECT v.{key}, c.[class], CASE c.[class] WHEN 1 THEN v.[value]"
        yield "    ELSE 1E0 - v.[value] END AS [value],"
        yield f"    CASE c.[class] WHEN 1 THEN {share}"
        yield f"    ELSE 1E0 - {share} END AS [share]"
        yield f"{source} CROSS JOIN (VALUES (0), (1)) AS c ([class])"
    else:
        shown = "v.[value]" if output.function == "softmax" else share
        yield f"SELECT v.{key}, v.[unit] - {output.first} AS [class], v.[value],"
        yield f"    {shown} AS [share]"
        yield source
    yield where


def _last(answers: Answers, before: str, names: QueryNames) -> Iterator[str]:
    """Yield the lines of the SELECT at the end: a row of answers for each given row."""
    yield f"SELECT r.{names.key},"
    columns = []
    first, *others = answers.columns
    if answers.classes is None:
        scale = answers.scale
        columns = [
            f"a.[{place}]{_unscaled(scale, place)} AS {quoted_name(one)}"
            for place, one in enumerate(answers.columns)
        ]
    else:
        cases = " ".join(f"WHEN {n} THEN {text(one)}" for n, one in enumerate(answers.classes))
        columns = [f"CASE a.[best] {cases} END AS {quoted_name(first)}"]
        columns += [f"a.[{place}] AS {quoted_name(one)}" for place, one in enumerate(others)]
    yield from (f"    {one}," for one in columns[:-1])
    yield f"    {columns[-1]}"
    yield "FROM @rows AS r"
    yield f"LEFT JOIN {quoted_name(before)} AS a ON a.{names.key} = r.{names.key}"


def _unscaled(scale: TargetScale | None, place: int) -> str:
    if scale is None:
        return ""
    return f" * {number(scale.spread[place])} + {number(scale.mean[place])}"
