"""The estimators keep scikit-learn's contract, with no failure excused."""

from __future__ import annotations

import pickle
import signal
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
    model = netsharp.NetSharpClassifier(max_iter=50, random_state=1).fit(x, names)
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
    network = netsharp.NetSharpRegressor(text, max_iter=100, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), network), x, y / 100, cv=3)
    assert scores.mean() > 0.3


def test_partial_fit_continues() -> None:
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
        netsharp.NetSharpClassifier(max_iter=5, random_state=3).fit(x, y).predict_proba(x)
        for _ in range(2)
    )
    assert first.tobytes() == second.tobytes()
    model = netsharp.NetSharpClassifier(max_iter=5, random_state=3).fit(x, y)
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


def test_hidden_layers_without_a_specification() -> None:
    x, y = load_iris(return_X_y=True)
    model = netsharp.NetSharpClassifier(hidden_layer_sizes=(12, 7), max_iter=2).fit(x, y)
    assert netsharp.describe(model.spec_, features=4, outputs=3)["parameters"] == 60 + 91 + 24
    alone = netsharp.NetSharpClassifier(hidden_layer_sizes=np.int64(5), max_iter=1).fit(x, y)
    assert "[5] sigmoid" in alone.spec_
    with pytest.raises(ValueError, match="hidden_layer_sizes and specification both say"):
        netsharp.NetSharpClassifier(model.spec_, hidden_layer_sizes=3).fit(x, y)
    for sizes in (0, (3, 0), (3, 2.5), "100", True, [[3]]):
        with pytest.raises(ValueError, match="hidden_layer_sizes must be whole numbers"):
            netsharp.NetSharpClassifier(hidden_layer_sizes=sizes).fit(x, y)


def test_early_stopping_as_scikit_learn_calls_it() -> None:
    x, y = load_iris(return_X_y=True)
    stopping = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2}
    model = netsharp.NetSharpClassifier(
        learning_rate=0.3, max_iter=300, random_state=0, **stopping
    ).fit(x, y)
    assert model.n_iter_ < 300
    assert [report.part for report in model.model_.reports] == ["training", "validation"]
    for name, value in (("validation_fraction", 0), ("validation_fraction", 1.5)):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            netsharp.NetSharpClassifier(**{**stopping, name: value}).fit(x, y)
    with pytest.raises(ValueError, match=r"^n_iter_no_change must be above 0"):
        netsharp.NetSharpClassifier(early_stopping=True, n_iter_no_change=0).fit(x, y)


def test_faults_of_settings_are_named_as_in_python() -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"^max_iter: 0 is out of range"):
        netsharp.NetSharpClassifier(max_iter=0).fit(x, y)
    with pytest.raises(ValueError, match=r"^learning_rate: -1 is out of range"):
        netsharp.NetSharpClassifier(learning_rate=-1).fit(x, y)
    with pytest.raises(ValueError, match=r"^batch_size: 0 is out of range"):
        netsharp.train("input A auto; output B auto softmax from A all;", x, y, batch_size=0)
    with pytest.raises(netsharp.SpecificationError) as caught:
        netsharp.NetSharpClassifier("input A [0]; output B auto softmax from A all;").fit(x, y)
    assert (caught.value.line, caught.value.column, caught.value.code) == (1, 10, "NS050")


def test_weights_of_classes_and_rows() -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(300, 1)), np.repeat([5, 9], [280, 20])
    shares = [
        netsharp.NetSharpClassifier(class_weight=weight, max_iter=30, random_state=0)
        .fit(x, y)
        .predict_proba(x)[:, 1]
        .mean()
        for weight in (None, "balanced", {9: 14.0})
    ]
    assert shares[0] < 0.15
    assert shares[1] == pytest.approx(0.5, abs=0.1)
    assert shares[2] == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ValueError, match="class_weight names 3, which is none of the classes"):
        netsharp.NetSharpClassifier(class_weight={3: 1.0}).fit(x, y)
    weights = np.ones(300)
    weights[4] = -2
    with pytest.raises(ValueError, match="sample_weight must be at least 0, found -2 in row 5"):
        netsharp.NetSharpClassifier().fit(x, y, sample_weight=weights)
    text = "input A auto; output B auto softmax from A all;"
    with pytest.raises(netsharp.DataError, match="Row 5: the weight is -2"):
        netsharp.train(text, x, y, sample_weight=weights)


def test_the_first_part_names_all_classes() -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        netsharp.NetSharpClassifier().partial_fit(x, y)
    with pytest.raises(ValueError, match=r"balanced.* is not known before all rows are"):
        netsharp.NetSharpClassifier(class_weight="balanced").partial_fit(x, y, classes=[0, 1, 2])


def test_callbacks_follow_a_training_and_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = load_iris(return_X_y=True)
    seen: list[Any] = []

    def watch(event: dict[str, Any]) -> bool:
        seen.append((event["epoch"], event["loss"]))
        return len(seen) == 4

    model = netsharp.NetSharpClassifier(callbacks=watch, verbose=True, random_state=0).fit(x, y)
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4]
    assert [loss for _, loss in seen] == model.loss_curve_
    plain = netsharp.NetSharpClassifier(max_iter=4, random_state=0).fit(x, y)
    assert model.predict_proba(x).tobytes() == plain.predict_proba(x).tobytes()
    netsharp.NetSharpClassifier(max_iter=3, verbose=True).fit(x, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    with pytest.raises(ValueError, match="callbacks must be functions"):
        netsharp.NetSharpClassifier(callbacks=[3]).fit(x, y)


def test_an_interrupt_leaves_a_model_and_a_warning() -> None:
    x, y = load_iris(return_X_y=True)

    def interrupt(event: dict[str, Any]) -> None:
        if event["epoch"] == 3:
            signal.raise_signal(signal.SIGINT)

    # A test before this one may have run a command, which takes the handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.warns(UserWarning, match="training was interrupted"):
        model = netsharp.NetSharpClassifier(callbacks=interrupt, random_state=0).fit(x, y)
    assert model.n_iter_ == 3
    assert model.predict(x).shape == (150,)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
