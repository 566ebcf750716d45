"""Dropout, schedules and clipping as settings in Python, and warnings of what learned nothing."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed: extra netsharp[sklearn]")

from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import netsharp

TEXT = """input Data auto;
hidden Hidden [12] tanh from Data all;
output Kind auto softmax from Hidden all;
"""
SHAPED = {
    "dropout": {"Hidden": 0.3, "Data": 0.05},
    "schedule": "cosine",
    "schedule_least": 1e-4,
    "clip_norm": 1.0,
}


def test_an_estimator_takes_them_and_predicts_without_dropping() -> None:
    x, y = load_iris(return_X_y=True)
    shaped = netsharp.NetSharpClassifier(
        TEXT, max_iter=100, learning_rate=0.05, random_state=2, **SHAPED
    )
    first, again = shaped.fit(x, y), clone(shaped).fit(x, y)
    assert first.get_params()["dropout"] == SHAPED["dropout"]
    answers = first.predict_proba(x)
    for other in (first, again, pickle.loads(pickle.dumps(first))):
        np.testing.assert_array_equal(other.predict_proba(x), answers)
    assert first.score(x, y) > 0.9
    rates = [event["rate"] for event in first.model_.history]
    assert rates == sorted(rates, reverse=True)
    assert first.model_.settings.dropout == SHAPED["dropout"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dropout": 1.0}, "dropout: 1.0 is out of range"),
        ({"schedule": "linear"}, "schedule: 'linear' is none of constant, step, cosine, plateau"),
        ({"clip_norm": -1}, "clip_norm: -1 is out of range"),
        ({"schedule_factor": 0.5}, "schedule_factor has no effect"),
    ],
)
def test_what_cannot_be_is_named_as_in_python(given: dict[str, object], message: str) -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        netsharp.NetSharpClassifier(**given).fit(x, y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        netsharp.train(TEXT, x, y, **given)  # type: ignore[arg-type]


def test_a_layer_that_is_not_there_is_named() -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(netsharp.TrainingError, match=r"'Hiden' .* Did you mean 'Hidden'\?"):
        netsharp.train(TEXT, x, y, dropout={"Hiden": 0.5})


def test_a_network_that_learned_nothing_is_warned_of() -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="no better than always answering .* Rate: in 2 epochs"):
        netsharp.train(TEXT, x, y, epochs=2, learning_rate=1e-7, host="studio")
    with pytest.warns(ConvergenceWarning, match="Try learning_rate"):
        netsharp.NetSharpClassifier(
            TEXT,
            learning_rate=1e-9,
            max_iter=2,
            random_state=0,
            init_diameter=0.5,
            normalizer="minmax",
        ).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netsharp.train(TEXT, x, y, epochs=30, optimizer="adam", learning_rate=0.02, batch_size=10)


def test_partial_fit_follows_the_schedule_to_its_end() -> None:
    x, y = load_iris(return_X_y=True)
    estimator = netsharp.NetSharpClassifier(
        TEXT, max_iter=3, learning_rate=0.01, schedule="cosine", random_state=1
    )
    for _ in range(3):
        estimator.partial_fit(x, y, classes=[0, 1, 2])
    rates = [event["rate"] for event in estimator.model_.history]
    assert rates == pytest.approx([0.01, 0.0075, 0.0025])
    with pytest.raises(netsharp.TrainingError, match="the learning rate is 0 after epoch 3"):
        estimator.partial_fit(x, y)
