"""Settings as they come: pushed, or asked for by folder; and trust in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from netsharp_lsp.server.surroundings.preferences import SECTION
from netsharp_lsp.server.surroundings.settings import EVERYWHERE

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from netsharp_lsp.server.session import Session

CHANGED = "workspace/didChangeConfiguration"


async def begin(session: Session) -> None:
    """Register for changes of files and request settings, once the client is ready."""
    session.watching.begin()
    if session.client.can("workspace.didChangeConfiguration.dynamicRegistration"):
        registration: dict[str, Any] = {"id": "netsharp-settings", "method": CHANGED}
        registration["registerOptions"] = {"section": SECTION}
        session.prompt("client/registerCapability", {"registrations": [registration]})
    if session.client.can("workspace.configuration"):
        await pull(session)


def did_change_configuration(session: Session, params: Any) -> Awaitable[None] | None:
    """Take settings that are pushed, or ask for them where the client can be asked."""
    if session.client.can("workspace.configuration"):
        return pull(session)
    pushed = params.get("settings") if isinstance(params, dict) else None
    if isinstance(pushed, dict):
        session.settings.take(EVERYWHERE, pushed.get(SECTION, pushed))
        session.renew()
    return None


def did_trust(session: Session, params: Any) -> None:
    """Learn whether the workspace is trusted: only then tables are read and networks trained."""
    session.trusted = isinstance(params, dict) and bool(params.get("trusted"))
    session.roots.renew()
    session.settings.forget()
    session.experiments.forget()
    session.contexts.look_again(always=True)
    session.renew()


async def pull(session: Session) -> None:
    """Request the settings of each folder; without them those of the start are used."""
    scopes = [EVERYWHERE, *session.folders]
    items = [{"scopeUri": scope, "section": SECTION} for scope in scopes]
    items[0] = {"section": SECTION}
    try:
        answers = await session.request("workspace/configuration", {"items": items})
    except JsonRpcException as error:
        session.log(f"The client does not answer a request for its settings: {error}.")
        return
    sections = answers if isinstance(answers, list) else []
    for scope, values in zip(scopes, sections, strict=False):
        if values:
            session.settings.take(scope, values)
        elif scope == EVERYWHERE:
            session.settings.take(scope, session.options.get("settings"))
        else:
            session.settings.drop(scope)
    session.renew()
