"""`netsharp describe --cost`: a training is predicted, by rates that lie in the user's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.costs import Machine, calibrated
from netsharp_lsp import __version__
from tests.cli.command_line import Answer, netsharp
from tests.cli.test_schemas import schema
from tests.engine_training.rates import even_rates

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NET = "input A [4];\nhidden B [6] tanh from A all;\noutput C [3] softmax from B all;\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a specification, and beside it one of the user's with rates of this machine."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    for dtype in ("float32", "float64"):
        machine = Machine.here(__version__, dtype)
        calibrated(machine, str(home / "netsharp" / "rates"), even_rates)
    work = tmp_path / "work"
    work.mkdir()
    (work / "net.nn").write_text(NET)
    return work


def described(folder: Path, *arguments: str) -> Answer:
    return netsharp("describe", *arguments, cwd=folder)


def cost(folder: Path, *arguments: str) -> dict[str, Any]:
    answer = described(folder, "net.nn", "--cost", "--format", "json", *arguments)
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    schema("describe.json").validate(document)
    found: dict[str, Any] = document["cost"]
    return found


def test_a_prediction_in_every_form(folder: Path) -> None:
    found = cost(folder, "--rows", "1000", "--batch-size", "10")
    assert found["steps"] == 100
    assert found["machine"]["measured_now"] is False
    parts = ("forward_seconds", "backward_seconds", "update_seconds")
    layers = sum(layer[part] for layer in found["layers"] for part in parts)
    assert found["step_seconds"] == pytest.approx(layers + found["around_seconds"])
    assert found["epoch_seconds"] == pytest.approx(100 * found["step_seconds"])
    assert [layer["name"] for layer in found["layers"]] == ["B", "C"]
    text = described(folder, "net.nn", "--cost", "--rows", "1000", "--batch-size", "10").out
    assert "for an epoch of 1,000 rows: 100 steps\n" in text
    assert "\n(around them)" in text
    table = described(folder, "net.nn", "--cost", "--format", "markdown").out
    assert "| layer, a step | forward |" in table
    assert [path.name for path in folder.iterdir()] == ["net.nn"]


@pytest.mark.costly
def test_the_run_file_says_what_no_flag_does(folder: Path) -> None:
    (folder / "net.toml").write_text(
        '[data]\nrows = 500\n[train]\nbatch_size = 50\noptimizer = "sgd"\nvalidation = 0.2\n'
        'threads = 2\ndtype = "float64"\n'
    )
    found = cost(folder)
    assert (found["rows"], found["validation_rows"], found["steps"]) == (400, 100, 8)
    assert (found["batch_size"], found["optimizer"], found["dtype"]) == (50, "sgd", "float64")
    given = ("--batch-size", "40", "--optimizer", "adam", "--dtype", "float32", "--rows", "50")
    found = cost(folder, *given)
    assert (found["batch_size"], found["optimizer"], found["dtype"]) == (40, "adam", "float32")
    assert (found["rows"], found["validation_rows"], found["steps"]) == (40, 10, 1)
    answer = described(folder, "net.nn", "--cost")
    assert "threads = 2, and one thread is predicted" in answer.err
    (folder / "net.toml").write_text("[train]\nbatch_size = 0\n")
    answer = described(folder, "net.nn", "--cost")
    assert (answer.code, answer.out) == (2, "")
    assert "net.toml, [train] batch_size" in answer.err
    assert described(folder, "net.nn").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("net.nn", "--cost", "--format", "svg"), "--cost is shown as text, json, markdown"),
        (("net.nn", "--cost", "--format", "dot"), "--cost is shown as text, json, markdown"),
        (("net.nn", "--rows", "5"), "--rows goes with --cost."),
        (("net.nn", "--batch-size", "5"), "--batch-size goes with --cost."),
        (("net.nn", "--cost", "--rows", "0"), "must be a whole number of at least 1"),
        (("a.cntk", "--cost"), "--cost goes with a specification, and this is none."),
        (("auto.nn", "--cost"), "The size of 'A' is auto"),
        (("wide.nn", "--cost", "--batch-size", "100000"), "of memory"),
    ],
)
def test_what_has_no_prediction_is_refused(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "a.cntk").write_text("command = T\nT = { action = train }\n")
    (folder / "auto.nn").write_text(NET.replace("[4]", "auto"))
    (folder / "wide.nn").write_text(NET.replace("[4]", "[100000]").replace("[6]", "[100000]"))
    answer = described(folder, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err


def test_sizes_come_from_flags_and_data(folder: Path) -> None:
    (folder / "net.nn").write_text(NET.replace("[4]", "auto"))
    assert cost(folder, "--features", "9")["layers"][0]["name"] == "B"
    shutil.copytree(EXAMPLES / "iris", folder / "iris")
    assert described(folder, "iris/iris.nn", "--cost").code == 0


def test_without_cost_nothing_is_measured_or_read(folder: Path) -> None:
    shutil.rmtree(folder.parent / "home")
    assert described(folder, "net.nn").code == 0
    assert not (folder.parent / "home").exists()


@pytest.mark.costly
def test_rates_are_measured_where_there_are_none(folder: Path) -> None:
    shutil.rmtree(folder.parent / "home")
    assert cost(folder)["machine"]["measured_now"] is True
    assert cost(folder)["machine"]["measured_now"] is False
    kept = [path.suffix for path in (folder.parent / "home" / "netsharp" / "rates").iterdir()]
    assert sorted(kept) == ["", ".json"]
    assert [path.name for path in folder.iterdir()] == ["net.nn"]
