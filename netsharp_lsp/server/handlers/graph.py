"""netsharp/graph: a network as JSON with its picture and where its parts stand in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Graph
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.views import OpenDocument, View

Plain = dict[str, Any]


def graph(session: Session, params: Plain) -> Plain:
    """Return the network of a document: the one at `position`, or named `name`, else the first."""
    uri = params["textDocument"]["uri"]
    document = session.document(uri)
    view = None if document is None else _meant(session, document, params)
    if document is None or view is None:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, "There is no specification here.")
    return session.graphs.of(document, view)


class Graphs:
    """The graphs that were asked for last, one a document; made anew when the text changes."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[Any, ...], Plain]] = {}

    def of(self, document: OpenDocument, view: View) -> Plain:
        """Return the graph of a specification."""
        key = (document.version, view, view.snapshot)
        made = self._made.get(document.uri)
        if made is None or made[0] != key:
            made = self._made[document.uri] = (key, _plain(document, view))
        return made[1]

    def leave(self, uri: str) -> None:
        """Forget a document."""
        self._made.pop(uri, None)


def _meant(session: Session, document: OpenDocument, params: Plain) -> View | None:
    position, name = params.get("position"), params.get("name")
    if name is not None:
        named = (v for v in document.views if v.region is not None and v.region.name == name)
        return next(named, None)
    if position is not None:
        place = session.ruler.offset(document.lines, position["line"], position["character"])
        found = document.view_at(place)
        if found is not None:
            return found[0]
    return document.views[0] if document.views else None


def _plain(document: OpenDocument, view: View) -> Plain:
    made = view.snapshot.graph()
    description = dict(made.description)
    picture = description.pop("picture")
    boxes, arrows = picture["boxes"], iter(picture["arrows"])
    layers = []
    for layer in description["layers"]:
        box = boxes[layer["name"]]
        bundles = []
        for number, bundle in enumerate(layer["bundles"]):
            drawn = bundle["source"] in boxes
            points = next(arrows)["points"] if drawn else []
            span = made.bundle_places.get((layer["name"], number))
            place = view.span(*span) if span is not None else None
            bundles.append({**bundle, "points": points, "range": place})
        where = {"position": _place(box), **_ranges(view, made, layer)}
        layers.append({**layer, "bundles": bundles, **where})
    return {
        **description,
        "layers": layers,
        "width": picture["width"],
        "height": picture["height"],
        "version": document.version,
        "uri": document.uri,
    }


def _place(box: Plain) -> Plain:
    return {side: box[side] for side in ("x", "y", "width", "height")}


def _ranges(view: View, made: Graph, layer: Plain) -> Plain:
    target = made.places.get(layer["name"])
    if target is None:
        return {"range": None, "selectionRange": None}
    return {
        "range": view.span(target.start, target.end),
        "selectionRange": view.span(target.name_start, target.name_end),
    }
