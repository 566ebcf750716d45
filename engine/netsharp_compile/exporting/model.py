"""A compiled model as an ONNX model: a model of tables from columns to classes, a network of CNTK
from its tensors to those of its outputs, each with the inputs and outputs of its float export.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.exporting.layers import LayerWriting
from netsharp_compile.exporting.operands import WIDE_CODES
from netsharp_compile.importing.ends import NamedEnds, named_ends
from netsharp_compile.layers import SOFTMAX
from netsharp_compile.refusal import CompileError
from netsharp_engine.exporting.onnx.exported import DEFAULT_OPSET, OPSETS, GraphExport, OnnxForm
from netsharp_engine.exporting.onnx.operators.table import ROWS
from netsharp_engine.exporting.onnx.trained import TableExport, inputs_of
from netsharp_engine.exporting.onnx.writing import OnnxValue
from netsharp_engine.exporting.portable import OF_CNTK, Portable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import ModelProto, ValueInfoProto

    from netsharp_compile.exporting.layers import LayerTensors
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_engine.exporting.values import Array
    from netsharp_engine.model import Model


class QuantizedModel(NamedTuple):
    """A model in ONNX, and where its codes are: of the features, and of each layer.

    ``left_out`` names the outputs of the float export that a network of integers does not have.
    """

    proto: ModelProto
    features: str
    layers: tuple[LayerTensors, ...]
    left_out: tuple[str, ...] = ()


def quantized_model(
    model: Model, network: IntegerNetwork, opset: int | None = None
) -> QuantizedModel:
    """Return a compiled model as ONNX, by the lowest operator set that has its types of codes
    (17 for codes of 8 bits, 21 for wider ones), or by ``opset``.

    Raises CompileError for what ONNX cannot hold, with the layer and its place.
    """
    if opset is not None and opset not in OPSETS:
        raise CompileError(f"operator set {opset} is not written: {OPSETS[0]} to {OPSETS[-1]} are.")
    needed = _needed(network)
    if opset is not None and opset < needed:
        raise CompileError(
            f"its codes need operator set {needed} or later, and {opset} was asked for: leave that "
            "out, or take narrower codes (--logits, --activations, --weights)."
        )
    form = OnnxForm(opset or max(needed, DEFAULT_OPSET))
    export = _QdqTable if model.network is None else _QdqTensors
    return export(model, network, form).quantized()


def given_to(model: Model, written: QuantizedModel, features: Array) -> Mapping[str, Array]:
    """Return rows [rows, features] as the inputs of an export, by their names."""
    names = [one.name for one in written.proto.graph.input]
    if model.network is None:
        return dict(zip(names, inputs_of(model, features), strict=True))
    found, first = {}, 0
    for name, node in zip(names, model.graph.inputs, strict=True):
        found[name] = features[:, first : first + node.size].reshape(-1, *node.shape)
        first += node.size
    return found


def _needed(network: IntegerNetwork) -> int:
    """Return the first operator set that has all types of codes and weights."""
    types = {network.features.codes.dtype}
    for layer in network.layers:
        types |= {layer.result.dtype, layer.target.dtype}
        types |= {part.weights.dtype for part in layer.parts}
    return WIDE_CODES if any(one.itemsize > 1 for one in types) else 0


class _QdqTable(TableExport):
    """A model of tables: columns are encoded as in the float export, and then become codes."""

    def __init__(self, model: Model, network: IntegerNetwork, form: OnnxForm) -> None:
        super().__init__(model, form)
        self._layers = LayerWriting(self.out, network)
        self._is_softmax = network.layers[-1].function == SOFTMAX

    def quantized(self) -> QuantizedModel:
        """Write all of it."""
        proto = self.model()
        return QuantizedModel(proto, *self._layers.tensors(self.exchanged))

    def inputs(self) -> list[ValueInfoProto]:
        """Select columns, encode them, and make codes of values that are not normalised."""
        typed, features = self.encoded()
        columns = self._model.encoding.columns
        may_lack = any(one.levels is None and one.fill is None for one in columns)
        self._layers.read(features, may_lack=may_lack)
        return typed

    def follow(self) -> None:
        """Write the layers, and the numbers that the last codes mean."""
        name = self._layers.answers()
        if self._is_softmax:
            name = self.out.add("Softmax", name, axis=-1)
        (output,) = self.portable.outputs
        self.values[output] = OnnxValue(name, 1, (output.size,))


class _QdqTensors(GraphExport):
    """A network of CNTK: tensors of its inputs, side by side, become codes."""

    def __init__(self, model: Model, network: IntegerNetwork, form: OnnxForm) -> None:
        self._ends: NamedEnds = named_ends(model)
        nodes = tuple(end.node for end in self._ends.found)
        tensors, dtype = model.tensors, model.settings.dtype
        portable = Portable(model.graph, tensors, dtype, nodes, OF_CNTK)
        super().__init__(portable, model.graph, form)
        self._layers = LayerWriting(self.out, network)

    def quantized(self) -> QuantizedModel:
        """Write all of it."""
        proto = self.model()
        return QuantizedModel(proto, *self._layers.tensors(self.exchanged), self._ends.left_out)

    def inputs(self) -> list[ValueInfoProto]:
        """Take tensors, and make codes of their numbers."""
        typed = super().inputs()
        self.out.begin("features")
        parts = [self._flat(self.values[node]) for node in self.part.inputs]
        features = parts[0] if len(parts) == 1 else self.out.add("Concat", *parts, axis=1)
        self._layers.read(features, may_lack=True)
        return typed

    def follow(self) -> None:
        """Write the layers, and what each output makes of the numbers that the last codes mean."""
        numbers = self._layers.answers()
        ends = self._ends.found
        for end in ends:
            shape = end.chain[0].shape if end.chain else end.node.shape
            value = OnnxValue(self._shaped(numbers, shape), 1, shape)
            for node in end.chain:
                value = OnnxValue(ROWS[node.op](self.out, node, [value]), 1, node.shape)
            if len(ends) == 1:  # A tensor that several outputs read keeps its name.
                value = value._replace(name=self.out.rename(value.name, end.node.name))
            self.values[end.node] = value

    def _flat(self, value: OnnxValue) -> str:
        """Return samples [n, elements] of a tensor."""
        if len(value.shape) == 1:
            return value.name
        return self.out.add("Reshape", value.name, self.out.integers(0, -1))

    def _shaped(self, name: str, shape: tuple[int, ...]) -> str:
        """Return samples [n, elements] in the shape of a node."""
        return name if len(shape) == 1 else self.out.shaped(name, 1, shape)
