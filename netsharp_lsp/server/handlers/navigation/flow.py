"""Call hierarchy, read as the flow of data: what feeds a layer, and what it feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.handlers.navigation.symbols import kinds_for
from netsharp_lsp.server.transport.parameters import brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Flow
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

_DATA = "params.item.data"


def prepare(session: Session, params: lsp.CallHierarchyPrepareParams) -> list[Plain] | None:
    """Return the layer at a position."""
    place = session.place(params.text_document.uri, params.position)
    found = place.view.snapshot.flow(place.offset) if place is not None else None
    if place is None or found is None:
        return None
    return [_item(place.view, found, kinds_for(session, "textDocument.documentSymbol"))]


def incoming(session: Session, params: Plain) -> list[Plain] | None:
    """Return the layers whose values a layer reads."""
    data = brought_back("callHierarchy/incomingCalls", params["item"].get("data"), _DATA)
    return _calls(session, data, "from")


def outgoing(session: Session, params: Plain) -> list[Plain] | None:
    """Return the layers that read a layer's values."""
    data = brought_back("callHierarchy/outgoingCalls", params["item"].get("data"), _DATA)
    return _calls(session, data, "to")


def _calls(session: Session, data: Plain, end: str) -> list[Plain] | None:
    view = session.view(data["uri"], data["view"])
    if view is None:
        return None
    flows = view.snapshot.feeds(data["name"], backwards=end == "from")
    kinds = kinds_for(session, "textDocument.documentSymbol")
    return [
        {
            end: _item(view, flow, kinds),
            "fromRanges": [view.span(*place) for place in flow.places],
        }
        for flow in flows
    ]


def _item(view: View, flow: Flow, kinds: Mapping[str, int]) -> Plain:
    target = flow.target
    return {
        "name": flow.name,
        "detail": flow.detail,
        "kind": kinds[flow.kind],
        "uri": view.document.uri,
        "range": view.span(target.start, target.end),
        "selectionRange": view.span(target.name_start, target.name_end),
        "data": {**view.address, "name": flow.name},
    }
