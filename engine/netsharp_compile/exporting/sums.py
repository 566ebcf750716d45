"""The sums of a layer of integers as ONNX operators on the numbers that its codes mean.

    sum = unit * (bias + sum of weight * (code - zero))        unit = multiplier / 2^shift * scale

so that QuantizeLinear by the scale of the sums is what a device does with multiplier and shift.
Codes are rearranged as codes, before DequantizeLinear and after QuantizeLinear, with a single
operator in between: runtimes replace this pattern by their kernels for integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import ConvolvedBundle, FilteredBundle, PooledBundle
from netsharp_compile.exporting.operands import biases, dequantized, padded, weights
from netsharp_compile.exporting.walking import grouped_walk
from netsharp_engine.exporting.onnx.operators import taken
from netsharp_engine.exporting.onnx.operators.bundles import (
    ADDED_BY_INDEX,
    is_matrix,
    is_pooled,
    scattered,
)
from netsharp_engine.exporting.onnx.operators.walking import walk_of
from netsharp_engine.exporting.places import cells, kernel_numbers

if TYPE_CHECKING:
    from netsharp_compile.bundles import Bundle
    from netsharp_compile.exporting.walking import GroupedWalk
    from netsharp_compile.integers import IntegerBundle, IntegerLayer, Integers
    from netsharp_compile.operators import Array
    from netsharp_engine.exporting.onnx.writing import OnnxWriting


class CodeTensor(NamedTuple):
    """Codes [n, values] in the graph; ``scale`` and ``zero_point`` are None of features, each of
    which has a scheme of its own that is in the weights.
    """

    name: str
    size: int
    dtype: np.dtype[np.integer]
    scale: float | None = None
    zero_point: int | None = None


class WrittenSums(NamedTuple):
    """Sums in the shape in which an operator gives them, and what arranges a tensor of that shape,
    of numbers or of codes, as [n, nodes].
    """

    name: str
    arranged: Callable[[str], str]
    #: Whether they are within the range of their source.
    are_bounded: bool = False


class _Scheme(NamedTuple):
    scale: float
    zero_point: int


class LayerSums:
    """The sums of one layer, written once."""

    def __init__(
        self, out: OnnxWriting, layer: IntegerLayer, operands: Sequence[CodeTensor]
    ) -> None:
        self._out, self._layer, self._operands = out, layer, operands
        units = np.ldexp(layer.multipliers.astype(np.float64), -layer.shifts) * layer.result.scale
        #: Nodes whose sums are 0 whatever their source, since their multiplier is.
        self._dead = layer.multipliers[layer.channels] == 0
        #: What a step of each node's sum means [nodes].
        self._units = np.where(self._dead, layer.result.scale, units[layer.channels])
        #: Biases [nodes] that no operator has added yet.
        self._biases: Integers | None = None

    def added(self) -> WrittenSums:
        """Add them; ValueError for what ONNX cannot hold, without the layer's name."""
        layer, out = self._layer, self._out
        if layer.pool is not None:
            return self._pooled(layer.pool)
        self._biases = np.where(self._dead, 0, layer.node_biases + self._zeros())
        found = [self._part(part) for part in layer.parts]
        left = self._biases
        if len(found) == 1 and (left is None or not left.any()):
            return found[0]
        total, *others = (one.arranged(one.name) for one in found)
        if left is not None and left.any():
            others.append(biases(out, left, self._units, f"{layer.name}/biases"))
        for one in others:
            total = out.add("Add", total, one)
        return WrittenSums(total, _as_it_is)

    def _zeros(self) -> Integers:
        """Return the sums of zero points that biases include [nodes]."""
        found = np.zeros(self._layer.nodes, np.int64)
        for part in self._layer.parts:
            zero = self._scheme(part).zero_point - part.zero
            values = np.full((1, part.bundle.source.size), zero, np.int64)
            found += part.bundle.sums(values, part.weights.astype(np.int64))[0]
        return found

    def _scheme(self, part: IntegerBundle) -> _Scheme:
        """Return the scale and the zero point of the codes that a bundle reads."""
        operand = self._operands[part.bundle.source.operand]
        if operand.scale is None or operand.zero_point is None:
            return _Scheme(1.0, part.zero)
        return _Scheme(operand.scale, operand.zero_point)

    def _codes(self, bundle: Bundle) -> str:
        """Add the codes that a bundle reads, [n, values]."""
        out, (number, first, size) = self._out, bundle.source
        operand = self._operands[number]
        if size == operand.size:
            return operand.name
        return out.add("Slice", operand.name, *map(out.integers, (first, first + size, 1)))

    def _numbers(self, bundle: Bundle, codes: str, scheme: _Scheme) -> str:
        """Add the numbers that the codes of a bundle's source mean."""
        dtype = self._operands[bundle.source.operand].dtype
        return dequantized(self._out, codes, scheme.scale, scheme.zero_point, dtype)

    def _windows(self, bundle: ConvolvedBundle | PooledBundle, codes: str, scheme: _Scheme) -> str:
        """Add the codes [n, places, taps] of windows, with zero points outside the source."""
        chosen = cells(bundle.axes)
        if (chosen < 0).any():
            dtype = self._operands[bundle.source.operand].dtype
            codes = padded(self._out, codes, scheme.zero_point, dtype)
            chosen = np.where(chosen < 0, bundle.source.size, chosen)
        return self._out.add("Gather", codes, self._out.whole(chosen), axis=1)

    def _part(self, part: IntegerBundle) -> WrittenSums:
        """Add the sums of one bundle."""
        bundle, out = part.bundle, self._out
        scheme, codes = self._scheme(part), self._codes(part.bundle)
        values = np.where(self._dead[bundle.owners], 0, part.weights).astype(part.weights.dtype)
        if isinstance(bundle, ConvolvedBundle):
            return self._convolved(bundle, codes, values, scheme)
        source = self._numbers(bundle, codes, scheme)
        if isinstance(bundle, FilteredBundle):
            if not is_matrix(bundle.source.size, bundle.nodes, bundle.edges):
                return self._gathered(bundle, source, values, scheme)
            matrix = np.zeros((bundle.nodes, bundle.source.size), values.dtype)
            matrix[bundle.owners, bundle.places] = values
            values = matrix
        each = self._weights(values, self._units, scheme)
        return WrittenSums(out.add("Gemm", source, each, *self._own_biases(), transB=1), _as_it_is)

    def _weights(self, values: Integers, units: Array, scheme: _Scheme) -> str:
        """Add weights whose first axis is that of these units of sums."""
        return weights(self._out, values, units / scheme.scale, f"{self._layer.name}/weights")

    def _own_biases(self, nodes: Integers | None = None) -> list[str]:
        """Return the biases as an input of an operator that adds them, of these nodes [n] or of
        all; nothing where another operator has added them.
        """
        if self._biases is None or not self._biases.any():
            return []
        left, units = self._biases, self._units
        self._biases = None
        if nodes is not None:
            left, units = left[nodes], units[nodes]
        return [biases(self._out, left, units, f"{self._layer.name}/biases")]

    def _gathered(
        self, bundle: FilteredBundle, source: str, values: Integers, scheme: _Scheme
    ) -> WrittenSums:
        out = self._out
        if out.opset < ADDED_BY_INDEX:
            raise ValueError(f"its edges need operator set {ADDED_BY_INDEX} or later")
        given = out.add("Gather", source, out.whole(bundle.places), axis=1)
        products = out.add("Mul", given, self._weights(values, self._units[bundle.owners], scheme))
        return WrittenSums(scattered(out, products, bundle.owners, bundle.nodes), _as_it_is)

    def _convolved(
        self, bundle: ConvolvedBundle, codes: str, values: Integers, scheme: _Scheme
    ) -> WrittenSums:
        """Add a Conv where its axes can be walked along, else a product with windows, grouped where
        each place has kernels of its own.
        """
        walk = grouped_walk(bundle)
        if walk is not None:
            return self._walked(walk, codes, values, scheme)
        out, axes, maps = self._out, bundle.axes, prod(bundle.maps)
        firsts = bundle.owners[:, 0]
        numbers = kernel_numbers(axes, bundle.sharing, bundle.maps)  # [places, maps]
        places, seen = len(numbers), self._windows(bundle, codes, scheme)
        if (numbers == numbers[0]).all():
            rows = out.add("Reshape", seen, out.integers(-1, bundle.taps))
            kernels = numbers[0]
            each = self._weights(values[kernels], self._units[firsts[kernels]], scheme)
            given = (self._numbers(bundle, rows, scheme), each)
            own = self._kernel_biases(bundle, firsts[kernels])
            found = out.add("Gemm", *given, *own, transB=1)
        else:
            image = out.add("Reshape", seen, out.integers(-1, places * bundle.taps, 1))
            kernels = numbers.reshape(-1)
            each = self._weights(values[kernels][..., None], self._units[firsts[kernels]], scheme)
            given = (self._numbers(bundle, image, scheme), each)
            own = self._kernel_biases(bundle, firsts[kernels])
            found = out.add("Conv", *given, *own, kernel_shape=[1], group=places)
        counts = [axis.count for axis in axes]

        def arranged(name: str) -> str:
            apart = out.add("Reshape", name, out.integers(-1, places, maps))
            grid = taken.arranged(out, apart, counts, bundle.maps, places_first=True)
            return out.shaped(grid, 1, (bundle.nodes,))

        return WrittenSums(found, arranged)

    def _walked(
        self, walk: GroupedWalk, codes: str, values: Integers, scheme: _Scheme
    ) -> WrittenSums:
        """Add a Conv, whose maps are turned into the order of nodes."""
        out, bundle = self._out, walk.bundle
        nodes = bundle.owners[walk.order(), 0]
        given = (
            self._numbers(bundle, walk.image(out, codes), scheme),
            self._weights(walk.kernels(values), self._units[nodes], scheme),
            *self._kernel_biases(bundle, nodes),
        )
        found = out.add("Conv", *given, **walk.attributes)
        return WrittenSums(found, lambda name: walk.nodes(out, name))

    def _kernel_biases(self, bundle: ConvolvedBundle, nodes: Integers) -> list[str]:
        """Return the biases of kernels, by a node of each; nothing where nodes of a kernel have
        different ones.
        """
        left = self._biases
        if left is None or not np.array_equal(left[bundle.owners[:, 0]][bundle.groups], left):
            return []
        return self._own_biases(nodes)

    def _pooled(self, pool: PooledBundle) -> WrittenSums:
        """Add means or largest values, whose biases are zero points alone."""
        out, layer = self._out, self._layer
        (part,) = layer.parts
        scheme, codes = self._scheme(part), self._codes(pool)
        if self._operands[pool.source.operand].scale is None:
            # The least number of values that a window has is that of the first channel.
            count = 1 if pool.largest or len(layer.biases) > 1 else pool.taps
            unit = np.ldexp(float(layer.multipliers[0]), -int(layer.shifts[0]))
            scale = float(unit) * layer.result.scale * count
            scheme = _Scheme(scale, -int(layer.biases[0]) // count)
        if not is_pooled(pool.axes):
            found = self._pooled_by_cells(pool, codes, scheme)
            return WrittenSums(found, _as_it_is, pool.largest)
        sizes = (axis.size for axis in pool.axes)
        image = out.add("Reshape", codes, out.integers(-1, 1, *sizes))
        source = self._numbers(pool, image, scheme)
        operator = "MaxPool" if pool.largest else "AveragePool"
        found = out.add(operator, source, **walk_of(pool.axes))
        return WrittenSums(found, lambda name: out.shaped(name, 1, (pool.nodes,)), pool.largest)

    def _pooled_by_cells(self, pool: PooledBundle, codes: str, scheme: _Scheme) -> str:
        out = self._out
        if pool.largest:
            chosen = out.whole(taken.cells_inside(pool.axes))
            seen = out.add("Gather", codes, chosen, axis=1)
            return out.reduced("ReduceMax", self._numbers(pool, seen, scheme), -1, keep=False)
        seen = self._numbers(pool, self._windows(pool, codes, scheme), scheme)
        total = out.reduced("ReduceSum", seen, -1, keep=False)
        return out.add("Div", total, out.numbers(pool.counts))


def _as_it_is(name: str) -> str:
    return name
