"""Small graphs for training tests, built without any language."""

from __future__ import annotations

from netsharp_engine.graph import Graph, GraphError


def layered(features, outputs, hidden=(8,), *, function="sigmoid", last="softmax"):
    """Full layers H1, H2, ... and Out after the input In."""
    graph = Graph()
    node, source = graph.input("In", [features]), "In"
    sizes = [(f"H{number}", size, function) for number, size in enumerate(hidden, 1)]
    for name, size, activation in [*sizes, ("Out", outputs, last)]:
        weights = graph.parameter(f"{name}/{source}/weights", [size, node.size])
        biases = graph.parameter(f"{name}/biases", [size], kind="biases")
        node = graph.apply("full", node, parameters=[weights], name=f"{name}/{source}")
        node = graph.apply("bias", node, parameters=[biases], name=f"{name}/sum")
        node = graph.apply("activation", node, function=activation, name=name)
        source = name
    graph.set_output(node)
    return graph


def build(specification, context):
    """What a language's lowering does: the specification here is the arguments of ``layered``."""
    try:
        hidden, function, last, outputs = specification.split("|")
        sizes = [int(size) for size in hidden.split(",") if size]
        int(outputs)
    except ValueError as error:
        raise GraphError(f"the specification is wrong: {error}") from None
    return layered(context["features"], int(outputs), sizes, function=function, last=last)
