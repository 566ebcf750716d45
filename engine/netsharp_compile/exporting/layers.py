"""The layers of a compiled network as ONNX operators, each between QuantizeLinear and
DequantizeLinear, from the numbers of its features to those that its last codes mean.

Knows neither where features come from nor what answers are called.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.exporting.operands import dequantized, quantized
from netsharp_compile.exporting.rounding import rounding_offset, scale_of_sums, scale_of_table
from netsharp_compile.exporting.sums import CodeTensor, LayerSums
from netsharp_compile.refusal import CompileError, named_at
from netsharp_compile.schemes import QuantizationScheme
from netsharp_engine.exporting.onnx.operators.bundles import activated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_compile.integers import FeatureCodes, IntegerLayer, IntegerNetwork, Integers
    from netsharp_compile.operators import Array
    from netsharp_engine.exporting.onnx.writing import OnnxWriting


class LayerTensors(NamedTuple):
    """The tensors of a layer's codes: of its sums, and of its values; the same without a table."""

    sums: str
    values: str


class LayerWriting:
    """The layers of a network of integers in a graph that grows, written once."""

    def __init__(self, out: OnnxWriting, network: IntegerNetwork) -> None:
        self._out, self._network = out, network
        #: DequantizeLinear gives float32, whatever the model has; features become codes in float64.
        self._single, self._double = (out.counted(f"float{bits}") for bits in (32, 64))
        self._operands: list[CodeTensor] = []
        self._missing = ""
        self._layers: list[LayerTensors] = []

    def tensors(self, changed: Mapping[str, str]) -> tuple[str, tuple[LayerTensors, ...]]:
        """Return the names of the tensors of the features' codes and of each layer's, in order,
        where some names were ``changed`` after they were written.
        """
        layers = (LayerTensors(*(changed.get(one, one) for one in each)) for each in self._layers)
        features = self._operands[0].name
        return changed.get(features, features), tuple(layers)

    def read(self, features: str, *, may_lack: bool) -> None:
        """Make codes of features [n, features] that are not normalised.

        With ``may_lack`` a row may have NaN among them; its answers are NaN then. Raises ValueError
        for a scale that float32 does not hold.
        """
        self._out.begin("features")
        if may_lack:
            self._missing = self._not_a_number(features)
        read = self._network.features
        codes = _feature_codes(self._double, self._single, features, read)
        self._operands.append(CodeTensor(codes, len(read.offset), read.codes.dtype))

    def answers(self) -> str:
        """Write all layers and return the numbers [n, outputs] that the last codes mean, in the
        type of the graph and before a softmax.

        Raises CompileError for a layer that ONNX cannot hold, with its name and its place. Raises
        ValueError for a scale that float32 does not hold.
        """
        for layer in self._network.layers:
            try:
                self._layer(layer)
            except ValueError as error:
                named = named_at(layer.name, layer.origin)
                raise CompileError(f"{named} has no form in ONNX: {error}.") from None
        out, last = self._single, self._operands[-1]
        for one in (out, self._out):
            one.begin("answer")
        assert last.scale is not None
        assert last.zero_point is not None
        name = dequantized(out, last.name, last.scale, last.zero_point, last.dtype)
        if self._out.floats == "float64":
            name = _cast(out, name, "float64")
        return self._out.add("Add", name, self._missing) if self._missing else name

    def _layer(self, layer: IntegerLayer) -> None:
        """Add the operators of a layer; ValueError where ONNX cannot hold it."""
        out, offset = self._single, rounding_offset(layer)
        out.begin(layer.name)
        result = replace(layer.result, scale=scale_of_sums(layer))
        sums = LayerSums(out, layer, self._operands).added()
        name = out.add("Add", sums.name, out.number(offset)) if offset else sums.name
        codes = sums.arranged(quantized(out, name, result, are_bounded=sums.are_bounded))
        # A formula in fixed point is at most one code from the operator, which ONNX has.
        is_operator = layer.table is not None or layer.formula is not None
        codes = values = out.rename(codes, f"{layer.name}/{'sums' if is_operator else 'codes'}")
        target = result if layer.target == layer.result else layer.target
        if is_operator:
            table = self._network.looked_up(layer, layer.result.codes())
            target = replace(layer.target, scale=scale_of_table(layer, table))
            number = dequantized(out, codes, result.scale, result.zero_point, result.dtype)
            number = activated(out, number, layer.function)
            values = out.rename(quantized(out, number, target), f"{layer.name}/codes")
        self._layers.append(LayerTensors(codes, values))
        self._operands.append(
            CodeTensor(values, layer.nodes, target.dtype, target.scale, target.zero_point)
        )

    def _not_a_number(self, features: str) -> str:
        """Return 0 for each row [n, 1], and NaN for one in which a number is missing."""
        out = self._out
        marked = out.add("Where", out.add("IsNaN", features), features, out.numbers(0))
        return out.reduced("ReduceSum", marked, 1)


def _feature_codes(out: OnnxWriting, single: OnnxWriting, features: str, read: FeatureCodes) -> str:
    """Add the codes [n, features] of features, rounded in double precision as the network does."""
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
    """Add the number of its edges that each feature has reached [n, features]."""
    table = np.full((len(edges), max(1, *map(len, edges))), np.inf)
    for feature, one in enumerate(edges):
        table[feature, : len(one)] = one
    spread = out.add("Unsqueeze", name, out.integers(2))
    reached = _cast(out, out.add("GreaterOrEqual", spread, out.numbers(table)), "float64")
    return out.reduced("ReduceSum", reached, 2, keep=False)


def _row(out: OnnxWriting, values: Array | Integers) -> str:
    """Return the name of numbers [1, features], or of one number that all features share."""
    shown = np.asarray(values)[None]
    return out.numbers(shown[:, :1] if (shown == shown[0, 0]).all() else shown)


def _cast(out: OnnxWriting, name: str, floats: str) -> str:
    from onnx import helper

    return out.add("Cast", name, to=helper.np_dtype_to_tensor_dtype(np.dtype(floats)))
