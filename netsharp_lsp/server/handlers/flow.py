"""Call hierarchy, read as the flow of data: what feeds a layer, and what it feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.handlers.symbols import KINDS

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Flow
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.views import View

Plain = dict[str, Any]


def prepare(session: Session, params: lsp.CallHierarchyPrepareParams) -> list[Plain] | None:
    """Return the layer at a position."""
    place = session.place(params.text_document.uri, params.position)
    found = place.view.snapshot.flow(place.offset) if place is not None else None
    return None if place is None or found is None else [_item(place.view, found)]


def incoming(session: Session, params: Plain) -> list[Plain] | None:
    """Return the layers whose values a layer reads."""
    return _calls(session, params["item"], "from")


def outgoing(session: Session, params: Plain) -> list[Plain] | None:
    """Return the layers that read a layer's values."""
    return _calls(session, params["item"], "to")


def _calls(session: Session, item: Plain, end: str) -> list[Plain] | None:
    data = item.get("data") or {}
    view = session.view(data.get("uri", ""), data.get("view", -1))
    if view is None:
        return None
    flows = view.snapshot.feeds(data.get("name", ""), backwards=end == "from")
    return [
        {
            end: _item(view, flow),
            "fromRanges": [view.span(*place) for place in flow.places],
        }
        for flow in flows
    ]


def _item(view: View, flow: Flow) -> Plain:
    target = flow.target
    return {
        "name": flow.name,
        "detail": flow.detail,
        "kind": KINDS[flow.kind],
        "uri": view.document.uri,
        "range": view.span(target.start, target.end),
        "selectionRange": view.span(target.name_start, target.name_end),
        "data": {**view.address, "name": flow.name},
    }
