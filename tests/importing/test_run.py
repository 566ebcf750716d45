"""`netsharp run SCRIPT::NAME`: what a call says ranks below run file and flags, and is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main
from tests.importing.direct import assert_import_then_run_is_the_call, numbers_of

ROOT = Path(__file__).parents[2]
IRIS = ROOT / "examples" / "iris" / "iris.csv"
FORMULA = "species ~ ."
R = """\
net <- paste0("input X auto;\\n", "hidden H [4] sigmoid from X all;\\n",
  "output Y [3] softmax from H all;\\n")
fit <- rxNeuralNet(species ~ ., data = iris, type = "multiClass", netDefinition = net,
  optimizer = sgd(learningRate = 0.02, momentum = 0.5), numIterations = 3L, miniBatchSize = 7,
  rowSelection = sepal_width > 3, acceleration = "sse")
other <- rxNeuralNet(species ~ ., data = iris, type = "multiClass", numHiddenNodes = 6)
"""
PYTHON = """\
NET = '''
input X auto; hidden H auto tanh from X all; output Y [3] softmax from H all;
'''
model = rx_neural_network("species ~ .", data=iris, method="multiClass", net_definition=NET,
    num_hidden_nodes=5, optimizer=adadelta_optimizer(decay=0.9), num_iterations=2,
    normalize="No", max_norm=2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(IRIS, tmp_path / "iris.csv")
    (tmp_path / "a.R").write_text(R, encoding="utf-8")
    (tmp_path / "b.py").write_text(PYTHON, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[str]]:
    """The settings of a run: value and origin by key."""
    capsys.readouterr()
    assert main(["run", *arguments, "--show-settings"]) == 0
    rows = [line.split("]", 1)[1].split(None, 2) for line in capsys.readouterr().out.splitlines()]
    return {row[0]: [one.strip() for one in row[1:]] for row in rows}


@pytest.mark.costly
@pytest.mark.parametrize("argument", ["a.R::net", "a.R::fit", "a.R::3", "a.R::other", "b.py"])
def test_import_then_run_is_the_direct_call(argument: str, folder: Path) -> None:
    assert_import_then_run_is_the_call(folder, argument, "--train", "iris.csv")


def test_what_is_taken_from_where_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a.R::net", "--train", "iris.csv", "--epochs", "2"]) == 0
    output = capsys.readouterr()
    for line in (
        "a.R:3: running rxNeuralNet with its settings:",
        '  label = "species"  # a.R:3, formula',
        "  learning_rate = 0.02  # a.R:4, learningRate",
        "  batch_size = 7  # a.R:4, miniBatchSize",
        "  The defaults of host rx apply to all other settings.",
    ):
        assert line in output.out.splitlines(), output.out
    assert "epochs =" not in output.out
    assert "a.R:5: rowSelection: sepal_width > 3 is not carried over." in output.err
    assert "export" not in output.err
    assert main(["run", "a.R::net"]) == 2
    assert "a.R:3: data: export iris to the table of 'train'." in capsys.readouterr().err


def test_run_file_and_flags_come_before_the_call(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.toml").write_text(
        "[data]\ntrain = 'iris.csv'\n[train]\nepochs = 9\nmomentum = 0.25\n", encoding="utf-8"
    )
    found = shown(capsys, "a.R::net", "--momentum", "0.1")
    assert found["epochs"] == ["9", "file"]
    assert found["momentum"] == ["0.1", "flag"]
    assert found["learning_rate"] == ["0.02", "a.R:4, learningRate"]
    assert found["host"] == ['"rx"', "a.R:3, rxNeuralNet"]
    assert found["init"] == ['"uniform"', "host"]


@pytest.mark.parametrize(
    ("flags", "key", "wanted"),
    [
        (["--optimizer", "adam"], "learning_rate", ["0.001", "default"]),
        (["--optimizer", "adam"], "momentum", ["0", "host"]),
        (["--optimizer", "SGD"], "momentum", ["0.5", "a.R:4, momentum"]),
        (["--init", "he"], "init", ['"he"', "flag"]),
        (["--clip-norm", "1"], "clip_norm", ["1", "flag"]),
        (["--host", "studio"], "normalizer", ['"minmax"', "host"]),
        (["--schedule", "cosine"], "schedule", ['"cosine"', "flag"]),
    ],
)
def test_what_goes_with_another_choice_gives_way(
    flags: list[str],
    key: str,
    wanted: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(capsys, "a.R::fit", *flags)[key] == wanted


def test_one_call_has_to_be_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.R", "--train", "iris.csv"]) == 2
    asked = "a.R: 2 calls are meant. Choose one. There is a.R::net, a.R::other."
    assert asked in capsys.readouterr().err
    assert main(["run", "a.R::nte", "--train", "iris.csv"]) == 2
    assert "holds no specification or call 'nte'." in capsys.readouterr().err
    twice = R.replace("numHiddenNodes = 6", "netDefinition = net")
    (folder / "a.R").write_text(twice, encoding="utf-8")
    assert main(["run", "a.R::net", "--train", "iris.csv"]) == 2
    asked = "a.R: 2 calls are meant. Choose one. There is a.R::fit, a.R::other."
    assert asked in capsys.readouterr().err
    (folder / "a.R").write_text("fit <- rxNeuralNet(y ~ ., netDefinition = f(3))")
    assert main(["run", "a.R", "--train", "iris.csv"]) == 2
    assert "a.R:1: netDefinition: it is put together at run time." in capsys.readouterr().err


def test_a_network_in_a_file_that_the_script_reads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = 'fit <- rxNeuralNet(species ~ ., type = "multi", netDefinition = readLines("x.nn"))'
    (folder / "c.R").write_text(call, encoding="utf-8")
    (folder / "x.nn").write_text("input X auto;\noutput Y [3] softmax from Z all;\n")
    arguments = ("--train", "iris.csv", "--epochs", "2")
    assert main(["run", "c.R", *arguments]) == 1
    assert "x.nn:2:27" in capsys.readouterr().err
    (folder / "x.nn").write_text("input X auto;\noutput Y [3] softmax from X all;\n")
    assert main(["run", "c.R", *arguments]) == 0
    assert numbers_of(folder / "c.safetensors")


def test_a_changed_call_is_no_run_to_resume(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("run", "b.py", "--train", "iris.csv", "--quiet")
    assert main([*arguments]) == 0
    (folder / "b.py").write_text(PYTHON.replace("max_norm=2", "max_norm=3"), encoding="utf-8")
    assert main([*arguments, "--resume"]) == 2
    assert "A resumed run keeps its settings: max_norm was 2" in capsys.readouterr().err
    (folder / "b.py").write_text(PYTHON.replace("iterations=2", "iterations=4"), encoding="utf-8")
    assert main([*arguments, "--resume"]) == 0
