"""Capabilities for our own languages only: a host's text has other tools for them.

A client that registers later is asked to take these for our languages; any other gets them with
the rest, and decides by the files it attaches us to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.language import language_ids

if TYPE_CHECKING:
    from netsharp_lsp.server.client.abilities import Client
    from netsharp_lsp.server.session import Session

#: A capability of the server, the client's ability, and the method that is registered.
OWN_ONLY = (
    ("documentFormattingProvider", "textDocument.formatting", "textDocument/formatting"),
    (
        "documentRangeFormattingProvider",
        "textDocument.rangeFormatting",
        "textDocument/rangeFormatting",
    ),
    (
        "documentOnTypeFormattingProvider",
        "textDocument.onTypeFormatting",
        "textDocument/onTypeFormatting",
    ),
    ("semanticTokensProvider", "textDocument.semanticTokens", "textDocument/semanticTokens"),
)


def offered_at_once(client: Client, offered: dict[str, Any]) -> dict[str, Any]:
    """Return capabilities without those that are registered later."""
    later = {name for name, ability, _ in OWN_ONLY if _registers(client, ability)}
    return {name: value for name, value in offered.items() if name not in later}


def register(session: Session, offered: dict[str, Any]) -> None:
    """Register the features of our languages only, if the client supports that."""
    selector = [{"language": language} for language in language_ids()]
    registrations = [
        {
            "id": f"netsharp-{method}",
            "method": method,
            "registerOptions": {"documentSelector": selector, **_options(offered[name])},
        }
        for name, ability, method in OWN_ONLY
        if _registers(session.client, ability)
    ]
    if registrations:
        session.prompt("client/registerCapability", {"registrations": registrations})


def _registers(client: Client, ability: str) -> bool:
    return client.can(f"{ability}.dynamicRegistration")


def _options(value: Any) -> dict[str, Any]:
    """Return a capability that is only true has no options."""
    return value if isinstance(value, dict) else {}
