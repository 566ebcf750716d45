"""`netsharp export`, through the door: what it writes, says and refuses."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import netsharp
from tests.cli.command_line import netsharp as command

TAGGER = Path(__file__).parents[3] / "shared" / "peer" / "models" / "slu.forward.backward.cmf"
#: Five words of three sentences, as text format has them.
WORDS = "0 |query 178:1\n0 |query 770:1\n1 |query 12:1\n2 |query 5:1\n2 |query 6:1\n"

needs_runtime = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="onnxruntime is in the dependency group 'peers'"
)
needs_tagger = pytest.mark.skipif(not TAGGER.exists(), reason="../shared is absent")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rows = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.8, 0.3]] * 5
    trained = netsharp.train(
        "input X [2];\noutput Y [2] softmax from X all;\n", rows, ["a", "b"] * 10, epochs=2
    )
    netsharp.save(trained, str(tmp_path / "small.safetensors"))
    return tmp_path


@needs_runtime
def test_a_model_of_a_table(model: Path) -> None:
    answer = command("export", "small.safetensors", "--to", "onnx", cwd=model)
    assert (answer.code, answer.err) == (0, "")
    first, *rest = answer.out.splitlines()
    assert first.startswith("small.onnx: ")
    assert rest[:2] == [
        "  inputs: features [batch, 2]",
        "  outputs: label [batch], probabilities [batch, 2]",
    ]
    assert "in onnxruntime, on random samples: at most" in rest[2]
    assert (model / "small.onnx").exists()
    (model / "rows.csv").write_text("p,q\n0.1,0.7\n0.9,0.2\n")
    on_data = ("export", "small.safetensors", "--to", "onnx", "x.onnx", "--verify", "rows.csv")
    answer = command(*on_data, cwd=model)
    assert answer.code == 0, answer.err
    assert "on rows.csv: at most" in answer.out


@needs_runtime
@needs_tagger
def test_a_tagger_that_cntk_trained(tmp_path: Path) -> None:
    (tmp_path / "words.ctf").write_text(WORDS)
    verify = ("--verify", "words.ctf")
    answer = command("export", str(TAGGER), "--to", "onnx", "t.onnx", *verify, cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert "  inputs: query [steps, batch, 943]" in answer.out.splitlines()
    assert "  z in onnxruntime, on words.ctf: at most" in answer.out


@needs_runtime
@needs_tagger
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--output", "zz"), "no node is called 'zz'. Did you mean 'z'?"),
        (("--output", "ce"), "'ce' is of type CrossEntropyWithSoftmax: it sums over samples"),
        (("--opset", "9"), "Operator set 9 is not written: 13 to 22 are."),
        (("--verify", "none.ctf"), "none.ctf"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    answer = command("export", str(TAGGER), "--to", "onnx", "t.onnx", *flags, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not (tmp_path / "t.onnx").exists()


def test_files_that_are_no_models(model: Path) -> None:
    (model / "text.txt").write_text("hello")
    for name in ("text.txt", "none", "."):
        answer = command("export", name, "--to", "onnx", "x.onnx", cwd=model)
        assert answer.code == 2
        assert answer.err.count("\n") == 1
    answer = command("export", "small.safetensors", "--to", "onnx", "no/x.onnx", cwd=model)
    assert answer.code == 2
    assert "the folder no does not exist" in answer.err


@needs_runtime
def test_answers_beyond_the_bound_are_said_and_not_written(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from netsharp_engine.exporting.onnx import written
    from netsharp_lsp.__main__ import main

    monkeypatch.chdir(model)
    monkeypatch.setattr(written, "BOUND", -1.0)
    assert main(["export", "small.safetensors", "--to", "onnx"]) == 1
    assert "the bound is -1. Nothing is written." in capsys.readouterr().err
    assert not (model / "small.onnx").exists()


@needs_runtime
@needs_tagger
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cifar10.ResNet.cmf", "outputs: z [batch, 10]"),
        ("mnist_conv.cmf", "outputs: Softmax2014 [batch, 10]"),
        # Its loss and its metric stay behind, and what it takes of a sequence is the last step.
        ("solar.dnn", "outputs: Block872 [batch, 1]"),
        ("slu.forward.backward.cmf", "outputs: z [steps, batch, 129]"),
    ],
)
def test_models_of_both_formats(name: str, said: str, tmp_path: Path) -> None:
    answer = command("export", str(TAGGER.parent / name), "--to", "onnx", "m.onnx", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert f"  {said}" in answer.out.splitlines()
    assert (tmp_path / "m.onnx").exists()
