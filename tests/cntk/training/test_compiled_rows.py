"""Compiled twins of packing and of sums by rows, against the same in Python and numpy."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.packing import _packed, packed, twins
from netsharp_engine.program import Sparse
from netsharp_engine.tensor_backend.kernels import sparse
from tests.conftest import SEED


def test_sequences_are_packed_alike() -> None:
    assert twins is not None
    random = np.random.default_rng(SEED)
    for count in (1, 2, 3, 10, 100):
        for _ in range(20):
            # Those of one length take no search.
            lengths = np.r_[12, random.integers(0, 12, size=count)]
            assert packed(lengths).same(_packed(lengths, 12))


@pytest.mark.parametrize("width", [1, 40, 64, 130])
def test_rows_are_summed_alike(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(SEED)
    for counts in ([1] * 50, [0, 3, 1, 0, 2], [0], [25] * 30):
        entries = sum(counts)
        starts = np.r_[0, np.cumsum(counts)]
        values, places = random.normal(size=entries), random.integers(9, size=entries)
        given = sparse.entries(Sparse(values, places, starts), np.float32)
        gradient = random.normal(size=(len(counts), width)).astype(np.float32)
        found = sparse.times_back(given, gradient)
        with monkeypatch.context() as patch:
            patch.setattr(sparse, "twins", None)
            expected = sparse.times_back(given, gradient)
        assert isinstance(found, sparse.TouchedRows)
        assert isinstance(expected, sparse.TouchedRows)
        np.testing.assert_array_equal(found.places, expected.places)
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-6, atol=1e-7)


def test_what_makes_no_sense_is_refused() -> None:
    ones = np.ones(8, np.int64)
    with pytest.raises(ValueError, match="a length is out of range"):
        twins.first_fit(9 * ones, *np.ones((3, 8), np.int64), ones)
    rows, factors, sums = (np.ones(8, np.float32) for _ in range(3))
    with pytest.raises(ValueError, match="an index is out of range"):
        twins.rows_summed(rows, factors, 9 * ones, ones, 0 * ones, sums)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.first_fit(ones)
