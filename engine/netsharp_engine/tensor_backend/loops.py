"""In which order nodes are computed where some depend on each other through delays.

It knows graphs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.ops.tensors.shaping import DELAYS


class Loop(NamedTuple):
    """Nodes that are computed step by step, each after its sources of the same step."""

    nodes: tuple[Node, ...]
    backwards: bool


def scheduled(graph: Graph) -> list[Node | Loop]:
    """Return nodes and loops, each after its sources; GraphError for a loop that cannot be run."""
    if not any(node.op in DELAYS for node in graph.nodes):
        return list(graph.nodes)
    place = {node: number for number, node in enumerate(graph.nodes)}
    found: list[Node | Loop] = []
    for part in _parts(graph):
        if len(part) > 1 or part[0] in part[0].inputs:
            found.append(_loop(sorted(part, key=place.__getitem__)))
        else:
            found.append(part[0])
    return found


def _loop(nodes: list[Node]) -> Loop:
    kinds = {node.op for node in nodes if node.op in DELAYS}
    names = ", ".join(f"'{node.name}'" for node in nodes if node.op in DELAYS or not kinds)
    if len(kinds) != 1:
        why = "both ways along the sequence" if kinds else "and none of them reads another step"
        raise GraphError(f"nodes depend on each other {why}: {names}", nodes[0].origin)
    inside, known = set(nodes), set[Node]()
    for node in nodes:
        if node.op not in DELAYS and any(
            one in inside and one not in known and one.op not in DELAYS for one in node.inputs
        ):
            raise GraphError(f"'{node.name}' depends on itself in one step", node.origin)
        known.add(node)
    return Loop(tuple(nodes), kinds == {DELAYS[1]})


def _parts(graph: Graph) -> Iterator[list[Node]]:
    """Yield the strongly connected parts, each after those that it reads (Tarjan, 1972)."""
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    pending: list[Node] = []
    waiting: set[Node] = set()
    for root in graph.nodes:
        if root in number:
            continue
        path: list[tuple[Node, Iterator[Node]]] = []
        _enter(root, number, lowest, pending, waiting, path)
        while path:
            node, rest = path[-1]
            for source in rest:
                if source not in number:
                    _enter(source, number, lowest, pending, waiting, path)
                    break
                if source in waiting:
                    lowest[node] = min(lowest[node], number[source])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    part = [pending.pop()]
                    while part[-1] is not node:
                        part.append(pending.pop())
                    waiting.difference_update(part)
                    yield part


def _enter(
    node: Node,
    number: dict[Node, int],
    lowest: dict[Node, int],
    pending: list[Node],
    waiting: set[Node],
    path: list[tuple[Node, Iterator[Node]]],
) -> None:
    number[node] = lowest[node] = len(number)
    pending.append(node)
    waiting.add(node)
    path.append((node, iter(node.inputs)))
