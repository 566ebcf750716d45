"""The gate: held-out rows evaluate a network in integers, and what is done then."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.evaluating.gate import GateRows, GateVerdict, gate_verdict, wilson_interval
from netsharp_compile.layers import layers_of
from tests.cli.command_line import netsharp as command
from tests.compiling.networks import DEEP, MAPS, ONE, trained
from tests.conftest import SEED
from tests.peers import needs_runtime

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def _verdict(rows: int, lost: int, allowed: float = 0.5) -> GateVerdict:
    before = (rows + max(lost, 0)) // 2
    return GateVerdict("holdout", rows, before, before - lost, abs(lost), 0.1, allowed)


@pytest.mark.parametrize(
    ("rows", "lost", "allowed", "met"),
    [
        (10, 1, 0.5, True),
        (10, 2, 0.5, False),
        (199, 1, 0.0, True),
        (1000, 5, 0.5, True),
        (1000, 6, 0.5, False),
        (1000, -3, 0.0, True),
        (3000, 2, 0.05, False),
        (700, 7, 1.0, True),
    ],
)
def test_the_gate_means_what_it_says(rows: int, lost: int, allowed: float, met: bool) -> None:
    """No more than `allowed` points, of which one row is always allowed."""
    verdict = _verdict(rows, lost, allowed)
    assert verdict.is_met is met
    assert verdict.drop == pytest.approx(100 * lost / rows)
    assert verdict.lines()[1].endswith(": passed" if met else ": FAILED")


@pytest.mark.parametrize(("rows", "few"), [(199, True), (200, False), (1, True)])
def test_too_few_rows_are_reported(rows: int, few: bool) -> None:
    notes = [one for one in _verdict(rows, 0).lines() if one.startswith("note:")]
    assert bool(notes) is few
    assert not few or "hold out at least 200" in notes[0]


def test_numbers_may_be_off_by_a_part_of_their_spread() -> None:
    assert GateVerdict("", 10, None, None, None, 0.0199, 2.0).is_met
    assert not GateVerdict("", 10, None, None, None, 0.0201, 2.0).is_met


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_the_interval_is_wilson_s(rows: int) -> None:
    """Each end is 1.96 of its own standard deviations from the observed share."""
    for right in {0, 1, rows // 2, rows}:
        low, high = wilson_interval(right, rows)
        assert 0 <= low <= right / rows <= high <= 1
        for end in (low, high):
            apart = (right / rows - end) ** 2 * rows
            assert 0 < end < 1 or end == right / rows
            if 0 < end < 1:
                assert apart == pytest.approx(1.959963984540054**2 * end * (1 - end))


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_figures_are_those_of_the_answers(task: str) -> None:
    last = {"binary": "sigmoid", "multiclass": "softmax", "regression": "linear"}[task]
    model, x = trained(ONE.format("tanh", last), task, epochs=20)
    chance = np.random.default_rng(SEED + 1)
    fresh = chance.normal(2, 3, size=(300, 6))
    wanted = np.array(model.predict(fresh).predicted)
    chosen = chance.random(300) < 0.1
    wanted = np.where(chosen, np.roll(wanted, 1), wanted)
    made = netsharp.compile(model, x, holdout=(fresh, wanted), max_drop=3)
    gate = made.report.gate
    assert gate is not None
    assert (gate.rows, gate.allowed, gate.what) == (300, 3, "holdout")
    found = np.array(made.simulate(fresh).predicted)
    known = np.array(model.predict(fresh).predicted)
    if task == "regression":
        apart = np.sqrt(np.square(found - known).mean()) / known.std()
        assert gate.error == pytest.approx(apart, rel=1e-3)
        assert (gate.right, gate.agreement, gate.drop) == (None, None, None)
        return
    assert gate.right_before == (known == wanted).sum()
    assert gate.right == (found == wanted).sum()
    assert gate.differing == (found != known).sum()
    assert gate.is_met


def test_the_memory_of_judging_is_the_same_for_many_rows() -> None:
    """A convolution has many values of each row; all of these together would be gigabytes."""
    model, x = trained(MAPS, features=36)
    layers = layers_of(model.graph, model.tensors)
    made = netsharp.compile(model, x).network
    peaks = []
    for count in (2_000, 16_000):
        rows = np.tile(x.astype(np.float32), (count // len(x), 1))
        codes = np.zeros(count, np.int64)
        gate = GateRows(lambda given=(rows, codes): iter([given]), "rows", 100.0)
        tracemalloc.start()
        verdict = gate_verdict(model, layers, made, gate)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert verdict.rows == count
    assert peaks[1] < 1.3 * peaks[0], peaks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a regression, its rows, and held-out rows."""
    made = tmp_path_factory.mktemp("gate")
    x = np.random.default_rng(SEED).normal(2, 3, size=(200, 6))
    names = [*(f"c{n}" for n in range(6)), "label"]
    for name, rows in (("rows.csv", x), ("held.csv", x[:50] + 0.1)):
        lines = [",".join(map(repr, [*row, row[0]])) for row in rows.tolist()]
        (made / name).write_text("\n".join([",".join(names), *lines]) + "\n")
    files = {"train": str(made / "rows.csv"), "label": "label"}
    model = netsharp.train(DEEP, **files, task="regression", epochs=20)
    netsharp.save(model, made / "net.safetensors")
    return made


def test_a_network_that_loses_too_much_is_not_written(folder: Path) -> None:
    rows = ("--holdout", "held.csv", "--output", "out")
    held = ("compile", "net.safetensors", *rows)
    answer = command(*held, "--max-drop", "0.001", cwd=folder)
    assert answer.code == 1
    assert "on 50 held-out rows (held.csv): error " in answer.out
    assert "(at most 0.001 % allowed): FAILED" in answer.out
    assert "more is lost than --max-drop allows. Only the report was written, out/" in answer.err
    written = sorted(path.name for path in (folder / "out").iterdir())
    assert written == ["report.json", "report.md", "report.svg"]
    forced = command(*held, "--max-drop", "0.001", "--force", cwd=folder)
    assert forced.code == 1
    assert "It was written all the same." in forced.err
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    assert "net.c" in before
    again = command(*held, "--max-drop", "0.001", "--weights", "int16", cwd=folder)
    assert again.code == 1
    assert "out stays as it was; --force writes it" in again.err
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before
    narrow = ("--activations", "uint4", "--max-drop", "5")
    assert command(*held, *narrow, cwd=folder).code == 1
    wider = command(*held, *narrow, "--auto-widths", cwd=folder)
    assert (wider.code, wider.err) == (0, "")
    assert "wider types taken to pass: --layer " in wider.out
    loose = command(*held, "--max-drop", "90", "--format", "json", cwd=folder)
    assert loose.code == 0
    gate = json.loads(loose.out)["report"]["gate"]
    assert (gate["rows"], gate["what"], gate["allowed"]) == (50, "held.csv", 90)


@needs_runtime
def test_an_onnx_file_is_checked_alike(folder: Path) -> None:
    held = ("export", "net.safetensors", "--to", "onnx-qdq", "net.onnx", "--holdout", "held.csv")
    answer = command(*held, "--max-drop", "0.001", cwd=folder)
    assert answer.code == 1
    assert "(at most 0.001 % allowed): FAILED" in answer.out
    assert "more is lost than --max-drop allows. Nothing is written; --force" in answer.err
    assert not (folder / "net.onnx").exists()
    forced = command(*held, "--max-drop", "0.001", "--force", cwd=folder)
    assert forced.code == 1
    assert "It was written all the same." in forced.err
    narrow = (folder / "net.onnx").read_bytes()
    widths = ("--activations", "uint4", "--max-drop", "5", "--auto-widths")
    wider = command(*held, *widths, cwd=folder)
    assert (wider.code, wider.err) == (0, "")
    assert "  wider types taken to pass: --layer " in wider.out
    assert (folder / "net.onnx").read_bytes() != narrow


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (("--max-drop", "1"), "the training had none for validation or test: name labelled ones"),
        (("--holdout", "none.csv"), "none.csv"),
        (("--holdout", "empty.csv"), "empty.csv"),
        (("--holdout", "unlabelled.csv"), "unlabelled.csv has no label column 'label'"),
        (("--holdout", "held.csv", "--max-drop", "-1"), "must be a number of at least 0"),
        (("--layer", "A"), "--layer A: NAME=WIDTH is expected, as in Hidden=uint10"),
        (("--layer", "D=uint10"), "There is no layer 'D' to have a width of its own"),
        (("--activations", "uint16"), "allow it with --big-tables"),
        (("--range", "most"), "chosen by operator, minmax, percentile:P"),
    ],
)
def test_what_cannot_be_is_a_sentence(rest: tuple[str, ...], message: str, folder: Path) -> None:
    (folder / "empty.csv").write_text("c0,c1,c2,c3,c4,c5,label\n")
    (folder / "unlabelled.csv").write_text("c0,c1,c2,c3,c4,c5\n1,2,3,4,5,6\n")
    rows = ("--output", "never")
    answer = command("compile", "net.safetensors", *rows, *rest, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert not (folder / "never").exists()


@pytest.mark.costly
def test_validation_rows_and_test_rows_judge_where_nothing_is_named(tmp_path: Path) -> None:
    """Of a model that lies elsewhere than it was trained, too, by the run file beside it."""
    chance = np.random.default_rng(SEED)
    x = chance.normal(size=(120, 3))
    lines = [f"{a:.6g},{b:.6g},{c:.6g},{'yes' if a > b else 'no'}" for a, b, c in x.tolist()]
    for name, part in (("rows.csv", lines[:90]), ("test.csv", lines[90:])):
        (tmp_path / name).write_text("\n".join(["a,b,c,label", *part]) + "\n")
    (tmp_path / "net.nn").write_text(ONE.format("tanh", "softmax") + "\n")
    data = '[data]\ntrain = "rows.csv"\nlabel = "label"\n'
    attributes = {
        f'{data}test = "test.csv"\n[train]\nepochs = 3\n': ("30 held-out rows (the test rows", 90),
        f"{data}[train]\nepochs = 3\nvalidation = 0.2\n": ("18 held-out rows (the valida", 72),
        f'{data}[train]\nepochs = 3\nvalidation = "test.csv"\n': ("30 held-out rows (the v", 90),
    }
    (tmp_path / "elsewhere").mkdir()
    for text, (line, calibrated) in attributes.items():
        (tmp_path / "net.toml").write_text(text)
        assert command("run", "net.nn", "--quiet", cwd=tmp_path).code == 0
        given = ("compile", "../net.safetensors", "--output", "out")
        answer = command(*given, cwd=tmp_path / "elsewhere")
        assert answer.code == 0, answer.err
        assert line in answer.out
        assert f"on {calibrated} rows: " in answer.out


@pytest.mark.parametrize(
    ("rows", "lost", "message"),
    [
        (400, 0, "no loss of accuracy (at most 0.5 percentage points allowed): passed"),
        (400, -2, "gain of accuracy: 0.50 percentage points (a loss of at most "),
        (400, 3, "loss of accuracy: 0.75 percentage points (at most 0.5 percentage points allowed"),
        (40, 1, "loss of accuracy: 2.50 percentage points (at most 0.5 percentage points or one "),
    ],
)
def test_the_verdict_is_a_sentence(rows: int, lost: int, message: str) -> None:
    assert message in _verdict(rows, lost).lines()[1]
