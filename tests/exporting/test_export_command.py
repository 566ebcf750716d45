"""`netsharp export`, from the command line: what it writes, says and refuses."""

from __future__ import annotations

import errno
import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import netsharp
from netsharp_engine.exporting.onnx.operators import bundles as onnx_bundles
from netsharp_engine.exporting.torch.operators import bundles as torch_bundles
from netsharp_engine.exporting.tsql import query
from netsharp_lsp.__main__ import main
from tests.cli.command_line import netsharp as command
from tests.costs import spent_by_children, within
from tests.peers import needs_runtime, needs_torch

TAGGER = Path(__file__).parents[3] / "shared" / "peer" / "models" / "slu.forward.backward.cmf"
IMAGES = TAGGER.with_name("cifar10.ResNet.cmf")
#: Five words of three sentences, as text format has them.
WORDS = "0 |query 178:1\n0 |query 770:1\n1 |query 12:1\n2 |query 5:1\n2 |query 6:1\n"

needs_images = pytest.mark.skipif(not IMAGES.exists(), reason="../shared is absent")
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
    ("flags", "message"),
    [
        (("--output", "zz"), "no node is called 'zz'. Did you mean 'z'?"),
        (("--output", "ce"), "'ce' is of type CrossEntropyWithSoftmax: it sums over samples"),
        (("--opset", "9"), "Operator set 9 is not written: 13 to 22 are."),
        (("--verify", "none.ctf"), "none.ctf"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    answer = command("export", str(TAGGER), "--to", "onnx", "t.onnx", *flags, cwd=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
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
def test_answers_beyond_the_bound_are_reported_and_not_written(
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
    ("name", "message"),
    [
        ("cifar10.ResNet.cmf", "outputs: z [batch, 10]"),
        ("mnist_conv.cmf", "outputs: Softmax2014 [batch, 10]"),
        # Its loss and its metric stay behind, and what it takes of a sequence is the last step.
        ("solar.dnn", "outputs: Block872 [batch, 1]"),
        ("slu.forward.backward.cmf", "outputs: z [steps, batch, 129]"),
    ],
)
def test_models_of_both_formats(name: str, message: str, tmp_path: Path) -> None:
    answer = command("export", str(TAGGER.parent / name), "--to", "onnx", "m.onnx", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert f"  {message}" in answer.out.splitlines()
    assert (tmp_path / "m.onnx").exists()


@pytest.mark.costly
@needs_torch
def test_a_module_of_pytorch(model: Path) -> None:
    answer = command("export", "small.safetensors", "--to", "torch", "net.py", cwd=model)
    assert (answer.code, answer.err) == (0, "")
    first, *rest = answer.out.splitlines()
    assert first == "net.py: 5 layers, with their numbers in net.safetensors"
    assert rest[:2] == [
        "  inputs: features [batch, 2]",
        "  outputs: label [batch], probabilities [batch, 2]",
    ]
    assert "probabilities in PyTorch, on random samples: at most" in rest[2]
    program = "import net; print(net.predict(net.load(), [[0.0, 1.0], [1.0, 0.0]]))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=model, capture_output=True, text=True, check=True
    )
    trained = netsharp.load(str(model / "small.safetensors"))
    assert done.stdout.strip() == str(trained.predict([[0.0, 1.0], [1.0, 0.0]]).predicted.tolist())


def test_a_module_never_replaces_the_model(model: Path) -> None:
    before = (model / "small.safetensors").read_bytes()
    answer = command("export", "small.safetensors", "--to", "torch", cwd=model)
    assert answer.code == 2
    assert "small.safetensors: is the model itself" in answer.err
    answer = command("export", "small.safetensors", "--to", "torch", "x.safetensors", cwd=model)
    assert answer.code == 2
    assert "cannot both be x.safetensors" in answer.err
    assert (model / "small.safetensors").read_bytes() == before
    assert sorted(one.name for one in model.iterdir()) == ["small.safetensors"]


@needs_torch
@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_a_disk_that_fills_up_leaves_neither_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Each file is flushed before the first is renamed, and once more when it is."""
    from netsharp_lsp.__main__ import main

    monkeypatch.chdir(model)
    calls = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code = main(["export", "small.safetensors", "--to", "torch", "net.py"])
    left = sorted(one.name for one in model.iterdir())
    assert not any(".part" in name for name in left)
    if failing <= 2:
        assert (code, left) == (2, ["small.safetensors"])


@needs_torch
@needs_tagger
@pytest.mark.parametrize(
    ("name", "message", "layers"),
    [
        ("cifar10.ResNet.cmf", "outputs: z_2 [batch, 10]", {"nn.Conv2d(", "nn.BatchNorm2d("}),
        ("mnist_conv.cmf", "outputs: Softmax2014 [batch, 10]", {"nn.Conv2d(", "nn.MaxPool2d("}),
        ("solar.dnn", "outputs: Plus867 [batch, 1]", {"nn.LSTM(", "nn.Linear("}),
        ("slu.forward.backward.cmf", "outputs: z [steps, batch, 129]", {"nn.LSTM("}),
    ],
)
@pytest.mark.costly
def test_models_of_both_formats_as_modules(
    name: str, message: str, layers: set[str], tmp_path: Path
) -> None:
    answer = command("export", str(TAGGER.parent / name), "--to", "torch", "m.py", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert f"  {message}" in answer.out.splitlines()
    text = (tmp_path / "m.py").read_text()
    assert all(layer in text for layer in layers)
    assert "for " not in text.partition("def load(")[0]


@needs_torch
def test_an_export_that_was_stopped_leaves_the_old_module_or_the_new_one(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text finds its own numbers before they have their name, and those of no other text."""
    from netsharp_lsp.__main__ import main

    monkeypatch.chdir(model)
    other = netsharp.load(str(model / "small.safetensors"))
    assert isinstance(other, netsharp.Model)
    for name in list(other.tensors):
        other.tensors[name] = other.tensors[name] * 3
    netsharp.save(other, str(model / "other.safetensors"))
    written = {}
    for name in ("small", "other"):
        assert main(["export", f"{name}.safetensors", "--to", "torch", "net.py"]) == 0
        text, numbers = (Path(one).read_bytes() for one in ("net.py", "net.safetensors"))
        written[name] = (text, numbers, hashlib.sha256(numbers).hexdigest()[:12])
    assert sorted(one.name for one in model.glob("net*")) == ["net.py", "net.safetensors"]
    (old, before, _), (new, after, digest) = written.values()
    assert old != new

    def loads() -> bytes:
        state = runpy.run_path("net.py")["load"]().state_dict()
        return b"".join(one.numpy().tobytes() for one in state.values())

    Path(f"net.{digest}.safetensors").write_bytes(after)
    as_new = loads()
    Path("net.safetensors").write_bytes(before)
    assert loads() == as_new
    Path("net.py").write_bytes(old)
    assert loads() != as_new


@needs_runtime
@needs_images
def test_a_cold_export_takes_less_than_two_seconds(tmp_path: Path) -> None:
    """192 nodes, from the start of the process to both evaluations compared."""

    def exported() -> None:
        answer = command("export", str(IMAGES), "--to", "onnx", "out.onnx", cwd=tmp_path)
        assert answer.code == 0, answer.err

    within(2, exported, spent_by_children)


@needs_runtime
@needs_torch
@pytest.mark.filterwarnings("ignore:On training rows")
@pytest.mark.parametrize(
    ("rows", "kind", "reason"),
    [
        (onnx_bundles._FUNCTIONS, "onnx", "no operator of ONNX is written for the activation"),
        (torch_bundles._FUNCTIONS, "torch", "nothing of PyTorch is written for the activation"),
        (query._FUNCTIONS, "tsql", "nothing of T-SQL is written for the activation"),
    ],
    ids=["onnx", "torch", "tsql"],
)
def test_an_activation_without_a_row_is_refused_by_name(
    rows: dict[str, object],
    kind: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "input X [2]; hidden H [2] tanh from X all; output Y [2] softmax from H all;"
    trained = netsharp.train(text, [[0.0, 1.0], [1.0, 0.0]] * 5, ["a", "b"] * 5, epochs=1)
    monkeypatch.delitem(rows, "tanh")
    model, written = str(tmp_path / "m.safetensors"), str(tmp_path / f"written.{kind}")
    netsharp.save(trained, model)
    assert main(["export", model, written, "--to", kind]) == 2
    assert f"{reason} 'tanh' yet." in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["m.safetensors"]
