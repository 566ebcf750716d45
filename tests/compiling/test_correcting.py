"""Biases that take away the mean error of sums."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.calibrating import correcting
from netsharp_compile.integers import IntegerNetwork
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.simulating import logits_of
from tests.compiling.networks import DEEP, MAPS, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def normalized(model: Any, x: np.ndarray) -> np.ndarray:
    rows = x.astype(model.settings.dtype)
    model.normalizer.apply(rows)
    return rows.astype(np.float64)


def both(model: Any, x: np.ndarray, **settings: Any) -> tuple[IntegerNetwork, IntegerNetwork]:
    """A network with biases as they were rounded, and with corrected ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netsharp_compile.compiled.corrected", lambda network, *others: network)
        plain = netsharp.compile(model, x, **settings).network
    return plain, netsharp.compile(model, x, **settings).network


def test_sums_are_right_on_average() -> None:
    """Within half a step of each node's, where nothing is cut off; so are those of kernels, over
    all nodes that share one.
    """
    model, x = trained(MAPS, features=36)
    plain, made = both(model, x, range="minmax", activations="uint6")
    layers = layers_of(model.graph, model.tensors)
    # Levelled channels would be others: these functions have none.
    operands = [made.features.of(x.astype(np.float32).astype(float))]
    checked = 0
    for layer, before, (wanted, _) in zip(
        made.layers, plain.layers, values_of(layers, normalized(model, x)), strict=True
    ):
        sums = layer.sums(operands)
        operands.append(made.looked_up(layer, made.results_of(layer, operands)))
        if layer.pool is not None or layer.function == "rlinear":
            continue
        units = np.ldexp(layer.multipliers.astype(float), -layer.shifts) * layer.result.scale
        low, high = layer.result.dequantize([layer.result.least, layer.result.most])
        seen = (low < wanted) & (wanted < high)
        apart = np.where(seen, sums * units[layer.channels] - wanted, 0.0).sum(axis=0)
        owners = np.arange(layer.nodes) if len(layer.biases) == layer.nodes else layer.channels
        counts = np.bincount(owners, seen.sum(axis=0))
        means = np.bincount(owners, apart) / counts
        _, firsts = np.unique(owners, return_index=True)
        assert np.abs(means / units[layer.channels[firsts]]).max() <= 0.5 + 1e-6
        checked += int((layer.biases != before.biases).any())
        for part, other in zip(layer.parts, before.parts, strict=True):
            np.testing.assert_array_equal(part.weights, other.weights)
    assert checked >= 3


def test_rows_that_were_not_seen_are_answered_better() -> None:
    """In the mean of networks; of one the roundings may make up for one another by chance."""
    quotients = []
    for text in (DEEP, ONE.format("rlinear", "softmax"), ONE.format("sigmoid", "linear")):
        model, x = trained(text, epochs=30)
        layers = layers_of(model.graph, model.tensors)
        *_, (wanted, _) = values_of(layers, normalized(model, x[120:]))
        rows = x[120:].astype(np.float32).astype(float)
        for activations in ("uint4", "uint5", "uint6", "int8"):
            before, after = (
                np.square(logits_of(one, rows) - wanted).mean()
                for one in both(model, x[:120], activations=activations)
            )
            quotients.append(after / before)
    assert geometric_mean(quotients) < 0.95, quotients


def test_a_few_rows_and_tables_of_a_training_change_no_bias() -> None:
    for settings, rows in (({}, 63), ({"quantize": "uint4"}, 200)):
        model, x = trained(DEEP, **settings)
        plain, made = both(model, x[:rows])
        for one, other in zip(plain.layers, made.layers, strict=True):
            np.testing.assert_array_equal(one.biases, other.biases)


def test_no_bias_takes_a_sum_beyond_its_bits() -> None:
    """Then a multiplier would be too wide for 63 bits: the layer stays as it was."""
    model, x = trained(DEEP)
    plain, made = both(model, x)
    for before, after in zip(plain.layers, made.layers, strict=True):
        assert after.bound.bit_length() <= before.bound.bit_length()
    layers = layers_of(model.graph, model.tensors)
    far = [one._replace(biases=one.biases + 1e6) for one in layers]
    rows = x.astype(np.float32).astype(float)
    same = correcting.corrected(plain, far, rows, normalized(model, x))
    for one, other in zip(plain.layers, same.layers, strict=True):
        np.testing.assert_array_equal(one.biases, other.biases)
