"""What the server offers, as plain JSON: it is answered before the protocol's types are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsharp_lsp.server.client import Client


def capabilities(client: Client) -> dict[str, Any]:
    """Return the server's capabilities for a client."""
    offered: dict[str, Any] = {
        "positionEncoding": client.encoding,
        "textDocumentSync": {
            "openClose": True,
            "change": 2,
            "save": False,
            "willSave": False,
            "willSaveWaitUntil": False,
        },
        "hoverProvider": True,
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }
    return offered
