"""The beginning and the end: what the server offers, folders, shutdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp import __version__
from netsharp_lsp.server.handlers.workspace import configuration
from netsharp_lsp.server.offers.capabilities import OFFERED, capabilities
from netsharp_lsp.server.offers.registration import register

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from netsharp_lsp.server.session import Session


def initialize(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    """Return the server's capabilities for this client."""
    session.begin(params)
    return {
        "capabilities": capabilities(session.client),
        "serverInfo": {"name": "netsharp", "version": __version__},
    }


def initialized(session: Session, params: Any) -> Awaitable[None]:
    """Note that the client is ready, and send the requests that had to wait."""
    session.stage = "ready"
    register(session, OFFERED)
    return configuration.begin(session)


def shutdown(session: Session, params: Any) -> None:
    """End everything in progress; later messages are refused, except `exit`."""
    session.stage = "ending"
    session.close()


def did_change_folders(session: Session, params: dict[str, Any]) -> Awaitable[None] | None:
    """Take and leave folders of the workspace, and ask for the settings of those that are left."""
    event = params["event"]
    for folder in event.get("removed") or []:
        session.folders.pop(folder["uri"], None)
        session.settings.drop(folder["uri"])
    for folder in event.get("added") or []:
        session.folders[folder["uri"]] = folder.get("name", "")
    session.roots.renew()
    session.experiments.forget()
    return configuration.did_change_configuration(session, {})
