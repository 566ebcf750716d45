"""Odd arguments and odd columns: a call of microsoftml gives a result or refuses in a sentence."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("polars", reason="polars is not installed: group 'test'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: group 'test'")

import pandas as pd
import polars as pl

from netsharp import microsoftml
from netsharp.microsoftml import NeuralNetwork, concat, log_loss, rx_neural_network, rx_predict
from netsharp.microsoftml import sgd_optimizer as sgd
from tests.public.test_microsoftml import ORIGINAL

OURS = ("/netsharp/", "/netsharp_lsp/", "/netsharp_engine/")
#: The longest sentence: one with names of columns in it.
LONGEST = 420
FRAME = pd.DataFrame({"a": np.arange(12.0), "b": [0, 1] * 6, "y": ["p", "q"] * 6})
VALUES: list[Any] = [
    *(0, 1, -1, 1.5, float("nan"), float("inf"), 10**30, True, "x", "", "\0", "\ud800", b"x"),
    *("ä" * 100_000, [], [1], ["a"], ("a",), {"a": 1}, {"a"}, object(), len, 1j, dt.date.min),
    *(np.array([1, 2]), np.array(3), np.float32(0.5), np.int64(3), np.bool_(False), pd.NA),
    *(pd.Series([1, 2]), pd.DataFrame({"a": [1]}), pl.Series([1]), Path("/nowhere/net.nn")),
    *(concat({"f": ["a", "b"]}), [concat({"f": ["a"]})], sgd(), log_loss(), "Auto", "multiClass"),
]
TWO = [0, 1] * 6
TIMES = pd.date_range("2026-01-01", periods=12)
COLUMNS: dict[str, Any] = {
    "numbers": np.arange(12) / 7,
    "holes": np.where(TWO, np.nan, 1.0),
    "infinite": np.where(TWO, np.inf, 1.0),
    "large": np.arange(12) * 1e300,
    "small": np.arange(12) * 1e-320,
    "unsigned": np.array(TWO, "uint64") + np.uint64(2**63),
    "half": np.arange(12).astype("float16"),
    "long": np.arange(12).astype("longdouble"),
    "truths": np.array(TWO, bool),
    "constant": np.ones(12),
    "nothing": [None] * 12,
    "no numbers": np.full(12, np.nan),
    "texts": ["p", "q"] * 6,
    "names": [f"n{row}" for row in range(12)],
    "blank": [""] * 12,
    "said to be missing": ["NA", "?", "nan", "x"] * 3,
    "odd letters": ["ä", "\u202e", "x\ny"] * 4,
    "halves": pd.Series(["\ud800", "a"] * 6, dtype=object),
    "mixed": ["a", 1, None] * 4,
    "levels": pd.Categorical(["x", "y"] * 6),
    "unused level": pd.Categorical(["x", "y"] * 6, ["y", "x", "z"]),
    "numbers as levels": pd.Categorical([2, 1] * 6),
    "no levels": pd.Categorical([None] * 12),
    "levels missing": pd.Categorical([None, "x", "y"] * 4),
    "dates as levels": pd.Categorical(TIMES),
    "intervals": pd.cut(range(12), 3),
    "Int64": pd.array([1, 2, None] * 4, dtype="Int64"),
    "boolean": pd.array([True, False, None] * 4, dtype="boolean"),
    "Float64": pd.array([1.5, None, 2] * 4, dtype="Float64"),
    "string": pd.array(["p", "q", None] * 4, dtype="string"),
    "arrow texts": pd.array(["p", "q", None] * 4, dtype="string[pyarrow]"),
    "arrow numbers": pd.array([1, 2, None] * 4, dtype="int64[pyarrow]"),
    "arrow dates": pd.array([dt.date(2026, 1, 1)] * 12, dtype="date32[pyarrow]"),
    "times": TIMES,
    "times of a zone": TIMES.tz_localize("Asia/Tokyo"),
    "durations": pd.to_timedelta(range(12), unit="D"),
    "periods": pd.period_range("2026", periods=12, freq="M"),
    "sparse": pd.arrays.SparseArray(np.array(TWO, float)),
    "lists": [[1]] * 12,
    "dicts": [{"a": 1}] * 12,
    "tuples": [(1, 2)] * 12,
    "arrays": [np.ones(2)] * 12,
    "objects": [object() for _ in TWO],
    "complex": [1j] * 12,
    "decimals": [Decimal(1), Decimal(2)] * 6,
    "bytes": [b"a", b"b"] * 6,
    "huge": [10**400, 1] * 6,
    "plain dates": [dt.date(2026, 1, 1)] * 12,
    "numbers of any type": [np.float32(1), np.nan, None, pd.NA] * 3,
    "no times": [pd.NaT, 1.0] * 6,
}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def tried(call: Callable[..., Any], *values: Any, **given: Any) -> Any:
    """What a call gives; None where it refuses, as it must: in a sentence of ours, on one line."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return call(*values, **given)
    except FileNotFoundError as error:
        assert error.filename is not None  # noqa: PT017
    except ValueError as error:
        message, last = str(error), traceback.extract_tb(error.__traceback__)[-1].filename
        assert any(one in last for one in OURS), f"{last}: {message}"
        assert message.endswith((".", "?")), message
        assert len(message) <= LONGEST, message
        assert message.isprintable(), message
    return None


def trained(frame: Any, method: str = "binary", formula: str = "y ~ a + b", **given: Any) -> Any:
    """A network of one iteration, or None."""
    quick = {"num_iterations": 1, "verbose": 0, "method": method}
    return tried(rx_neural_network, formula, frame, **{**quick, **given})


@pytest.mark.drawn
@pytest.mark.parametrize(
    "name", [*(one for one in ORIGINAL if one != "num_iterations"), "loss_function"]
)
def test_every_argument_of_the_training_may_be_odd(name: str) -> None:
    quick = {"formula": "y ~ a + b", "data": FRAME, "num_iterations": 1, "verbose": 0}
    made = [tried(rx_neural_network, **{**quick, name: value}) for value in VALUES]
    assert {type(one) for one in made} <= {NeuralNetwork, type(None)}


def test_numbers_of_iterations_may_be_odd() -> None:
    for value in VALUES:
        if value is not VALUES[6]:
            trained(FRAME, num_iterations=value)


@pytest.mark.parametrize(
    "name",
    ["model", "data", "output_data", "write_model_vars", "extra_vars_to_write", "suffix"],
)
def test_every_argument_of_the_scores_may_be_odd(name: str) -> None:
    model = trained(FRAME)
    for value in VALUES:
        scores = tried(rx_predict, **{"model": model, "data": FRAME, name: value})
        assert scores is None or len(scores) == len(FRAME)


@pytest.mark.parametrize("name", ["sgd_optimizer", "adadelta_optimizer", "concat"])
def test_arguments_of_what_calls_are_given_may_be_odd(name: str) -> None:
    for value in VALUES:
        tried(getattr(microsoftml, name), value)
        tried(getattr(microsoftml, name), {"f": value})
        made = tried(microsoftml.adadelta_optimizer, cond=value)
        if made is not None:
            trained(FRAME, optimizer=made)


def rows_of(frame: pd.DataFrame) -> list[Any]:
    """A frame as it is, of one row, with an index of its own, and in polars where that has it."""
    several: list[Any] = [frame, frame[:1], frame.set_axis(["u", "v", "w"] * 4)]
    # Not everything of pandas is to be had there.
    with contextlib.suppress(Exception):
        several.append(pl.from_pandas(frame))
    return several


@pytest.mark.parametrize("column", ["a", "y"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_may_hold_anything(name: str, column: str) -> None:
    for frame in rows_of(FRAME.assign(**{column: COLUMNS[name]})):
        for method in ("binary", "multiClass", "regression"):
            model = trained(frame, method)
            if model is None:
                model = trained(FRAME.assign(y=FRAME["b"]), method)
            scores = tried(rx_predict, model, frame, extra_vars_to_write=["y"])
            if scores is None:
                continue
            assert len(scores) == len(frame)
            answered = [scores[one] for one in scores.columns if one.startswith("Score")]
            assert not any(np.isinf(np.asarray(one, dtype=float)).any() for one in answered)
            if isinstance(frame, pd.DataFrame):
                pd.testing.assert_index_equal(scores.index, frame.index)
                pd.testing.assert_series_equal(scores["y"], frame["y"])
