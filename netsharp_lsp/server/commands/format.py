"""netsharp.server.format [uri]: put a document in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.arranging import formatted
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def format_document(call: Execution) -> dict[str, Any] | None:
    """Put each specification of a document in order that can be written back."""
    document = call.document()
    if document is None:
        return None
    edits = []
    try:
        for view in document.views:
            if view.editable:
                options = call.session.format_options(document.uri, view.language.id)
                edits += formatted(view, options)
    except RefusedError as refused:
        call.warn(refused.message)
        return None
    return await call.apply(document, edits, "Format")
