"""What holds for the network that a text means: its description, its graph, its comparison."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.numpy_backend import compile_plan
from netsharp_lsp.cli.weights import literals
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Edit
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.compare import Comparison, compare
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.netsharp.initial_values import with_initial_values
from netsharp_lsp.netsharp.lower import lower
from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.repairs.restructuring import renamed
from netsharp_lsp.text.edits import apply_edits
from tests.collection import RESOLVING, SAMPLES, Sample

#: More parameters than this need more memory than a test should take.
LARGEST = 5_000_000
#: More values take long to write out and to read.
WRITTEN = 50_000
TRAINED = 500_000
COMPLETE = [sample for sample in SAMPLES if sample.complete]
#: Texts that a network can be compared by: no errors, every size known.
SOUND = [
    sample
    for sample in SAMPLES
    if not any(d.severity == "error" for d in check(sample.text, sample.context)[1])
]
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
every_complete = pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
every_sound = pytest.mark.parametrize("sample", SOUND, ids=lambda sample: sample.name)


def network(text: bytes) -> Network:
    return resolve(parse(text), RESOLVING)


def compared(before: bytes, after: bytes) -> Comparison:
    return compare(network(before), network(after))


@every_sample
def test_every_text_can_be_described(sample: Sample) -> None:
    for context in (sample.context, Context(), RESOLVING):
        description = describe_network(resolve(parse(sample.text), context))
        assert description["version"] == 1
        parts = [description, *description["layers"]]
        parts += [bundle for layer in description["layers"] for bundle in layer["bundles"]]
        for part in parts:
            for field in ("nodes", "parameters", "connections", "multiply_adds"):
                assert part.get(field) is None or part[field] >= 0


@every_complete
def test_a_whole_network_has_one_number_of_parameters(sample: Sample) -> None:
    whole = network(sample.text)
    description = describe_network(whole)
    assert None not in (description[field] for field in ("parameters", "memory_bytes"))
    graph = lower(whole)
    assert sum(parameter.size for parameter in graph.parameters) == description["parameters"]
    (output,) = (layer for layer in description["layers"] if layer["kind"] == "output")
    assert graph.output is not None
    assert graph.output.size == output["nodes"]
    if description["parameters"] <= LARGEST:
        compile_plan(graph, batch=1, training=False)


@every_sound
def test_a_network_is_itself_and_its_formatted_self(sample: Sample) -> None:
    formatted = format_text(sample.text, FormatOptions())
    assert formatted.failure is None
    for other in (sample.text, formatted.text):
        comparison = compared(sample.text, other)
        assert comparison.same
        assert comparison.differences == []


@every_sound
def test_new_names_make_no_other_network(sample: Sample) -> None:
    now = network(sample.text)
    edits = [
        Edit(*change.place.offsets(now.specification), change.text)
        for layer in now.all_layers
        for change in renamed(layer, f"New_{layer.name}", now)
    ]
    comparison = compared(sample.text, apply_edits(sample.text, edits))
    assert comparison.same
    assert {difference.change for difference in comparison.differences} <= {"renamed"}


def test_comparing_is_symmetric() -> None:
    """Each sound text against the next ones: the same either way, with the figures swapped."""
    for first, second in zip(SOUND, [*SOUND[1:], SOUND[0]], strict=True):
        there, back = compared(first.text, second.text), compared(second.text, first.text)
        assert there.same == back.same
        assert there.figures == {key: pair[::-1] for key, pair in back.figures.items()}
        assert bool(there.differences) == bool(back.differences)
        assert _counts(there) == {
            _BACK.get(change, change): count for change, count in _counts(back).items()
        }


_BACK = {"added": "removed", "removed": "added"}


def _counts(comparison: Comparison) -> dict[str, int]:
    counts: dict[str, int] = {}
    for difference in comparison.differences:
        if difference.what == "layer":
            counts[difference.change] = counts.get(difference.change, 0) + 1
    return counts


@pytest.mark.parametrize(
    "name", ["guide/digits", "valid/share_layers", "valid/five_kinds_into_one"]
)
def test_diff_of_a_file_with_its_formatted_self_says_same(name: str, tmp_path: Path) -> None:
    (sample,) = (sample for sample in SAMPLES if sample.name == name)
    before, after = tmp_path / "before.nn", tmp_path / "after.nn"
    before.write_bytes(sample.data)
    after.write_bytes(format_text(sample.text, FormatOptions()).text)
    done = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", "diff", str(before), str(after)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "same" in done.stdout


@every_complete
def test_trained_values_written_into_the_text_read_back_bit_equal(sample: Sample) -> None:
    whole = network(sample.text)
    graph = lower(whole)
    if sum(parameter.size for parameter in graph.parameters) > WRITTEN:
        return
    chance = np.random.default_rng(20151)
    wanted = {
        parameter.name: any_floats(chance, parameter.size).reshape(parameter.shape)
        for parameter in graph.parameters
    }
    text = with_initial_values(whole, {name: literals(array) for name, array in wanted.items()})
    assert not [d for d in check(text, Context())[1] if d.severity == "error"]
    again = lower(network(text))
    assert [parameter.name for parameter in again.parameters] == list(wanted)
    for parameter in again.parameters:
        assert parameter.initial is not None
        read = np.array(parameter.initial, np.float32)
        assert read.tobytes() == wanted[parameter.name].tobytes(), parameter.name
    assert describe_network(network(text)) == describe_network(whole)
    assert format_text(text, FormatOptions()).failure is None


def any_floats(chance: np.random.Generator, count: int) -> np.ndarray:
    """Finite float32 numbers of every size, signed zeros and the smallest among them."""
    numbers = chance.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    numbers[~np.isfinite(numbers)] = np.float32(1e-45)
    numbers[::7] = chance.standard_normal(numbers[::7].size).astype(np.float32)
    numbers[3::11] = np.float32(-0.0)
    return numbers


@every_complete
def test_every_whole_network_learns(sample: Sample) -> None:
    graph = lower(network(sample.text))
    if sum(parameter.size for parameter in graph.parameters) > TRAINED:
        return
    chance = np.random.default_rng(20151)
    plan = compile_plan(graph, batch=3, criterion="squared error", dtype="float64")
    plan.initialise(1, 0.1)
    assert graph.output is not None
    rows = chance.uniform(0.1, 1, (3, sum(node.size for node in graph.inputs)))
    goal = chance.uniform(0.1, 1, (3, graph.output.size))
    plan.feed(rows, goal)
    plan.step()
    before = plan.loss
    assert np.isfinite(plan.gradient).all()
    slope = float(plan.gradient @ plan.gradient)
    if slope == 0.0:
        return  # Nothing gets through, for example where every `rlinear` is at rest.
    plan.weights -= plan.gradient * min(1e-3, 1e-4 * abs(before) / slope)
    plan.feed(rows, goal)
    plan.step()
    assert plan.loss < before
