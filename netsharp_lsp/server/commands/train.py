"""netsharp.server.train [uri, {runFile?, resume?}] and netsharp.server.stopTraining [id?]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.answers.runs import start
from netsharp_lsp.server.transport.parameters import HOW_TO_RUN, demand
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def train(call: Execution) -> dict[str, str] | None:
    """Start training, and show a message at its end, as not every client follows runs."""
    uri = call.text(0, "the URI of a document")
    given = call.argument(1) or {}
    demand(HOW_TO_RUN, given, "params.arguments[1]")
    options = {**given, "told": True}
    try:
        return {"id": start(call.session, uri, options)}
    except RefusedError as refused:
        call.warn(refused.message)
        return None


async def stop_training(call: Execution) -> bool:
    """Stop a run, or all where none is named; return False where none was running."""
    name = call.text_or_none(0, "the id of a run")
    runs = call.session.runs
    stopped = [runs.stop(each) for each in (runs.ids if name is None else [name])]
    if not any(stopped):
        call.show_message("No training is running.")
    return any(stopped)
