"""A graph with its numbers as an ONNX model: what its outputs need, and nothing else.

Samples are the first axis; where the graph looks along sequences, steps are the first and
sequences the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.onnx import steps
from netsharp_engine.exporting.onnx.choosing import chosen_steps, part_of
from netsharp_engine.exporting.onnx.operators.table import ROWS, why_not
from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting, pruned
from netsharp_engine.exporting.refusal import ExportError, refused
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors import ENVIRONMENT, HELD
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_engine.tensor_backend.loops import Loop, scheduled

if TYPE_CHECKING:
    from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

    from netsharp_engine.exporting.portable import Portable

_GATHER, _INDEX, _RECONCILE = "GatherPacked", "PackedIndex", "ReconcileDynamicAxis"
#: The versions of the operators that are written.
OPSETS = range(13, 23)
DEFAULT_OPSET = 17
#: What the symbolic axes are called; that of steps has the name of the dynamic axis, if it has one.
BATCH, STEPS = "batch", "steps"


class OnnxForm(NamedTuple):
    """How a model is written: the version of the operators, and whether tensors of sequences are
    [sequences, steps, ...] at the border.
    """

    opset: int = DEFAULT_OPSET
    sequences_first: bool = False


def exported(portable: Portable, form: OnnxForm) -> ModelProto:
    """Return a network as an ONNX model; ExportError names the node that ONNX cannot hold."""
    if form.opset not in OPSETS:
        raise ExportError(
            f"Operator set {form.opset} is not written: {OPSETS[0]} to {OPSETS[-1]} are."
        )
    graph = portable.graph
    gathers = {node: node.inputs[1:] for node in graph.nodes if node.op == _GATHER}
    return GraphExport(portable, part_of(graph, list(portable.outputs), gathers), form).model()


class GraphExport:
    """One export; what stands around a network may give it other inputs and outputs."""

    def __init__(self, portable: Portable, part: Graph, form: OnnxForm) -> None:
        self.portable, self.part, self.form = portable, part, form
        self.out = OnnxWriting.begun(portable.dtype, form.opset, portable.tensors)
        self.values: dict[Node, OnnxValue] = {}
        self._readers: dict[Node, list[Node]] = {}
        for node in part.nodes:
            for source in node.inputs:
                self._readers.setdefault(source, []).append(node)
        along = (*DELAYS, *COLUMNS)
        self._lead = 2 if any(node.op in along for node in part.nodes) else 1

    def model(self) -> ModelProto:
        """Write all of it."""
        from onnx import helper

        inputs = self.inputs()
        self._emit_all()
        outputs = self.outputs()
        kept, used = pruned(self.out.nodes, [one.name for one in outputs])
        graph = helper.make_graph(
            kept, "network", inputs, outputs, initializer=self.out.tensors(used)
        )
        versions = self.versions()
        model = helper.make_model(graph, opset_imports=versions, producer_name="netsharp")
        model.ir_version = helper.find_min_ir_version_for(versions)
        helper.set_model_props(model, dict(self.portable.about))
        return model

    def versions(self) -> list[OperatorSetIdProto]:
        """Return the sets of operators that are used."""
        from onnx import helper

        return [helper.make_opsetid("", self.form.opset)]

    def inputs(self) -> list[ValueInfoProto]:
        """Begin the inputs of the network."""
        return [self._input(node) for node in self.part.inputs]

    def outputs(self) -> list[ValueInfoProto]:
        """End with the nodes that are asked for."""
        return [self._output(node) for node in self.portable.outputs]

    def _emit_all(self) -> None:
        try:
            order = scheduled(self.portable.graph)
        except GraphError as error:
            raise ExportError(f"{error}.") from None
        wanted = set(self.part.nodes)
        for part in order:
            if isinstance(part, Loop):
                if wanted.intersection(part.nodes):
                    shown = self._shown(part)
                    steps.looped(self.out, part, shown, self.values, self._emitted)
            elif part in wanted and part.op != "input":
                self.values[part] = self._emitted(self.out, part, self.values)

    def _shown(self, loop: Loop) -> list[Node]:
        """The nodes of a loop that others read, or that are asked for."""
        inside, asked = set(loop.nodes), self.portable.outputs
        return [
            node
            for node in loop.nodes
            if node in asked or any(one not in inside for one in self._readers.get(node, ()))
        ]

    def _input(self, node: Node) -> ValueInfoProto:
        name = self.out.fresh(node.name)
        given = OnnxValue(name, self._lead, node.shape)
        self.values[node] = given._replace(name=self._turned(given))
        return self._typed(given, node.attributes.get("axis", ""))

    def _output(self, node: Node) -> ValueInfoProto:
        value = self.values[node]
        self.out.begin(node.name)
        name = self._turned(value)
        if name == value.name and not self._is_made(name, node.name):
            name = self.out.add("Identity", name)
        if name != value.name:
            name = self.out.rename(name, node.name)
        return self._typed(value._replace(name=name), "")

    def _is_made(self, name: str, wanted: str) -> bool:
        """Whether an operator makes a tensor under the name of its node."""
        return name == wanted and any(name in one.output for one in self.out.nodes)

    def _turned(self, value: OnnxValue) -> str:
        """A tensor of sequences on its way over the border."""
        if not self._is_turned(value):
            return value.name
        order = (1, 0, *range(2, 2 + len(value.shape)))
        return self.out.add("Transpose", value.name, perm=order)

    def _is_turned(self, value: OnnxValue) -> bool:
        return self.form.sequences_first and value.lead == 2

    def _typed(self, value: OnnxValue, axis: str) -> ValueInfoProto:
        from onnx import TensorProto, helper

        kind = TensorProto.DOUBLE if self.portable.dtype == "float64" else TensorProto.FLOAT
        leading = [axis or STEPS, BATCH][2 - value.lead :]
        if self._is_turned(value):
            leading.reverse()
        return helper.make_tensor_value_info(value.name, kind, [*leading, *value.shape])

    def _emitted(self, out: OnnxWriting, node: Node, values: dict[Node, OnnxValue]) -> OnnxValue:
        out.begin(node.name)
        if node.op in HELD:
            return self._held(out, node.name, self._numbers(node), node)
        if node.op == ENVIRONMENT:
            return self._held(out, node.name, np.zeros(node.shape), node)
        if node.op in COLUMNS:
            return self._chosen(out, node, values)
        sources = [values[one] for one in node.inputs]
        if all(one.constant is not None for one in sources) and node.op in TABLE:
            return self._held(out, node.name, self._folded(node, sources), node)
        if node.op in DELAYS:
            name, lead = steps.delayed(out, node, values), 2
            if sources[0].lead != lead:
                raise refused(node, f"'{sources[0].name}' has no steps.")
        else:
            leads = {one.lead for one in sources if one.lead}
            if len(leads) > 1:
                raise refused(node, "it joins what each step has with what each sequence has once.")
            if node.op not in ROWS:
                raise refused(node, why_not(node.op))
            lead = max(leads, default=0)
            made = len(out.nodes)
            name = ROWS[node.op](out, node, sources)
            if len(out.nodes) == made:  # It is the tensor of a source, whose name that is.
                return OnnxValue(name, lead, node.shape)
        return OnnxValue(out.rename(name, node.name), lead, node.shape)

    def _numbers(self, node: Node) -> Array:
        return self.out.parameter(node.parameters[0].name)

    def _held(self, out: OnnxWriting, name: str, numbers: Array, node: Node) -> OnnxValue:
        values = np.ascontiguousarray(numbers.reshape(node.shape), self.portable.dtype)
        return OnnxValue(out.numbers(values, name), 0, node.shape, values)

    def _folded(self, node: Node, sources: Sequence[OnnxValue]) -> Array:
        """What is worked out of parameters alone."""
        given = [one.constant[None] for one in sources if one.constant is not None]
        with np.errstate(all="ignore"):
            return TABLE[node.op].forward(node, given)

    def _chosen(self, out: OnnxWriting, node: Node, values: dict[Node, OnnxValue]) -> OnnxValue:
        """Some steps of sequences; with one of each there are no steps left."""
        if node.op == _RECONCILE:
            first, second = (values[one] for one in node.inputs)
            if first.lead != second.lead:
                raise refused(node, "its sources have other sequences.")
            return first
        if node.op != _GATHER:
            raise refused(node, why_not(node.op))
        index, source = node.inputs[0], values[node.inputs[1]]
        if index.op != _INDEX or source.lead != 2:
            raise refused(node, "its places are worked out by no PackedIndex of its source.")
        found = chosen_steps(self.portable.graph, index.inputs[1], self.portable.tensors)
        if found.is_one:
            name = out.add("Gather", source.name, out.place(found.start), axis=0)
            return OnnxValue(out.rename(name, node.name), 1, node.shape)
        stop = np.iinfo(np.int64).max if found.stop is None else found.stop
        bounds = out.integers(found.start), out.integers(int(stop)), out.integers(0)
        return OnnxValue(
            out.rename(out.add("Slice", source.name, *bounds), node.name), 2, node.shape
        )
