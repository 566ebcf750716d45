"""The choice of a memory order for every node's values.

Elementwise operations keep their source's order, so a chain of them has one; the back end's table
gives the shapes that each operation can read and write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from netsharp_engine.graph import Node
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.layout import Layout

Users = Mapping[Node, Sequence[Node]]


def choose_layouts(nodes: list[Node], output: Node, users: Users) -> dict[Node, Layout]:
    """Return a layout for every node of a topologically ordered list; ``users`` read each of
    them.
    """
    chains = _chains(nodes)
    fixed = _canonical_only(nodes, output)
    layouts: dict[Node, Layout] = {}
    for chain in chains:
        chosen = Layout((chain[0].size,))
        if not any(node in fixed for node in chain):
            chosen = _chain_layout(chain, users, layouts) or chosen
        layouts.update(dict.fromkeys(chain, chosen))
    return layouts


def _chains(nodes: list[Node]) -> list[list[Node]]:
    """Return nodes grouped by elementwise connection, groups in order of their first node."""
    leader: dict[Node, Node] = {}

    def first(node: Node) -> Node:
        while leader[node] is not node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    order = {node: position for position, node in enumerate(nodes)}
    for node in nodes:
        leader[node] = node
        if node.op != "input" and KERNELS[node.op].in_place:
            for source in node.inputs:
                mine, theirs = sorted((first(node), first(source)), key=order.__getitem__)
                leader[theirs] = mine
    chains: dict[Node, list[Node]] = {}
    for node in nodes:
        chains.setdefault(first(node), []).append(node)
    return list(chains.values())


def _canonical_only(nodes: list[Node], output: Node) -> set[Node]:
    """Return the output, the inputs, and both ends of operations that share a parameter."""
    uses = Counter(parameter for node in nodes for parameter in node.parameters)
    fixed = {node for node in nodes if node is output or node.op == "input"}
    for node in nodes:
        if any(uses[parameter] > 1 for parameter in node.parameters):
            fixed.update((node, *node.inputs) if node.op in ("full", "bias") else ())
    return fixed


def _chain_layout(chain: list[Node], users: Users, layouts: dict[Node, Layout]) -> Layout | None:
    """Return the first preference of a producer that every neighbour of the chain can view."""
    makers = [node for node in chain if not KERNELS[node.op].in_place]
    shapes = [KERNELS[node.op].writes(node) for node in makers]
    readers = dict.fromkeys(user for node in chain for user in users[node])
    shapes += [KERNELS[user.op].reads(user) for user in readers]
    for maker in makers:
        source = layouts.get(maker.inputs[0])
        liked = KERNELS[maker.op].prefers(maker, source) if source is not None else None
        if liked is not None and all(shape is None or liked.allows(shape) for shape in shapes):
            return liked
    return None
