"""The query of a script in DuckDB, compared with the engine.

It is the only module that imports DuckDB and sqlglot, which translates the query.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.exporting.differences import (
    OutputDifference,
    differences,
    require_same_classes,
)
from netsharp_engine.exporting.values import Array

if TYPE_CHECKING:
    from netsharp_engine.exporting.tsql.features import ColumnText
    from netsharp_engine.exporting.tsql.script import TsqlScript, TsqlTable
    from netsharp_engine.model import Model

PROGRAM = "DuckDB"
_ROWS = "rows given"
#: A text that is a level of no model.
_UNSEEN = "\u0001 unseen"


def has_duckdb() -> bool:
    """Return whether DuckDB and sqlglot are installed."""
    return all(find_spec(name) is not None for name in ("duckdb", "sqlglot"))


class Database:
    """A database in memory that has the tables of a script."""

    def __init__(self, script: TsqlScript) -> None:
        import duckdb

        self._script = script
        self._connection = duckdb.connect()
        self._connection.execute("CREATE SCHEMA IF NOT EXISTS dbo")
        for table in script.tables:
            self._connection.execute(in_duckdb(table.made))
            if table.numeric:
                self._load(table)
            else:
                for statement in table.inserts():
                    self._connection.execute(in_duckdb(statement))
        self._query = in_duckdb(script.query)

    def _load(self, table: TsqlTable) -> None:
        """Fill a table with its rows as a file; to parse a million statements takes a minute."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            with open(path, "w", encoding="ascii") as stream:
                for row in table.rows:
                    stream.write(row[1:-1].replace(" ", "") + "\n")
            name = in_duckdb(f"SELECT 1 FROM {table.name}").partition("FROM ")[2]
            shown = path.replace("'", "''")
            self._connection.execute(f"COPY {name} FROM '{shown}' (HEADER false, NULLSTR 'NULL')")

    def __call__(self, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Return the answers to rows, in their order, without the key."""
        if not rows:
            return []
        columns = [np.array(column, object) for column in zip(*rows, strict=True)]
        given = {f"c{place}": column for place, column in enumerate(columns)}
        given["row_id"] = np.arange(len(rows))
        self._connection.register("given", given)
        shown = ", ".join(
            f"CAST(c{place} AS {'DOUBLE' if one.numeric else 'VARCHAR'}) AS {_identifier(one)}"
            for place, one in enumerate(self._script.columns)
        )
        run = self._connection.execute
        run(f'CREATE OR REPLACE VIEW "{_ROWS}" AS SELECT row_id, {shown} FROM given')
        found = sorted(run(self._query).fetchall())
        return [row[1:] for row in found]


def _identifier(column: ColumnText) -> str:
    name = column.identifier[1:-1].replace("]]", "]")
    return '"' + name.replace('"', '""') + '"'


def in_duckdb(statement: str) -> str:
    """Return a statement of T-SQL in DuckDB's dialect: the rows given are a table, and texts are
    compared by their bytes without a collation.
    """
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(statement, read="tsql")
    for constraint in list(tree.find_all(exp.ColumnConstraint)):
        if isinstance(constraint.kind, exp.CollateColumnConstraint):
            constraint.pop()
    for one in list(tree.find_all(exp.Table)):
        if isinstance(one.this, exp.Parameter):
            one.set("this", exp.to_identifier(_ROWS, quoted=True))
    found: str = tree.sql(dialect="duckdb")
    return found


def compared_model(
    model: Model, script: TsqlScript, rows: Iterable[Array]
) -> list[OutputDifference]:
    """Compare the answers of a model and of its script for rows [rows, features] before they are
    normalised.

    ExportError where labels differ.
    """
    database = Database(script)
    apart: list[OutputDifference] = []
    for features in rows:
        found = database(cells_of(model, features))
        ours = model.answered(model.compute(features))
        if ours.probabilities is None:
            known = np.asarray(ours.predicted, np.float64).reshape(len(features), -1)
            theirs = np.array(found, np.float64)
        else:
            known = ours.probabilities
            theirs = np.array([row[1:] for row in found], np.float64)
        # Rows that the model cannot read have no answer: NULL here, no number there.
        fresh = differences(PROGRAM, [_what(model)], [known], [theirs])
        if ours.probabilities is not None:
            labels = np.array([row[0] for row in found], object)
            require_same_classes(PROGRAM, ours.probabilities, ours.predicted, labels, fresh[0])
        apart = [one.joined(other) for one, other in zip(apart or fresh, fresh, strict=True)]
    return apart


def _what(model: Model) -> str:
    return "prediction" if model.classes is None else "probabilities"


def cells_of(model: Model, features: Array) -> list[list[float | str | None]]:
    """Return rows [rows, features] as the cells that they were made of."""
    columns: list[list[float | str | None]] = []
    at = 0
    for column in model.encoding.columns:
        values = features[:, at].astype(np.float64)
        if column.levels is None:
            missing: Any = features[:, at + 1] > 0 if column.marked else np.isnan(values)
            kept = values.astype(object)
            kept[missing] = None
            columns.append(kept.tolist())
            at += 1 + column.marked
            continue
        width = len(column.levels)
        marks = features[:, at : at + width] > 0
        seen: Any = marks.any(1)
        best: Any = marks.argmax(1)
        columns.append(
            [
                column.levels[one] if there else _UNSEEN
                for one, there in zip(best, seen, strict=True)
            ]
        )
        at += width + model.encoding.unknown
    return [list(row) for row in zip(*columns, strict=True)]
