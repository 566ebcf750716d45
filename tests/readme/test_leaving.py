"""A stranger with a model and data, and nothing else: three commands of a page say what the
model is, what its error on the data is, and leave an ONNX file whose error is the same.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command_line import netsharp
from tests.conftest import SEED
from tests.peers import peer
from tests.readme.transcripts import DOCS, blocks

onnxruntime: Any = peer("onnxruntime")
MODELS = Path(__file__).parents[3] / "shared" / "peer" / "models"
needs_models = pytest.mark.skipif(not MODELS.exists(), reason="../shared is absent")
MODEL, DATA = "old.dnn", "test.ctf"
#: The error as `evaluate` prints it: a share of samples, in percent or not.
ERROR = re.compile(r"(?:errs|Error\w*|Errs) = ([\d.]+)(%?) \* (\d+)")
#: A network with what its program leaves in: normalisation, labels, a criterion and an error.
NETWORK = """
command = train
modelPath = "old.dnn"
train = {
    action = train
    BrainScriptNetworkBuilder = {
        features = Input {4}
        labels = Input {3}
        h = BatchNormalizationLayer {} (DenseLayer {6, activation=ReLU} (features))
        z = LinearLayer {3} (h)
        ce = CrossEntropyWithSoftmax (labels, z)
        errs = ClassificationError (labels, z)
        featureNodes = (features)
        labelNodes = (labels)
        criterionNodes = (ce)
        evaluationNodes = (errs)
        outputNodes = (z)
    }
    SGD = { minibatchSize = 16; maxEpochs = 3; learningRatesPerSample = 0.02 }
}
reader = {
    readerType = CNTKTextFormatReader
    file = "test.ctf"
    input = { features = { dim = 4; format = dense }; labels = { dim = 3; format = dense } }
}
"""


def commands() -> list[str]:
    """The block of the page that begins with a model alone."""
    found = [
        block.commands
        for block in blocks((DOCS / "experiments.md").read_text(encoding="utf-8"))
        if any(f"evaluate {MODEL} " in command for command in block.commands)
    ]
    (three,) = found
    assert [command.split()[1] for command in three] == ["describe", "evaluate", "export"]
    return three


def reported_error(folder: Path) -> tuple[float, int]:
    """Run the commands in a folder; the error that is reported, and on how many samples."""
    answers = [netsharp(*command.split()[1:], cwd=folder) for command in commands()]
    assert [(answer.code, answer.err) for answer in answers] == [(0, "")] * 3
    assert answers[0].out.startswith("model of format v")
    found = ERROR.search(answers[1].out)
    assert found is not None, answers[1].out
    share, percent, count = found.groups()
    return float(share) / (100 if percent else 1), int(count)


def sample(features: list[Any], label: int, classes: int) -> str:
    """A line of CNTK's text format, the label one-hot."""
    wanted = np.eye(classes, dtype=int)[label]
    return f"|features {' '.join(map(str, features))} |labels {' '.join(map(str, wanted))}\n"


def error_in_onnxruntime(folder: Path, output: str, inputs: dict[str, Any], truth: Any) -> float:
    """The share of samples whose largest output is not their label's."""
    session = onnxruntime.InferenceSession(str(folder / "old.onnx"))
    assert {one.name for one in session.get_inputs()} == set(inputs)
    (values,) = session.run([output], inputs)
    width = values.shape[-1]
    guessed = values.reshape(-1, width).argmax(1)
    return float(np.mean(guessed != np.asarray(truth).reshape(-1)))


def test_a_model_that_was_trained_here(tmp_path: Path) -> None:
    drawn = np.random.default_rng(SEED)
    features = drawn.normal(size=(64, 4)).astype(np.float32)
    truth = (features @ drawn.normal(size=(4, 3))).argmax(1)
    rows = [sample(row, one, 3) for row, one in zip(features.tolist(), truth, strict=True)]
    work, alone = tmp_path / "work", tmp_path / "alone"
    work.mkdir()
    alone.mkdir()
    (work / "train.cntk").write_text(NETWORK)
    for folder in (work, alone):
        (folder / DATA).write_text("".join(rows))
    assert netsharp("run", "train.cntk", cwd=work).code == 0
    shutil.copy(work / MODEL, alone)
    message, count = reported_error(alone)
    assert count == 64
    assert message == pytest.approx(
        error_in_onnxruntime(alone, "z", {"features": features}, truth), abs=1e-5
    )


@needs_models
@pytest.mark.costly
def test_the_visible_tagger(tmp_path: Path) -> None:
    """Of sequences: sparse words, each with the label of its slot."""
    drawn = np.random.default_rng(SEED)
    words, truth = drawn.integers(0, 943, (6, 9)), drawn.integers(0, 129, (6, 9))
    truth[:, ::2] = 128
    text = "".join(
        f"{number} |query {word}:1 |slotLabels {label}:1\n"
        for number, row in enumerate(zip(words, truth, strict=True))
        for word, label in zip(*row, strict=True)
    )
    (tmp_path / DATA).write_text(text)
    shutil.copy(MODELS / "slu.forward.backward.cmf", tmp_path / MODEL)
    message, count = reported_error(tmp_path)
    assert count == truth.size
    query = np.eye(943, dtype=np.float32)[words.T]
    assert message == pytest.approx(
        error_in_onnxruntime(tmp_path, "z", {"query": query}, truth.T), abs=1e-5
    )


@needs_models
@pytest.mark.costly
def test_the_visible_image_model(tmp_path: Path) -> None:
    drawn = np.random.default_rng(SEED)
    images, truth = drawn.integers(0, 256, (8, 3 * 32 * 32)), drawn.integers(0, 10, 8)
    rows = [sample(row, one, 10) for row, one in zip(images.tolist(), truth, strict=True)]
    (tmp_path / DATA).write_text("".join(rows))
    shutil.copy(MODELS / "cifar10.ResNet.cmf", tmp_path / MODEL)
    message, count = reported_error(tmp_path)
    assert count == 8
    features = images.reshape(8, 3, 32, 32).astype(np.float32)
    assert message == pytest.approx(
        error_in_onnxruntime(tmp_path, "z", {"features": features}, truth), abs=1e-5
    )


def test_the_page_leads_to_everything_in_one_command() -> None:
    """Each row of the table is a command that the page runs, below the heading that it names."""
    text = (DOCS / "leaving-cntk.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*\| \[`netsharp (.+?)`\]\(#([a-z-]+)\) \|$", text, re.MULTILINE)
    assert len(rows) == 11
    wanted = {"describe", "predict", "evaluate", "weights", "run", "compile"}
    wanted |= {f"export --to {name}" for name in ("onnx", "onnx-qdq", "torch", "brainscript")}
    assert {
        re.sub(r" [A-Z]\w*| --data FILE| --to FILE| --output DIR", "", one) for one, _ in rows
    } == wanted
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    by_anchor = {part.splitlines()[0].lower().replace(" ", "-"): part for part in sections}
    for command, anchor in rows:
        first = command.split()[0]
        reported = [one for block in blocks(by_anchor[anchor]) for one in block.commands]
        assert any(one.startswith(f"netsharp {first} ") for one in reported), anchor
        assert all(option in " ".join(reported) for option in re.findall(r"--to [a-z]+", command))
