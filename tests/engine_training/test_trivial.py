"""A network that learned nothing is said to, with the reason that there is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.train import prepare, read_settings, train
from netsharp_engine.train.examining.trivial import is_no_better
from netsharp_engine.train.report import Report
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import BY_HAND, blobs, line


def doubt(table, graph, **flags):
    settings = read_settings({}, {**BY_HAND, "batch_size": 16, "epochs": 3, "seed": 1, **flags})
    assert not isinstance(settings, list), settings
    return train(graph, prepare(table, settings), settings).doubt


def numbers(scale=1.0, label=1.0, rows=200, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 3))
    return Table.from_arrays(x * scale, label * (3 * x[:, 0] - x[:, 1]), task="regression")


def noise(rows=200):
    """Features that say nothing about a label; in this draw the majority is beaten by chance in no
    part.
    """
    random = np.random.default_rng(3)
    names = np.array(["no", "yes"])[random.integers(0, 2, rows)]
    return Table.from_arrays(random.normal(size=(rows, 30)), names)


LINEAR = {"function": "rlinear", "last": "linear"}
CASES = {
    "too small a rate": (
        lambda: doubt(blobs(), layered(3, 3), learning_rate=1e-5),
        r"On training rows .* always answering the most frequent class \(accuracy 33.33%, 33.33%\)"
        r"\. Rate: in 3 epochs the loss hardly fell, .* Try learning_rate = 0.0001",
    ),
    "too large a rate": (
        lambda: doubt(
            numbers(), layered(3, 1, **LINEAR), task="regression", learning_rate=1.3, epochs=2
        ),
        r"the mean \(RMSE .*(Rate: the loss has risen|no gradient).*learning_rate = 0.13",
    ),
    "unscaled features": (
        lambda: doubt(
            numbers(1e4),
            layered(3, 1, last="linear"),
            task="regression",
            normalizer="none",
            learning_rate=1e-4,
            epochs=1,
        ),
        r'Scaling: the features reach .* normalizer = "gaussian"',
    ),
    "initial values": (
        lambda: doubt(blobs(), layered(3, 3, (30,) * 5), epochs=5, learning_rate=0.1),
        r"Initial values: what layer 'H1' .*so the layers after it learn nothing\. "
        'Try init = "glorot", or fewer layers',
    ),
    "a label of millions": (
        lambda: doubt(
            numbers(label=1e7),
            layered(3, 1, last="linear"),
            task="regression",
            learning_rate=1e-6,
            epochs=2,
        ),
        "Scaling: the label reaches .* Divide the label",
    ),
    "memorised": (
        lambda: doubt(
            noise(),
            layered(30, 2, (60,), function="tanh"),
            validation=0.4,
            optimizer="adam",
            learning_rate=0.05,
            init_diameter=1,
            epochs=60,
        ),
        "On validation rows .* On training rows it is: .* memorised these. Try dropout = 0.5",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_reason_is_the_one_that_there_is(name):
    make, reported = CASES[name]
    found = make()
    assert re.search(reported, found), found


def test_what_learned_something_is_not_doubted():
    assert not doubt(blobs(), layered(3, 3), learning_rate=0.5, momentum=0.9, epochs=30)
    flags = {"task": "regression", "learning_rate": 0.05, "epochs": 30}
    assert not doubt(line(), layered(2, 1, last="linear"), **flags)


def test_what_is_scaled_is_no_reason():
    """A label of millions is learned where it is scaled, and is not named where it is not."""
    flags = {"task": "regression", "scale_label": True}
    linear = layered(3, 1, last="linear")
    assert not doubt(
        numbers(label=1e7), linear, learning_rate=0.3, init="glorot", epochs=9, **flags
    )
    found = doubt(numbers(label=1e7), linear, learning_rate=1e-6, **flags)
    assert "Rate" in found
    assert "label reaches" not in found


def test_an_advice_that_is_followed_helps():
    """The rate that is named is taken until nothing is said."""
    rate, tries = 1e-5, 0
    while "Rate" in doubt(blobs(), layered(3, 3), learning_rate=rate, epochs=20):
        rate, tries = 10 * rate, tries + 1
    assert 0 < tries < 6


@pytest.mark.parametrize(
    ("metrics", "baseline", "expected"),
    [
        ({"accuracy": 0.9, "log_loss": 0.3}, {"accuracy": 0.9, "log_loss": 0.33}, False),
        ({"accuracy": 0.9, "log_loss": 0.33}, {"accuracy": 0.9, "log_loss": 0.33}, True),
        ({"accuracy": 0.91, "log_loss": 0.9}, {"accuracy": 0.9, "log_loss": 0.33}, False),
        ({"accuracy": 0.2, "log_loss": 9.0}, {"accuracy": 0.9, "log_loss": 0.33}, True),
        ({"accuracy": 0.2, "log_loss": float("nan")}, {"accuracy": 0.9, "log_loss": 0.3}, True),
        ({"accuracy": 1.0, "log_loss": 0.0}, {"accuracy": 1.0, "log_loss": 0.0}, False),
        ({}, {}, False),
    ],
)
def test_classes_are_learned_by_accuracy_or_by_probability(metrics, baseline, expected):
    report = Report("training", 9, 0.1, metrics, baseline, ("a", "b"))
    assert is_no_better(report) is expected


@pytest.mark.parametrize(
    ("error", "mean", "expected"), [(0.98, 1.0, False), (0.995, 1.0, True), (0.0, 0.0, False)]
)
def test_numbers_are_learned_by_their_error(error, mean, expected):
    assert is_no_better(Report("training", 9, 0.1, {"rmse": error}, {"rmse": mean})) is expected


def test_a_layer_that_leads_nowhere_is_passed_over():
    graph = layered(3, 3)
    weights = graph.parameter("Lost/In/weights", [2, 3])
    lost = graph.apply("full", graph.inputs[0], parameters=[weights])
    graph.apply("activation", lost, function="tanh", name="Lost")
    assert "Rate: in 3 epochs" in doubt(blobs(), graph, learning_rate=1e-5, dropout=0.5)
