"""Runs of CNTK as settings declare them; executes and reads nothing."""

from __future__ import annotations

from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.workspace import Run

_KEYS = ("files", "set", "directory")


def declared_runs(table: object) -> list[Run] | str:
    """Read the value of `cntk.run` in settings; a sentence if it is invalid."""
    if not isinstance(table, list):
        return "cntk.run must be tables: write [[cntk.run]]."
    runs = []
    for row in table:
        run = _declared(row)
        if isinstance(run, str):
            return run
        runs.append(run)
    return runs


def _declared(row: object) -> Run | str:
    if not isinstance(row, dict):
        return "cntk.run must be tables: write [[cntk.run]]."
    for key in row:
        if key not in _KEYS:
            return f"cntk.run has no key '{key}'.{suggestion(key, _KEYS) or ''}"
    for key in ("files", "set"):
        given = row.get(key, [])
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            return f"cntk.run.{key} must be a list of strings."
    if not row.get("files"):
        return "cntk.run needs files: the configurations in the order in which they are layered."
    directory = row.get("directory", ".")
    if not isinstance(directory, str):
        return "cntk.run.directory must be a string."
    items = [f"configFile={name}" for name in row["files"]]
    return Run((*items, *row.get("set", [])), directory)
