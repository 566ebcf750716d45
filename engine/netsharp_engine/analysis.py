"""The facts of a graph that all back ends need first: order, users, learning, fusions.

Facts about nodes, as plain data; layouts, buffers and calls are each back end's own.
"""

from __future__ import annotations

from collections import Counter

from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.ops.criteria import FUSES


class Analysis:
    """The facts of one graph, for training or for forward passes alone.

    ``nodes`` are those that the output depends on, in the order in which they can be computed.
    ``users`` are the nodes that read each one, each once and in order, ``uses`` how often it is
    read: the values of a node live until its last user has run.  ``learning`` are the nodes whose
    gradient is needed.  ``fused`` are the criteria that can be computed together with the
    activation that they read.  GraphError where there is no output or nothing to train.
    """

    def __init__(self, graph: Graph, training: bool = False) -> None:
        if graph.output is None:
            raise GraphError("the graph has no output")
        self.graph, self.output = graph, graph.output
        self.training = training
        self.nodes = _reached(graph, self.output)
        self.uses = Counter(source for node in self.nodes for source in node.inputs)
        self.users = _users(self.nodes)
        self.learning = self._learning() if training else set()
        self.fused = {criterion for criterion in graph.criteria if _fuses(criterion)}

    def _learning(self) -> set[Node]:
        """Return the nodes whose gradient is needed: a parameter is at or above them."""
        found: set[Node] = set()
        for node in self.nodes:
            if node.parameters or found.intersection(node.inputs):
                found.add(node)
        if self.output not in found:
            raise GraphError("the network has no weights to train")
        return found

    def layers(self) -> dict[Node, str]:
        """Return the layer of each node: the next name on the way to the output."""
        layers: dict[Node, str] = {}
        for node in reversed(self.nodes):
            users = self.users[node]
            layers[node] = node.name or (layers[users[0]] if users else "")
        return layers

    def ends(self, source: Node, node: Node) -> bool:
        """Return whether ``node`` alone needs the values of ``source`` forward."""
        return self.uses[source] == 1 and self.users[source][-1] is node


def _fuses(criterion: Node) -> bool:
    read = criterion.inputs[0]
    function = read.attributes.get("function") if read.op == "activation" else None
    return function is not None and function == FUSES.get(criterion.op)


def _reached(graph: Graph, output: Node) -> list[Node]:
    """Return the nodes that the output depends on, in topological order."""
    wanted = {output}
    for node in reversed(graph.nodes):
        if node in wanted:
            wanted.update(node.inputs)
    return [node for node in graph.nodes if node in wanted]


def _users(nodes: list[Node]) -> dict[Node, list[Node]]:
    """Return the nodes that read each one, each once, in order."""
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for source in dict.fromkeys(node.inputs):
            users[source].append(node)
    return users
