"""textDocument/inlayHint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import InlayHint
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

_TYPE, _PARAMETER = 1, 2
_KINDS = {"shape": _TYPE, "constant": _PARAMETER, "default": _PARAMETER}


def inlay_hints(session: Session, params: lsp.InlayHintParams) -> list[dict[str, Any]]:
    """Return the hints of the range that is on the screen."""
    options = session.hint_options_of(params.text_document.uri)
    return [
        _plain(session, view, hint)
        for view, start, end in session.places(params.text_document.uri, params.range)
        for hint in view.snapshot.hints(start, end, options)
    ]


def _plain(session: Session, view: View, hint: InlayHint) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "position": view.span(hint.offset, hint.offset)["start"],
        "label": hint.label,
        "kind": _KINDS[hint.kind],
        "paddingLeft": True,
    }
    if hint.tooltip:
        # No capability covers tooltips: clients that show Markdown in hovers show it there too.
        contents = session.markup(hint.tooltip, "textDocument.hover.contentFormat")
        plain["tooltip"] = {"kind": contents.kind.value, "value": contents.value}
    return plain
