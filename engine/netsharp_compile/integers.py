"""A network in integers: all that a device needs, and all that the simulator sees.

    acc    = bias[n] + sum of weight[n, i] * (code[i] - zero)
    step   = floor((acc * multiplier[c] + 2^shift[c] / 2) / 2^shift[c])
    result = clamp(step + zero_point)
    next   = table[result - least]      or a formula of ``formulas``

Node n is of channel c; a window has only the values that are there.  One rounding, half up.  Zero
points are in the biases, but of a bundle whose windows reach beyond its source, where they are its
``zero``.  A pool has no weights: acc is the sum of a window's codes, or the largest of them.  A
device, the simulator and every compiler give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_compile.bundles import Bundle, PooledBundle, united
from netsharp_compile.formulas import FixedFormula
from netsharp_compile.rescaling import requantized
from netsharp_compile.schemes import QuantizationScheme, rounded_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_compile.operators import Array

    Integers = npt.NDArray[np.integer]

#: The largest number of 32 bits with a sign.
INT32 = 2**31 - 1
#: The least scale of a node's weights, as a part of the largest of its layer, and the largest bias
#: in units of a scale: weight decay leaves nodes with weights near 0, whose biases would otherwise
#: overflow 64 bits.
_SMALLEST = 2.0**-20
_MOST_BIAS = 2.0**30
#: Types that add integers without rounding, and the bound of sums below which they do.
_EXACT = (("float32", 2**24), ("float64", 2**53))


@dataclass(frozen=True, slots=True)
class FeatureCodes:
    """The encoding of features as codes, each by a scheme of its own: the nearest integer to
    (feature - offset) * factor, clipped to ``lowest`` and ``most``, counted from the least code.

    ``codes`` is the range of codes.  For a feature with ``edges`` the number of these that it has
    reached replaces it.
    """

    codes: QuantizationScheme
    offset: Array
    factor: Array
    lowest: Integers
    most: Integers
    edges: tuple[Array, ...] = ()

    def of(self, features: Array) -> Integers:
        """Return the codes of numbers [rows, features] that are not normalised."""
        if self.edges:
            features = np.array(features, np.float64)
            for column, edges in zip(features.T, self.edges, strict=True):
                column[...] = np.searchsorted(edges, column, side="right")
        steps = rounded_up((features - self.offset) * self.factor)
        bounded = np.clip(steps, self.lowest, self.most).astype(np.int64) + self.codes.least
        return bounded.astype(self.codes.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class IntegerBundle:
    """A bundle with integers for its weights, and what is subtracted from each code it reads."""

    bundle: Bundle
    weights: Integers
    zero: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IntegerLayer:
    """A layer: its bundles, biases [nodes, or channels], multipliers and shifts [channels], the
    schemes of its sums and of its values, and the number of the table between them; None where the
    codes are the same.
    """

    name: str
    function: str
    origin: str
    parts: tuple[IntegerBundle, ...]
    biases: Integers
    multipliers: Integers
    shifts: Integers
    result: QuantizationScheme
    table: int | None
    target: QuantizationScheme
    #: The largest magnitude that a sum of any node can have, proven from the weights.
    bound: int
    #: The formula that replaces a table.
    formula: FixedFormula | None = None

    @property
    def wide(self) -> bool:
        """Return whether its sums need 64 bits."""
        return self.bound > INT32

    @property
    def nodes(self) -> int:
        """Return the number of its nodes."""
        return self.parts[0].bundle.nodes

    @property
    def values(self) -> int:
        """Return the number of values that its bundles read."""
        return sum(one.bundle.source.size for one in self.parts)

    @property
    def multiply_adds(self) -> int:
        """Return the number of products that a run adds; pools have none."""
        return sum(one.bundle.edges for one in self.parts if self.pool is None)

    @property
    def pool(self) -> PooledBundle | None:
        """Return the pool that the layer is; None where it is another layer."""
        first = self.parts[0].bundle
        return first if isinstance(first, PooledBundle) else None

    @property
    def channels(self) -> Integers:
        """Return the channel of each node [nodes]."""
        return united([one.bundle for one in self.parts])

    @property
    def node_biases(self) -> Integers:
        """Return the bias of each node [nodes]."""
        by_node = self.pool is None and len(self.biases) == self.nodes
        return self.biases if by_node else self.biases[self.channels]

    def sums(self, operands: Sequence[Integers]) -> Integers:
        """Return the sums [rows, nodes] of codes."""
        exact = next((kind for kind, bound in _EXACT if self.bound < bound), "int64")
        found: Any = self.node_biases.astype(exact)
        for part in self.parts:
            operand, first, size = part.bundle.source
            codes: Any = operands[operand][:, first : first + size].astype(exact)
            codes -= part.zero
            found = found + part.bundle.sums(codes, part.weights.astype(exact))
        return np.asarray(found).astype(np.int64)


@dataclass(frozen=True, slots=True)
class IntegerNetwork:
    """Codes of features, layers in order, and the tables that they share."""

    features: FeatureCodes
    layers: tuple[IntegerLayer, ...]
    tables: tuple[Integers, ...]

    def simulate(self, codes: Integers) -> list[Integers]:
        """Return the codes of every layer's values [rows, nodes], the last of them the answers, for
        codes of features [rows, features].
        """
        operands = [codes]
        for layer in self.layers:
            operands.append(self.looked_up(layer, self.results_of(layer, operands)))
        return operands[1:]

    def results_of(self, layer: IntegerLayer, operands: Sequence[Integers]) -> Integers:
        """Return the codes of a layer's sums [rows, nodes], for those of the features and of all
        layers before it.
        """
        of_node, sums = layer.channels, layer.sums(operands)
        found = requantized(sums, layer.multipliers[of_node], layer.shifts[of_node])
        return np.clip(found + layer.result.zero_point, layer.result.least, layer.result.most)

    def looked_up(self, layer: IntegerLayer, results: Integers) -> Integers:
        """Return the codes of a layer's values for those of its sums, of the same shape, in the
        dtype of the layer's scheme.
        """
        if layer.formula is not None:
            return layer.formula.codes(results, layer.result, layer.target)
        if layer.table is None:
            return results.astype(layer.target.dtype)
        return self.tables[layer.table][results - layer.result.least]


def quantized_weights(
    parts: Sequence[tuple[Bundle, Array]],
    biases: Array,
    most: int,
    by_node: bool,
    raised: Callable[[Array], Array] = lambda scales: scales,
) -> tuple[list[Integers], Integers, Array]:
    """Return the weights of each bundle and the biases [nodes] in integers, and the scale of each
    node's sums [nodes], which is one for nodes that share weights.

    Weights are in units of the codes they are multiplied with.  ``raised`` gives scales that are no
    smaller than others, such as powers of two.
    """
    largest = np.zeros(len(biases))
    for bundle, weights in parts:
        owners = np.broadcast_to(bundle.owners, weights.shape)
        np.maximum.at(largest, owners.reshape(-1), np.abs(weights).reshape(-1))
    if not by_node:
        largest = np.full_like(largest, largest.max())
    scales = np.maximum(largest / most, largest.max() / most * _SMALLEST)
    scales = np.maximum(scales, np.abs(biases) / _MOST_BIAS)
    tiny = np.finfo(np.float64).tiny
    usual = scales.max(initial=0.0) if scales.max(initial=0.0) >= tiny else 1.0
    scales = np.where(scales < tiny, usual, scales)
    scales = raised(_spread([bundle.groups for bundle, _ in parts], scales))
    # A bias may have made the scale larger, and a division more by a unit of the last place.
    whole: list[Integers] = [
        np.clip(rounded_up(weights / scales[bundle.owners]), -most, most).astype(np.int64)
        for bundle, weights in parts
    ]
    return whole, rounded_up(biases / scales).astype(np.int64), scales


def _spread(groups: Sequence[Integers], scales: Array) -> Array:
    """Return the largest scale [nodes] among all nodes that share weights, directly or through
    others.
    """
    while True:
        before = scales
        for one in groups:
            largest = np.zeros(len(scales))
            np.maximum.at(largest, one, scales)
            scales = largest[one]
        if len(groups) == 1 or np.array_equal(before, scales):
            return scales


def largest_sums(
    parts: Sequence[IntegerBundle], biases: Integers, codes: Sequence[Integers]
) -> int:
    """Return the largest magnitude that a sum can have, ``codes`` being the largest of each value
    [values] that each bundle reads, less its zero.  The terms may come in any order: no sum of some
    of them is larger.
    """
    # A product has 31 bits, and no layer 2^31 values.
    worst = np.abs(biases)
    for part, largest in zip(parts, codes, strict=True):
        weights = np.abs(part.weights).astype(np.int64)
        worst = worst + part.bundle.sums(np.asarray(largest, np.int64)[None], weights)[0]
    return int(worst.max())
