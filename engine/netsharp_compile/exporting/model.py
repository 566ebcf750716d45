"""A compiled model of tables as an ONNX model: features become codes as a device makes them, layers
are operators between QuantizeLinear and DequantizeLinear, answers are those of the float export.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.exporting.operands import WIDE_CODES, dequantized, quantized
from netsharp_compile.exporting.rounding import nudge_of, scale_of_sums, scale_of_table
from netsharp_compile.exporting.sums import CodeTensor, LayerSums
from netsharp_compile.layers import SOFTMAX
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import QuantizationScheme
from netsharp_engine.excerpt import excerpt
from netsharp_engine.exporting.onnx.exported import DEFAULT_OPSET, OPSETS, OnnxForm
from netsharp_engine.exporting.onnx.operators.bundles import activated
from netsharp_engine.exporting.onnx.trained import TableExport
from netsharp_engine.exporting.onnx.writing import OnnxValue

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

    from netsharp_compile.integers import FeatureCodes, IntegerLayer, IntegerNetwork, Integers
    from netsharp_compile.operators import Array
    from netsharp_engine.exporting.onnx.writing import OnnxWriting
    from netsharp_engine.model import Model


class LayerTensors(NamedTuple):
    """The tensors of a layer's codes: of its sums, and of its values; the same without a table."""

    sums: str
    values: str


class QuantizedModel(NamedTuple):
    """A model in ONNX, and where its codes are: of the features, and of each layer."""

    proto: ModelProto
    features: str
    layers: tuple[LayerTensors, ...]


def quantized_model(
    model: Model, network: IntegerNetwork, opset: int | None = None
) -> QuantizedModel:
    """Return a compiled model as ONNX, by the least usual operator set that holds its codes unless
    one is asked for.

    Raises CompileError for what ONNX cannot hold, with the layer and its place.
    """
    require_table(model)
    if opset is not None and opset not in OPSETS:
        raise CompileError(f"operator set {opset} is not written: {OPSETS[0]} to {OPSETS[-1]} are.")
    needed = _needed(network)
    if opset is not None and opset < needed:
        raise CompileError(
            f"its codes need operator set {needed} or later, and {opset} was asked for: leave that "
            "out, or take narrower codes (--logits, --activations, --weights)."
        )
    return _QdqExport(model, network, OnnxForm(opset or max(needed, DEFAULT_OPSET))).quantized()


def require_table(model: Model) -> None:
    """Do nothing for a model of tables, else raise CompileError."""
    if model.network is not None:
        raise CompileError(
            "a QDQ file is made of models of tables, and this is a network of CNTK: compile it to "
            "C, or export it with --to onnx."
        )


def _needed(network: IntegerNetwork) -> int:
    """The operator set from which on all types of codes and weights are there."""
    types = {network.features.codes.dtype}
    for layer in network.layers:
        types |= {layer.result.dtype, layer.target.dtype}
        types |= {part.weights.dtype for part in layer.parts}
    return WIDE_CODES if any(one.itemsize > 1 for one in types) else 0


class _QdqExport(TableExport):
    def __init__(self, model: Model, network: IntegerNetwork, form: OnnxForm) -> None:
        super().__init__(model, form)
        self._network = network
        #: DequantizeLinear gives float32, whatever the model has; features become codes in float64.
        self._single, self._double = (self.out.counted(f"float{bits}") for bits in (32, 64))
        self._operands: list[CodeTensor] = []
        self._layers: list[LayerTensors] = []
        self._missing = ""

    def quantized(self) -> QuantizedModel:
        """Write all of it."""
        proto = self.model()
        return QuantizedModel(proto, self._operands[0].name, tuple(self._layers))

    def inputs(self) -> list[ValueInfoProto]:
        """Take columns, encode them, and make codes of what is not normalised."""
        typed, features = self.encoded()
        self.out.begin("features")
        if any(one.levels is None and one.fill is None for one in self._model.encoding.columns):
            self._missing = self._not_a_number(features)
        codes = _feature_codes(self._double, self._single, features, self._network.features)
        read = self._network.features
        self._operands.append(CodeTensor(codes, len(read.offset), read.codes.dtype))
        return typed

    def follow(self) -> None:
        """Write the layers, and the numbers that the last codes mean."""
        for layer in self._network.layers:
            try:
                self._layer(layer)
            except ValueError as error:
                place = f"{layer.origin}: " * bool(layer.origin)
                raise CompileError(
                    f"{place}'{excerpt(layer.name)}' has no form in ONNX: {error}."
                ) from None
        out, last = self._single, self._operands[-1]
        for one in (out, self.out):
            one.begin("answer")
        assert last.scale is not None
        assert last.zero_point is not None
        name = dequantized(out, last.name, last.scale, last.zero_point, last.dtype)
        if self.portable.dtype == "float64":
            name = _cast(out, name, "float64")
        if self._missing:
            name = self.out.add("Add", name, self._missing)
        if self._network.layers[-1].function == SOFTMAX:
            name = self.out.add("Softmax", name, axis=-1)
        (output,) = self.portable.outputs
        self.values[output] = OnnxValue(name, 1, (output.size,))

    def _layer(self, layer: IntegerLayer) -> None:
        if layer.formula is not None:
            raise ValueError(
                "it is worked out in fixed point (--transfer arith), which no operator is; leave "
                "that out"
            )
        out, nudge = self._single, nudge_of(layer)
        out.begin(layer.name)
        result = replace(layer.result, scale=scale_of_sums(layer))
        sums = LayerSums(out, layer, self._operands).added()
        name = out.add("Add", sums.name, out.number(nudge)) if nudge else sums.name
        codes = sums.arranged(quantized(out, name, result, are_bounded=sums.are_bounded))
        made = "codes" if layer.table is None else "sums"
        codes = values = out.rename(codes, f"{layer.name}/{made}")
        target = result if layer.target == layer.result else layer.target
        if layer.table is not None:
            scale = scale_of_table(layer, self._network.tables[layer.table])
            target = replace(layer.target, scale=scale)
            number = dequantized(out, codes, result.scale, result.zero_point, result.dtype)
            number = activated(out, number, layer.function)
            values = out.rename(quantized(out, number, target), f"{layer.name}/codes")
        self._layers.append(LayerTensors(codes, values))
        self._operands.append(
            CodeTensor(values, layer.nodes, target.dtype, target.scale, target.zero_point)
        )

    def _not_a_number(self, features: str) -> str:
        """0 for each row [n, 1], and no number for one in which a number is missing."""
        out = self.out
        marked = out.add("Where", out.add("IsNaN", features), features, out.numbers(0))
        return out.reduced("ReduceSum", marked, 1)


def _feature_codes(out: OnnxWriting, single: OnnxWriting, features: str, read: FeatureCodes) -> str:
    """Codes [n, features] as the network's own rounding gives them, in double precision."""
    for one in (out, single):
        one.begin("features")
    name = _cast(out, features, "float64")
    if read.edges:
        name = _reached(out, name, read.edges)
    if read.offset.any():
        name = out.add("Sub", name, _row(out, read.offset))
    name = out.add("Mul", name, _row(out, read.factor))
    below = out.add("Floor", name)
    rest = out.add("Sub", name, below)
    is_above = out.add("GreaterOrEqual", rest, out.numbers(0.5))
    name = out.add("Add", below, _cast(out, is_above, "float64"))
    name = out.add("Min", out.add("Max", name, _row(out, read.lowest)), _row(out, read.most))
    if read.codes.least:
        name = out.add("Add", name, out.numbers(read.codes.least))
    scheme = QuantizationScheme.affine(1.0, 0, read.codes.bits, read.codes.operand)
    whole = _cast(out, name, "float32")
    return single.rename(quantized(single, whole, scheme), "features/codes")


def _reached(out: OnnxWriting, name: str, edges: tuple[Array, ...]) -> str:
    """How many of its edges each feature has reached."""
    table = np.full((len(edges), max(1, *map(len, edges))), np.inf)
    for feature, one in enumerate(edges):
        table[feature, : len(one)] = one
    spread = out.add("Unsqueeze", name, out.integers(2))
    reached = _cast(out, out.add("GreaterOrEqual", spread, out.numbers(table)), "float64")
    return out.reduced("ReduceSum", reached, 2, keep=False)


def _row(out: OnnxWriting, values: Array | Integers) -> str:
    """Numbers [1, features], or one that all features share."""
    shown = np.asarray(values)[None]
    return out.numbers(shown[:, :1] if (shown == shown[0, 0]).all() else shown)


def _cast(out: OnnxWriting, name: str, floats: str) -> str:
    from onnx import helper

    return out.add("Cast", name, to=helper.np_dtype_to_tensor_dtype(np.dtype(floats)))
