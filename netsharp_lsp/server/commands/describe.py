"""netsharp.server.describe [uri]: the tables of a network, as Markdown in the session's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.description.tables import render_markdown
from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.sound import described

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Call


async def describe(call: Call) -> None:
    """Show what the networks of a document are, in numbers."""
    document = call.document()
    if document is None:
        return
    parts = []
    for view in document.views:
        description = described(view)
        if isinstance(description, str):
            call.warn(description)
            return
        name = view.region.name if view.region is not None else None
        parts.append(f"# {name or name_of(document.uri)}\n\n{render_markdown(description)}")
    path = call.session.scratch.write(document.uri, ".md", "\n".join(parts))
    await call.show(path, f"{name_of(document.uri)} is described in")
