"""Nodes of CNTK 2 that combine several operations, as one node for each; and nodes that are others
under another name. Knows shapes, and computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.cntk.networks.rules.reshaping import each, ranges

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from netsharp_engine import nodes as engine
    from netsharp_engine.graph import Graph
    from netsharp_lsp.cntk.networks.node import Node

    #: Attributes of the parts of a node, each of which reads the one before.
    Parts = list[tuple[str, dict[str, Any]]]


def in_parts(graph: Graph, node: Node, origin: object, *sources: engine.Node) -> engine.Node:
    """Add a node to a graph, part by part; the last part has its name."""
    first = sources[_READ.get(node.operation, 0)]
    parts = PARTS[node.operation](node) or [("Pass", {})]
    value = first
    for number, (operation, attributes) in enumerate(parts, 1):
        name = node.name if number == len(parts) else f"{node.name}.part{number}"
        value = graph.apply(operation, value, name=name, origin=origin, **attributes)
    return value


def _sliced(node: Node) -> Parts:
    return [
        (
            "Slice",
            {
                "axis": axis,
                "beginIndex": begin,
                "endIndex": end,
                **({"stride": stride} if stride != 1 else {}),
            },
        )
        for axis, begin, end, stride in ranges(node)
    ]


def _reduced(node: Node) -> Parts:
    """Reduce axis by axis; a reshape at the end removes dimensions that are not kept."""
    axes, kind = each(node, "axis"), node.text("reductionOp")
    parts: Parts = [
        ("ReduceElements", {"axis": axis, "reductionOp": kind})
        for axis in ((0,) if 0 in axes else axes)
    ]
    return parts if 0 in axes or node.truth("keepDimensions", True) else [*parts, _reshaped(node)]


def _transposed(node: Node) -> Parts:
    """Return an order of all axes as exchanges of two."""
    order = node.dimensions("order")
    if not order:
        return [("TransposeDimensions", {key: node.integer(key) for key in ("axis1", "axis2")})]
    parts: Parts = []
    now = list(range(1, len(order) + 1))
    for place, wanted in enumerate(order, 1):
        there = now.index(wanted) + 1
        if there != place:
            now[place - 1], now[there - 1] = now[there - 1], now[place - 1]
            parts.append(("TransposeDimensions", {"axis1": place, "axis2": there}))
    return parts


def _reshaped(node: Node) -> tuple[str, dict[str, Any]]:
    return "Reshape", {"shape": tuple(reversed(node.shape or ()))}


def _passed(node: Node) -> Parts:
    return [("Pass", {})]


#: Which input is the value, where it is not the first.
_READ = {"Assign": 1}
#: The parts of nodes, by their types.
PARTS: dict[str, Callable[[Node], Parts]] = {
    "Slice": _sliced,
    "ReduceElements": _reduced,
    "TransposeDimensions": _transposed,
    "Squeeze": lambda node: [_reshaped(node)],
    # Numbers have one precision in the whole network.
    "Cast": _passed,
    # What is assigned is read by the next evaluation alone.
    "Assign": _passed,
}
