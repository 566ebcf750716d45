"""The parts of an ONNX graph while it grows: unique names, operators, constants, inner graphs.

Knows ONNX and arrays, and no operation of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.exporting.values import Array, ExportedValue

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

__all__ = ["Array", "OnnxValue", "OnnxWriting", "exchanged", "pruned", "read_by"]

#: From this operator set on all reductions take their axes as an input; before it ReduceSum alone.
_AXES_AS_INPUT = 18


#: A tensor of the ONNX graph.
OnnxValue = ExportedValue


class _Shared:
    """The parts that a graph and its inner graphs share."""

    def __init__(self, floats: str, opset: int, tensors: Mapping[str, Array]) -> None:
        self.floats, self.opset, self.parameters = floats, opset, tensors
        self.names: set[str] = set()
        #: How far the names that begin alike are counted.
        self.counts: dict[str, int] = {}
        self.constants: dict[str, Array] = {}
        self.known: dict[bytes, str] = {}


class OnnxWriting:
    """One graph that grows; `inner` begins another that reads its tensors.

    ``floats`` is the type of the numbers, float32 or float64; ``opset`` the version of the
    operators.
    """

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self.floats, self.opset = shared.floats, shared.opset
        self.nodes: list[NodeProto] = []
        self._hint = "value"

    @classmethod
    def begun(cls, floats: str, opset: int, parameters: Mapping[str, Array]) -> OnnxWriting:
        """Begin a graph whose parameters have these numbers. ``parameters`` has the array of each,
        in its shape, by name.
        """
        return cls(_Shared(floats, opset, parameters))

    def parameter(self, name: str) -> Array:
        """Return the numbers of a parameter, in its shape."""
        return np.asarray(self._shared.parameters[name])

    def inner(self) -> OnnxWriting:
        """Begin the body of a loop."""
        return OnnxWriting(self._shared)

    def counted(self, floats: str) -> OnnxWriting:
        """Return a way to go on with the same graph in numbers of another type."""
        found = OnnxWriting(self._shared)
        found.floats, found.nodes = floats, self.nodes
        return found

    def begin(self, name: str) -> None:
        """Name what follows after the node that it is made of."""
        self._hint = name or "value"

    def fresh(self, name: str) -> str:
        """Return a name that no tensor has, as near to this one as can be."""
        shared, wanted = self._shared, name or "value"
        found, count = wanted, shared.counts.get(wanted, 1)
        while found in shared.names:
            count += 1
            found = f"{wanted}/{count}"
        shared.names.add(found)
        shared.counts[wanted] = count
        return found

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator and return the name of its one output."""
        from onnx import helper

        made = self.fresh(f"{self._hint}/{operator}")
        self.nodes.append(helper.make_node(operator, list(inputs), [made], made, **attributes))
        return made

    def add_several(
        self, operator: str, count: int, *inputs: str, **attributes: Any
    ) -> tuple[str, ...]:
        """Add an operator and return the names of its outputs."""
        from onnx import helper

        made = [self.fresh(f"{self._hint}/{operator}") for _ in range(count)]
        self.nodes.append(helper.make_node(operator, list(inputs), made, made[0], **attributes))
        return tuple(made)

    def numbers(self, values: Any, name: str = "") -> str:
        """Return the name of constant numbers of the graph's type."""
        return self.constant(np.asarray(values, self.floats), name)

    def number(self, value: float) -> str:
        """Return the name of one number of the graph's type, without an axis."""
        return self.constant(np.asarray(value, self.floats).reshape(()), "")

    def integers(self, *values: int) -> str:
        """Return the name of a constant vector of whole numbers."""
        return self.constant(np.asarray(values, np.int64).reshape(-1), "")

    def whole(self, values: Array) -> str:
        """Return the name of constant whole numbers of any shape."""
        return self.constant(np.asarray(values, np.int64), "")

    def reduced(self, operator: str, name: str, axis: int, *, keep: bool = True) -> str:
        """Reduce one axis, which is kept with one element or removed."""
        if operator == "ReduceSum" or self.opset >= _AXES_AS_INPUT:
            return self.add(operator, name, self.integers(axis), keepdims=int(keep))
        return self.add(operator, name, axes=[axis], keepdims=int(keep))

    def place(self, at: int) -> str:
        """Return the name of one whole number, without an axis."""
        return self.constant(np.asarray(at, np.int64), "")

    def constant(self, values: Array, name: str = "") -> str:
        """Return the name of constants of the type that they have. They keep their shape."""
        shared, kept = self._shared, np.array(values, order="C")
        # Small ones occur again and again; large ones belong to a parameter each.
        key = repr((kept.dtype.str, kept.shape)).encode() + kept.tobytes()
        is_small = kept.size <= 16 and not name
        if is_small and key in shared.known:
            return shared.known[key]
        found = self.fresh(name or f"{self._hint}/constant")
        shared.constants[found] = kept
        if is_small:
            shared.known[key] = found
        return found

    def rename(self, old: str, wanted: str) -> str:
        """Give the output of the last operator a name, if it is that and nothing else reads it."""
        if not wanted or not self.nodes or old not in self.nodes[-1].output:
            return old
        node, new = self.nodes[-1], self.fresh(wanted)
        place = list(node.output).index(old)
        node.output[place] = new
        node.name = new
        self._shared.names.discard(old)
        return new

    def shaped(self, name: str, lead: int, shape: Sequence[int]) -> str:
        """Reshape a value, keeping its ``lead`` leading axes."""
        return self.add("Reshape", name, self.integers(*(0,) * lead, *shape))

    def expanded(self, value: OnnxValue, like: OnnxValue) -> str:
        """Repeat a value that all samples share for those of another tensor."""
        if value.lead == like.lead:
            return value.name
        shape = self.add("Concat", self.leading(like), self.integers(*value.shape), axis=0)
        return self.add("Expand", value.name, shape)

    def leading(self, value: OnnxValue) -> str:
        """Return the sizes of the leading axes of a tensor, as a vector."""
        whole = self.add("Shape", value.name)
        return self.add("Slice", whole, self.integers(0), self.integers(value.lead))

    def aligned(self, sources: Sequence[OnnxValue]) -> list[str]:
        """Return tensors that ONNX broadcasts as the operations do: shapes of samples from the
        right, leading axes among themselves.
        """
        rank = max(len(one.shape) for one in sources)
        found = []
        for one in sources:
            lacking = rank - len(one.shape)
            if lacking and one.lead:
                axes = self.integers(*range(one.lead, one.lead + lacking))
                found.append(self.add("Unsqueeze", one.name, axes))
            else:
                found.append(one.name)
        return found

    def tensors(self, used: set[str]) -> list[TensorProto]:
        """Return the constants that are used."""
        from onnx import numpy_helper

        return [
            numpy_helper.from_array(values, name)
            for name, values in self._shared.constants.items()
            if name in used
        ]


def pruned(nodes: Sequence[NodeProto], wanted: Sequence[str]) -> tuple[list[NodeProto], set[str]]:
    """Return the operators that some tensors depend on, in their order, and all that they read."""
    needed, kept = set(wanted), []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(read_by(node))
    return kept[::-1], needed


def read_by(node: NodeProto) -> set[str]:
    """Return the tensors that an operator reads, also inside its inner graphs."""
    found = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            found.update(_read_inside(attribute.g))
    return found


def _read_inside(graph: GraphProto) -> set[str]:
    made = {one.name for one in graph.input}
    found = {one.name for one in graph.output}
    for node in graph.node:
        found.update(read_by(node))
        made.update(node.output)
    return found - made


def exchanged(graph: GraphProto, wanted: Sequence[str]) -> dict[str, str]:
    """Give the outputs of a graph the ``wanted`` names, in their order, and return the new names of
    tensors by the old ones: a tensor that has the name of an output takes that of the output.

    An input keeps its name, so that an output called like one has another; one without a wanted
    name keeps its own.
    """
    given = {one.name for one in graph.input}
    found: dict[str, str] = {}
    for output, name in zip(graph.output, wanted, strict=True):
        if name and output.name != name and name not in given:
            swap = {output.name: name, name: output.name}
            _rename(graph, swap)
            found = swap | {old: swap.get(new, new) for old, new in found.items()}
    return found


def _rename(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Rename tensors in a graph and in its inner graphs."""
    for named in (*graph.input, *graph.output, *graph.initializer, *graph.node):
        named.name = names.get(named.name, named.name)
    for node in graph.node:
        for tensors in (node.input, node.output):
            tensors[:] = [names.get(one, one) for one in tensors]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, names)
