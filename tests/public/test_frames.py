"""Data frames, missing values and labels of any type, as users of scikit-learn bring them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed: extra netsharp[sklearn]")
pytest.importorskip("pandas", reason="pandas is not installed: group 'test'")
pytest.importorskip("polars", reason="polars is not installed: group 'test'")

import pandas as pd
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import netsharp

SPEC = "input D auto; hidden H [6] tanh from D all; output O auto softmax from H all;"
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 3))
SIDES = np.where(X[:, 0] > 0, 7, 3)
#: Rows 2, 6, ... lack an age, rows 1, 5, ... a count, rows 2, 6, ... a city.
PEOPLE = pd.DataFrame(
    {
        "age": [20.0, 30.0, np.nan, 50.0] * 10,
        "city": ["a", "b", None, "c"] * 10,
        "ok": [True, False, True, False] * 10,
        "kind": pd.Categorical([1, 2, 1, 2] * 10),
        "count": pd.array([1, None, 3, 4] * 10, dtype="Int64"),
    }
)
VOTES = np.array(["yes", "no", "yes", "no"] * 10)
PLAIN = ["age", "city=a", "city=b", "city=c", "city=?", "ok", "kind=1", "kind=2", "kind=?", "count"]


def voter(missing: str) -> Any:
    model = netsharp.NetSharpClassifier(missing=missing, max_iter=60, random_state=0)
    return model.fit(PEOPLE, VOTES)


def test_a_frame_is_taken_as_it_is(tmp_path: Path) -> None:
    fitted = voter("mean")
    assert fitted.get_feature_names_out().tolist() == PLAIN
    assert fitted.feature_names_in_.tolist() == list(PEOPLE.columns)
    answers = fitted.predict_proba(PEOPLE)
    backwards = PEOPLE[PEOPLE.columns[::-1]]
    assert fitted.predict_proba(backwards).tobytes() == answers.tobytes()
    netsharp.save(fitted, tmp_path / "m.safetensors")
    loaded = netsharp.load(tmp_path / "m.safetensors")
    other = pl.from_pandas(PEOPLE.assign(kind=PEOPLE["kind"].astype(str)))
    for rows in (PEOPLE, backwards, other, other.to_arrow(), PEOPLE.to_numpy(dtype=object)):
        found = loaded.predict(rows).probabilities
        assert found is not None
        assert found.tobytes() == answers.tobytes()
    assert netsharp.predict(loaded, PEOPLE).tolist() == fitted.predict(PEOPLE).tolist()
    assert (fitted.predict(PEOPLE) == VOTES).all()


def test_a_frame_trains_the_same_network_as_its_file(tmp_path: Path) -> None:
    table = PEOPLE.assign(vote=VOTES)
    table.to_csv(tmp_path / "t.csv", index=False)
    settings: Any = {"epochs": 5, "missing": "indicator", "seed": 3}
    named = {"train": tmp_path / "t.csv", "label": "vote", "categorical": ["city", "kind", "ok"]}
    of_file = netsharp.train(SPEC, **named, **settings)
    texts = PEOPLE.assign(ok=PEOPLE["ok"].astype(str))
    of_frame = netsharp.train(SPEC, texts, VOTES, **settings)
    assert of_frame.encoding.names == of_file.encoding.names
    for name, array in of_file.tensors.items():
        assert array.tobytes() == of_frame.tensors[name].tobytes()


@pytest.mark.parametrize("missing", ["drop", "indicator", "mean", "zero"])
def test_rows_to_predict_never_vanish(missing: str, tmp_path: Path) -> None:
    fitted = voter(missing)
    answers, shares = fitted.predict(PEOPLE), fitted.predict_proba(PEOPLE)
    assert len(answers) == len(shares) == len(PEOPLE)
    absent = [answer is None for answer in answers]
    assert absent == [missing == "drop" and row % 4 in (1, 2) for row in range(len(PEOPLE))]
    assert np.isnan(shares).all(axis=1).tolist() == absent
    marks = [name for name in fitted.get_feature_names_out() if name.endswith("=missing")]
    assert marks == (["age=missing", "count=missing"] if missing == "indicator" else [])
    netsharp.save(fitted, tmp_path / "m.safetensors")
    assert netsharp.predict(tmp_path / "m.safetensors", PEOPLE).tolist() == answers.tolist()


def test_rows_without_a_number_answer_nan_in_a_regression() -> None:
    rows = X.copy()
    rows[4, 1] = np.nan
    fitted = netsharp.NetSharpRegressor(missing="drop", max_iter=5, random_state=0)
    answers = fitted.fit(rows, X @ [1.0, 2.0, 3.0]).predict(rows)
    assert np.flatnonzero(np.isnan(answers)).tolist() == [4]


def test_what_is_missing_is_refused_unless_someone_says_otherwise() -> None:
    with pytest.raises(ValueError, match=r"Row 2, feature 'count': the value is missing"):
        netsharp.NetSharpClassifier(max_iter=1).fit(PEOPLE, VOTES)
    model = netsharp.train(SPEC, X, SIDES, epochs=1)
    with pytest.raises(netsharp.DataError, match=r"Row 1, feature 'column2': the value is missing"):
        model.predict(np.array([[0.0, np.nan, 1.0]]))
    with pytest.raises(netsharp.DataError, match="Every row has a missing number"):
        netsharp.train(SPEC, np.full((4, 2), np.nan), [0, 1, 0, 1], missing="drop")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"age": pd.to_datetime(["2020-01-01"] * 40)}, "Column 'age' holds dates"),
        ({"age": [[1]] * 40}, "column 'age': a list is neither"),
        ({"city": range(40)}, None),
    ],
)
def test_odd_columns_are_named(change: dict[str, Any], says: str | None) -> None:
    frame = PEOPLE.assign(**change)
    model = netsharp.NetSharpClassifier(missing="zero", max_iter=1)
    if says is not None:
        with pytest.raises(netsharp.DataError, match=says):
            model.fit(frame, VOTES)
        return
    names = model.fit(frame, VOTES).get_feature_names_out().tolist()
    assert "city" in names
    with pytest.raises(netsharp.DataError, match=r"Column 'city' holds texts; .* on numbers"):
        model.predict(PEOPLE)


def test_columns_that_are_not_there_or_twice_are_named() -> None:
    fitted = voter("zero")
    with pytest.raises(ValueError, match="age"):
        fitted.predict(PEOPLE.drop(columns="age"))
    with pytest.raises(netsharp.DataError, match="no column 'age'"):
        fitted.model_.predict(PEOPLE.drop(columns="age"))
    twice = pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])
    with pytest.raises(netsharp.DataError, match="Two columns are called 'a'"):
        netsharp.train(SPEC, twice, [0, 1, 0, 1])


LABELS = [
    SIDES,
    SIDES.astype(np.int8),
    SIDES > 5,
    SIDES.astype(np.float64),
    np.where(SIDES > 5, "on", "off"),
    np.where(SIDES > 5, "01", "2").astype(object),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
def test_labels_come_back_in_their_type(labels: Any, tmp_path: Path) -> None:
    model = netsharp.train(SPEC, X, labels, epochs=60, learning_rate=0.5, batch_size=5)
    netsharp.save(model, tmp_path / "m.safetensors")
    loaded = netsharp.load(tmp_path / "m.safetensors")
    for answers in (model.predict(X).predicted, netsharp.predict(loaded, X)):
        assert isinstance(answers, np.ndarray)
        assert answers.dtype == labels.dtype
        assert (answers == labels).mean() > 0.9
    fitted = netsharp.NetSharpClassifier(max_iter=1).fit(X, labels)
    netsharp.save(fitted, tmp_path / "e.safetensors")
    assert netsharp.predict(tmp_path / "e.safetensors", X).tolist() == fitted.predict(X).tolist()


def test_several_numbers_are_predicted(tmp_path: Path) -> None:
    wanted = np.stack([X[:, 0] + X[:, 1], X[:, 1] - 2 * X[:, 2]], axis=1)
    fitted = netsharp.NetSharpRegressor(random_state=0).fit(X, wanted)
    assert fitted.predict(X).shape == (60, 2)
    assert fitted.score(X, wanted) > 0.9
    netsharp.save(fitted, tmp_path / "m.safetensors")
    assert netsharp.predict(tmp_path / "m.safetensors", X).tolist() == fitted.predict(X).tolist()
    # R2 as the mean of those of both, as scikit-learn has it.
    measured = fitted.model_.reports[-1].metrics["r2"]
    assert measured == pytest.approx(fitted.score(X, wanted), abs=1e-6)
    text = "input D auto; output O [3] linear from D all;"
    with pytest.raises(netsharp.SpecificationError, match=r"needs 2 outputs; layer .O. has 3"):
        netsharp.NetSharpRegressor(text).fit(X, wanted)


@pytest.mark.costly
def test_a_pipeline_with_a_column_transformer_and_scores_in_processes() -> None:
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["city"]), remainder="drop"
    )
    network = netsharp.NetSharpClassifier(missing="mean", max_iter=40, random_state=0)
    scores = cross_val_score(make_pipeline(columns, network), PEOPLE, VOTES, cv=3, n_jobs=2)
    assert scores.min() == 1


def test_a_search_in_processes_takes_what_numpy_gives() -> None:
    choices = {
        "hidden_layer_sizes": [(4,), (4, 3)],
        "learning_rate": np.logspace(-2, -1, 2),
        "batch_size": np.arange(8, 9),
    }
    network = netsharp.NetSharpClassifier(max_iter=40, random_state=0)
    search = GridSearchCV(network, choices, cv=2, n_jobs=2).fit(X, SIDES)
    assert search.best_score_ > 0.8
    assert search.predict(X[:3]).dtype == SIDES.dtype
