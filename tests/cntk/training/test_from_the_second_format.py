"""Training continues from the parameters of a model of the second format, which a text loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_model_dictionaries import layered
from tests.conftest import SEED

Array = Any
#: A rate that moves nothing; a smaller one ends the training before it begins.
LEAST = 2e-9
CONFIGURATION = """\
command = learn:score
modelPath = "out/net.dnn"
learn = {{
    action = "train"
    BrainScriptNetworkBuilder = {{
        old = BS.Network.Load ("old.model")
        labels = Input {{3}}
        z = LinearLayer {{3}} (old.{last})
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (old.features)
        labelNodes = (labels)
        criterionNodes = (ce)
        outputNodes = (z)
    }}
    SGD = {{ maxEpochs = 2 ; minibatchSize = 5 ; learningRatesPerSample = {rate} }}
}}
score = {{ action = "test" }}
reader = {{
    file = "data.txt"
    input = {{
        features = {{ dim = 3 ; format = "dense" }} ; labels = {{ dim = 3 ; format = "dense" }}
    }}
}}
"""


def experiment(folder: Path, rate: float) -> tuple[list[Array], Array, Array]:
    """Write model, data and configuration; return the model's weights, samples and classes."""
    out, weights, last = layered(2)
    (folder / "old.model").write_bytes(out.data(last))
    random = np.random.default_rng(SEED)
    samples, classes = random.normal(size=(25, 3)).round(4), random.integers(0, 3, 25)
    lines = [
        "|features {} |labels {}".format(*(" ".join(f"{one:g}" for one in row) for row in both))
        for both in zip(samples, np.eye(3)[classes], strict=True)
    ]
    (folder / "data.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = CONFIGURATION.format(last=last, rate=rate)
    (folder / "net.cntk").write_text(text, encoding="utf-8")
    return weights, samples, classes


def test_every_number_of_the_model_is_where_training_begins(tmp_path: Path) -> None:
    weights, samples, classes = experiment(tmp_path, LEAST)
    answer, follower = run(tmp_path)
    assert answer.code == 0, answer.complaints
    found = netsharp.load(str(tmp_path / "out" / "net.dnn")).parameters
    assert all(is_among(one, found) for one in weights)
    hidden = samples
    for one in weights:
        hidden = np.tanh(hidden @ one)
    own = [one for name, one in found.items() if name.startswith("z")]
    matrix = next(one for one in own if one.size == 3 * hidden.shape[1])
    bias = next(one for one in own if one.size == 3 and one is not matrix)
    scores = hidden @ matrix.reshape(hidden.shape[1], 3) + bias.reshape(3)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(25), classes]
    assert loss_of(follower) == pytest.approx(losses.mean(), rel=1e-5)


def test_it_learns_from_there(tmp_path: Path) -> None:
    weights, _, _ = experiment(tmp_path, 0.1)
    answer, follower = run(tmp_path)
    assert answer.code == 0, answer.complaints
    losses = [one["loss"] for one in follower.epochs]
    assert losses[1] < losses[0]
    found = netsharp.load(str(tmp_path / "out" / "net.dnn")).parameters
    assert not any(is_among(one, found) for one in weights)


def is_among(one: Array, found: dict[str, Array]) -> bool:
    """Whether one of the parameters has these numbers, as they are or transposed."""
    return any(
        other.shape == way.shape and np.allclose(other, way, rtol=0, atol=1e-6)
        for other in found.values()
        for way in (one, one.T)
    )


def loss_of(follower: Follower) -> float:
    """The loss that the test of the model reported."""
    return next(one["loss"] for one in follower.events if one["event"] == "end")
