"""`netsharp run --rx-log`: a run reported in the lines of the hosts' own log."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import netsharp as door
from netsharp_lsp.cli.console.host_log import HostLog
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.echo import echoed
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from tests.cli.command_line import Answer, netsharp
from tests.conftest import SEED

NET = "input Data auto;\nhidden H [100] from Data all;\noutput Result auto {} from H all;\n"
ITERATION = re.compile(
    r"Iter:(\d+)/5, MeanErr=([\d.]+)\((-?[\d.]+)%\), \d+\.\d\dM WeightUpdates/sec"
)
RULE = "_" * 67
#: Task, output function, label of a row, weights with four features, loss, error of no knowledge.
TASKS = {
    "binary": ("sigmoid", lambda x: str(x > 0), 601, "LogLoss", np.log(2)),
    "multiclass": (
        "softmax",
        lambda x: "low" if x < -0.4 else "high" if x > 0.4 else "mid",
        803,
        "LogLoss",
        np.log(3) + 2 * np.log(1.5),
    ),
    "regression": ("linear", lambda x: f"{60 + 5 * x:.3f}", 601, "SquaredLoss", 3600.0),
}


def logged(folder: Path, task: str, *flags: str) -> Answer:
    """What a run of a task prints on rows that are drawn by a fixed seed."""
    function, label, *_ = TASKS[task]
    random = np.random.default_rng(SEED)
    rows = random.uniform(-1, 1, (90, 4))
    lines = [",".join(f"{each:.4f}" for each in row) + f",{label(row[0])}" for row in rows]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    (folder / "net.nn").write_text(NET.format(function))
    arguments = ("--train", "rows.csv", "--label", "y", "--host", "rx", "--epochs", "5")
    return netsharp("run", "net.nn", *arguments, "--task", task, *flags, cwd=folder)


@pytest.mark.parametrize("task", TASKS)
def test_a_run_is_reported_as_its_host_reported_it(task: str, tmp_path: Path) -> None:
    function, _, weights, loss, ignorant = TASKS[task]
    answer = logged(tmp_path, task, "--rx-log", "--log", "run.jsonl")
    assert answer.code == 0, answer.err
    lines = answer.err.splitlines()
    outputs = 3 if task == "multiclass" else 1
    assert lines[:9] == [
        "***** Net definition *****",
        "  input Data [4];",
        "  hidden H [100] sigmoid { // Depth 1",
        "    from Data all;",
        "  }",
        f"  output Result [{outputs}] {function} {{ // Depth 0",
        "    from H all;",
        "  }",
        "***** End net definition *****",
    ]
    named = {"softmax": "SoftMax", "sigmoid": "Sigmoid", "linear": "Linear"}[function]
    assert lines[9:21] == [
        "Input count: 4",
        f"Output count: {outputs}",
        f"Output Function: {named}",
        f"Loss Function: {loss}",
        "PreTrainer: NoPreTrainer",
        RULE,
        "Starting training...",
        "Learning rate: 0.001000",
        "Momentum: 0.000000",
        "InitWtsDiameter: 0.100000",
        RULE,
        f"Initializing 1 Hidden Layers, {weights} Weights...",
    ]
    start = float(lines[21].removeprefix("Estimated Pre-training MeanError = "))
    assert start == pytest.approx(ignorant, rel=0.1)
    before = start
    for number, line in enumerate(lines[22:27], 1):
        found = ITERATION.fullmatch(line)
        assert found is not None, line
        error = float(found[2])
        assert int(found[1]) == number
        assert float(found[3]) == pytest.approx(100 * (error - before) / before, abs=0.02)
        before = error
    assert lines[27] == "Done!"
    end = float(lines[28].removeprefix("Estimated Post-training MeanError = "))
    assert end < start
    assert lines[29] == RULE
    metrics = door.load(tmp_path / "net.safetensors").reports[0].metrics
    measured = {"binary": "log_loss", "multiclass": "mean_error", "regression": "rmse"}[task]
    shown = metrics[measured] ** (2 if task == "regression" else 1)
    assert end == pytest.approx(shown, rel=1e-5)


def test_a_log_changes_no_weight_and_no_line_of_the_run_log(tmp_path: Path) -> None:
    models, logs = [], []
    for name, flags in (("plain", ("--quiet",)), ("told", ("--rx-log",))):
        given = ("--model", f"{name}.safetensors", "--log", f"{name}.jsonl")
        assert logged(tmp_path, "multiclass", *flags, *given).code == 0
        models.append(door.load(tmp_path / f"{name}.safetensors").parameters)
        text = (tmp_path / f"{name}.jsonl").read_text()
        logs.append(re.sub(r'"seconds": [\d.]+', "", text))
    for name, values in models[0].items():
        np.testing.assert_array_equal(values, models[1][name])
    assert logs[0] == logs[1]


@pytest.mark.parametrize("task", TASKS)
def test_a_resumed_run_is_distinguished_from_where_it_is(task: str, tmp_path: Path) -> None:
    assert logged(tmp_path, task, "--quiet").code == 0
    first = logged(tmp_path, task, "--rx-log", "--epochs", "7", "--resume")
    assert first.code == 0, first.err
    lines = first.err.splitlines()
    assert not [line for line in lines if line.startswith("Initializing")]
    start = lines.index(next(line for line in lines if "Pre-training" in line))
    assert lines[start - 1] == RULE
    # The error that a run which ends there reports.
    whole = logged(tmp_path, task, "--rx-log", "--epochs", "5")
    reached = whole.err.splitlines()[-2].partition(" = ")[2]
    assert float(reached) > 0
    assert lines[start] == f"Estimated Pre-training MeanError = {reached}"
    found = re.fullmatch(r"Iter:6/7, MeanErr=([\d.]+)\((-?[\d.]+)%\).*", lines[start + 1])
    assert found is not None, lines
    change = 100 * (float(found[1]) / float(reached) - 1)
    assert float(found[2]) == pytest.approx(change, abs=0.02)
    assert lines[-3] == "Done!"


def test_a_log_changes_no_weight_of_a_resumed_run(tmp_path: Path) -> None:
    weights = []
    for name, flags in (("plain", ("--quiet",)), ("told", ("--rx-log",))):
        given = ("--model", f"{name}.safetensors")
        assert logged(tmp_path, "multiclass", "--quiet", *given).code == 0
        assert logged(tmp_path, "multiclass", *flags, *given, "--epochs", "7", "--resume").code == 0
        weights.append(door.load(tmp_path / f"{name}.safetensors").parameters)
    for name, values in weights[0].items():
        np.testing.assert_array_equal(values, weights[1][name])


def test_a_run_that_diverges_is_not_done(tmp_path: Path) -> None:
    answer = logged(tmp_path, "regression", "--rx-log", "--learning-rate", "1e9")
    assert answer.code == 1
    assert "Training stopped at step" in answer.err
    assert "Done!" not in answer.err
    assert "Post-training" not in answer.err


def test_a_run_that_is_interrupted_tells_its_error_and_is_not_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = HostLog()
    extent = {"epochs": 5, "steps": 9, "rows": 9, "parameters": 3}
    log.event({"event": "start", "epoch": 0, "step": 0, "metrics": extent})
    log.event({"event": "end", "epoch": 1, "step": 4, "loss": 0.5})
    log.close("interrupted")
    output = capsys.readouterr().err
    assert output.splitlines() == ["Estimated Post-training MeanError = 0.500000", RULE]


@pytest.mark.parametrize("flag", ["--events", "--quiet", "--examine"])
def test_one_display_at_a_time(flag: str, tmp_path: Path) -> None:
    answer = logged(tmp_path, "binary", "--rx-log", flag)
    assert answer.code == 2
    assert "does not go with --events" in answer.err


def test_a_configuration_has_a_log_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_text("command = T\nT = { action = train }\n")
    answer = netsharp("run", "a.cntk", "--rx-log", cwd=tmp_path)
    assert answer.code == 2
    assert "Use --cntk-log." in answer.err


def test_every_bundle_is_echoed_on_a_line() -> None:
    text = b"""\
input Image [8, 8];  // pixels
hidden Conv [2, 6, 6] rlinear from Image convolve {
  InputShape = [8, 8]; KernelShape = [3, 3];  /* small */ MapCount = 2;
}
output Out [3] softmax { from Conv all; from Image where (s, d) => s[0] == d[0]; }
hidden Deep [4] from Conv all;
"""
    assert echoed(resolve(parse(text), Context())) == [
        "  input Image [8, 8];",
        "  hidden Conv [2, 6, 6] rlinear { // Depth 1",
        "    from Image convolve { InputShape = [8, 8]; KernelShape = [3, 3]; MapCount = 2; }",
        "  }",
        "  output Out [3] softmax { // Depth 0",
        "    from Conv all;",
        "    from Image where (s, d) => s[0] == d[0];",
        "  }",
        "  hidden Deep [4] sigmoid { // Depth 0",
        "    from Conv all;",
        "  }",
    ]
