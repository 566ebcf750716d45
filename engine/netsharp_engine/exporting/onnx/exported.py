"""A graph with its numbers as an ONNX model: what its outputs need, and nothing else.

Samples are the first axis; where the graph looks along sequences, steps are the first and
sequences the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.following import Following, part_that_is_needed, simplified
from netsharp_engine.exporting.onnx import steps
from netsharp_engine.exporting.onnx.operators.table import ROWS, why_not
from netsharp_engine.exporting.onnx.writing import (
    Array,
    OnnxValue,
    OnnxWriting,
    exchanged,
    pruned,
)
from netsharp_engine.exporting.refusal import ExportError, refused

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

    from netsharp_engine.exporting.choosing import ChosenSteps
    from netsharp_engine.exporting.portable import Portable
    from netsharp_engine.graph import Graph
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop

#: The versions of the operators that are written.
OPSETS = range(13, 23)
DEFAULT_OPSET = 17
#: What the symbolic axes are called; that of steps has the name of the dynamic axis, if it has one.
BATCH, STEPS = "batch", "steps"


class OnnxForm(NamedTuple):
    """The form of a model: the version of the operators, and whether tensors of sequences are
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
    plain = simplified(portable)
    return GraphExport(plain, part_that_is_needed(plain), form).model()


class GraphExport(Following[OnnxWriting]):
    """One export; subclasses give a network other inputs and outputs."""

    def __init__(self, portable: Portable, part: Graph, form: OnnxForm) -> None:
        super().__init__(portable, part)
        self.form = form
        self.out = OnnxWriting.begun(portable.dtype, form.opset, portable.tensors)
        #: The names of tensors that changed at the end, for outputs to have their own.
        self.exchanged: Mapping[str, str] = {}

    def model(self) -> ModelProto:
        """Write all of it."""
        from onnx import helper

        inputs = self.inputs()
        self.follow()
        outputs = self.outputs()
        kept, used = pruned(self.out.nodes, [one.name for one in outputs])
        graph = helper.make_graph(
            kept, "network", inputs, outputs, initializer=self.out.tensors(used)
        )
        self.exchanged = exchanged(graph, self.answers())
        versions = self.versions()
        model = helper.make_model(graph, opset_imports=versions, producer_name="netsharp")
        model.ir_version = helper.find_min_ir_version_for(versions)
        helper.set_model_props(model, dict(self.portable.about))
        return model

    def answers(self) -> list[str]:
        """Return the names of the outputs."""
        return [node.name for node in self.portable.outputs]

    def versions(self) -> list[OperatorSetIdProto]:
        """Return the sets of operators that are used."""
        from onnx import helper

        return [helper.make_opsetid("", self.form.opset)]

    def inputs(self) -> list[ValueInfoProto]:
        """Begin the inputs of the network."""
        return [self._input(node) for node in self.part.inputs]

    def outputs(self) -> list[ValueInfoProto]:
        """End with the requested nodes."""
        return [self._output(node) for node in self.portable.outputs]

    def top(self) -> OnnxWriting:
        """Return the graph outside of all loops."""
        return self.out

    def begin(self, out: OnnxWriting, node: Node) -> None:
        """Name what follows after a node."""
        out.begin(node.name)

    def held(self, out: OnnxWriting, node: Node, numbers: Array) -> OnnxValue:
        """Add a constant. ``numbers`` have as many elements as the node."""
        values = np.ascontiguousarray(numbers.reshape(node.shape), self.portable.dtype)
        return OnnxValue(out.numbers(values, node.name), 0, node.shape, values)

    def row(
        self, out: OnnxWriting, node: Node, sources: Sequence[OnnxValue], lead: int
    ) -> OnnxValue:
        """Add the operators of a node. Raises ExportError for a node without such operators."""
        if node.op not in ROWS:
            raise refused(node, why_not(node.op))
        made = len(out.nodes)
        name = ROWS[node.op](out, node, sources)
        if len(out.nodes) == made:  # It is the tensor of a source, whose name that is.
            return OnnxValue(name, lead, node.shape)
        return OnnxValue(out.rename(name, node.name), lead, node.shape)

    def delayed(self, out: OnnxWriting, node: Node, values: Mapping[Node, OnnxValue]) -> OnnxValue:
        """Add a delay by slices. Raises ExportError where its first values change with samples."""
        name = steps.delayed(out, node, values)
        return OnnxValue(out.rename(name, node.name), 2, node.shape)

    def chosen(
        self, out: OnnxWriting, node: Node, source: OnnxValue, steps: ChosenSteps
    ) -> OnnxValue:
        """Add some steps of sequences."""
        if steps.is_one:
            name = out.add("Gather", source.name, out.place(steps.start), axis=0)
            return OnnxValue(out.rename(name, node.name), 1, node.shape)
        stop = np.iinfo(np.int64).max if steps.stop is None else steps.stop
        bounds = out.integers(steps.start), out.integers(int(stop)), out.integers(0)
        name = out.rename(out.add("Slice", source.name, *bounds), node.name)
        return OnnxValue(name, 2, node.shape)

    def looped(self, loop: Loop, shown: Collection[Node]) -> None:
        """Add an operator for recurrences, or a Scan. Raises ExportError for a loop that ONNX
        cannot hold.
        """
        steps.looped(self.out, loop, shown, self.values, self.emitted)

    def why_not(self, operation: str) -> str:
        """Return why ONNX has no such operation."""
        return why_not(operation)

    def _input(self, node: Node) -> ValueInfoProto:
        name = self.out.fresh(node.name)
        given = OnnxValue(name, self.lead, node.shape)
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
        """Return whether an operator makes a tensor under the name of its node."""
        return name == wanted and any(name in one.output for one in self.out.nodes)

    def _turned(self, value: OnnxValue) -> str:
        """Return a tensor of sequences with the order of axes at the border."""
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
