"""A network as a graph of operations with inferred shapes, in plain Python.

It knows neither arrays nor languages: a front end builds a graph, a plan runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netsharp_engine.geometry import product
from netsharp_engine.ops import OPERATIONS

PARAMETER_KINDS = ("weights", "kernels", "biases")


class GraphError(Exception):
    """A graph that cannot be built or planned; the text is one sentence for a person."""


class Parameter:
    """A trainable array in canonical order.

    ``shape``: "weights" of a full bundle [destination, source], of a filtered one [edges]
    (by destination, then source); "kernels" [kernels, prod(kernel shape) + 1] with each
    kernel's own bias last; "biases" [nodes].  ``initial`` holds as many numbers in
    row-major order, or None for random ones.  Used by two nodes, it is shared.
    """

    __slots__ = ("initial", "kind", "name", "shape")

    def __init__(
        self, name: str, shape: tuple[int, ...], initial: Sequence[float] | None, kind: str
    ) -> None:
        self.name = name
        self.shape = shape
        self.initial = initial
        self.kind = kind

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return product(self.shape)

    @property
    def bias_column(self) -> bool:
        """Whether the last column is a bias, which no weight norm counts."""
        return self.kind == "kernels"

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {list(self.shape)})"


class Node:
    """One operation and the value that it makes: ``shape`` per sample, row-major."""

    __slots__ = ("attributes", "inputs", "name", "op", "parameters", "shape")

    def __init__(
        self,
        op: str,
        inputs: tuple[Node, ...],
        parameters: tuple[Parameter, ...],
        attributes: Mapping[str, Any],
        shape: tuple[int, ...],
        name: str,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.parameters = parameters
        self.attributes = attributes
        self.shape = shape
        self.name = name

    @property
    def size(self) -> int:
        """The number of values per sample."""
        return product(self.shape)

    def __repr__(self) -> str:
        return f"Node({self.op!r}, {self.name!r}, {list(self.shape)})"


class Graph:
    """Inputs in feature order, nodes in topological order, parameters in creation order."""

    __slots__ = ("_known", "_names", "inputs", "nodes", "output", "parameters")

    def __init__(self) -> None:
        self.inputs: list[Node] = []
        self.nodes: list[Node] = []
        self.parameters: list[Parameter] = []
        self.output: Node | None = None
        self._known: set[Node] = set()
        self._names: set[str] = set()

    def input(self, name: str, shape: Sequence[int]) -> Node:
        """Add an input layer; the features are split over the inputs in order of creation."""
        extents = _extents(f"input {name}", shape)
        node = Node("input", (), (), {}, extents, name)
        self.inputs.append(node)
        return self._add(node)

    def parameter(
        self,
        name: str,
        shape: Sequence[int],
        initial: Sequence[float] | None = None,
        kind: str = "weights",
    ) -> Parameter:
        """Add a parameter; ``initial`` is any sequence or array of as many numbers."""
        if kind not in PARAMETER_KINDS:
            raise GraphError(
                f"parameter {name}: kind '{kind}' is none of {', '.join(PARAMETER_KINDS)}"
            )
        if name in self._names:
            raise GraphError(f"parameter {name}: the name is already taken")
        made = Parameter(name, _extents(f"parameter {name}", shape), initial, kind)
        if initial is not None and _count(initial) != made.size:
            raise GraphError(
                f"parameter {name}: {_count(initial)} initial values given, {made.size} needed"
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
        **attributes: Any,
    ) -> Node:
        """Add an operation; its shape comes from the operation's rule.

        Raises GraphError where the operation is unknown or its parts do not fit.
        """
        label = name or op
        definition = OPERATIONS.get(op)
        if definition is None:
            raise GraphError(f"{label}: there is no operation '{op}'")
        if not inputs or not self._known.issuperset(inputs):
            raise GraphError(f"{label}: every source must be a node of the same graph")
        draft = Node(op, tuple(inputs), tuple(parameters), attributes, (), name)
        try:
            draft.shape = definition.shape(draft)
        except (ValueError, KeyError) as error:
            reason = f"attribute {error} is missing" if isinstance(error, KeyError) else error
            raise GraphError(f"{label}: {reason}") from None
        return self._add(draft)

    def set_output(self, node: Node) -> None:
        """Choose the node whose value is the network's answer."""
        if node not in self._known:
            raise GraphError("the output must be a node of the same graph")
        self.output = node

    def _add(self, node: Node) -> Node:
        self.nodes.append(node)
        self._known.add(node)
        return node

    @property
    def features(self) -> int:
        """The number of features of a sample: the nodes of all inputs."""
        return sum(node.size for node in self.inputs)


def _extents(what: str, shape: Sequence[int]) -> tuple[int, ...]:
    extents = tuple(int(extent) for extent in shape)
    if not extents or min(extents) < 1:
        raise GraphError(f"{what}: the shape {list(extents)} must hold positive integers")
    return extents


def _count(values: Any) -> int:
    size = getattr(values, "size", None)
    return int(size) if isinstance(size, int) else len(values)
