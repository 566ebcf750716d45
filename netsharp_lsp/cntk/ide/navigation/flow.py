"""The flow of data between nodes that have names in the text, one node at a time."""

from __future__ import annotations

from collections import deque

from netsharp_lsp.cntk.checking.analysis import NOT_FILES
from netsharp_lsp.cntk.ide.places.listed_nodes import dotted_node
from netsharp_lsp.cntk.ide.places.nodes import NamedNode, named_nodes, readers, written_shape
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.ide.answers import Flow, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.ide.answers import Range


def flow_at(edited: Edited, offset: int) -> Flow | None:
    """Return the node that is named at an offset."""
    found = edited.occurrence_at(offset)
    if found is None:
        return None
    node = dotted_node(edited, offset)
    if node is not None:
        return _flow(node)
    known = named_nodes(edited)
    for one in edited.same(found):
        if one.declares and one.file == edited.name and one.start in known:
            return _flow(known[one.start])
    return None


def feeds(edited: Edited, name: str, *, backwards: bool) -> list[Flow]:
    """Return the named nodes that a node's values reach first, or (`backwards`) that reach it.

    Nodes without a name in the text are passed through.
    """
    known = named_nodes(edited)
    by_node = {id(one.node): one for one in known.values()}
    start = next((one for one in known.values() if one.node.name == name), None)
    start = start or _unnamed(edited, name)
    if start is None or start.built.network is None:
        return []
    network = start.built.network

    def next_to(node: Node) -> Iterator[Node]:
        yield from node.inputs if backwards else readers(network, node)

    waiting, seen, found = deque(next_to(start.node)), set(), []
    while waiting:
        node = waiting.popleft()
        if id(node) in seen:
            continue
        seen.add(id(node))
        named = by_node.get(id(node))
        if named is None:
            waiting += next_to(node)
        else:
            reader = start if backwards else named
            read = named if backwards else start
            found.append(_flow(named, _places(edited, reader, read)))
    return found


def _unnamed(edited: Edited, name: str) -> NamedNode | None:
    """Return a node without a name in the text, with the place that creates it."""
    for experiment, built in edited.networks():
        node = built.network.nodes.get(name) if built.network is not None else None
        if node is not None:
            source, start, end = node.where
            here = not source.startswith(NOT_FILES) and edited.is_here(experiment, source)
            place = Place(source, start, end) if here else Place(source, 0, 0)
            return NamedNode(node, place, built)
    return None


def _places(edited: Edited, reader: NamedNode, read: NamedNode) -> tuple[Range, ...]:
    """Return the places of one node's name in the line that declares another."""
    lines = edited.text.lines
    low, high = lines.span(lines.line_at(reader.name.start))
    wanted = edited.occurrence_at(read.name.start)
    if wanted is None:
        return ()
    return tuple(
        (one.start, one.end)
        for one in edited.same(wanted)
        if one.file == edited.name and low <= one.start < high and not one.declares
    )


def _flow(named: NamedNode, places: tuple[Range, ...] = ()) -> Flow:
    place, node = named.name, named.node
    target = Target(place.start, place.end, place.start, place.end)
    detail = f"{node.operation} [{written_shape(node.shape)}]"
    return Flow(target, node.name, detail, "node", places)
