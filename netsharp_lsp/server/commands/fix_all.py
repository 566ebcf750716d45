"""netsharp.server.fixAll [uri]: apply all safe fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.repairs import repairs

if TYPE_CHECKING:
    from netsharp_lsp.server.commands.call import Execution


async def fix_all(call: Execution) -> dict[str, Any] | None:
    """Apply all safe fixes in a document, and those that they uncover."""
    document = call.document()
    if document is None:
        return None
    return await call.apply(document, repairs(call.session, document), "Apply all safe fixes")
