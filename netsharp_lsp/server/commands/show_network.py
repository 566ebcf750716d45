"""netsharp.server.showNetwork [uri, name?]: the picture of a network, in the session's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.server.commands.call import name_of
from netsharp_lsp.server.commands.depicting import depict

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def show_network(call: Execution) -> None:
    """Show the picture of a document's network, of the one named where it holds several."""
    document = call.document()
    if document is None:
        return
    name = call.text_or_none(1, "the name of a network")
    named = [each for each in document.views if each.region and each.region.name == name]
    picture = await depict(call, (named or document.views)[0], "svg")
    if picture is None:
        return
    path = call.session.scratch.write(document.uri, ".svg", picture)
    await call.show(path, f"The picture of {name_of(document.uri)} is in", external=True)
