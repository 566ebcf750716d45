"""The action bnstat: plain means over minibatches, node after node, and a model that keeps them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.stored.model_file import read_model
from tests.cntk.training.experiments import run
from tests.conftest import SEED

TEXT = """\
command = learn:again
modelPath = "out/net.dnn"
precision = "double"
reader = { file = "data.ctf" ; randomize = false ; input = {
    x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } }
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input (3) ; y = Input (2) ; W = ParameterTensor {(2:3), initValueScale=10}
        a = BatchNormalizationLayer {normalizationTimeConstant=50} (x)
        b = BatchNormalizationLayer {normalizationTimeConstant=50} (Tanh (W * a))
        ce = CrossEntropyWithSoftmax (y, b)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; outputNodes = (b)
    }
    SGD = { maxEpochs = 2 ; minibatchSize = 10 ; learningRatesPerSample = 0.05 }
}
again = { action = "bnstat" ; minibatchSize = 15 ; itersPerNode = 4 }
score = { action = "test" ; modelPath = "out/net.dnn.PBN" }
"""
MORE = """
show = { action = "dumpNode" ; modelPath = "out/net.dnn.PBN" ; outputFile = "out/shown.txt" }
change = { action = "edit" ; editPath = "change.mel" }
last = { action = "test" ; modelPath = "out/last.dnn" }
"""
EDIT = """\
m = LoadModel("out/net.dnn.PBN")
SetDefaultModel(m)
more = Plus(b, Constant(2))
SetProperty(more, "output", "true")
SaveModel(m, "out/last.dnn")
"""


def data(folder: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    x = (np.random.default_rng(SEED).normal(size=(60, 3)) * [1, 2, 3] + [5, 0, -1]).round(3)
    lines = [f"|x {a} {b} {c} |y {int(a > 5)} {int(a <= 5)}" for a, b, c in x.tolist()]
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(TEXT)
    return x


def test_statistics_are_means_over_minibatches_node_after_node(tmp_path: Path) -> None:
    x = data(tmp_path)
    answer, follower = run(tmp_path)
    assert answer.code == 0, (answer.complaints, answer.printed, answer.reports)
    before, after = (
        {one.name: one for one in read_model((tmp_path / "out" / name).read_bytes()).nodes}
        for name in ("net.dnn", "net.dnn.PBN")
    )
    nodes = [one for one in after.values() if one.operation == "BatchNormalization"]
    first, second = sorted(nodes, key=lambda one: one.inputs[0] != "x")
    expected = x
    for node in (first, second):
        reported = {name: np.ravel(after[name].values) for name in node.inputs[1:5]}
        scale, bias, mean, variance = reported.values()
        parts = expected.reshape(4, 15, -1)
        np.testing.assert_allclose(mean, parts.mean(axis=1).mean(axis=0), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(variance, parts.var(axis=1, ddof=1).mean(axis=0), rtol=1e-10)
        assert np.ravel(node.values).tolist() == [60]
        assert node.attributes["normalizationTimeConstant"] == math.inf
        assert node.attributes["blendTimeConstant"] == math.inf
        normal = (expected - mean) / np.sqrt(variance + node.attributes["epsilon"]) * scale + bias
        weights = np.reshape(after["W"].values, (3, 2))
        expected = np.tanh(normal @ weights) if node is first else expected
    assert run(tmp_path, "command=score")[0].code == 0
    assert [one for one in follower.lines if "Estimating" in one] == [
        f"Estimating Statistics --> {node.name}" for node in (first, second)
    ]
    still = [one for one in before if before[one].operation == "LearnableParameter"]
    changed = {one for one in still if not np.array_equal(before[one].values, after[one].values)}
    assert changed == {name for node in nodes for name in node.inputs[3:5]}


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("itersPerNode = 4", "itersPerNode = 0", "1 or more"),
        ("again = {", 'again = { newModelPath = "../../x" ;', "outside"),
        ("again = {", "again = { evalNodeNames = none ;", "no node 'none'"),
        ("again = {", "again = { evalNodeNames = x ;", "no BatchNormalization"),
    ],
)
def test_what_cannot_be_done_is_reported_before(
    before: str, after: str, sentence: str, tmp_path: Path
) -> None:
    data(tmp_path)
    (tmp_path / "net.cntk").write_text(TEXT.replace(before, after))
    answer, _ = run(tmp_path)
    assert answer.code in (1, 2)
    found = (one for report in answer.reports for file in report for one in file.diagnostics)
    message = [*answer.complaints, *answer.printed, *(str(one.message) for one in found)]
    assert any(sentence in one for one in message), message


def test_what_it_leaves_is_tested_shown_and_edited_in_the_same_run(tmp_path: Path) -> None:
    """The statistics stay as they are in what is made of it; a dump has numbers of parameters."""
    data(tmp_path)
    with (tmp_path / "net.cntk").open("a") as stream:
        stream.write(MORE)
    (tmp_path / "change.mel").write_text(EDIT)
    answer, follower = run(tmp_path, "command=learn:again:score:show:change:last")
    assert answer.code == 0, (answer.complaints, answer.printed, answer.reports)
    ends = [one for one in follower.events if one["event"] == "end"]
    assert [one["command"] for one in ends] == ["score", "last"]
    assert ends[0]["loss"] == ends[1]["loss"]
    text = (tmp_path / "out/shown.txt").read_text()
    assert re.search(r"(?m)^b=BatchNormalization \(.+\) \n", text), text
    nodes = read_model((tmp_path / "out/last.dnn").read_bytes()).nodes
    still = [one for one in nodes if one.operation == "BatchNormalization"]
    assert [one.attributes["normalizationTimeConstant"] for one in still] == [math.inf] * 2
