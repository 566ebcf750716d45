"""The short way of `Model.predict` beside the long one: the same bits, and the same errors."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.data import DataError
from netsharp_engine.data.normalizers import NAMES as NORMALIZERS
from netsharp_engine.model import Model
from netsharp_engine.numpy_backend import forward
from netsharp_engine.train import objective
from netsharp_engine.train.objective import Objective

NET = "input X [6]; hidden H [9] tanh from X all; output Y [{outputs}] {last} from H all;"
KINDS: dict[str, tuple[str, int, Any]] = {
    "classes": (
        "softmax",
        3,
        lambda x: np.array(["a", "b", "c"])[0 + (x[:, 0] > 0) + (x[:, 1] > 1)],
    ),
    "two": ("sigmoid", 1, lambda x: x[:, 0] > 0),
    "sigmoids": ("sigmoid", 3, lambda x: (x[:, 0] > 0) + (x[:, 1] > 1).astype(int)),
    "number": ("linear", 1, lambda x: 30 * x[:, 0] - 5),
    "numbers": ("linear", 2, lambda x: x[:, :2] * [1, 100]),
}
pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def features(rows: int = 60) -> np.ndarray:
    """Rows of six numbers."""
    return np.random.default_rng(3).standard_normal((rows, 6)).astype(np.float32)


def trained(kind: str, **settings: Any) -> Model:
    """A model of a small table, which was asked once."""
    last, outputs, target = KINDS[kind]
    x = features()
    net = NET.format(outputs=outputs, last=last)
    settings = {"epochs": 2, "seed": 1, "validation": 0.0, **settings}
    if kind.startswith("number"):
        settings["task"] = "regression"
    model: Model = netsharp.train(net, x, target(x), **settings)
    model.predict(x[:1])
    return model


def as_tuple(found: Any) -> tuple[object, ...]:
    """What a prediction says, numbers as their bytes."""
    shares = None if found.probabilities is None else found.probabilities.tobytes()
    answers = found.predicted
    return shares, answers if isinstance(answers, list) else (answers.dtype, answers.tolist())


def long_way(model: Model, x: Any) -> tuple[object, ...]:
    """What is answered without the short way."""
    kept, model._fast_path = model._fast_path, None
    try:
        return as_tuple(model.predict(x))
    finally:
        model._fast_path = kept


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_answer_with_the_same_bits(kind: str, dtype: str) -> None:
    model = trained(kind, dtype=dtype)
    assert model._fast_path is not None
    x = 2 * features(70)
    for given in (x, x.astype(np.float64), x[:1], x[3:20], x[::2], x[:0]):
        assert as_tuple(model.predict(given)) == long_way(model, given)
    assert model._fast_path.predicted(x) is not None


def test_rows_of_any_rank_are_rows_of_their_numbers() -> None:
    model = trained("classes")
    x = features(12)
    wanted = as_tuple(model.predict(x))
    for shape in ((12, 2, 3), (12, 6, 1), (12, 1, 1, 6)):
        assert as_tuple(model.predict(x.reshape(shape))) == wanted
    for refused in (x[0], x.T, x[:, :5], x.reshape(6, 12), np.float32(1), np.empty(0)):
        with pytest.raises(DataError, match=r"shape \(.*\); rows of 6 numbers are needed\."):
            model.predict(refused)
        with pytest.raises(DataError, match="rows of 6 numbers are needed"):
            model.compute(refused)


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_each_normaliser_goes_with_it(normalizer: str) -> None:
    model = trained("classes", normalizer=normalizer)
    assert (model._fast_path is None) == (normalizer == "binning")
    x = 5 * features(70)
    assert as_tuple(model.predict(x)) == long_way(model, x)


def test_names_of_classes_are_those_of_the_long_way() -> None:
    model = trained("classes")
    before = as_tuple(model.predict(features()))
    model.name_classes(["one", "two", "three"])
    assert model._fast_path is None
    model.predict(features(1))
    assert model._fast_path is not None
    renamed = as_tuple(model.predict(features()))
    assert renamed == long_way(model, features())
    assert renamed[0] == before[0]
    assert set(model.predict(features()).predicted) <= {"one", "two", "three"}


def test_what_is_missing_is_answered_or_refused_as_before() -> None:
    x = features()
    for missing, kind in (("drop", "classes"), ("drop", "number"), ("mean", "classes")):
        model = trained(kind, missing=missing)
        whole = model.predict(x)
        x[7, 2] = np.nan
        holed = model.predict(x)
        rest = np.arange(60) != 7
        for ours, theirs in ((holed.predicted, whole.predicted),):
            np.testing.assert_array_equal(np.asarray(ours)[rest], np.asarray(theirs)[rest])
        if holed.probabilities is not None and whole.probabilities is not None:
            np.testing.assert_array_equal(holed.probabilities[rest], whole.probabilities[rest])
        assert as_tuple(holed)[1] == long_way(model, x)[1] or kind == "number"
        x[7, 2] = 0
    model = trained("classes", missing="error")
    for wrong in (np.nan, np.inf):
        x[7, 2] = wrong
        with pytest.raises(DataError, match="Row 8, feature"):
            model.predict(x)


def test_wrong_shapes_are_refused_as_before() -> None:
    model = trained("classes")
    for wrong in (features()[:, :5], features()[0], [[1.0] * 6], features().astype(str)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model, "_fast_path", None)
            try:
                expected: object = as_tuple(model.predict(wrong))
            except Exception as error:
                expected = repr(error)
        try:
            found: object = as_tuple(model.predict(wrong))
        except Exception as error:
            found = repr(error)
        assert found == expected


def test_a_model_is_pickled_and_copied_after_it_predicted() -> None:
    model = trained("classes")
    x = features()
    expected = as_tuple(model.predict(x))
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other._fast_path is None
        assert as_tuple(other.predict(x)) == expected
        assert as_tuple(other.predict(x)) == expected
        assert other._fast_path is not None


def test_other_labels_and_normalisers_are_taken() -> None:
    model = trained("classes")
    x = features()
    other = trained("classes", normalizer="minmax")
    model.normalizer = other.normalizer
    assert as_tuple(model.predict(x)) == long_way(model, x)
    model.labels = None
    assert as_tuple(model.predict(x)) == long_way(model, x)


def test_several_threads_ask_one_model() -> None:
    model = trained("classes")
    rows = np.random.default_rng(5).standard_normal((16, 200, 6)).astype(np.float32)
    alone = [as_tuple(model.predict(each)) for each in rows]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda each: as_tuple(model.predict(each)), rows))
    assert together == alone


def test_without_compiled_twins_the_long_way_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = trained("classes")
    x = features()
    wanted = compiled.predict(x)
    monkeypatch.setattr(forward, "twins", None)
    monkeypatch.setattr(objective, "twins", None)
    plain = copy.copy(compiled)
    found = plain.predict(x)
    assert plain._fast_path is None
    assert wanted.probabilities is not None
    np.testing.assert_allclose(found.probabilities, wanted.probabilities, rtol=1e-4)
    np.testing.assert_array_equal(found.predicted, wanted.predicted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "task",
    [
        Objective(("a", "b", "c"), 3, "softmax", "cross entropy"),
        Objective(("no", "yes"), 1, "sigmoid", "binary cross entropy"),
        Objective(("a", "b", "c"), 3, "sigmoid", "binary cross entropy"),
        Objective(("a", "b", "c"), 3, "linear", "squared error"),
    ],
)
def test_classes_and_probabilities_are_those_of_numpy(
    task: Objective, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(7)
    outputs = random.normal(0.3, 0.5, (200, task.outputs)).astype(dtype)
    if task.activation == "softmax":
        outputs = np.exp(outputs)
        outputs /= outputs.sum(axis=1, keepdims=True)
    outputs[3], outputs[4], outputs[5, 0], outputs[6] = 0, 1, np.nan, 0.5
    outputs[7], outputs[8, -1], outputs[9] = -0.0, np.nan, -1
    codes, shares = task.decided(outputs)
    turned = np.asfortranarray(outputs)
    for ours, theirs in zip(task.decided(turned), (codes, shares), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    monkeypatch.setattr(objective, "twins", None)
    with np.errstate(all="ignore"):
        wanted, exact = task.decided(outputs)
    np.testing.assert_array_equal(codes, wanted)
    np.testing.assert_allclose(shares, exact, rtol=1e-14)


def test_sizes_of_answers_that_make_no_sense_are_refused() -> None:
    outputs, codes, shares = np.ones((4, 2)), np.zeros(4, np.intp), np.zeros((4, 2))
    answered = forward.twins.answered
    answered(8, 2, 1, outputs, codes, shares)
    for wrong in ((3, 2, 1), (8, 0, 1), (8, 2, 3), (8, 2, 0)):
        with pytest.raises(ValueError, match="out of range"):
            answered(*wrong, outputs, codes, shares)
    for short in ((outputs[:3], codes, shares), (outputs, codes, shares[:3])):
        with pytest.raises(ValueError, match="too short"):
            answered(8, 2, 1, *short)
    with pytest.raises(TypeError, match="another number of arguments"):
        answered(8)
