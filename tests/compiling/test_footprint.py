"""What is predicted of a network's bytes from its text alone is what compiling it then writes."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import netsharp
from netsharp_compile.bundles import FilteredBundle, PooledBundle
from netsharp_compile.calibrating.rows import training_rows
from netsharp_compile.compiled import compile_model
from netsharp_compile.evaluating.room import DeviceRoom
from netsharp_compile.widths import CompileSettings
from netsharp_compile.writing.c_rescaling import is_rescaled, only_shift, only_shifts
from netsharp_compile.writing.device_steps import steps_of
from netsharp_engine.devices.footprint import (
    CODE_BYTES,
    Footprint,
    code_bytes,
    footprint,
    place_bytes,
)
from netsharp_lsp.context import Context
from netsharp_lsp.language import read_model
from netsharp_lsp.netsharp.meaning.device import DeviceNetwork, device_network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.project.surroundings import Reader
from tests.cli.command_line import netsharp as command
from tests.compiling.drawn_texts import DrawnText
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:(On training rows|Columns )")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
from make_tables import enlarge, read_digits  # noqa: E402

CONVOLVED = (
    "input X [6, 6]; hidden C [3, 4, 4] tanh from X convolve"
    " { InputShape = [6, 6]; KernelShape = [3, 3]; MapCount = 3; }"
    "hidden P [3, 2, 2] from C max pool"
    " { InputShape = [3, 4, 4]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2]; }"
    "hidden M [3, 2, 1] from P mean pool"
    " { InputShape = [3, 2, 2]; KernelShape = [1, 1, 2]; Stride = [1, 1, 2]; }"
    "hidden A [5] abs { from M all; from P where (s, d) => s[1] == 0; }"
    "output Y [3] softmax from A all;"
)


def predicted(text: str, features: int, outputs: int) -> tuple[DeviceNetwork, Footprint]:
    context = Context(features=features, outputs=outputs)
    found = device_network(resolve(parse(text.encode()), context))
    assert found is not None
    return found, footprint(found.shapes, found.features)


def require_bound(text: str, model: Any, rows: Any) -> bool:
    """Compare, and return whether all figures are the same."""
    made = netsharp.compile(model, rows)
    network, report = made.network, made.report
    _, sizes = predicted(text, len(network.features.offset), network.layers[-1].nodes)
    assert len(sizes.layers) == len(report.layers)
    narrow = network.features.codes.bits == 8
    same = True
    for one, reported, layer in zip(sizes.layers, report.layers, network.layers, strict=True):
        wide = 4 * len(layer.biases) if layer.wide else 0
        assert one.weights >= reported.weight_bytes + _places(layer)
        if not any(isinstance(part.bundle, FilteredBundle) for part in layer.parts):
            assert one.weights == reported.weight_bytes
        # Multipliers of 1 and shifts that are all the same, of ratios that rows decide, are not
        # written.
        fewer = 4 * len(layer.multipliers) if is_rescaled(layer) and only_shifts(layer) else 0
        unwritten = fewer + _shifts_alike(layer)
        assert one.scales + wide - unwritten == reported.bias_bytes - _places(layer)
        exact = (reported.weight_bytes + _places(layer), 0, 0)
        same = same and (one.weights, wide, fewer) == exact
    if narrow:
        assert sum(one.table for one in sizes.layers) >= report.table_bytes
    falls = any(one.function in ("abs", "square") for one in network.layers)
    if narrow and (not falls or list(sizes.steps) == steps_of(network)):
        assert sizes.scratch.bytes == report.scratch_bytes
    return same and narrow and sum(one.table for one in sizes.layers) == report.table_bytes


def _shifts_alike(layer: Any) -> int:
    """Bytes of shifts that are all the same, which are not written."""
    return len(layer.shifts) * (is_rescaled(layer) and only_shift(layer) is not None)


def _places(layer: Any) -> int:
    """Bytes of the places and ends of a layer, which a report counts with biases."""
    from netsharp_compile.writing.c_arrays import arrays_of

    arrays = [one for one in arrays_of("", layer) if "_places" in one.name or "_ends" in one.name]
    return sum(one.size for one in arrays)


@pytest.mark.parametrize("text", [DEEP, ONE.format("tanh", "sigmoid"), ONE.format("abs", "linear")])
def test_full_networks_take_what_was_predicted(text: str) -> None:
    assert require_bound(text, *trained(text))


def test_windows_take_what_was_predicted() -> None:
    model, rows = trained(CONVOLVED, features=36, normalizer="minmax")
    require_bound(CONVOLVED, model, rows)
    assert any(
        isinstance(one.parts[0].bundle, PooledBundle)
        for one in netsharp.compile(model, rows).network.layers
    )


@pytest.mark.costly
@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(40))
def test_networks_drawn_by_chance_take_at_most_what_was_predicted(round_: int, seed: int) -> None:
    chance = random.Random(f"footprint {seed} {round_}")
    text = DrawnText(chance, chance.randrange(1, 6))
    model, rows = trained(
        str(text), features=text.features, normalizer="minmax", epochs=1, learning_rate=1e-3
    )
    require_bound(str(text), model, rows)


@pytest.mark.costly
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.nn")), ids=lambda path: path.stem)
def test_every_example_takes_what_was_predicted(path: Path, tmp_path: Path) -> None:
    """All of it, except weights that became 0, shifts that are all the same, and the width of
    features, which data decide.
    """
    model, rows = example(path, tmp_path)
    made = compile_model(model, rows, CompileSettings(), room=DeviceRoom(1, 1))
    network, report, room = made.network, made.report, made.report.room
    known = Reader().facts_around(str(path)).context
    # What only cells say, such as how many levels a column has, an editor waits for.
    seen = Context(features=len(network.features.offset), outputs=network.layers[-1].nodes)
    known = known.or_else(seen)
    found = device_network(resolve(parse(path.read_bytes()), known))
    assert found is not None
    width = network.features.codes.dtype.itemsize
    sizes = footprint(found.shapes, found.features, width)
    assert [one.name for one in found.shapes] == [one.name for one in report.layers]
    for shape, one, reported, layer in zip(
        found.shapes, sizes.layers, report.layers, network.layers, strict=True
    ):
        gone = sum(
            (part.edges - of.bundle.edges) * (1 + place_bytes(part.size - 1))
            for part, of in zip(shape.parts, layer.parts, strict=True)
            if part.kind == "filtered" and isinstance(of.bundle, FilteredBundle)
        )
        assert one.weights - gone == reported.weight_bytes + _places(layer), reported.name
        assert one.scales - _shifts_alike(layer) == reported.bias_bytes - _places(layer), (
            reported.name
        )
        assert one.table == reported.table_bytes, reported.name
    assert room is not None
    assert (sizes.features, sizes.answers) == (room.features, room.answers)
    assert (sizes.scratch.bytes, sizes.ram) == (report.scratch_bytes, room.ram)
    assert found.shapes[sizes.scratch.peak].name == room.peak


def example(path: Path, folder: Path) -> tuple[Any, Any]:
    """An example trained for one epoch, and its rows."""
    if not path.with_suffix(".toml").is_file():
        pictures, digits = read_digits()
        features = enlarge(pictures[:200], 29, 29).reshape(200, -1)
        model = netsharp.train(path, features, digits[:200], task="multiclass", epochs=1)
        return model, lambda: iter([features])
    stored = folder / "net.safetensors"
    words = ("run", str(path), "--epochs", "1", "--quiet", "--model", str(stored))
    answer = command(*words, cwd=folder)
    assert answer.code == 0, answer.err
    model = read_model(str(stored))
    return model, training_rows(model, model.settings).learned


def test_code_is_estimated_within_a_quarter_of_what_boards_hold() -> None:
    held = json.loads(Path("tests/boards/budgets.json").read_text(encoding="utf-8"))
    small = "input X [64]; hidden H [32] tanh from X all; output Y [10] from H all;"
    large = (
        "input X [784]; hidden A [64] tanh from X all; hidden B [32] tanh from A all;"
        "output Y [10] from B all;"
    )
    digits = Path("examples/digits/digits.nn").read_text(encoding="utf-8")
    assert held.keys() == CODE_BYTES.keys()
    for name, text, features in (
        ("digits_mlp", small, 64),
        ("mnist_mlp", large, 784),
        ("digits", digits, 64),
    ):
        found, sizes = predicted(text, features, 10)
        for board, networks in held.items():
            measured = networks["networks"][name]
            about = code_bytes(sizes, found.shapes, board)
            assert abs(about - measured["code"]) < 0.25 * measured["code"], (board, name, about)
            if name != "digits":
                stored = sum(one.weights + one.scales for one in sizes.layers)
                # One byte a node of layers whose shifts are all the same is not written.
                assert stored - measured["weights"] in {0, 10}
