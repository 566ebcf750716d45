"""netsharp.server.bindData [uri, dataPath?]: write the run file that trains a specification."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_lsp.project.binding import bind, tables_beside
from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from netsharp_lsp.project.binding import Bound
    from netsharp_lsp.server.commands.call import Execution

#: The most tables that a question with buttons offers.
MOST_CHOICES = 8


async def bind_data(call: Execution) -> dict[str, str | None] | None:
    """Bind a table to a document and show the run file. Return the edit that was written."""
    uri = call.text(0, "the URI of a document")
    path = path_of(uri)
    if path is None:
        call.warn("A run file lies beside its specification: save the document first.")
        return None
    if not call.session.trusted:
        call.warn(f"{name_of(uri)}: no data is read in a workspace that is not trusted.")
        return None
    table = await _table(call, path)
    if table is None:
        return None
    bound = bind(path, table)
    if isinstance(bound, str):
        call.warn(bound)
        return None
    call.session.contexts.look_again()
    call.show_message(_message(bound))
    await call.show(bound.path, "The run file is")
    return {"runFile": bound.path, "data": bound.data, "label": bound.label}


async def _table(call: Execution, path: str) -> str | None:
    """Return the table: the one named, the only one beside, or the one that the user chooses."""
    given = call.text_or_none(1, "the path of a table")
    if given:
        return path_of(given) or os.path.join(os.path.dirname(path), given)
    tables = tables_beside(path, call.session.roots)
    if not tables:
        call.warn(f"No CSV, TSV or Parquet file lies beside {os.path.basename(path)}.")
        return None
    if len(tables) == 1:
        return tables[0]
    names = [os.path.basename(table) for table in tables]
    question = f"Which table is {os.path.basename(path)} trained on?"
    few = len(names) <= MOST_CHOICES
    chosen = await call.choose(question, names) if few else None
    if chosen not in names:
        call.warn(f"{question} The command takes one of these after the URI: {', '.join(names)}.")
        return None
    return tables[names.index(chosen)]


def _message(bound: Bound) -> str:
    label = f", predicting '{bound.label}'" if bound.label is not None else ""
    doubt = " (the last column; name another there if that is wrong)" if bound.guessed else ""
    return f"Wrote {os.path.basename(bound.path)}: trains on {bound.data}{label}{doubt}."
