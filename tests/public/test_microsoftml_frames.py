"""What the calls of microsoftml take and give back: frames, labels of any type, missing values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

pytest.importorskip("polars", reason="polars is not installed: group 'test'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: group 'test'")

import pandas as pd
import polars as pl
import pyarrow as pa

from netsharp.microsoftml import NeuralNetwork, rx_neural_network, rx_predict

QUICK: dict[str, Any] = {"num_iterations": 2, "verbose": 0}
NUMBERS = [1.0, 2.0, 4.0, 3.0, 5.0, 6.0]
pytestmark = pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")


def rows(label: object = (True, False, True, False, True, True)) -> pd.DataFrame:
    """Six rows with an index of their own: a number `a`, a truth `b`, and a label `y`."""
    frame = pd.DataFrame({"a": NUMBERS, "b": [True, False] * 3}, index=list("uvwxyz"))
    frame["y"] = label if hasattr(label, "dtype") else pd.Series(label, frame.index)
    return frame


def trained(frame: Any, method: str = "binary") -> NeuralNetwork:
    """A network for the label `y` of a frame by its number `a`."""
    return rx_neural_network("y ~ a", frame, method, **QUICK)


INDICES = {
    "texts": pd.Index(list("uvwxyz")),
    "alike": pd.Index(["u", "u", "v", "v", "u", "u"]),
    "two levels": pd.MultiIndex.from_product([["p", "q"], [1, 2, 3]], names=["site", "visit"]),
    "times": pd.date_range("2026-01-01", periods=6, tz="Europe/Oslo"),
}


@pytest.mark.parametrize("kept", [None, ["y"]], ids=["none kept", "one kept"])
@pytest.mark.parametrize("name", INDICES)
def test_scores_have_the_index_of_the_rows(name: str, kept: list[str] | None) -> None:
    frame = rows().set_index(INDICES[name])
    scores = rx_predict(trained(frame), frame, extra_vars_to_write=kept)
    pd.testing.assert_index_equal(scores.index, INDICES[name])
    if kept:
        assert scores["y"].tolist() == frame["y"].tolist()


def test_columns_may_be_named_by_categories() -> None:
    frame = rows()
    frame.columns = pd.CategoricalIndex(frame.columns)
    scores = rx_predict(trained(frame), frame, extra_vars_to_write=frame.columns)
    assert list(scores) == ["a", "b", "y", "PredictedLabel", "Score", "Probability"]


def test_kept_columns_keep_their_type() -> None:
    frame = rows().assign(
        count=pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        kind=pd.Categorical(list("ppqqpp")),
        any=pd.Series(list("ppqqpp"), list("uvwxyz"), dtype=object),
        time=pd.date_range("2026-01-01", periods=6, tz="UTC"),
    )
    scores = rx_predict(
        trained(frame), frame, extra_vars_to_write=["count", "kind", "any", "time", "count"]
    )
    wanted = ["count", "kind", "any", "time"]
    pd.testing.assert_frame_equal(scores[wanted], frame[wanted])


TWO = [0, 1, 0, 1, 0, 0]
DAYS = pd.to_datetime(["2026-01-01", "2026-01-02"])
ODD: dict[str, object] = {
    "date": [dt.date(2026, 1, 1 + one) for one in TWO],
    "dates": pd.Series(DAYS[TWO], list("uvwxyz")),
    "Timestamp": pd.Series(DAYS.tz_localize("UTC")[TWO], list("uvwxyz")),
    "durations": pd.Series(pd.to_timedelta(TWO, unit="D"), list("uvwxyz")),
    "complex numbers": [complex(one, 1) for one in TWO],
    "complex": np.array([complex(one, 1) for one in TWO] + [None], object)[:6],
    "tuple": [(one, 1) for one in TWO],
    "list": [[one] for one in TWO],
    "dict": [{"a": one} for one in TWO],
    "bytes": [b"a" if one else b"b" for one in TWO],
    "Period": [pd.Period(f"{2026 + one}", freq="Y") for one in TWO],
    "Interval": pd.Categorical(pd.cut(TWO, 2)),
    "time": [dt.time(one) for one in TWO],
}


@pytest.mark.parametrize("method", ["binary", "multiClass", "regression"])
@pytest.mark.parametrize("name", ODD)
def test_a_label_of_another_type_is_refused_by_its_name(name: str, method: str) -> None:
    with pytest.raises(ValueError, match=rf"label 'y'.* holds .*{name}.* Turn them into "):
        trained(rows(ODD[name]), method)


STRUCTS = pl.DataFrame(
    {
        "a": NUMBERS,
        "struct": [{"p": one} for one in TWO],
        "list": [[one] for one in TWO],
        "date": [dt.date(2026, 1, 1 + one) for one in TWO],
        "duration": [dt.timedelta(one) for one in TWO],
        "binary": [b"a" if one else b"b" for one in TWO],
        "array": pl.Series([[one, 1] for one in TWO], dtype=pl.Array(pl.Int64, 2)),
        "object": pl.Series([object() for _ in TWO], dtype=pl.Object),
    }
)


@pytest.mark.parametrize("method", ["binary", "regression"])
@pytest.mark.parametrize("name", [one for one in STRUCTS.columns if one != "a"])
def test_a_label_of_another_type_of_polars_is_refused(name: str, method: str) -> None:
    with pytest.raises(ValueError, match=r"label 'y'.* holds .* Turn them into "):
        trained(STRUCTS.select("a", pl.col(name).alias("y")), method)


def test_a_number_that_is_too_large_is_refused_in_a_feature() -> None:
    with pytest.raises(ValueError, match=r"'a' holds a number that is too large .*leave"):
        trained(rows().assign(a=[10**400, 1, 2, 3, 4, 5]))


@pytest.mark.parametrize("method", ["binary", "regression"])
def test_a_label_without_end_is_refused(method: str) -> None:
    for value in (np.inf, -np.inf, 10**400):
        with pytest.raises(ValueError, match=r"label 'y' holds a number that is infinite or too"):
            trained(rows(pd.Series([1, 1, 1, 1, 1, value], list("uvwxyz"), dtype=object)), method)


CLASSES: dict[str, tuple[object, list[Any]]] = {
    "Int64": (pd.array([3, 7, None, 7, 3, 3], dtype="Int64"), [3, 7]),
    "large": (pd.array([2**60 + 1, 2**60, None] * 2, dtype="Int64"), [2**60, 2**60 + 1]),
    "arrow": (pd.array([3, 7, None, 7, 3, 3], dtype="int64[pyarrow]"), [3, 7]),
    "boolean": (pd.array([True, False, None] * 2, dtype="boolean"), [False, True]),
    "string": (pd.array(["q", "p", None] * 2, dtype="string"), ["p", "q"]),
    "objects": ([3, None, 7, pd.NA, 3, np.nan], [3, 7]),
    "numbers": (np.array([1.5, 0.5, np.nan] * 2), [0.5, 1.5]),
    "ordered": (pd.Categorical(["q", "p", None] * 2, ["q", "p"], ordered=True), ["q", "p"]),
    "few": (pd.Categorical([7, 3, None] * 2, [7, 3]), [7, 3]),
}


@pytest.mark.parametrize("name", CLASSES)
def test_labels_keep_their_type_where_some_are_missing(name: str) -> None:
    given, levels = CLASSES[name]
    network = trained(rows(given))
    assert network.model_.labels is not None
    assert list(network.model_.labels.values) == levels
    assert [type(one) for one in network.model_.labels.values] == [type(one) for one in levels]
    assert network.model_.reports[-1].rows == int(rows(given)["y"].notna().sum())


def test_a_number_to_predict_may_be_missing_in_any_way() -> None:
    label = np.array([1, pd.NA, 2.5, None, np.nan, Decimal("1.5")], object)
    network = trained(rows(label), "regression")
    assert network.model_.reports[-1].rows == 3


def test_levels_that_do_not_occur_are_reported() -> None:
    label = pd.Categorical(list("ppqqpp"), list("pqr"))
    with pytest.raises(ValueError, match=r"3 classes; two .* Only two of them occur"):
        trained(rows(label))


def test_order_of_an_enumeration_is_that_of_classes() -> None:
    frame = pl.DataFrame(
        {"a": NUMBERS, "y": pl.Series(["b", "a", None] * 2, dtype=pl.Enum(["b", "a"]))}
    )
    assert trained(frame).model_.classes == ("b", "a")


LABELS = {
    "truths": ([True, False] * 3, pl.Boolean),
    "texts": (["p", "q"] * 3, pl.String),
    "whole": ([3, 7] * 3, pl.Int64),
    "points": ([0.5, 1.5] * 3, pl.Float64),
}


@pytest.mark.parametrize("missing", [[], [0], range(6)], ids=["none", "one", "all"])
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_polars_have_their_type(name: str, missing: list[int]) -> None:
    values, kind = LABELS[name]
    network = trained(pl.DataFrame({"a": NUMBERS, "y": values}))
    holes = [None if place in missing else one for place, one in enumerate(NUMBERS)]
    scores = rx_predict(network, pl.DataFrame({"a": pl.Series(holes, dtype=pl.Float64)}))
    assert scores["PredictedLabel"].dtype == kind
    assert scores.drop("PredictedLabel").schema == {"Score": pl.Float64, "Probability": pl.Float64}
    answered = [one is not None and one == one for one in scores["PredictedLabel"]]
    assert answered == [place not in missing for place in range(6)]


NO_FRAMES: dict[str, tuple[object, str]] = {
    "LazyFrame": (STRUCTS.lazy(), r"data\.collect\(\)"),
    "Table": (pa.table({"a": NUMBERS}), r"data\.to_pandas\(\)"),
    "RecordBatch": (pa.record_batch({"a": NUMBERS}), r"data\.to_pandas\(\)"),
    "Series": (rows()["a"], r"data\.to_frame\(\)"),
    "ndarray": (np.ones((3, 2)), r"pandas\.DataFrame\(data, columns"),
    "dict": ({"a": NUMBERS}, r"pandas\.DataFrame\(data\)"),
    "list": ([NUMBERS], r"pandas\.DataFrame\(data\)"),
    "NoneType": (None, r"pandas\.DataFrame\(data\)"),
}


@pytest.mark.parametrize("name", NO_FRAMES)
def test_what_is_no_frame_is_refused_with_advice(name: str) -> None:
    given, way = NO_FRAMES[name]
    with pytest.raises(ValueError, match=rf"data must be .*, found {name}\. .*{way}"):
        trained(given)
    with pytest.raises(ValueError, match=rf"data must be .*, found {name}\. .*{way}"):
        rx_predict(trained(rows()), given)
