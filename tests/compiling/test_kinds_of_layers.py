"""Every kind of bundle in integers: the numbers of the network, and C of the simulator's bits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile import compiled, operators
from netsharp_compile.calibrating.levelling import levelled
from netsharp_compile.integers import INT32, IntegerNetwork
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.refusal import CompileError
from netsharp_compile.widths import ACTIVATIONS, LOGITS, REQUANTISATIONS, TRANSFERS, WEIGHTS
from netsharp_compile.writing.device_steps import scratch_of, steps_of
from netsharp_engine.data.normalizers import Normalizer, fit_normalizer
from netsharp_engine.devices.footprint import DeviceStep, ScratchMemory
from netsharp_engine.graph import Graph
from tests.compiling.builds import SANITIZED, require_same_bits
from tests.compiling.drawn_texts import DrawnText
from tests.compiling.networks import trained
from tests.engine.networks import dense

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def require_the_layers_of_the_network(model: Any, x: np.ndarray) -> None:
    """What is made integers is what the engine computes."""
    rows = x[:20].astype(model.settings.dtype)
    model.normalizer.apply(rows)
    layers = layers_of(model.graph, model.tensors)
    *_, (sums, values) = values_of(layers, rows.astype(np.float64))
    if layers[-1].function == "softmax":
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        values = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(values, model.compute(x[:20]), rtol=2e-3, atol=1e-4)


def drawn(chance: random.Random, layers: int) -> tuple[Any, np.ndarray]:
    text = DrawnText(chance, layers)
    return trained(
        str(text),
        features=text.features,
        normalizer=chance.choice(["robust", "minmax", "gaussian", "none", "binning"]),
        dtype=chance.choice(["float32", "float64"]),
        epochs=1,
        learning_rate=1e-3,
    )


@pytest.mark.costly
@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(80))
def test_networks_of_all_kinds_drawn_by_chance(round_: int, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"kinds {seed} {round_}")
    model, x = drawn(chance, chance.randrange(1, 6))
    require_the_layers_of_the_network(model, x)
    settings: dict[str, Any] = {
        "activations": chance.choice(ACTIVATIONS),
        "weights": chance.choice(WEIGHTS),
        "logits": chance.choice(LOGITS),
        "share_tables": chance.random() < 0.5,
        "requant": chance.choice(REQUANTISATIONS),
        "transfer": chance.choice(TRANSFERS),
    }
    made = netsharp.compile(model, x[: chance.choice([1, 2, 200])], **settings)
    flags = ["-O0", "-O2", "-O3 -march=native", " ".join(SANITIZED)]
    require_same_bits(made, x * chance.choice([1, 1e6]), tmp_path, *chance.sample(flags, 2))


def image(function: str, pool: str, more: str = "") -> tuple[Any, np.ndarray]:
    """A convolution with padding, a pool over it, and a layer that reads the pool."""
    text = (
        f"input X [2, 6, 6]; hidden C [3, 6, 6] {function} from X convolve {{"
        " InputShape = [2, 6, 6]; KernelShape = [2, 3, 3]; Padding = [false, true, true];"
        f" MapCount = 3; }} hidden P {pool}"
        f"output Y auto softmax {{ from P all; {more} }}"
    )
    return trained(text, features=72, epochs=5)


HALVED = (
    "[3, 3, 3] from C {} pool {{ InputShape = [3, 6, 6]; KernelShape = [1, 2, 2];"
    " Stride = [1, 2, 2]; }}"
)
FUSED = [("tanh", 1), ("rlinear", 1), ("sqrt", 1), ("abs", None), ("square", None)]


@pytest.mark.parametrize(("function", "pool"), FUSED)
def test_largest_sums_are_looked_up_where_no_table_falls(
    function: str, pool: int | None, tmp_path: Path
) -> None:
    """Then one number of four is requantised, and the values before the pool take no memory: there
    is one window, whose copy all maps read.
    """
    model, x = image(function, HALVED.format("max"))
    made = netsharp.compile(model, x)
    assert steps_of(made.network)[0] == DeviceStep(0, pool)
    window = 2 * 3 * 3
    assert made.report.scratch_bytes == (27 + window if pool else 108 + 27)
    if function in ("tanh", "abs"):
        require_same_bits(made, x, tmp_path, "-O2")


NOT_AT_ONCE = [
    (HALVED.format("mean"), ""),
    (HALVED.format("max").replace("from C", "tanh from C"), ""),
    (HALVED.format("max"), "from C all;"),
    # A sum that is in two windows, and a window over two maps.
    (
        "[3, 3, 3] from C max pool { InputShape = [3, 6, 6]; KernelShape = [1, 3, 3];"
        " Stride = [1, 2, 2]; Padding = [false, true, true]; }",
        "",
    ),
    ("[1, 6, 6] from C max pool { InputShape = [3, 6, 6]; KernelShape = [3, 1, 1]; }", ""),
]


@pytest.mark.parametrize(("pool", "more"), NOT_AT_ONCE)
def test_other_pools_are_computed_of_values(pool: str, more: str) -> None:
    model, x = image("tanh", pool, more)
    assert {step.pool for step in steps_of(netsharp.compile(model, x).network)} == {None}


@pytest.mark.costly
@pytest.mark.parametrize(("pool", "more"), [("from C max", ""), *NOT_AT_ONCE])
def test_pools_give_the_bits_of_the_simulator(pool: str, more: str, tmp_path: Path) -> None:
    if pool == "from C max":
        pool = HALVED.format("max")
    for function in ("rlinear", "square"):
        model, x = image(function, pool, more)
        made = netsharp.compile(model, x, activations="int8")
        require_same_bits(made, x, tmp_path, "-O1", " ".join(SANITIZED))


def test_a_pool_in_other_words_is_the_same_pool() -> None:
    """The maps of a convolution without channels are a dimension of its pool's own."""
    text = (
        "input X [6, 6]; hidden C [4, 6, 6] rlinear from X convolve { InputShape = [6, 6];"
        " KernelShape = [3, 3]; Padding = true; MapCount = 4; }"
        "hidden P [4, 3, 2] from C max pool { InputShape = [4, 6, 6]; KernelShape = [1, 2, 3];"
        " Stride = [1, 2, 3]; } output Y auto softmax from P all;"
    )
    model, x = trained(text, features=36)
    assert steps_of(netsharp.compile(model, x).network)[0] == DeviceStep(0, 1)


def test_what_lies_beyond_a_border_is_the_code_of_0() -> None:
    """Features far from 0, none of which is 0: the sums at borders are those of the network."""
    model, x = image("linear", HALVED.format("mean"))
    model.normalizer = Normalizer("none", np.zeros(72), np.ones(72))
    x = 20 + np.random.default_rng(1).normal(size=x.shape)
    made = netsharp.compile(model, x)
    assert made.report.error < 0.05
    assert made.network.layers[0].parts[0].zero == 0
    signed = netsharp.compile(model, x - 40, activations="int8")
    assert signed.network.layers[0].parts[0].zero == 127
    assert signed.report.error < 0.05
    corner = made.network.layers[0].parts[0].bundle.edges
    assert corner == 3 * 2 * (4 * 4 + 16 * 6 + 16 * 9)


def test_bins_are_thresholds_and_their_numbers_codes(tmp_path: Path) -> None:
    text = "input X auto; hidden H [4] tanh from X all; output Y auto softmax from H all;"
    model, x = trained(text, normalizer="binning")
    read = netsharp.compile(model, x).network.features
    model.normalizer.apply(binned := x.copy())
    counts = np.array([len(one) for one in model.normalizer.edges])
    np.testing.assert_array_equal(read.of(x), np.rint(binned * counts))
    for edges, code in zip(read.edges, read.of(x).T, strict=True):
        assert (np.searchsorted(edges, edges[0]), code.min()) == (0, 0)
    model, x = image("tanh", HALVED.format("max"))
    rows = x.copy()
    model.normalizer = fit_normalizer("binning", rows)
    require_same_bits(netsharp.compile(model, x), x * 3, tmp_path, "-O2")


@pytest.mark.parametrize("rounds", range(3))
def test_no_value_lies_where_another_is_still_read(rounds: int, seed: int) -> None:
    """And no more memory is taken than all that is read at one time, in a chain."""
    for number in range(4):
        chance = random.Random(f"memory {seed} {rounds} {number}")
        model, x = drawn(chance, chance.randrange(2, 8))
        network = netsharp.compile(model, x).network
        steps, scratch = steps_of(network), scratch_of(network)
        held: dict[int, int] = {}
        for step in steps:
            reads = {part.bundle.source.operand - 1 for part in network.layers[step.layer].parts}
            for made in reads - {-1}:
                assert all(held[byte] == made for byte in _bytes(network, scratch, made))
            if step.made in scratch.offsets:
                for byte in _bytes(network, scratch, step.made):
                    assert held.get(byte) not in reads
                    held[byte] = step.made
            for (layer, number), start in scratch.windows.items():
                part = network.layers[layer].parts[number]
                size = getattr(part.bundle, "taps", 0) * (1 + (network.features.codes.bits > 8))
                for byte in range(start, start + size) if layer == step.layer else ():
                    assert held.get(byte) not in {*reads, step.made}
                    held[byte] = -2
        assert scratch.size >= max([*held, 0]) + 1


def _bytes(network: IntegerNetwork, scratch: ScratchMemory, layer: int) -> range:
    start, made = scratch.offsets[layer], network.layers[layer]
    assert start % made.target.dtype.itemsize == 0
    return range(start, start + made.nodes * made.target.dtype.itemsize)


def test_scratch_memory_of_a_chain_is_that_of_its_two_largest_neighbours() -> None:
    sizes = (3, 50, 7, 40, 20, 5)
    names = ["X", *(f"H{number}" for number in range(len(sizes)))]
    layers = [
        f"hidden {name} [{size}] tanh from {before} all;"
        for before, name, size in zip(names, names[1:], sizes, strict=False)
    ]
    text = f"input X auto; {' '.join(layers)} output Y auto softmax from {names[-1]} all;"
    model, x = trained(text)
    assert netsharp.compile(model, x).report.scratch_bytes == 40 + 20


def test_channels_that_training_left_dead_stop_nothing(tmp_path: Path) -> None:
    model, x = image("rlinear", HALVED.format("max"))
    kernels = model.tensors["C/X/weights"]
    kernels[0, :-1], kernels[0, -1] = 1e-40, -3
    kernels[1, :-1], kernels[1, -1] = 0, 2
    made = netsharp.compile(model, x)
    assert np.abs(made.network.layers[0].biases).max() <= INT32
    require_same_bits(made, x, tmp_path, "-O2")


def test_ranges_of_channels_come_nearer_and_answers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel sixteen times smaller than another loses less than its codes would."""
    model, x = image("rlinear", HALVED.format("max"))
    model.tensors["C/X/weights"][0] /= 16
    model.tensors["Y/P/weights"][:, :9] *= 16
    layers = layers_of(model.graph, model.tensors)
    rows = x.astype(np.float32)
    model.normalizer.apply(rows)
    found = levelled(layers, [rows.astype(np.float64)], 72)
    *_, (before, _) = values_of(layers, rows)
    *_, (after, _) = values_of(found, rows)
    np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-9)
    error = netsharp.compile(model, x).report.error
    monkeypatch.setattr(compiled, "levelled", lambda layers, blocks, features: layers)
    assert error < 0.6 * netsharp.compile(model, x).report.error


def test_windows_without_positions_and_dimensions() -> None:
    text = (
        "input X [1]; input Z [1]; hidden C [3] tanh from X convolve {"
        " InputShape = [1]; KernelShape = [1];"
        " MapCount = 3; } hidden P [3] from C mean pool { InputShape = [3]; KernelShape = [1]; }"
        "output Y auto softmax { from P all; from Z all; }"
    )
    model, x = trained(text, features=2)
    assert netsharp.compile(model, x).report.agreement is not None


def test_an_activation_without_an_operator_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(operators._UNARY, "tanh")
    graph = Graph()
    graph.set_output(dense(graph, graph.input("X", (2,)), 3, name="Deep"))
    tensors = {one.name: np.ones(one.shape) for one in graph.parameters}
    with pytest.raises(CompileError, match=r"'Deep' cannot be .*'tanh' has no form in integers"):
        layers_of(graph, tensors)
