"""A script of T-SQL that makes what scores rows: a type for rows, a table of weights, and an inline
function around one SELECT.

Run again it replaces what it made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.tsql.features import ColumnText, column_texts
from netsharp_engine.exporting.tsql.network import SteppedNetwork, steps_of
from netsharp_engine.exporting.tsql.query import Answers, QueryNames, select
from netsharp_engine.exporting.tsql.words import (
    LONGEST_NAME,
    distinct_names,
    number,
    quoted_name,
)
from netsharp_engine.model.naming import answer_names

if TYPE_CHECKING:
    from netsharp_engine.model import Model

#: How many rows VALUES may have [Microsoft: Table Value Constructor].
MOST_VALUES = 1000
#: What a table type may have of columns, the key among them [Microsoft: Maximum capacity], and how
#: many answers a query is to give.
_MOST_COLUMNS, _MOST_ANSWERS = 1024, 1000
_KEY, _SCHEMA = "row_id", "[dbo]"
#: Statements for so many rows are one batch.
_BATCH = 20
_COLLATION = "Latin1_General_100_BIN2"


class TsqlScript(NamedTuple):
    """A script: its text, the query in it, the statement that makes the table of weights and the
    name of this, the columns that are read, those of answers, the statements that fill the table,
    and how many rows it has.
    """

    text: str
    query: str
    table: str
    weights_table: str
    columns: tuple[ColumnText, ...]
    answers: tuple[str, ...]
    weights: Sequence[str]
    edges: int


def scripted(model: Model, name: str) -> TsqlScript:
    """Return a model as a script whose function has this name; ExportError says what cannot be."""
    network, columns, answers = _parts(model)
    (plain,) = distinct_names([name], most=LONGEST_NAME - len("_weights"))
    function, rows, weights = (
        f"{_SCHEMA}.{quoted_name(plain + ending)}" for ending in ("", "_rows", "_weights")
    )
    key = quoted_name(_KEY)
    query = select(network, columns, answers, QueryNames(key, weights))
    table = (
        f"CREATE TABLE {weights} ([step] int NOT NULL, [source] int NOT NULL, "
        "[destination] int NOT NULL, [weight] double precision NULL)"
    )
    inserts = list(_inserts(network, weights))
    edges = sum(len(step.weights) for step in network.steps)
    made = [
        f"DROP FUNCTION IF EXISTS {function};",
        f"DROP TABLE IF EXISTS {weights};",
        f"DROP TYPE IF EXISTS {rows};",
        "GO",
        f"CREATE TYPE {rows} AS TABLE (",
        f"    {key} bigint NOT NULL PRIMARY KEY,",
        *_types(columns),
        ");",
        f"{table};",
        "GO",
        *_batches(inserts),
        f"CREATE CLUSTERED INDEX [by_source] ON {weights} ([step], [source]);",
        "GO",
        f"CREATE FUNCTION {function} (@rows {rows} READONLY)",
        "RETURNS TABLE WITH SCHEMABINDING AS RETURN (",
        query,
        ");",
        "GO",
    ]
    heading = _heading(function, rows, [one.identifier for one in columns], key)
    text = "\n".join([*heading, *made, ""])
    return TsqlScript(text, query, table, weights, tuple(columns), answers.columns, inserts, edges)


def _parts(model: Model) -> tuple[SteppedNetwork, list[ColumnText], Answers]:
    output, encoding = model.graph.output, model.encoding
    if output is None:
        raise ExportError("The network has no output.")
    if len(encoding.columns) >= _MOST_COLUMNS:
        raise ExportError(
            f"The model reads {len(encoding.columns):,} columns; a table type of SQL Server has "
            f"{_MOST_COLUMNS:,} at most, the key of rows among them. Export it with --to onnx."
        )
    network = steps_of(model.graph, model.tensors, output)
    columns = column_texts(encoding, model.normalizer, _KEY, model.settings.dtype)
    return network, columns, _answers(model, output.size)


def _answers(model: Model, size: int) -> Answers:
    """What a model answers, under the names of `netsharp predict`."""
    classes, scale = model.classes, model.objective.scale
    count = size if classes is None else len(classes)
    if count > _MOST_ANSWERS:
        raise ExportError(
            f"The model answers with {count:,} numbers; a query is to give {_MOST_ANSWERS:,} at "
            "most. Export it with --to onnx."
        )
    return Answers(classes, scale, tuple(distinct_names(answer_names(model), [_KEY])))


def _heading(function: str, rows: str, columns: Sequence[str], key: str) -> Iterator[str]:
    """Comments that say how the function is used."""
    first = ", ".join(columns[:3]) + ", ..." * (len(columns) > 3)
    yield "-- A network that netsharp trained, for SQL Server 2016 and later. To score rows:"
    yield "--"
    yield f"--   DECLARE @rows {rows};"
    yield f"--   INSERT @rows ({key}, {first}) SELECT ... FROM ...;"
    yield f"--   SELECT * FROM {function}(@rows);"
    yield "--"
    yield "-- A row whose columns the model cannot read has NULL for an answer."
    yield ""


def _types(columns: Sequence[ColumnText]) -> Iterator[str]:
    for place, one in enumerate(columns, 1):
        kind = "double precision" if one.numeric else f"nvarchar(4000) COLLATE {_COLLATION}"
        yield f"    {one.identifier} {kind} NULL" + "," * (place < len(columns))


def _inserts(network: SteppedNetwork, weights: str) -> Iterator[str]:
    """Statements that fill the table."""
    for place, step in enumerate(network.steps, 1):
        order = step.sources.argsort(kind="stable")
        found = zip(
            step.sources[order].tolist(),
            step.destinations[order].tolist(),
            step.weights[order].tolist(),
            strict=True,
        )
        rows = [f"({place}, {a}, {b}, {_weight(w)})" for a, b, w in found]
        for start in range(0, len(rows), MOST_VALUES):
            part = ",\n    ".join(rows[start : start + MOST_VALUES])
            columns = "[step], [source], [destination], [weight]"
            yield f"INSERT {weights} ({columns}) VALUES\n    {part}"


def _weight(value: float) -> str:
    return "NULL" if math.isnan(value) else number(value)


def _batches(statements: Sequence[str]) -> Iterator[str]:
    for place, one in enumerate(statements, 1):
        yield f"{one};"
        if place % _BATCH == 0 or place == len(statements):
            yield "GO"
