"""The node whose values the last layer of a network of CNTK has, and the outputs of such a network
that those values answer.

Knows no layers and no integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.model import Model
    from netsharp_engine.nodes import Node

#: Operations that return their source in a network that is not being trained.
PASSING = ("Pass", "StopGradient", "Dropout")
SOFTMAXES = ("Softmax", "LogSoftmax")


def last_node(output: Node) -> Node:
    """Return the node that the last layer ends in: what a softmax at the end reads, with what it
    takes back before it (a LogSoftmax only moves all values of a sample), else the output itself.
    """
    node = output
    if output.op == "Softmax":
        node = output.inputs[0]
        while node.op in ("LogSoftmax", *PASSING):
            node = node.inputs[0]
    return node


class NamedEnd(NamedTuple):
    """An output of a network, and the operations that lead to it from the last layer's values, in
    order; none where it has these values.
    """

    node: Node
    chain: tuple[Node, ...] = ()


class NamedEnds(NamedTuple):
    """The outputs that a last layer answers, in the order of the float export, and the names of
    those that it does not.
    """

    found: tuple[NamedEnd, ...]
    left_out: tuple[str, ...]


def named_ends(model: Model) -> NamedEnds:
    """Return the outputs of a network of CNTK that its last layer answers: those of the float
    export, where it has any such, else the node that the last layer ends in.
    """
    assert model.network is not None
    assert model.graph.output is not None
    last = last_node(model.graph.output)
    exported = model.network.exported()
    ends = {node.name: _end(node, last) for node in exported}
    found = tuple(end for end in ends.values() if end is not None)
    left_out = tuple(name for name, end in ends.items() if end is None)
    return NamedEnds(found or (NamedEnd(last),), left_out)


def _end(node: Node, last: Node) -> NamedEnd | None:
    """Return the chain of nodes from the last node to an output, by its name in the graph of the
    outputs; None where there is none.
    """
    names = {one.name for one in _passed_on(last)}
    chain: list[Node] = []
    reached = node
    while reached.name not in names:
        if reached.op not in (*PASSING, *SOFTMAXES):
            return None
        if reached.op in SOFTMAXES:
            chain.insert(0, reached)
        reached = reached.inputs[0]
    return NamedEnd(node, tuple(chain))


def _passed_on(node: Node) -> Sequence[Node]:
    """Return a node and those before it that have the same values."""
    found = [node]
    while found[-1].op in PASSING:
        found.append(found[-1].inputs[0])
    return found
