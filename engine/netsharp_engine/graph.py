"""A network as a graph of operations with inferred shapes, in plain Python.

It must not know arrays or languages: a front end builds a graph, a plan runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netsharp_engine.nodes import Node, Parameter
from netsharp_engine.ops import OPERATIONS

__all__ = ["PARAMETER_KINDS", "Graph", "GraphError", "Node", "Parameter"]

PARAMETER_KINDS = ("weights", "kernels", "biases")


class GraphError(Exception):
    """A graph that cannot be built or planned; the text is one sentence for a person.

    ``origin`` is that of the node or parameter that it is about, None where that is unknown.
    """

    def __init__(self, message: str, origin: object = None) -> None:
        super().__init__(message)
        self.origin = origin


class SamplesError(GraphError):
    """Samples that a graph cannot be computed of."""


class Graph:
    """Inputs in feature order, nodes in topological order, parameters in creation order.

    ``criteria`` compare the output with ``targets``; training minimises the first, others are
    reported.
    """

    __slots__ = (
        "_known",
        "_names",
        "criteria",
        "inputs",
        "nodes",
        "output",
        "parameters",
        "targets",
    )

    def __init__(self) -> None:
        self.inputs: list[Node] = []
        self.targets: list[Node] = []
        self.nodes: list[Node] = []
        self.parameters: list[Parameter] = []
        self.output: Node | None = None
        self.criteria: list[Node] = []
        self._known: set[Node] = set()
        self._names: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Return rows that refer to each other by number, so pickling is not recursive."""
        nodes = {node: index for index, node in enumerate(self.nodes)}
        parameters = {each: index for index, each in enumerate(self.parameters)}
        rows = [
            (
                node.op,
                [nodes[each] for each in node.inputs],
                [parameters[each] for each in node.parameters],
                (node.attributes, node.shape, node.name, node.origin),
            )
            for node in self.nodes
        ]
        places = [[nodes[n] for n in part] for part in (self.inputs, self.targets, self.criteria)]
        output = None if self.output is None else nodes[self.output]
        return {"rows": rows, "parameters": self.parameters, "places": places, "output": output}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parameters = state["parameters"]
        self._names = {parameter.name for parameter in self.parameters}
        self.nodes = [
            Node(op, (), tuple(self.parameters[each] for each in used), *rest)
            for op, _, used, rest in state["rows"]
        ]
        for node, row in zip(self.nodes, state["rows"], strict=True):
            node.inputs = tuple(self.nodes[each] for each in row[1])
        self._known = set(self.nodes)
        self.inputs, self.targets, self.criteria = (
            [self.nodes[each] for each in part] for part in state["places"]
        )
        self.output = None if state["output"] is None else self.nodes[state["output"]]

    def input(
        self, name: str, shape: Sequence[int], *, axis: str = "", origin: object = None
    ) -> Node:
        """Add an input layer; the features are split over the inputs in order of creation.

        Inputs that name the same ``axis`` have the same number of steps in each sequence. Raises
        GraphError for a shape that is not of positive whole numbers.
        """
        extents = _extents(f"input {name}", shape)
        node = Node("input", (), (), {"axis": axis} if axis else {}, extents, name, origin)
        self.inputs.append(node)
        return self._add(node)

    def with_criteria(self, *operations: str) -> Graph:
        """Return a graph over the same nodes and parameters with these criteria of its output.

        The output's target of its shape is named ``target/OUTPUT``. GraphError without an output.
        """
        graph = Graph()
        graph.inputs, graph.output = list(self.inputs), self.output
        graph.nodes, graph.parameters = list(self.nodes), list(self.parameters)
        graph._known, graph._names = set(self._known), set(self._names)
        if self.output is None:
            raise GraphError("the graph has no output")
        target = Node("input", (), (), {}, self.output.shape, f"target/{self.output.name}")
        graph.targets = [graph._add(target)]
        graph.criteria = [graph.apply(op, self.output, target, name=op) for op in operations]
        return graph

    def parameter(
        self,
        name: str,
        shape: Sequence[int],
        initial: Sequence[float] | None = None,
        kind: str = "weights",
        *,
        trained: bool = True,
        origin: object = None,
    ) -> Parameter:
        """Add a parameter with as many ``initial`` numbers. GraphError for kind, count or name."""
        if kind not in PARAMETER_KINDS:
            raise GraphError(
                f"parameter {name}: kind '{kind}' is none of {', '.join(PARAMETER_KINDS)}",
                origin,
            )
        if name in self._names:
            raise GraphError(f"parameter {name}: the name is already taken", origin)
        made = Parameter(name, _extents(f"parameter {name}", shape), initial, kind, trained, origin)
        if initial is not None and _count(initial) != made.size:
            raise GraphError(
                f"parameter {name}: {_count(initial)} initial values given, {made.size} needed",
                origin,
            )
        self._names.add(name)
        self.parameters.append(made)
        return made

    def apply(
        self,
        op: str,
        *inputs: Node,
        parameters: Sequence[Parameter] = (),
        name: str = "",
        origin: object = None,
        **attributes: Any,
    ) -> Node:
        """Add an operation; its shape comes from the operation's rule.

        Raises GraphError where the operation is unknown or its parts do not fit.
        """
        label = name or op
        definition = OPERATIONS.get(op)
        if definition is None:
            raise GraphError(f"{label}: there is no operation '{op}'", origin)
        is_source = inputs or parameters or definition.alone
        if not is_source or not self._known.issuperset(inputs):
            raise GraphError(f"{label}: every source must be a node of the same graph", origin)
        draft = Node(op, tuple(inputs), tuple(parameters), attributes, (), name, origin)
        try:
            draft.shape = definition.shape(draft)
        except (ValueError, KeyError) as error:
            reason = f"attribute {error} is missing" if isinstance(error, KeyError) else error
            raise GraphError(f"{label}: {reason}", origin) from None
        return self._add(draft)

    def delay(
        self,
        op: str,
        shape: Sequence[int],
        *initial: Node,
        name: str = "",
        origin: object = None,
        **attributes: Any,
    ) -> Node:
        """Add a node that reads other steps of a source which follows by ``connect``: so a loop
        begins. ``initial`` is the value where there is no such step. Raises GraphError for a shape
        that is not of positive whole numbers.
        """
        extents = _extents(name or op, shape)
        return self._add(Node(op, tuple(initial), (), attributes, extents, name, origin))

    def connect(self, delay: Node, source: Node) -> None:
        """Give a delay its source. GraphError for a node of another graph, or of another shape."""
        if source not in self._known:
            raise GraphError(f"{delay.name}: the source must be a node of the same graph")
        if source.shape != delay.shape:
            raise GraphError(
                f"{delay.name}: {list(source.shape)} cannot be delayed as {list(delay.shape)}",
                delay.origin,
            )
        delay.inputs = (source, *delay.inputs)

    def set_output(self, node: Node) -> None:
        """Choose the node whose value is the answer. GraphError for one of another graph."""
        if node not in self._known:
            raise GraphError("the output must be a node of the same graph")
        self.output = node

    def _add(self, node: Node) -> Node:
        self.nodes.append(node)
        self._known.add(node)
        return node

    @property
    def features(self) -> int:
        """Return the number of features of a sample: the nodes of all inputs."""
        return sum(node.size for node in self.inputs)


def _extents(what: str, shape: Sequence[int]) -> tuple[int, ...]:
    extents = tuple(int(extent) for extent in shape)
    if not extents or min(extents) < 1:
        raise GraphError(f"{what}: the shape {list(extents)} must hold positive integers")
    return extents


def _count(values: Any) -> int:
    size = getattr(values, "size", None)
    return int(size) if isinstance(size, int) else len(values)
