"""Widths of operands and ways from sums to codes: the same bits in C and in fractions, fixed points
that are powers of two, shifts alone, and what cannot be.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.refusal import CompileError
from netsharp_compile.rescaling import shifts_of
from netsharp_compile.widths import OperandWidth
from tests.compiling.builds import require_same_bits
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
KINDS = ("uint", "int", "symmetric", "qmn")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", range(4, 17))
def test_names_are_read_back(kind: str, bits: int) -> None:
    for text in (f"{kind}{bits}", *(f"{kind}{bits}/{index}" for index in range(4, bits))):
        width = OperandWidth.of(text)
        assert str(width) == text
        assert (width.kind, width.bits) == (kind, bits)


@pytest.mark.parametrize(
    "text", ["uint3", "uint17", "uint", "8", "uint8/9", "uint8/3", "float8", "uint8 ", "", "int16/"]
)
def test_no_such_width(text: str) -> None:
    with pytest.raises(CompileError, match="Operands are uint8, int8, symmetric8 or qmn8, with 4"):
        OperandWidth.of(text)


@pytest.mark.parametrize("bits", [4, 8, 12, 16])
def test_a_fixed_point_is_the_finest_that_holds_the_range(bits: int, seed: int) -> None:
    chance = random.Random(f"{seed} {bits}")
    width, most = OperandWidth.of(f"qmn{bits}"), 2 ** (bits - 1) - 1
    bounds = [chance.uniform(0.5, 1) * 2.0 ** chance.randrange(-20, 20) for _ in range(200)]
    for bound in [*bounds, most * 2.0**-5, float(most), 1.0]:
        scheme = width.covering((-bound / 3, bound), bits)
        assert np.frexp(scheme.scale)[0] == 0.5
        assert most * scheme.scale >= bound > most * scheme.scale / 2
        assert scheme.zero_point == 0
    assert width.covering((0.0, 0.0), bits).bits == bits


WIDTHS = ("uint4", "uint8/6", "qmn8", "uint10", "symmetric12", "int16/12", "uint16/10", "qmn16/12")


@pytest.mark.drawn
@pytest.mark.parametrize("activations", WIDTHS)
@pytest.mark.parametrize("weights", ["int8", "int16", "qmn8"])
@pytest.mark.parametrize("requant", ["auto", "mul", "shift"])
def test_every_width_is_the_same_in_c(
    activations: str, weights: Any, requant: Any, tmp_path: Path
) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(
        model, x, activations=activations, weights=weights, requant=requant, range="operator"
    )
    require_same_bits(made, x, tmp_path, "-O2")
    shifted = [(one.multipliers == 1).all() for one in made.network.layers]
    assert all(shifted) or requant != "shift"
    width = OperandWidth.of(activations)
    for layer in made.network.layers[:-1]:
        assert layer.target.bits == width.bits
        assert layer.result.bits == (width.bits if layer.table is None else width.index)
    assert made.network.features.codes.bits == width.bits


@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(24))
def test_networks_of_mixed_widths_drawn_by_chance(round_: int, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{seed} widths {round_}")
    model, x = trained(DEEP, normalizer=chance.choice(["robust", "minmax", "none"]), epochs=1)
    layers = {name: chance.choice(WIDTHS) for name in chance.sample("ABCYX", chance.randrange(6))}
    made = netsharp.compile(
        model,
        x,
        activations=chance.choice(WIDTHS),
        weights=chance.choice(["int8", "int8-tensor", "int16", "qmn8"]),
        logits=chance.choice(["int16", "int8", "uint8"]),
        requant=chance.choice(["auto", "mul", "shift"]),
        range=chance.choice(["operator", "minmax", "percentile:99", "mse"]),
        share_tables=chance.random() < 0.5,
        layers=layers,
    )
    require_same_bits(made, x * chance.choice([1, 1e6]), tmp_path, "-O1")
    for layer in made.network.layers[:-1]:
        if layer.name in layers:
            assert layer.target.bits == OperandWidth.of(layers[layer.name]).bits


def test_more_bits_are_more_exact() -> None:
    model, x = trained(DEEP, epochs=20)
    errors = [
        netsharp.compile(model, x, activations=width, weights="int16").report.error
        for width in ("uint4", "uint6", "uint8", "uint10", "uint12", "uint16/12")
    ]
    for more, less in pairwise(errors[:-1]):
        assert less < 0.6 * more
    # An index of 12 bits is what is left of the error.
    assert errors[-1] < 1.05 * errors[-2]


def test_a_shift_costs_little_and_needs_no_multiplier(tmp_path: Path) -> None:
    model, x = trained(ONE.replace("[5]", "[16]").format("tanh", "softmax"), epochs=30)
    exact = netsharp.compile(model, x)
    made = netsharp.compile(model, x, requant="shift")
    assert made.report.error < 3 * exact.report.error
    for one, other in zip(made.network.layers, exact.network.layers, strict=True):
        coarse, fine = (
            np.ldexp(each.multipliers.astype(float), -each.shifts) * each.result.scale
            for each in (one, other)
        )
        assert (coarse > fine * (1 - 1e-6)).all()
        assert coarse.mean() > 1.1 * fine.mean()
    assert all((one.multipliers == 1).all() for one in made.network.layers)
    model, x = trained(DEEP, epochs=5)
    alone = netsharp.compile(model, x, activations="qmn8", weights="qmn8")
    # Of powers of two everywhere but in features and answers the quotients are shifts.
    assert (alone.network.layers[1].multipliers == 1).all()
    apart = netsharp.compile(model, x, activations="qmn8", weights="qmn8", requant="mul")
    for one, other in zip(alone.network.layers, apart.network.layers, strict=True):
        for part, same in zip(one.parts, other.parts, strict=True):
            np.testing.assert_array_equal(part.weights, same.weights)
    codes = alone.network.features.of(x)
    np.testing.assert_array_equal(
        alone.network.simulate(codes)[-1], apart.network.simulate(codes)[-1]
    )


def test_quotients_that_are_shifts() -> None:
    ones, shifts = shifts_of(np.array([1.0, 0.5, 2.0**-62])) or ((), ())
    assert (list(ones), list(shifts)) == ([1, 1, 1], [0, 1, 62])
    assert shifts_of(np.array([0.5, 0.75])) is None
    assert shifts_of(np.array([2.0])) is None
    assert shifts_of(np.array([2.0**-63])) is None


def test_dead_nodes_shift_too() -> None:
    model, x = trained(ONE.format("rlinear", "softmax"))
    model.tensors["H/X/weights"][1] = 0
    model.tensors["H/biases"][1] = 0
    model.tensors["H/X/weights"][2] = 1e-40
    made = netsharp.compile(model, x, requant="shift")
    assert all((one.multipliers == 1).all() for one in made.network.layers)
    usual = netsharp.compile(model, x).report.error
    assert made.report.error < 4 * usual + 0.01


def test_a_table_of_sixteen_bits_is_asked_for() -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    with pytest.raises(CompileError, match="'H' is looked up by 16 bits, in a table of 65,536"):
        netsharp.compile(model, x, activations="uint16")
    made = netsharp.compile(model, x, layers={"H": "uint16"}, big_tables=True)
    assert made.report.table_bytes == 2 * 65536
    # What its ends do by themselves has no table, however wide it is.
    model, x = trained(ONE.format("rlinear", "softmax"))
    assert netsharp.compile(model, x, activations="uint16/12").report.tables == 0


def test_widths_of_layers_that_are_not_there() -> None:
    model, x = trained(DEEP)
    with pytest.raises(CompileError, match=r"There is no layer 'D' to have a width.*A, B, C, Y\."):
        netsharp.compile(model, x, layers={"D": "uint8"})
    with pytest.raises(CompileError) as refused:
        netsharp.compile(model, x, layers={"D": "uint8"})
    assert str(refused.value).lower().count("there are") == 1
    with pytest.raises(CompileError, match="'uint99' is none"):
        netsharp.compile(model, x, layers={"A": "uint99"})
    with pytest.raises(CompileError, match="requant is one of auto, mul, shift; 'div' is none"):
        netsharp.compile(model, x, requant="div")  # type: ignore[arg-type]
