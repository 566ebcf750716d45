"""The beginning and the end: what the server offers, folders, shutdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp import __version__
from netsharp_lsp.server.capabilities import capabilities

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session


def initialize(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    """Answer what the server can do for this client."""
    session.begin(params)
    return {
        "capabilities": capabilities(session.client),
        "serverInfo": {"name": "netsharp", "version": __version__},
    }


def initialized(session: Session, params: Any) -> None:
    """Take note that the client is ready."""
    session.stage = "ready"


def shutdown(session: Session, params: Any) -> None:
    """End all that goes on; what comes now is refused, but for `exit`."""
    session.stage = "ending"
    session.close()


def did_change_folders(session: Session, params: dict[str, Any]) -> None:
    """Take and leave folders of the workspace."""
    event = params["event"]
    for folder in event.get("removed") or []:
        session.folders.pop(folder["uri"], None)
    for folder in event.get("added") or []:
        session.folders[folder["uri"]] = folder.get("name", "")
