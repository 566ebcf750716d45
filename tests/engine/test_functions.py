"""The compiled activations beside numpy's, and beside what is exact."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.numpy_backend.kernels import activations
from netsharp_engine.numpy_backend.kernels.functions import (
    FUNCTIONS,
    PLAIN,
    SLOW,
    applied,
    takes,
    twins,
)
from tests.conftest import SEED

DTYPES = ("float32", "float64")
#: Units in the last place beside the exact value, of normal numbers.
MOST = 4
EXACT = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "srlinear": lambda x: np.logaddexp(0, x),
    "tanh": np.tanh,
}


def made(function: str, x: np.ndarray) -> np.ndarray:
    """What the twin makes of numbers."""
    out = np.empty_like(x)
    twins.plan_applied(x.itemsize, FUNCTIONS.index(function), x, out)
    return out


def by_numpy(function: str, x: np.ndarray) -> np.ndarray:
    """What numpy makes of a column of numbers."""
    out, spare, line = np.empty_like(x[:, None]), np.empty_like(x[:, None]), np.empty(1, x.dtype)
    with np.errstate(all="ignore"):
        activations.FUNCTIONS[function].forward(x[:, None].copy(), out, spare, line)
    return out[:, 0]


def numbers(dtype: str) -> np.ndarray:
    """Numbers of all sizes, those among them at which something changes."""
    random = np.random.default_rng(SEED)
    kind = np.finfo(dtype)
    sizes = np.exp(random.uniform(np.log(kind.tiny) - 10, np.log(1000), 20_001))
    few = [
        0.0,
        kind.smallest_subnormal,
        kind.tiny,
        kind.max,
        kind.eps,
        1,
        10,
        20,
        88.7,
        89,
        104,
        710,
    ]
    found = np.concatenate([sizes, random.uniform(0, 12, 20_000), few])
    return np.concatenate([found, -found]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", SLOW)
def test_exponentials_are_as_near_as_documented(function: str, dtype: str) -> None:
    x = numbers(dtype)
    with np.errstate(all="ignore"):
        exact = EXACT[function](x.astype(np.longdouble))
        unit = np.spacing(np.abs(exact).astype(dtype)).astype(np.longdouble)
    found = made(function, x)
    # Where e^-x is beyond all numbers a sigmoid is 0 here and in numpy.
    shown = np.abs(exact) > 1 / np.finfo(dtype).max * 4 if function == "sigmoid" else exact == exact
    assert shown.sum() > len(x) // 3
    assert (np.abs(found - exact)[shown] <= MOST * unit[shown]).all()
    assert (np.abs(found)[~shown] <= 8 / np.finfo(dtype).max).all()
    np.testing.assert_array_equal(np.signbit(found), np.signbit(by_numpy(function, x)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {*SLOW, "softmax"}))
def test_what_has_no_exponential_is_what_numpy_computes(function: str, dtype: str) -> None:
    x = numbers(dtype)
    np.testing.assert_array_equal(made(function, x), by_numpy(function, x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_not_finite_goes_the_same_way(function: str, dtype: str) -> None:
    for x in ([np.nan, 1, 2], [1, 2, np.nan], [np.inf, 1], [-np.inf, 0], [-np.inf, np.inf, -0.0]):
        given = np.array(x, dtype)
        wanted = by_numpy(function, given)
        np.testing.assert_allclose(made(function, given), wanted, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 7, 16, 33, 1000])
def test_a_softmax_is_one_of_all_numbers(count: int, dtype: str) -> None:
    x = (20 * np.random.default_rng([SEED, count]).standard_normal(count)).astype(dtype)
    bound = (count + 8) * np.finfo(dtype).eps
    np.testing.assert_allclose(made("softmax", x), by_numpy("softmax", x), rtol=bound, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {"softmax"}))
def test_where_a_number_stands_changes_no_bit(function: str, dtype: str) -> None:
    x = numbers(dtype)[::97].copy()
    whole = made(function, x)
    for start in range(9):
        for count in (1, 3, 15, 16, 17, 31):
            part = x[start : start + count]
            np.testing.assert_array_equal(made(function, part), whole[start : start + count])
    held = x.copy()
    twins.plan_applied(x.itemsize, FUNCTIONS.index(function), held, held)
    np.testing.assert_array_equal(held, whole)


def test_plans_ask_for_those_that_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {name for name in FUNCTIONS if takes(name)} == {*SLOW, *PLAIN}
    x = np.linspace(-3, 3, 10).reshape(5, 2)
    wanted = np.tanh(x)
    applied("tanh", x, x)()
    np.testing.assert_allclose(x, wanted, rtol=1e-15)
    monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.functions.twins", None)
    assert not any(map(takes, FUNCTIONS))


def test_sizes_that_make_no_sense_are_refused() -> None:
    x = np.ones(8, np.float32)
    for size, function in ((3, 0), (4, len(FUNCTIONS)), (4, -1)):
        with pytest.raises(ValueError, match="out of range"):
            twins.plan_applied(size, function, x, x.copy())
    with pytest.raises(ValueError, match="too short"):
        twins.plan_applied(4, 0, x[:7], x.copy())
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.plan_applied(4)
