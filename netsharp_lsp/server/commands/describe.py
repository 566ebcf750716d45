"""netsharp.server.describe [uri]: the tables of a network, as Markdown in the session's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.commands.depicting import depict

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def describe(call: Execution) -> None:
    """Show the sizes of a document's networks."""
    document = call.document()
    if document is None:
        return
    parts = []
    for view in list(document.views):
        tables = await depict(call, view, "markdown")
        if tables is None:
            return
        name = view.region.name if view.region is not None else None
        parts.append(f"# {name or name_of(document.uri)}\n\n{tables}")
    path = call.session.scratch.write(document.uri, ".md", "\n".join(parts))
    await call.show(path, f"{name_of(document.uri)} is described in")
