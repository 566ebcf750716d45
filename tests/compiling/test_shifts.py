"""Requantisation by shifts alone: no multiplication is left in C, and no sum is shifted wrongly."""

from __future__ import annotations

import ctypes
import subprocess
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.writing.c_rescaling import only_shifts, rescaling_functions, stored_shifts
from tests.compiling.builds import COMPILERS, require_same_bits
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
#: A mean of three, whose step is not another's times a power of two, and one that is cut off.
MEANS = (
    "input X [6]; hidden P [4] {} from X mean pool {{ InputShape = [6]; KernelShape = [3];"
    " Stride = [1]; Padding = [{}]; }} hidden Q [4] tanh from P all;"
    " output Y [3] softmax from Q all;"
)


@pytest.mark.parametrize("function", ["linear", "tanh", "rlinear"])
def test_means_are_shifted_too(function: str, tmp_path: Path) -> None:
    """Their codes have steps of which the rest is in the weights or the table after them."""
    model, x = trained(MEANS.format(function, "false"), epochs=20)
    made = netsharp.compile(model, x, requant="shift")
    assert all(map(only_shifts, made.network.layers))
    assert made.report.error < 4 * netsharp.compile(model, x, requant="mul").report.error
    require_same_bits(made, x[:60], tmp_path, "-O2")


def test_means_of_windows_that_are_cut_off_keep_a_multiplier(tmp_path: Path) -> None:
    """A third and a half are not shifts of one another."""
    text = MEANS.format("linear", "true").replace("P [4]", "P [6]")
    model, x = trained(text)
    made = netsharp.compile(model, x, requant="shift")
    assert [only_shifts(one) for one in made.network.layers] == [False, True, True]
    require_same_bits(made, x[:60], tmp_path, "-O2")


def test_no_multiplication_by_one_is_written(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    netsharp.compile(model, x, requant="shift").write(tmp_path / "net")
    texts = [(tmp_path / "net" / one).read_text() for one in ("net.c", "net_weights.c")]
    assert not any(word in text for text in texts for word in ("int64_t", "_multipliers"))
    netsharp.compile(model, x, requant="mul").write(tmp_path / "net")
    assert "int64_t" in (tmp_path / "net" / "net.c").read_text()


@pytest.mark.parametrize(("bits", "wide"), [(32, False), (64, True)])
def test_sums_of_all_sizes_are_shifted_as_defined(bits: int, wide: bool, tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    network = netsharp.compile(model, x, requant="shift").network
    layers = network.layers
    if wide:
        for one in layers:
            object.__setattr__(one, "bound", 2**40)
    lines = "\n".join(rescaling_functions(network)).replace("static int32_t", "int32_t")
    (tmp_path / "a.c").write_text(f"#include <stdint.h>\n{lines}\n")
    library = tmp_path / "a.so"
    command = [COMPILERS[0], "-std=c99", "-O1", "-fsanitize=undefined", "-fPIC", "-shared"]
    trapped = "-fsanitize-undefined-trap-on-error"
    subprocess.run([*command, trapped, tmp_path / "a.c", "-o", library], check=True)
    shifted = getattr(ctypes.CDLL(str(library)), f"shifted{bits}")
    total = ctypes.c_int64 if wide else ctypes.c_int32
    shifted.argtypes = [total, *[ctypes.c_int] * 4]
    most = 2**40 if wide else 2**31 - 1
    chance = np.random.default_rng(1)
    sums = [0, 1, -1, most, -most, *chance.integers(-most, most, 40).tolist()]
    ends = ((0, -128, 127), (255, 0, 255), (-32768, -32768, 32767))
    for shift in range(63 if wide else 33):
        for value in [*sums, 1 << shift, -(1 << shift), (1 << shift) // 2, -((1 << shift) // 2)]:
            if abs(value) > most:
                continue
            exact = floor(Fraction(value, 1 << shift) + (Fraction(1, 2) if shift else 0))
            for zero_point, least, largest in ends:
                wanted = min(max(exact + zero_point, least), largest)
                assert shifted(value, shift, zero_point, least, largest) == wanted


def test_a_shift_beyond_all_bits_is_stored_as_one_that_leaves_nothing() -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    layer = netsharp.compile(model, x, requant="shift").network.layers[0]
    object.__setattr__(layer, "shifts", np.full_like(layer.shifts, 50))
    assert stored_shifts(layer).max() == 32
