"""A script of T-SQL that makes the objects for scoring rows: a type for rows, tables of features
and weights, and an inline function around one SELECT. Run again it replaces them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.tsql.features import (
    TEXT_TYPE,
    Bin,
    ColumnText,
    FeatureRow,
    FeatureTables,
    feature_tables,
)
from netsharp_engine.exporting.tsql.network import SteppedNetwork, steps_of
from netsharp_engine.exporting.tsql.query import Answers, QueryNames, select
from netsharp_engine.exporting.tsql.words import (
    LONGEST_NAME,
    distinct_names,
    number,
    quoted_name,
    text,
)
from netsharp_engine.model.naming import answer_names

if TYPE_CHECKING:
    from netsharp_engine.model import Model

#: How many rows VALUES may have [Microsoft: Table Value Constructor].
MOST_VALUES = 1000
#: What a table type may have of columns, the key among them, and a row of bytes [Microsoft: Maximum
#: capacity specifications].
_MOST_COLUMNS, _MOST_BYTES = 1024, 8060
#: What a row has of bytes beside its columns, a number, and a text that lies elsewhere, with its
#: place in the row [Microsoft: Estimate the size of a heap].
_ROW, _NUMBER, _TEXT = 4 + 2 + 2, 8, 24 + 2
_KEY, _SCHEMA = "row_id", "[dbo]"
#: The number of rows whose statements are one batch.
_BATCH = 20
_COLLATION = "Latin1_General_100_BIN2"


class TsqlTable(NamedTuple):
    """A table: its name with the schema, the statement that makes it, that for its index, its rows
    as they follow VALUES, and whether these are numbers alone.
    """

    name: str
    made: str
    indexed: str
    rows: Sequence[str]
    numeric: bool

    def inserts(self) -> Iterator[str]:
        """Yield statements that fill it."""
        for start in range(0, len(self.rows), MOST_VALUES):
            part = ",\n    ".join(self.rows[start : start + MOST_VALUES])
            yield f"INSERT {self.name} VALUES\n    {part}"


class TsqlScript(NamedTuple):
    """A script: its text, the query in it, the tables that this reads, the columns that are read,
    those of answers, and how many weights it has.
    """

    text: str
    query: str
    tables: tuple[TsqlTable, ...]
    columns: tuple[ColumnText, ...]
    answers: tuple[str, ...]
    edges: int


def scripted(model: Model, name: str) -> TsqlScript:
    """Return a model as a script whose function has this name; ExportError where T-SQL cannot hold
    it.
    """
    network, known, answers = _parts(model)
    names = _names(name)
    function, rows = names[""], names["_rows"]
    tables = [
        _features(names["_features"], known.features),
        *([] if known.bins is None else [_bins(names["_bins"], known.bins)]),
        _weights(names["_weights"], network),
    ]
    key = quoted_name(_KEY)
    bins = None if known.bins is None else names["_bins"]
    read = QueryNames(key, names["_features"], bins, names["_weights"])
    query = select(network, known.columns, answers, read)
    made = [
        f"DROP FUNCTION IF EXISTS {function};",
        *(f"DROP TABLE IF EXISTS {names[ending]};" for ending in _TABLES),
        f"DROP TYPE IF EXISTS {rows};",
        "GO",
        f"CREATE TYPE {rows} AS TABLE (",
        f"    {key} bigint NOT NULL PRIMARY KEY,",
        *_types(known.columns),
        ");",
        *(f"{one.made};" for one in tables),
        "GO",
        *_batches(statement for one in tables for statement in one.inserts()),
        *(f"{one.indexed};" for one in tables),
        "GO",
        f"CREATE FUNCTION {function} (@rows {rows} READONLY)",
        "RETURNS TABLE WITH SCHEMABINDING AS RETURN (",
        query,
        ");",
        "GO",
    ]
    heading = _heading(function, rows, [one.identifier for one in known.columns], key)
    edges = sum(len(step.weights) for step in network.steps)
    whole = "\n".join([*heading, *made, ""])
    return TsqlScript(whole, query, tuple(tables), known.columns, answers.columns, edges)


#: The suffixes of the tables, after the name of the function.
_TABLES = ("_features", "_bins", "_weights")


def _names(name: str) -> dict[str, str]:
    """Return the names of the objects, by the ending after the name of the function.

    A table whose name begins with # would be gone with the connection.
    """
    endings = ("", "_rows", *_TABLES)
    most = LONGEST_NAME - max(map(len, endings))
    (plain,) = distinct_names([name.lstrip("#") or "model"], most=most)
    return {ending: f"{_SCHEMA}.{quoted_name(plain + ending)}" for ending in endings}


def _parts(model: Model) -> tuple[SteppedNetwork, FeatureTables, Answers]:
    output = model.graph.output
    if output is None:
        raise ExportError("The network has no output.")
    _require_room(model)
    known = feature_tables(model.encoding, model.normalizer, _KEY, model.settings.dtype)
    answers = _answers(model, output.size)
    count = len(known.features) + len(known.bins or ())
    network = steps_of(model.graph, model.tensors, output, count)
    return network, known, answers


def _require_room(model: Model) -> None:
    """Raise ExportError where a row of the columns is more than a table type takes."""
    columns = model.encoding.columns
    if len(columns) >= _MOST_COLUMNS:
        raise ExportError(
            f"The model reads {len(columns):,} columns; a table type of SQL Server has "
            f"{_MOST_COLUMNS:,} at most, the key of rows among them. Export it with --to onnx."
        )
    numbers = sum(one.levels is None for one in columns)
    texts = len(columns) - numbers
    needed = _row_bytes(numbers + 1, texts)
    if needed > _MOST_BYTES:
        raise ExportError(
            f"The model reads {_counted(numbers, 'column')} of numbers and {texts:,} of texts. "
            f"With the key, {_NUMBER} bytes for a number and {_TEXT} for a long text a row takes "
            f"{needed:,} bytes, and SQL Server has {_MOST_BYTES:,} for one. Export it with --to "
            "onnx."
        )


def _row_bytes(numbers: int, texts: int) -> int:
    nulls = (numbers + texts + 7) // 8
    return _ROW + nulls + _NUMBER * numbers + _TEXT * texts


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _answers(model: Model, size: int) -> Answers:
    """Return a model's answers, under the names of `netsharp predict`."""
    classes, scale = model.classes, model.objective.scale
    count = size if classes is None else len(classes)
    # The key, the number of the best class, and each answer are a row that is worked with.
    needed = _row_bytes(count + 2, 0)
    if needed > _MOST_BYTES:
        raise ExportError(
            f"The model answers with {count:,} numbers; with the key a row of them takes "
            f"{needed:,} bytes, and SQL Server has {_MOST_BYTES:,} for one. Export it with --to "
            "onnx."
        )
    return Answers(classes, scale, tuple(distinct_names(answer_names(model), [_KEY])))


def _heading(function: str, rows: str, columns: Sequence[str], key: str) -> Iterator[str]:
    """Yield comments about the use of the function."""
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
        kind = "double precision" if one.numeric else f"{TEXT_TYPE} COLLATE {_COLLATION}"
        yield f"    {one.identifier} {kind} NULL" + "," * (place < len(columns))


def _features(name: str, rows: Sequence[FeatureRow]) -> TsqlTable:
    made = (
        f"CREATE TABLE {name} ([unit] int NOT NULL, [column] int NOT NULL, [kind] int NOT NULL, "
        f"[level] nvarchar(4000) COLLATE {_COLLATION} NULL, [fill] double precision NULL, "
        "[low] double precision NULL, [high] double precision NULL, "
        "[offset] double precision NOT NULL, [scale] double precision NOT NULL)"
    )
    index = f"CREATE CLUSTERED INDEX [by_column] ON {name} ([column])"
    shown = [
        f"({one.unit}, {one.column}, {one.kind}, "
        f"{'NULL' if one.level is None else text(one.level)}, {', '.join(map(number, one[4:]))})"
        for one in rows
    ]
    return TsqlTable(name, made, index, shown, all(one.level is None for one in rows))


def _bins(name: str, rows: Sequence[Bin]) -> TsqlTable:
    made = (
        f"CREATE TABLE {name} ([unit] int NOT NULL, [low] double precision NULL, "
        "[high] double precision NULL, [value] double precision NOT NULL)"
    )
    index = f"CREATE CLUSTERED INDEX [by_unit] ON {name} ([unit], [low])"
    shown = [f"({one.unit}, {', '.join(map(number, one[1:]))})" for one in rows]
    return TsqlTable(name, made, index, shown, True)


def _weights(name: str, network: SteppedNetwork) -> TsqlTable:
    made = (
        f"CREATE TABLE {name} ([step] int NOT NULL, [source] int NOT NULL, "
        "[destination] int NOT NULL, [weight] double precision NULL)"
    )
    index = f"CREATE CLUSTERED INDEX [by_source] ON {name} ([step], [source])"
    shown: list[str] = []
    for place, step in enumerate(network.steps, 1):
        order = step.sources.argsort(kind="stable")
        found = zip(
            step.sources[order].tolist(),
            step.destinations[order].tolist(),
            step.weights[order].tolist(),
            strict=True,
        )
        shown += [f"({place}, {a}, {b}, {_weight(w)})" for a, b, w in found]
    return TsqlTable(name, made, index, shown, True)


def _weight(value: float) -> str:
    return number(None if math.isnan(value) else value)


def _batches(statements: Iterator[str]) -> Iterator[str]:
    place = 0
    for place, one in enumerate(statements, 1):
        yield f"{one};"
        if place % _BATCH == 0:
            yield "GO"
    if place % _BATCH:
        yield "GO"
