"""What many numbers are like, against numpy on all of them at once."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.norms import BARS, figures_of


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 1000, (1 << 20) + 3])
def test_figures_are_those_of_numpy(dtype: Any, count: int) -> None:
    values = np.random.default_rng(count).standard_normal(count).astype(dtype)
    values[:: max(2, count // 3)] = 0
    found = figures_of(values)
    exact = values.astype(np.float64)
    assert found["size"] == count
    assert found["zeros"] == int((exact == 0).sum())
    for name, wanted in {
        "least": exact.min(),
        "greatest": exact.max(),
        "mean": exact.mean(),
        "deviation": exact.std(),
        "norm": np.linalg.norm(exact),
    }.items():
        assert found[name] == pytest.approx(wanted, rel=1e-9, abs=1e-12), name
    bars, _ = np.histogram(exact, BARS if np.ptp(exact) else 1)
    # A number on an edge may fall to either side, with all that are equal to it.
    alike = int(np.unique(exact[exact != 0], return_counts=True)[1].max(initial=1))
    assert np.abs(np.cumsum(bars) - np.cumsum(found["bars"])).max() <= 2 * alike


@pytest.mark.parametrize(
    "values",
    [[], [np.nan, np.inf], [np.inf, 1.0, 2.0], [1e308, -1e308, 1e308], [5e-324, 0.0], [3.0] * 4],
)
def test_figures_of_strange_numbers_are_finite_and_count_all(values: list[float]) -> None:
    found = figures_of(np.array(values, np.float64))
    finite = [value for value in values if np.isfinite(value)]
    assert found["not_finite"] == len(values) - len(finite)
    assert sum(found["bars"]) == len(finite)
    if not finite:
        assert found["mean"] is None
        return
    assert (found["least"], found["greatest"]) == (min(finite), max(finite))
    assert np.isfinite(found["deviation"])


def test_memory_does_not_grow_with_the_numbers() -> None:
    values = np.ones(1 << 24, np.float32)
    tracemalloc.start()
    figures_of(values)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 * (1 << 20)
