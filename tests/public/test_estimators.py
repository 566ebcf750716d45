"""The estimators keep scikit-learn's contract, with no failure excused."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed: extra netsharp[sklearn]")

from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import netsharp

ESTIMATORS = [netsharp.NetSharpClassifier(), netsharp.NetSharpRegressor()]


def check_id(estimator: Any, check: Any, number: int) -> str:
    return f"{type(estimator).__name__}-{getattr(check, 'func', check).__name__}-{number}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(each, check, id=check_id(each, check, number))
        for estimator in ESTIMATORS
        for number, (each, check) in enumerate(estimator_checks_generator(estimator))
    ],
)
def test_scikit_learn_is_content(estimator: Any, check: Any) -> None:
    check(estimator)


def test_classes_of_any_type_come_back() -> None:
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = netsharp.NetSharpClassifier(epochs=50, random_state=1).fit(x, names)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert np.mean(model.predict(x) == names) > 0.9
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1)


def test_more_than_ten_classes_keep_their_order() -> None:
    x = np.repeat(np.eye(12), 8, axis=0)
    y = np.repeat(np.arange(12) * 10, 8)
    model = netsharp.NetSharpClassifier(random_state=0).fit(x, y)
    assert np.array_equal(model.classes_, np.arange(12) * 10)
    assert np.array_equal(model.predict(np.eye(12)), np.arange(12) * 10)


def test_a_specification_of_ones_own() -> None:
    x, y = load_diabetes(return_X_y=True)
    text = "input X auto; hidden H [12] tanh from X all; output Y [1] linear from H all;"
    network = netsharp.NetSharpRegressor(text, epochs=100, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), network), x, y / 100, cv=3)
    assert scores.mean() > 0.3


def test_partial_fit_goes_on() -> None:
    x, y = load_iris(return_X_y=True)
    model = netsharp.NetSharpClassifier(random_state=0, learning_rate=0.05)
    model.partial_fit(x, y, classes=[0, 1, 2])
    first = model.loss_curve_[-1]
    for _ in range(60):
        model.partial_fit(x, y)
    assert model.n_iter_ == 61
    assert model.loss_curve_[-1] < first / 2


def test_equal_seeds_give_equal_bits_and_pickles_keep_them() -> None:
    x, y = load_iris(return_X_y=True)
    first, second = (
        netsharp.NetSharpClassifier(epochs=5, random_state=3).fit(x, y).predict_proba(x)
        for _ in range(2)
    )
    assert first.tobytes() == second.tobytes()
    model = netsharp.NetSharpClassifier(epochs=5, random_state=3).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(x).tobytes() == first.tobytes()


def test_faults_are_sentences() -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        netsharp.NetSharpClassifier().predict(x)
    with pytest.raises(ValueError, match="one class"):
        netsharp.NetSharpClassifier().fit(x, np.zeros(len(x)))
    with pytest.raises(ValueError, match="none of the classes"):
        netsharp.NetSharpClassifier().partial_fit(x, y, classes=[0, 1])
    with pytest.raises(ValueError, match="optimizer"):
        netsharp.NetSharpClassifier(optimizer="sgdd").fit(x, y)


def test_without_scikit_learn_a_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import netsharp\n"
        "try: netsharp.NetSharpClassifier\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "netsharp.NetSharpClassifier needs scikit-learn: pip install 'netsharp[sklearn]'."
    )
