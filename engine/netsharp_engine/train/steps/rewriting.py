"""A graph rebuilt with some of its nodes replaced, or read through others; the nodes that are
layers.

It must not know the reason.
"""

from __future__ import annotations

from collections.abc import Callable

from netsharp_engine.graph import Graph, Node, Parameter

#: The replacement of a node: (the new graph, the old node, the new one or its new source) -> node.
Replacing = Callable[[Graph, Node, Node], Node]


def rewritten(
    graph: Graph,
    *,
    read: Replacing = lambda made, node, fresh: fresh,
    replace: Callable[[Node], bool] = lambda node: False,
    by: Replacing = lambda made, node, source: source,
) -> Graph:
    """Return a graph in which readers of a node read what ``read`` makes of it.

    Nodes with one source that ``replace`` chooses are made by ``by`` of the old node and its new
    source.  Parameters keep their names and their order; those that ``by`` adds follow them.
    """
    made = Graph()
    parameters: dict[Parameter, Parameter] = {
        each: made.parameter(
            each.name, each.shape, each.initial, each.kind, trained=each.trained, origin=each.origin
        )
        for each in graph.parameters
    }
    known: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.op == "input":
            axis = node.attributes.get("axis", "")
            fresh = made.input(node.name, node.shape, axis=axis, origin=node.origin)
        elif replace(node):
            fresh = by(made, node, known[node.inputs[0]])
        else:
            fresh = made.apply(
                node.op,
                *(known[source] for source in node.inputs),
                parameters=[parameters[each] for each in node.parameters],
                name=node.name,
                origin=node.origin,
                **node.attributes,
            )
        if node is graph.output:
            made.set_output(fresh)
        known[node] = read(made, node, fresh)
    return made


def is_layer(node: Node) -> bool:
    """Return whether the node is a layer as others see it: an input, or a named activation."""
    return node.op == "input" or (node.op in ("activation", "transfer") and bool(node.name))


def has_weights(layer: Node) -> bool:
    """Return whether a layer has parameters of its own."""
    waiting = list(layer.inputs)
    while waiting:
        node = waiting.pop()
        if node.parameters:
            return True
        waiting += [source for source in node.inputs if not is_layer(source)]
    return False
