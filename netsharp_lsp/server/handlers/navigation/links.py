"""textDocument/documentLink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.publishing import page_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.server.session import Session


def document_links(session: Session, params: lsp.DocumentLinkParams) -> list[dict[str, Any]]:
    """Return the links: addresses, and codes of rules, which lead to their pages."""
    tooltips = session.client.can("textDocument.documentLink.tooltipSupport")
    links: list[dict[str, Any]] = []
    for view, _, _ in session.places(params.text_document.uri, None):
        for link in view.snapshot.links():
            target = link.url or page_of(view.language, link.code)
            plain = {"range": view.span(link.start, link.end), "target": target}
            if tooltips and link.tooltip:
                plain["tooltip"] = link.tooltip
            links.append(plain)
    return links
