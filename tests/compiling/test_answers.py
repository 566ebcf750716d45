"""What a device makes of answers, classes and probabilities, and codes of features: the bits of the
simulator, and near to what floating point gives.
"""

from __future__ import annotations

import math
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.probabilities import (
    FRACTION,
    MOST_CLASSES,
    inverse_table,
    last_code_below,
    power_tables,
    probabilities,
)
from netsharp_compile.schemes import QuantizationScheme
from netsharp_compile.widths import ACTIVATIONS, LOGITS
from netsharp_compile.writing.ending import ANSWERS
from tests.compiling.builds import COMPILERS, SANITIZED, STRICT, odd_codes
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def program(folder: Path, text: str, *parts: str) -> Path:
    """Compile what was written with a program under sanitizers."""
    (folder / "main.c").write_text(text)
    sources = [folder / "net" / f"net{part}.c" for part in ("", "_weights", "_tables", *parts)]
    command = [
        COMPILERS[0],
        *STRICT,
        *SANITIZED,
        "-DNETSHARP_WITH_FLOAT",
        f"-I{folder / 'net'}",
        *map(str, sources),
    ]
    built = folder / "program"
    subprocess.run([*command, str(folder / "main.c"), "-o", str(built)], check=True)
    return built


def answered(built: Path, given: np.ndarray, dtype: Any) -> np.ndarray:
    done = subprocess.run([built], input=given.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, dtype)


def each(read: str, made: str, call: str) -> str:
    """A program that reads arrays of one kind, calls a function of the network, and writes what it
    made of each.
    """
    given, written = (one.rpartition(" ")[2].partition("[")[0] for one in (read, made))
    return f"""\
#include <stdio.h>
#include "net.h"
int main(void)
{{
    static {read};
    static {made};
    static uint8_t scratch[NET_SCRATCH];
    (void)scratch;
    while (fread(&{given}, sizeof {given}, 1, stdin) == 1) {{
        {call};
        fwrite(&{written}, sizeof {written}, 1, stdout);
    }}
    return 0;
}}
"""


SOFTMAX = each("net_out_t y[NET_OUT]", "uint16_t p[NET_OUT]", "net_softmax(y, p)")
CLASSIFY = each("net_in_t x[NET_IN]", "int32_t found", "found = net_classify(x, scratch)")
QUANTIZE = each("float features[NET_IN]", "net_in_t x[NET_IN]", "net_quantize(features, x)")


@pytest.mark.parametrize("logits", LOGITS)
def test_probabilities_are_those_of_the_simulator(logits: Any, tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"), epochs=30)
    made = netsharp.compile(model, x, logits=logits)
    made.write(tmp_path / "net", answers="softmax")
    target = made.network.layers[-1].target
    chance = np.random.default_rng(3)
    any_codes = chance.integers(target.least, target.most + 1, (400, 3)).astype(target.dtype)
    codes = np.concatenate(
        [
            made.network.simulate(odd_codes(made, x))[-1],
            any_codes,
            np.full((1, 3), target.least, target.dtype),
            np.array([[target.least, target.most, target.least]], target.dtype),
        ]
    )
    wanted = probabilities(codes, target)
    assert " / " not in (tmp_path / "net" / "net_softmax.c").read_text().split("*/")[-1]
    built = program(tmp_path, SOFTMAX, "_softmax")
    given = answered(built, codes, np.uint16).reshape(codes.shape)
    np.testing.assert_array_equal(given, wanted)
    floats = target.dequantize(codes)
    powers = np.exp(floats - floats.max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True)
    assert np.abs(wanted / 2.0**FRACTION - exact).max() < 3 / 2**FRACTION
    assert np.abs(wanted.sum(axis=1) / 2.0**FRACTION - 1).max() <= 1.5 / 2**FRACTION
    assert (wanted.argmax(axis=1) == codes.argmax(axis=1)).all()


@pytest.mark.drawn
@pytest.mark.parametrize("bits", [4, 8, 10, 16])
@pytest.mark.parametrize("scale", [1e-7, 2.0**-9, 0.01, 0.3, 5.0, 1e9])
def test_probabilities_are_defined_in_whole_numbers(bits: int, scale: float) -> None:
    scheme = QuantizationScheme.affine(scale, 0, bits, "signed")
    chance = np.random.default_rng(bits)
    codes = chance.integers(scheme.least, scheme.most + 1, (50, 5)).astype(scheme.dtype)
    codes[0] = [scheme.least, scheme.most, scheme.least, scheme.most, 0]
    low, high = power_tables(scheme)
    found = probabilities(codes, scheme)
    for row, given in zip(codes.tolist(), found.tolist(), strict=True):
        powers = []
        for code in row:
            above, below = divmod(max(row) - code, 256)
            power = int(high[above]) * int(low[below]) if above < len(high) else 0
            powers.append(math.floor(Fraction(power, 2**15) + Fraction(1, 2)))
        total = sum(powers)
        spare = total.bit_length() - 16
        wide = math.floor(Fraction(total, 2**spare) + (Fraction(1, 2) if spare else 0))
        if wide == 2**16:
            wide, spare = 2**15, spare + 1
        about = round(Fraction(2**31, 2**15 + 128 * (wide // 128 - 256) + 64))
        assert inverse_table()[wide // 128 - 256] == about
        inverse = about + ((2**31 - wide * about) // 256 * about + 2**22) // 2**23
        assert abs(inverse - 2**31 / wide) < 1
        for power, one in zip(powers, given, strict=True):
            assert one == (power * inverse + 2 ** (15 + spare)) // 2 ** (16 + spare)
            assert abs(one - Fraction(power * 2**15, total)) < 1
    assert low[0] == high[0] == 2**15
    places = range(min(len(low), 40))
    assert all(low[i] == math.floor(2**15 * math.exp(-scale * i) + 0.5) for i in places)


def test_more_classes_than_fit_are_refused() -> None:
    scheme = QuantizationScheme.affine(0.1, 0, 8, "signed")
    most = np.zeros((1, MOST_CLASSES - 1), np.int8)
    assert set(probabilities(most, scheme)[0].tolist()) == {1}
    with pytest.raises(netsharp.CompileError, match="fewer than 65,536 classes"):
        probabilities(np.zeros((1, MOST_CLASSES), np.int8), scheme)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (DEEP, "multiclass"),
        (ONE.format("tanh", "sigmoid"), "binary"),
        (ONE.format("tanh", "softmax"), "multiclass"),
    ],
)
def test_classes_are_those_of_the_simulator(text: str, task: str, tmp_path: Path) -> None:
    """Of one answer, too, which is the second class above the middle."""
    model, x = trained(text, task, epochs=20)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net", answers="argmax")
    built = program(tmp_path, CLASSIFY, "_argmax")
    given = answered(built, made.network.features.of(x), np.int32)
    wanted = made.simulate(x).predicted
    names = list(model.classes)
    assert [names[one] for one in given] == [str(one) for one in wanted]
    assert len(set(given.tolist())) > 1


def test_the_middle_is_the_last_code_that_is_not_above_it() -> None:
    scheme = QuantizationScheme.affine(0.25, 1, 4, "unsigned")
    assert last_code_below(scheme, 0.5) == 3
    assert last_code_below(scheme, 0.49) == 2
    assert last_code_below(scheme, -9.0) == -1
    assert last_code_below(scheme, 99.0) == 15


@pytest.mark.parametrize("normalizer", ["robust", "minmax", "gaussian", "none", "binning"])
@pytest.mark.parametrize("activations", ACTIVATIONS)
def test_codes_of_features_are_those_of_the_simulator(
    normalizer: str, activations: Any, tmp_path: Path
) -> None:
    model, x = trained(ONE.format("tanh", "softmax"), normalizer=normalizer)
    x[:, 3] = x[0, 3]
    made = netsharp.compile(model, x, activations=activations)
    made.write(tmp_path / "net")
    read = made.network.features
    chance = np.random.default_rng(5)
    many = [x, x * 1e6, -x, chance.normal(2, 9, x.shape)]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where two codes are as near, and just beside.
        ties = read.offset + (chance.integers(0, 256, x.shape) + 0.5) / read.factor
    for edges, column in zip(read.edges, many[0].T, strict=False):
        column[: len(edges)] = edges[: len(column)]  # Which float32 may be just beside.
    many += [np.nan_to_num(one, posinf=0) for one in (ties, np.nextafter(ties, 1e9))]
    features = np.concatenate(many).astype(np.float32)
    built = program(tmp_path, QUANTIZE, "_quantize")
    given = answered(built, features, read.codes.dtype).reshape(features.shape)
    np.testing.assert_array_equal(given, read.of(features.astype(np.float64)))


def test_without_floating_point_nothing_is_quantised(tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    netsharp.compile(model, x).write(tmp_path / "net")
    source = tmp_path / "net" / "net_quantize.c"
    subprocess.run(
        [COMPILERS[0], "-std=c99", "-Wall", "-c", source, "-o", tmp_path / "o"], check=True
    )
    assert not subprocess.check_output(["nm", tmp_path / "o"], text=True).strip()


@pytest.mark.parametrize(
    ("text", "task", "answers", "message"),
    [
        (DEEP, "multiclass", "softmax", "'Y' ends in sigmoid, whose values are not prob"),
        (ONE.format("tanh", "linear"), "regression", "argmax", "numbers: it has no classes"),
        (ONE.format("tanh", "linear"), "regression", "softmax", "numbers: it has no classes"),
        (DEEP, "multiclass", "best", r"answers is one of values, argmax, softmax; 'best' is none"),
    ],
)
def test_answers_that_are_not_there_are_a_sentence(
    text: str, task: str, answers: Any, message: str, tmp_path: Path
) -> None:
    model, x = trained(text, task)
    with pytest.raises(netsharp.CompileError, match=message):
        netsharp.compile(model, x).write(tmp_path / "net", answers=answers)
    assert not (tmp_path / "net").exists()
    assert set(ANSWERS) == {"values", "argmax", "softmax"}


@pytest.mark.parametrize(
    ("text", "task", "answers"),
    [
        (ONE.format("tanh", "softmax"), "multiclass", "softmax"),
        (ONE.format("tanh", "softmax"), "multiclass", "argmax"),
        (ONE.format("tanh", "sigmoid"), "binary", "argmax"),
    ],
)
def test_the_test_that_is_written_asks_for_them_too(
    text: str, task: str, answers: Any, tmp_path: Path
) -> None:
    """And counts those that differ, beside values that are right."""
    model, x = trained(text, task, epochs=20)
    netsharp.compile(model, x).write(tmp_path / "net", answers=answers)
    test = tmp_path / "net" / "net_test.c"
    own = test.read_text()
    found = re.search(r"wanted\[\d+\] = \{\s*(\d+),", own)
    assert found is not None
    wrong = own[: found.start(1)] + str(int(found[1]) ^ 1) + own[found.end(1) :]
    for program_text, differing in ((own, 0), (wrong, 1)):
        test.write_text(program_text)
        sources = sorted((tmp_path / "net").glob("*.c"))
        built = tmp_path / "program"
        subprocess.run([COMPILERS[0], *STRICT, *SANITIZED, *sources, "-o", built], check=True)
        assert subprocess.run([built], check=False).returncode == differing
