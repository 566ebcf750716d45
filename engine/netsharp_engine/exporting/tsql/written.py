"""The script of a model, with sentences about it.

ExportError where T-SQL cannot hold the network, and where its answers are further from the engine's
than the bound.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.differences import BOUND, OutputDifference, require_close
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.sampling import random_rows
from netsharp_engine.exporting.tsql.comparing import compared_model, has_duckdb
from netsharp_engine.exporting.tsql.script import scripted

if TYPE_CHECKING:
    from netsharp_engine.exporting.values import Array
    from netsharp_engine.model import Model

_SEED = 1


class WrittenTsql(NamedTuple):
    """A script: its bytes, how many weights its table has, the columns of rows and of answers, and
    how far its answers are from the engine's; None where DuckDB or sqlglot is not installed.
    """

    data: bytes
    weights: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    differences: tuple[OutputDifference, ...] | None


def write_tsql(
    source: Portable | Model, name: str, samples: Iterable[Array] | None = None
) -> WrittenTsql:
    """Export a model of tables as a script whose function has a name, and compare it on samples.

    ``samples`` are arrays [rows, features]; random ones where there are none. ExportError as the
    module says.
    """
    if isinstance(source, Portable):
        raise ExportError(
            "T-SQL scores rows of tables, and this network's inputs are not columns of one. Export "
            "it with --to onnx."
        )
    script = scripted(source, name)
    apart = None
    if has_duckdb():
        rows = [random_rows(source, _SEED)] if samples is None else samples
        apart = tuple(compared_model(source, script, rows))
    elif samples is not None:
        raise ExportError("Answers are compared by DuckDB and sqlglot, which are not installed.")
    require_close(apart or (), BOUND)
    # sqlcmd and old editors take a file for text of the machine's own code page without its mark.
    mark = b"" if script.text.isascii() else codecs.BOM_UTF8
    columns = tuple(one.identifier for one in script.columns)
    return WrittenTsql(mark + script.text.encode(), script.edges, columns, script.answers, apart)
