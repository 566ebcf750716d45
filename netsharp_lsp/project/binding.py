"""Binding a table to a specification: writing the run file that names it, never over another.

Reads the table's header only; what the run file says beyond that is a person's matter.
"""

from __future__ import annotations

import json
import os

from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.project.run_file import run_file_path
from netsharp_lsp.project.table import Columns, is_table, read_names
from netsharp_lsp.project.writing import refusal, write_new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.project.roots import Roots

#: Formats that training reads too, whose columns only an optional package can read.
PARQUET = ".parquet"


class Bound:
    """A run file that was written: its path, the table it names, and the column to predict.

    `label` is None where the table has no header; `guessed` says that no column is called label
    and the last one was taken.
    """

    __slots__ = ("data", "guessed", "label", "path")

    def __init__(self, path: str, data: str, label: str | None, guessed: bool) -> None:
        self.path = path
        self.data = data
        self.label = label
        self.guessed = guessed


def tables_beside(specification: str, roots: Roots = ANYWHERE) -> list[str]:
    """Return the tables in a specification's folder that training can read, by name.

    Links that lead out of the roots are none.
    """
    folder = os.path.dirname(specification)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    readable = (name for name in names if is_table(name) or name.endswith(PARQUET))
    paths = [os.path.join(folder, name) for name in readable if not name.startswith(".")]
    return [path for path in paths if roots.holds(path)]


def bind(specification: str, table: str) -> Bound | str:
    """Write the run file that trains a specification on a table, or say why it is not written."""
    path = run_file_path(specification)
    if path is None:
        return f"{specification}: a settings file has the name of its run file. Rename it."
    if os.path.lexists(path):
        return f"{path}: this run file is there already. Name the table in it, under [data]."
    if not os.path.isfile(table):
        return f"{table}: there is no such file to bind."
    reason = refusal(path)
    if reason is not None:
        return reason
    bound = _bound(path, table)
    try:
        write_new(path, _run_file(specification, bound).encode())
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror}."
    return bound


def _bound(path: str, table: str) -> Bound:
    try:
        data = os.path.relpath(table, os.path.dirname(path)).replace(os.sep, "/")
    except ValueError:  # on Windows: another drive
        data = table
    names = read_names(table, Columns())
    if not names:
        return Bound(path, data, None, guessed=False)
    usual = [name for name in names if name.casefold() == "label"]
    return Bound(path, data, usual[0] if usual else names[-1], guessed=not usual)


def _run_file(specification: str, bound: Bound) -> str:
    name = os.path.basename(specification)
    lines = [
        f"# How `netsharp run {name}` trains; every key is also a flag.",
        "[data]",
        f"train = {_quoted(bound.data)}",
    ]
    if bound.label is not None:
        remark = "  # the last column; name the one to predict" if bound.guessed else ""
        lines.append(f"label = {_quoted(bound.label)}{remark}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a basic string of TOML: one of JSON, except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
