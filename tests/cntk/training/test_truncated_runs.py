"""Experiments whose sequences are cut: resumed, in parts, and what of them is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_restart import figures
from tests.conftest import SEED

Array = Any

CONFIGURATION = """\
command = learn:score
truncated = true
modelPath = "out/net.dnn"
precision = "float"
reader = { file = "data.ctf" ; nbruttsineachrecurrentiter = 4 ; input = {
    x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } }

learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input {3} ; y = Input {2}
        h = RecurrentLSTMLayer {6} (Dropout (x))
        z = LinearLayer {2} (h)
        ce = CrossEntropyWithSoftmax (y, z) ; errs = ClassificationError (y, z)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; evaluationNodes = (errs)
        outputNodes = (z)
    }
    SGD = {
        maxEpochs = 8 ; minibatchSize = 5 ; learningRatesPerSample = 0.1
        momentumAsTimeConstant = 20 ; dropoutRate = 0.1
    }
}
score = { action = "test" }
"""


def made(folder: Path) -> Path:
    """The label of a step is the sign of a sum over all steps so far."""
    random = np.random.default_rng(SEED)
    lines = []
    for number in range(60):
        values = random.normal(size=(int(random.integers(1, 24)), 3))
        for step, one in zip(values, np.cumsum(values[:, 0]) > 0, strict=True):
            shown = " ".join(f"{value:.4f}" for value in step)
            lines.append(f"{number} |x {shown} |y {'1 0' if one else '0 1'}")
    folder.mkdir(exist_ok=True)
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(CONFIGURATION)
    return folder


def test_an_experiment_stopped_and_resumed_is_run_through(tmp_path: Path) -> None:
    whole, follower = run(made(tmp_path / "whole"))
    assert whole.code == 0
    assert any("pieces of 5 steps, 4 sequences beside" in one for one in follower.notices)
    (end,) = [one for one in follower.events if one["event"] == "end"]
    print(end["evaluation"])
    assert end["evaluation"]["errs"] < 0.2
    folder = made(tmp_path / "stopped")
    first = run(folder, "command=learn", follower=Follower(ends=2))[1]
    second = run(folder, "command=learn")[1]
    assert figures(first) + figures(second) == figures(follower)
    for name in ("net.dnn", "net.dnn.ckp"):
        ours = (folder / "out" / name).read_bytes()
        assert ours == (tmp_path / "whole" / "out" / name).read_bytes(), name


@pytest.mark.parametrize("message", ["numSubminibatches=3", "maxSamplesInRAM=9"])
def test_parts_of_an_experiment_learn_what_whole_minibatches_learn(
    message: str, tmp_path: Path
) -> None:
    items = "command=learn", "precision=double", "learn=[SGD=[maxEpochs=2;dropoutRate=0]]"
    _, whole = run(made(tmp_path / "whole"), *items)
    answer, parts = run(made(tmp_path / "parts"), *items, f"learn=[SGD=[{message}]]")
    assert answer.code == 0, answer.complaints
    assert len(parts.epochs) == 2
    for ours, others in zip(parts.epochs, whole.epochs, strict=True):
        assert ours["loss"] == pytest.approx(others["loss"], rel=1e-11)
        assert (ours["step"], ours["samples"]) == (others["step"], others["samples"])


def test_rates_of_a_minibatch_are_those_of_all_rows(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    for given, item in (
        ("learningRatesPerSample = 0.1", "learningRatesPerMB = 2"),
        ("momentumAsTimeConstant = 20", "momentumPerMB = 0.9"),
    ):
        path.write_text(path.read_text().replace(given, item))
    _, follower = run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]")
    assert follower.epochs[0]["rate"] == pytest.approx(float(np.float32(2) / np.float32(20)))


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("truncated=false reader=[truncated=true]", "and SGD has not"),
        ("reader=[frameMode=true]", "'frameMode' is true"),
        ("reader=[nbruttsineachrecurrentiter=2:4]", "has several values"),
        ("reader=[nbruttsineachrecurrentiter=0]", "has to be 1 or more"),
    ],
)
def test_what_cannot_be_cut_is_refused(item: str, words: str, tmp_path: Path) -> None:
    answer, _ = run(made(tmp_path), "command=learn", *item.split())
    assert answer.code == 2
    assert words in answer.complaints[0]


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("RecurrentLSTMLayer {6, goBackwards=true} (x)", "reads later steps"),
        ("BS.Sequences.Last (x)", "needs whole sequences"),
        ("PastValue (3, x, timeStep=6)", "reads 6 steps before, and pieces have 5"),
    ],
)
def test_nodes_that_need_whole_sequences_are_refused(
    layer: str, words: str, tmp_path: Path
) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    text = path.read_text().replace("RecurrentLSTMLayer {6} (Dropout (x))", layer)
    path.write_text(text)
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2
    assert any(words in one for one in answer.complaints), answer.complaints
    assert "truncated cuts sequences" in answer.complaints[0]


COMPOSED = """reader = { truncated = true ; truncationLength = 5 ; deserializers = ({
    type = "CNTKTextFormatDeserializer" ; module = "CNTKTextFormatReader" ; file = "data.ctf"
    input = { x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } }) }
"""


def composed(folder: Path) -> Path:
    """The same experiment, read by a deserializer."""
    made(folder)
    path = folder / "net.cntk"
    text = path.read_text()
    first, last = text.index("reader = {"), text.index("learn = {")
    path.write_text(text[:first] + COMPOSED + text[last:])
    return folder


def test_sequences_of_deserializers_are_cut_as_those_of_a_file(tmp_path: Path) -> None:
    """CompositeDataReader: as many rows as a minibatch has pieces; the order is the file's."""
    items = "command=learn", "learn=[SGD=[maxEpochs=2;minibatchSize=20]]"
    answer, ours = run(composed(tmp_path / "a"), *items)
    assert answer.code == 0, answer.complaints
    assert any("pieces of 5 steps, 4 sequences beside" in one for one in ours.notices)
    assert not any("HTKDeserializers" in one for one in ours.notices)
    plain = "reader=[randomize=false;nbruttsineachrecurrentiter=4]"
    _, other = run(made(tmp_path / "b"), "command=learn", "learn=[SGD=[maxEpochs=2]]", plain)
    assert figures(ours) == figures(other)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("momentumAsTimeConstant = 20", "", "'momentumPerMB', which is 0.9 if none"),
        ("learningRatesPerSample", "learningRatesPerMB", "'learningRatesPerMB' cannot"),
    ],
)
def test_deserializers_are_cut_only_with_rates_of_samples(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    """SGD.h, FixUpEffectiveMBSize, stops there, too."""
    folder = composed(tmp_path)
    path = folder / "net.cntk"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2, answer.reports
    assert words in answer.complaints[0]
