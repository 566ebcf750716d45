"""netsharp.server.showLayer [uri, name]: go to where a layer is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.server.commands.call import Execution
    from netsharp_lsp.server.documents.views import OpenDocument

LAYERS = ("input", "hidden", "output")


async def show_layer(call: Execution) -> dict[str, Any] | None:
    """Go to a layer; the result is its place, for a client that shows no documents."""
    document = call.document()
    if document is None:
        return None
    name = call.text(1, "the name of a layer")
    place = _place(document, name)
    if place is None:
        call.warn(f"{name_of(document.uri)} has no layer '{name}'.")
        return None
    path = path_of(document.uri)
    if path is not None:
        await call.show(path, f"{name} is declared at", selection=place)
    return {"uri": document.uri, "range": place}


def _place(document: OpenDocument, name: str) -> dict[str, Any] | None:
    for view in document.views:
        for symbol in view.snapshot.symbols():
            if symbol.name == name and symbol.kind in LAYERS:
                return view.span(symbol.name_start, symbol.name_end)
    return None
