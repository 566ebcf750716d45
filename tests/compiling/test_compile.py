"""Compiled networks: the C of each gives the bits of the simulator on every available compiler, and
the simulator those of whole numbers without bounds.
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.integers import INT32
from netsharp_compile.rescaling import MOST_SHIFT, multipliers_of, requantized
from netsharp_compile.widths import ACTIVATIONS, LOGITS, WEIGHTS
from netsharp_engine.activations import NAMES
from netsharp_engine.data.normalizers import NAMES as NORMALIZERS
from tests.compiling.builds import COMPILERS, SANITIZED, STRICT, built, require_same_bits
from tests.compiling.networks import DEEP, ONE, drawn, trained
from tests.conftest import SEED

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


@pytest.mark.drawn
@pytest.mark.parametrize("function", NAMES)
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_activation(function: str, task: str, tmp_path: Path) -> None:
    hidden = "tanh" if function == "softmax" else function
    if task == "regression" and function == "softmax":
        function = "linear"
    model, x = trained(ONE.replace("{}", hidden, 1).replace("{}", function), task)
    require_same_bits(netsharp.compile(model, x), x, tmp_path)


@pytest.mark.drawn
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("logits", LOGITS)
def test_every_width(activations: Any, weights: Any, logits: Any, tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x, activations=activations, weights=weights, logits=logits)
    require_same_bits(made, x, tmp_path)


@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(40))
def test_networks_drawn_by_chance(round_: int, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{seed} {round_}")
    model, x, settings = drawn(chance)
    made = netsharp.compile(model, x, **settings)
    require_same_bits(made, x * chance.choice([1, 1e6]), tmp_path, "-O1")


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_every_normalizer(normalizer: str, tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"), normalizer=normalizer, epochs=20)
    x[:, 3] = x[0, 3]
    made = netsharp.compile(model, x)
    require_same_bits(made, x, tmp_path, "-O2")
    assert made.report.agreement is not None
    assert made.report.agreement >= 0.97


@pytest.mark.parametrize("normalizer", ["robust", "minmax", "gaussian", "none"])
def test_codes_of_features_mean_what_the_normaliser_makes_of_them(normalizer: str) -> None:
    """Within half a step, and beyond all that was seen: clipped where the normaliser clips."""
    model, x = trained(ONE.format("tanh", "softmax"), normalizer=normalizer)
    seen = x[np.abs(x[:, 0] - 2) < 3]
    network = netsharp.compile(model, seen).network
    read, (layer, _) = network.features, network.layers
    units = np.divide(model.normalizer.scale, read.factor)
    if normalizer == "none":
        units = 1 / read.factor
    normalized = x.astype(np.float32)
    model.normalizer.apply(normalized)
    lowest = seen.astype(np.float32)
    model.normalizer.apply(lowest)
    meant = lowest.min(axis=0) + read.of(x) * units
    inside = (read.of(x) > 0) & (read.of(x) < read.most)
    assert inside.mean() > 0.5
    assert np.abs(meant - normalized)[inside].max() <= units.max() * 0.51
    if normalizer == "robust":
        far = read.of(np.full((1, 6), 1e9))
        np.testing.assert_array_equal(far[0], read.most)
        assert far.max() <= 255
    assert layer.parts[0].weights.shape == (5, 6)


@pytest.mark.costly
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    require_same_bits(netsharp.compile(model, x), x, tmp_path, " ".join(SANITIZED), "-O3")


@pytest.mark.costly
def test_sums_of_64_bits_where_32_do_not_suffice(tmp_path: Path) -> None:
    text = "input X auto; hidden H [4] tanh from X all; output Y auto softmax from H all;"
    model, x = trained(text, features=900)
    made = netsharp.compile(model, x, weights="int16")
    first, last = made.network.layers
    assert first.bound > INT32 >= last.bound
    assert (first.wide, last.wide) == (True, False)
    flags = (" ".join(SANITIZED), "-O2")
    require_same_bits(made, x, tmp_path, *flags)


def test_no_input_passes_the_bound_of_a_sum(seed: int) -> None:
    """The worst codes for each node, with the terms in the worst order."""
    model, x = trained(DEEP)
    made = netsharp.compile(model, x, activations="symmetric8")
    layer = made.network.layers[0]
    scheme = made.network.features.codes
    reached = 0
    for weights, bias in zip(
        layer.parts[0].weights.astype(int), layer.biases.tolist(), strict=True
    ):
        for sign in (1, -1):
            codes = np.where(sign * weights > 0, scheme.most, scheme.least)
            terms = sorted((weights * codes).tolist(), reverse=sign > 0)
            partial = np.cumsum([bias, *terms])
            assert np.abs(partial).max() <= layer.bound
            reached = max(reached, int(np.abs(partial).max()))
    assert reached == layer.bound


def test_requantisation_rounds_once_and_half_up(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3000):
        ratio = math.ldexp(chance.uniform(0.5, 1), chance.randrange(-40, 34))
        bound = 1 << chance.randrange(4, 45)
        (multiplier,), (shift,) = multipliers_of(np.array([ratio]), bound)
        assert 0 <= shift <= MOST_SHIFT
        assert 0 <= multiplier <= INT32
        total = chance.randint(-bound, bound)
        found = requantized(np.array([total]), np.array([multiplier]), np.array([shift]))
        exact = Fraction(total * int(multiplier), 2 ** int(shift))
        assert found[0] == (math.floor(exact + Fraction(1, 2)) if shift else exact)
        if bound < 1 << 31 and 2.0**-31 < ratio < 2.0**29:
            assert abs(Fraction(int(multiplier), 2 ** int(shift)) / Fraction(ratio) - 1) < 2**-28


def test_p10_equal_tables_are_stored_once() -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    assert [one.table for one in made.network.layers] == [0, 0, None, 1]
    assert (made.report.pairs, made.report.tables) == (3, 2)
    assert made.report.table_bytes == 256 + 2 * 1024
    apart = netsharp.compile(model, x, share_tables=False)
    assert apart.report.tables == 3


def test_p12_code_and_tables_are_apart_and_tables_can_be_given(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    names = netsharp.compile(model, x).write(tmp_path / "net")
    assert names == sorted(
        [
            *(
                f"net{part}.c"
                for part in ("", "_load", "_quantize", "_tables", "_test", "_weights")
            ),
            *("net.h", "net_load.h", "net.json", "net.tables.bin"),
            *("report.json", "report.md", "report.svg"),
        ]
    )
    code = (tmp_path / "net" / "net.c").read_text()
    assert "tables->table[1]" in code
    assert "{" in (tmp_path / "net" / "net_tables.c").read_text()
    assert not any(word in code for word in ("float", "double", "malloc", "tanh("))


def test_the_code_stands_alone(tmp_path: Path) -> None:
    """No library, no data of its own, and a header that C++ reads."""
    model, x = trained(DEEP)
    netsharp.compile(model, x).write(tmp_path / "net")
    for part in ("", "_weights", "_tables"):
        # As for a device, whose addresses are known: const is then in memory that is only read.
        alone = ("-ffreestanding", "-fno-stack-protector", "-fno-pic", "-fno-pie")
        command = [COMPILERS[0], *STRICT, "-O2", *alone, "-c"]
        source, output = tmp_path / "net" / f"net{part}.c", tmp_path / "one.o"
        subprocess.run([*command, str(source), "-o", str(output)], check=True)
        names = subprocess.check_output(["nm", str(output)], text=True)
        found = [line.split()[-2:] for line in names.splitlines()]
        assert all(name.startswith("net_") for kind, name in found if kind == "U"), names
        assert not {kind for kind, _ in found} & set("BbCDd"), names
    if shutil.which("g++"):
        (tmp_path / "main.cc").write_text('#include "net.h"\nint main() { return NET_OUT > 9; }\n')
        command = ["g++", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'net'}"]
        subprocess.run([*command, str(tmp_path / "main.cc"), "-o", str(tmp_path / "x")], check=True)


def test_names_of_classes_are_strings_whatever_they_hold(tmp_path: Path) -> None:
    hostile = ['a"b', "x\\n??/", "*/ int", "Ünï 名", "l\nm", "%s", "\x7f0"]
    x = np.random.default_rng(SEED).normal(size=(70, 3))
    y = [hostile[n % 7] for n in range(70)]
    text = "input X auto; output Y auto softmax from X all;"
    made = netsharp.compile(netsharp.train(text, x, y, epochs=1), x)
    made.write(tmp_path / "net")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "net.h"\nint main(void)\n{\n'
        "    for (int n = 0; n < NET_OUT; n++)\n"
        "        fwrite(net_classes[n], 1, 99, stdout);\n    return 0;\n}\n".replace(
            "fwrite(net_classes[n], 1, 99, stdout)", 'printf("%s%c", net_classes[n], 0)'
        )
    )
    output = subprocess.check_output([built(tmp_path / "net", COMPILERS[0])])
    assert [one.decode() for one in output.split(b"\0")[:-1]] == sorted(hostile)


@pytest.mark.costly
def test_digits_lose_nothing() -> None:
    """Rows that neither the training nor the calibration has seen."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    x, y = digits.data, digits.target
    for text in (ONE.replace("[5]", "[32]").format("tanh", "softmax"), DEEP.replace("[5]", "[20]")):
        model = netsharp.train(text, x[:1200], y[:1200], epochs=20, seed=1)
        made = netsharp.compile(model, x[:400])
        found = np.array(made.simulate(x[1200:]).predicted)
        known = np.array(model.predict(x[1200:]).predicted)
        assert (found == known).mean() >= 0.99
        drop = (known == y[1200:]).mean() - (found == y[1200:]).mean()
        assert drop <= max(0.005, 1 / len(known)), drop
        assert made.report.error < 0.04


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_answers_are_those_of_predict(task: str) -> None:
    last = "linear" if task == "regression" else "sigmoid"
    model, x = trained(ONE.format("tanh", last), task, epochs=60)
    made = netsharp.compile(model, x)
    found, known = made.simulate(x), model.predict(x)
    if task == "regression":
        apart = np.sqrt(np.square(found.predicted - known.predicted).mean())
        assert apart < 0.02 * known.predicted.std()
        return
    assert type(found.predicted[0]) is type(known.predicted[0])
    np.testing.assert_allclose(found.probabilities, known.probabilities, atol=0.06)
    same = np.array(found.predicted) == np.array(known.predicted)
    assert same.mean() >= 0.98
    assert made.report.agreement == same.mean()


def test_several_inputs_are_codes_side_by_side() -> None:
    text = (
        "input A [2]; input B [4]; hidden H [5] tanh { from A all; from B all; }"
        "output Y auto softmax { from H all; from B all; }"
    )
    model, x = trained(text)
    made = netsharp.compile(model, x)
    assert [one.bundle.source.first for one in made.network.layers[0].parts] == [0, 2]
    assert made.report.agreement is not None
    assert made.report.agreement > 0.97


def test_nodes_that_training_left_dead_stop_nothing() -> None:
    model, x = trained(ONE.format("rlinear", "softmax"))
    model.tensors["H/X/weights"][0] = 1e-40
    model.tensors["H/X/weights"][1] = 0
    model.tensors["H/biases"][:2] = -3
    made = netsharp.compile(model, x)
    assert np.abs(made.network.layers[0].biases).max() <= INT32
    model.tensors["H/X/weights"][:] = 0
    model.tensors["H/biases"][:] = 0
    dead = netsharp.compile(model, x)
    assert dead.network.simulate(dead.network.features.of(x))[0].any() == 0


@pytest.mark.parametrize("normalizer", ["minmax", "gaussian", "none"])
def test_constant_features_and_channels_are_what_they_are(normalizer: str, tmp_path: Path) -> None:
    """A feature that never changes, a node that nothing reaches, and one without weights."""
    model, x = trained(ONE.format("tanh", "softmax"), normalizer=normalizer, epochs=20)
    model.tensors["H/X/weights"][0] = 0
    model.tensors["H/X/weights"][1] = 0
    model.tensors["H/biases"][1] = 0
    rows = x.copy()
    rows[:, 2] = x[0, 2]
    made = netsharp.compile(model, rows)
    assert any("never changed" in one for one in made.report.doubts)
    require_same_bits(made, rows, tmp_path, "-O2")
    hidden = made.network.simulate(made.network.features.of(rows.astype(np.float32)))[0]
    for node, bias in enumerate(model.tensors["H/biases"][:2].tolist()):
        assert len(set(hidden[:, node].tolist())) == 1
        meant = made.network.layers[0].target.dequantize(hidden[0, node])
        assert abs(float(meant) - math.tanh(bias)) < 0.02
    agreed = made.simulate(rows).predicted == model.predict(rows).predicted
    assert np.mean(agreed) > 0.97
