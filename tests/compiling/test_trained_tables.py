"""P11: networks that were trained with tables are compiled to the same tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.training import training_table
from tests.compiling.builds import require_same_bits

TEXT = """
input X [4];
hidden H [7] FUNCTION from X all;
hidden G [6] FUNCTION from H all;
output Y [3] softmax { from G all; from H all; }
"""


def trained(function: str, operands: str) -> tuple[netsharp.Model, np.ndarray]:
    chance = np.random.default_rng(2)
    x = chance.normal(size=(300, 4))
    y = np.argmax(x[:, :3] + x[:, 1:4] * 0.3, axis=1)
    text = TEXT.replace("FUNCTION", function)
    return netsharp.train(text, x, y, epochs=12, quantize=operands), x


@pytest.mark.parametrize("operands", ["uint4", "int6", "symmetric8"])
@pytest.mark.parametrize("function", ["tanh", "rlinear", "abs"])
def test_tables_of_a_training_are_those_of_the_device(
    function: str, operands: str, tmp_path: Path
) -> None:
    model, x = trained(function, operands)
    made = netsharp.compile(model, x)
    for layer in made.network.layers[:2]:
        low, high = model.tensors[f"{layer.name}/range"].tolist()
        step, lowest, *values = training_table(function, operands, (low, high))
        assert layer.result.scale == step
        assert layer.result.least - layer.result.zero_point == lowest
        codes = layer.result.codes()
        if layer.table is not None:
            codes = made.network.tables[layer.table]
        np.testing.assert_array_equal(layer.target.dequantize(codes), values)
    floating, whole = model.predict(x).predicted, made.simulate(x).predicted
    assert np.mean(np.array(floating) == np.array(whole)) >= 0.95
    require_same_bits(made, x[:50], tmp_path, "-O2")


def test_other_codes_than_those_of_the_training_are_refused() -> None:
    model, x = trained("tanh", "uint4")
    with pytest.raises(netsharp.CompileError, match="trained with tables of uint4 codes, not int8"):
        netsharp.compile(model, x, activations="int8")
    with pytest.raises(netsharp.CompileError, match="whose ranges are fixed: leave --range mse ou"):
        netsharp.compile(model, x, range="mse")
    again = netsharp.compile(model, x, activations="uint4", share_tables=False)
    assert again.network.layers[0].table == again.network.layers[1].table
