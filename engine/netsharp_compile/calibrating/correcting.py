"""Biases that make up for what rounded weights and operands do to sums on average: they move the
mean of a node's sums, and all that follows with every row.

Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction"
(2019), section 4.2, here with the means that rows show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netsharp_compile.integers import largest_sums
from netsharp_compile.layers import values_of
from netsharp_compile.schemes import rounded_up

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerBundle, IntegerLayer, IntegerNetwork, Integers
    from netsharp_compile.layers import SummedLayer
    from netsharp_compile.operators import Array
    from netsharp_compile.schemes import QuantizationScheme

#: The least number of rows for a correction: means of fewer are dominated by their own roundings.
_LEAST_ROWS = 64


def corrected(
    network: IntegerNetwork, layers: Sequence[SummedLayer], features: Array, normalized: Array
) -> IntegerNetwork:
    """Return a network whose biases, layer after layer, take away the mean difference of sums from
    those of the network in floating point on some rows [rows, features], as they are and as the
    normaliser makes them. Raises ValueError for an activation without an operator.
    """
    if len(features) < _LEAST_ROWS:
        return network
    found, operands = [], [network.features.of(features)]
    schemes = [network.features.codes, *(layer.target for layer in network.layers)]
    for layer, (wanted, _) in zip(network.layers, values_of(layers, normalized), strict=True):
        biases = _biases(layer, layer.sums(operands), wanted)
        made = replace(layer, biases=biases)
        codes = [_largest(part, schemes[part.bundle.source.operand]) for part in layer.parts]
        bound = largest_sums(layer.parts, made.node_biases, codes)
        # Multipliers are as wide as fits with the bits of the sums.
        fits = bound.bit_length() <= layer.bound.bit_length()
        made = replace(made, bound=bound) if fits else layer
        found.append(made)
        operands.append(network.looked_up(made, network.results_of(made, operands)))
    return replace(network, layers=tuple(found))


def _biases(layer: IntegerLayer, sums: Integers, wanted: Array) -> Integers:
    """Return a layer's biases less the mean difference of its sums; those of pools are zero points
    and do not change.
    """
    if layer.pool is not None:
        return layer.biases
    result, channels = layer.result, layer.channels
    units = np.ldexp(layer.multipliers.astype(np.float64), -layer.shifts) * result.scale
    low, high = result.dequantize([result.least, result.most])
    # Clipped sums have no information on the mean.
    seen = (low < wanted) & (wanted < high)
    apart = np.where(seen, sums * units[channels] - wanted, 0.0)
    owners = np.arange(layer.nodes) if len(layer.biases) == layer.nodes else channels
    counts = np.bincount(owners, seen.sum(axis=0), len(layer.biases))
    means = np.bincount(owners, apart.sum(axis=0), len(layer.biases)) / np.maximum(counts, 1)
    _, firsts = np.unique(owners, return_index=True)
    steps = units[channels[firsts]]
    less = rounded_up(np.divide(means, steps, out=np.zeros_like(means), where=steps > 0))
    found: Integers = layer.biases - less.astype(np.int64)
    return found


def _largest(part: IntegerBundle, scheme: QuantizationScheme) -> Integers:
    """Return the largest magnitude of each value that a bundle reads, less its zero [values]."""
    most = max(abs(scheme.least - part.zero), abs(scheme.most - part.zero))
    return np.full(part.bundle.source.size, most)
