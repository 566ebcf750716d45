"""The defaults of runs, of `train` and of estimators are the same; deep sigmoids learn by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed: extra netsharp[sklearn]")
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.model_selection import train_test_split

import netsharp
from netsharp_engine.train import read_settings

SHARED = ("optimizer", "learning_rate", "batch_size", "normalizer", "init", "init_diameter")
SHARED += ("momentum", "scale_label", "shuffle", "loss", "dropout", "clip_norm", "schedule")
SPEC = "input D auto; hidden H [20] sigmoid from D all; output O auto softmax from H all;"
X, Y = make_moons(200, noise=0.2, random_state=0)


def of_a_run(**given: object) -> Any:
    settings = read_settings({}, given)
    assert not isinstance(settings, list), settings
    return settings


@pytest.mark.parametrize("given", [{}, {"init_diameter": 0.4}, {"optimizer": "sgd"}])
def test_a_run_train_and_estimators_take_the_same(given: dict[str, Any]) -> None:
    classifier = netsharp.NetSharpClassifier(SPEC, max_iter=1, random_state=0, **given).fit(X, Y)
    regressor = netsharp.NetSharpRegressor(max_iter=1, random_state=0, **given).fit(X, X[:, 0])
    trained = netsharp.train(SPEC, X, Y, epochs=1, **given)
    by_task = {
        "classification": of_a_run(**given),
        "regression": of_a_run(**given, task="regression"),
    }
    for model in (classifier.model_, trained):
        for name in SHARED:
            assert getattr(model.settings, name) == getattr(by_task["classification"], name)
    for name in SHARED:
        assert getattr(regressor.model_.settings, name) == getattr(by_task["regression"], name)
    assert regressor.model_.scale is not None
    regressor.set_params(scale_label=False).fit(X, X[:, 0])
    assert regressor.model_.scale is None


def test_one_row_far_away_does_not_spoil_a_classifier() -> None:
    x, y = load_iris(return_X_y=True)
    far, labels = np.vstack([x, [[1e7, -1e7, 1e7, 1e30]]]), np.append(y, 0)
    clean = netsharp.NetSharpClassifier(max_iter=60, random_state=1).fit(x, y).score(x, y)
    assert clean > 0.93
    spoiled = netsharp.NetSharpClassifier(max_iter=60, random_state=1).fit(far, labels)
    assert spoiled.score(x, y) > clean - 0.03


@pytest.mark.costly
def test_five_hidden_layers_of_sigmoids_learn_digits() -> None:
    x, y = load_digits(return_X_y=True)
    split = train_test_split(x, y, stratify=y, random_state=1)
    deep = netsharp.NetSharpClassifier(
        hidden_layer_sizes=(30,) * 5, max_iter=60, random_state=1
    ).fit(split[0], split[2])
    assert deep.score(split[1], split[3]) >= 0.9
