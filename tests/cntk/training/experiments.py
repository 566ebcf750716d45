"""A small experiment to run: data drawn from a seed, a configuration, and the run from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from netsharp_engine.distributed.ranks import Ranks
from netsharp_lsp.cntk.commands.training import perform
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.questions import Answer, Performance
from netsharp_lsp.settings import Settings
from tests.conftest import SEED

CONFIGURATION = """\
command = learn:score:tell
modelPath = "out/net.dnn"
precision = "float"

learn = {
    action = "train"
    SimpleNetworkBuilder = {
        layerSizes = 2:8:3 ; layerTypes = "Tanh"
        trainingCriterion = "CrossEntropyWithSoftmax" ; evalCriterion = "ClassificationError"
        applyMeanVarNorm = true ; needPrior = true
    }
    SGD = {
        maxEpochs = 4 ; minibatchSize = 10:16 ; learningRatesPerSample = 0.05:0.02
        momentumAsTimeConstant = 30 ; numMBsToShowResult = 5
    }
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
score = { action = "test" ; reader = { file = "data.ctf" ; input = {
    features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } } }
tell = {
    action = "write" ; outputPath = "out/told"
    outputNodeNames = ScaledLogLikelihood : PosteriorProb
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
"""


class Follower:
    """Keeps what a run reports; `ends` is the epoch after which it is stopped."""

    def __init__(self, ends: int | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self.lines: list[str] = []
        self.notices: list[str] = []
        self._ends = ends

    def event(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    def line(self, line: str) -> None:
        self.lines.append(line)

    def notice(self, sentence: str) -> None:
        self.notices.append(sentence)

    def stops(self) -> bool:
        return self._ends is not None and len(self.epochs) >= self._ends

    @property
    def epochs(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "epoch"]


def made(folder: Path, rows: int = 150) -> Path:
    """The experiment in a folder."""
    random = np.random.default_rng(SEED)
    points = random.normal(size=(rows, 2))
    classes = (points[:, 0] > 0).astype(int) + (points[:, 1] > 0.3)
    labels = ("1 0 0", "0 1 0", "0 0 1")
    lines = [
        f"|labels {labels[kind]} |features {x:.5f} {y:.5f}"
        for kind, (x, y) in zip(classes.tolist(), points.tolist(), strict=True)
    ]
    folder.mkdir(exist_ok=True)
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(CONFIGURATION)
    return folder


def run(
    folder: Path,
    *items: str,
    follower: Follower | None = None,
    ranks: Ranks | None = None,
    device: str = "",
    precision: str = "",
) -> tuple[Answer, Follower]:
    """Do what the configuration of a folder says, with these items after it."""
    follower = follower or Follower()
    asked = Performance(
        (next(folder.glob("*.cntk")).name, *items),
        os.fspath(folder),
        lambda names: roots_around(names, ()),
        lambda place, roots: Settings(),
    )
    asked.ranks = ranks
    asked.device, asked.precision = device, precision
    return perform(asked, follower), follower


def refused(folder: Path, before: str, after: str) -> list[str]:
    """The messages about a configuration changed so that nothing is done, and nothing was."""
    path = folder / "net.cntk"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    answer, follower = run(folder)
    assert answer.code in (1, 2)
    assert follower.events == []
    assert not (folder / "out").exists()
    found = (one for report in answer.reports for file in report for one in file.diagnostics)
    return [*answer.complaints, *answer.printed, *(str(one.message) for one in found)]
