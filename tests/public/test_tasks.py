"""What is learned is found by one rule in Python and on the command line, or asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import netsharp
from tests.peers import peer

X = np.random.default_rng(3).normal(size=(60, 2))
MEASURED = X @ [1.0, 2.0]
#: An output layer, labels, and what is learned then: "regression", classes, or what is said.
CASES = {
    "fractions and one linear node": ("[1] linear", MEASURED, "regression"),
    "fractions and a linear layer": ("auto linear", MEASURED, "regression"),
    "many whole numbers": ("[1] linear", np.arange(60), "regression"),
    "two whole numbers": ("[1] linear", (X[:, 0] > 0).astype(int), "classification"),
    "some whole numbers": ("auto softmax", np.arange(60) % 3, "classification"),
    "names": ("auto linear", np.where(X[:, 0] > 0, "a", "b"), "classification"),
    "fractions and a softmax": ("auto softmax", MEASURED, "make the output layer linear"),
    "words and numbers": ("auto linear", np.array(["0.5", "x"] * 30), "classification"),
}


def files(folder: Path, output: str, labels: np.ndarray) -> None:
    """A specification, a table and a run file that names no task."""
    text = f"input D auto;\noutput O {output} from D all;\n"
    (folder / "n.nn").write_text(text, encoding="utf-8")
    both = (X.tolist(), labels.tolist())
    rows = [f"{a!r},{b!r},{label}" for (a, b), label in zip(*both, strict=True)]
    (folder / "t.csv").write_text("\n".join(["a,b,label", *rows, ""]), encoding="utf-8")
    settings = '[data]\ntrain = "t.csv"\n[train]\nepochs = 2\n'
    (folder / "n.toml").write_text(settings, encoding="utf-8")


def command(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit code of a command and all that it says."""
    call = [sys.executable, "-m", "netsharp_lsp", *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("case", CASES)
def test_one_rule_in_python_and_on_the_command_line(case: str, tmp_path: Path) -> None:
    output, labels, expected = CASES[case]
    files(tmp_path, output, labels)
    assert command(tmp_path, "check", "n.nn", "--fail-on", "error")[0] == 0
    code, printed = command(tmp_path, "run", "n.nn", "--quiet", "--optimizer", "sgd")
    text = (tmp_path / "n.nn").read_text(encoding="utf-8")
    if " " in expected:
        assert code == 2
        assert expected in printed
        with pytest.raises(netsharp.TrainingError, match=expected):
            netsharp.train(text, X, labels, epochs=2)
        return
    assert code == 0, printed
    stored = netsharp.load(tmp_path / "n.safetensors")
    trained = netsharp.train(text, X, labels, epochs=2, optimizer="sgd")
    read = netsharp.train(text, train=tmp_path / "t.csv", epochs=2, optimizer="sgd")
    for model in (stored, trained, read):
        assert ("regression" if model.classes is None else "classification") == expected
    assert {model.settings.learning_rate for model in (stored, trained, read)} == {
        0.005 if expected == "regression" else 0.1
    }
    for name, array in stored.tensors.items():
        assert array.tobytes() == read.tensors[name].tobytes()
    assert command(tmp_path, "run", "n.nn", "--quiet", "--resume", "--epochs", "3")[0] == 0


def test_a_task_that_is_named_is_kept() -> None:
    text = "input D auto; output O [1] linear from D all;"
    with pytest.raises(netsharp.SpecificationError, match="needs 60 outputs"):
        netsharp.train(text, X, MEASURED, task="multiclass")
    with pytest.raises(netsharp.DataError, match="must be numbers"):
        netsharp.train(text, X, ["a", "b"] * 30, task="regression")


@pytest.mark.costly
def test_several_label_columns_from_a_run_file(tmp_path: Path) -> None:
    files(tmp_path, "auto linear", MEASURED)
    rows = [f"{a!r},{b!r},{a + b!r},{a - b!r}" for a, b in X.tolist()]
    rows[5] = rows[5].replace(repr(X[5, 0].item()), "", 1)
    (tmp_path / "t.csv").write_text("\n".join(["a,b,sum,less", *rows, ""]), encoding="utf-8")
    settings = '[data]\ntrain = "t.csv"\nlabel = ["sum", "less"]\nmissing = "indicator"\n'
    (tmp_path / "n.toml").write_text(settings, encoding="utf-8")
    assert command(tmp_path, "check", "n.nn")[0] == 0
    code, output = command(tmp_path, "run", "n.nn")
    assert code == 0, output
    assert "RMSE" in output
    code, output = command(tmp_path, "predict", "n.safetensors", "--data", "t.csv")
    header, *answers = output.splitlines()
    assert (code, header, len(answers)) == (0, "predicted_sum,predicted_less", 60)
    model = netsharp.load(tmp_path / "n.safetensors")
    assert model.encoding.names == ("a", "a=missing", "b")
    rows_given = np.c_[X, np.zeros(60)][:, :2].astype(object)
    rows_given[5, 0] = None
    ours = model.predict(rows_given).predicted
    reported = np.array([[float(cell) for cell in line.split(",")] for line in answers])
    np.testing.assert_allclose(reported, ours, rtol=1e-5, atol=1e-6)
    code, output = command(tmp_path, "evaluate", "n.safetensors", "--data", "t.csv")
    assert code == 0
    assert "60 rows" in output
    peer("onnxruntime")
    code, output = command(tmp_path, "export", "n.safetensors", "--to", "onnx")
    assert code == 0, output
    wrong = settings.replace('"less"', '"mor"')
    (tmp_path / "n.toml").write_text(wrong, encoding="utf-8")
    code, output = command(tmp_path, "run", "n.nn", "--quiet")
    assert code == 2
    assert "no label column 'mor'" in output
