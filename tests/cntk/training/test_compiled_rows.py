"""Compiled twins of packing and of sums by rows, against the same in Python and numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from netsharp_engine import packing
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
            found = packed(lengths)
            expected = _packed(lengths, 12)
            assert found.same(expected)
            assert (found.steps, found.samples) == (expected.steps, expected.samples)
            for one, other in zip(found._columns(), found._plain_columns(), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("width", [1, 40, 64, 130])
def test_rows_are_summed_alike(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(SEED)
    ways = itertools.product(([1] * 50, [0, 3, 1, 0, 2], [0], [25] * 30), (9, 5000, 1 << 40))
    for counts, most in ways:
        entries = sum(counts)
        starts = np.r_[0, np.cumsum(counts)]
        values, places = random.normal(size=entries), random.integers(most, size=entries)
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


@pytest.mark.parametrize("width", [1, 3, 64])
def test_rows_are_chosen_alike(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(SEED)
    matrix = random.normal(size=(9, width)).astype(np.float32)
    for counts, most, number in (
        ([1] * 50, 9, 1.0),
        ([0, 1, 1, 0], 9, -0.5),
        ([0], 9, 1.0),
        ([0, 2, 1], 9, 1.0),
        ([1] * 50, 10, 1.0),
    ):
        starts = np.r_[0, np.cumsum(counts)]
        places = random.integers(most - 1, size=starts[-1])
        places[-1:] = most - 1
        given = sparse.entries(Sparse(np.full(starts[-1], number), places, starts), np.float32)
        out = np.ones((2, len(counts), width), np.float32)
        reported: list[object] = []
        for one in out:
            try:
                reported.append(sparse.rows_of(matrix, given, one))
            except IndexError as error:
                reported.append(str(error))
            monkeypatch.setattr(sparse, "twins", None)
        monkeypatch.undo()
        assert reported[0] == reported[1]
        if reported[0] is True:
            np.testing.assert_array_equal(*out)
        else:
            assert max(counts) > 1 or most > len(matrix)


def test_lengths_of_one_kind_are_packed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [np.full(count, length) for count in (0, 1, 5) for length in (0, 1, 7)]
    found = [packed(one) for one in kinds]
    monkeypatch.setattr(packing, "twins", None)
    for lengths, one in zip(kinds, found, strict=True):
        other = packed(lengths)
        assert one.same(other), lengths
        assert (one.columns, one.samples) == (other.columns, other.samples)
        assert one.gaps.tolist() == other.gaps.tolist()


def test_sequences_begin_in_their_order() -> None:
    random = np.random.default_rng(SEED)
    for count, steps in ((0, 1), (1, 1), (50, 3), (9, 40)):
        begin, row = random.integers(steps, size=count), random.integers(7, size=count)
        starts, rows = np.empty(steps + 1, np.int64), np.empty(count, np.int64)
        twins.begun(begin, row, starts, rows)
        np.testing.assert_array_equal(rows, row[np.argsort(begin, kind="stable")])
        counts = np.bincount(begin, minlength=steps)
        np.testing.assert_array_equal(starts, np.r_[0, np.cumsum(counts)])


def test_what_makes_no_sense_is_refused() -> None:
    ones = np.ones(8, np.int64)
    for lengths in (-ones, ones * (1 << 62)):
        with pytest.raises(ValueError, match="a length is out of range"):
            twins.first_fit(lengths, *np.ones((2, 8), np.int64))
    rows, factors, sums = (np.ones(8, np.float32) for _ in range(3))
    starts = np.arange(9)
    assert twins.rows_summed(rows, factors, 9 * ones, starts, ones.copy(), sums) == 1
    for places, parts, room in (
        (-ones, starts, sums),
        (ones, starts + 1, sums),
        (ones, np.r_[0, 5, 3, starts[3:]], sums),
        (ones, starts[:-1], sums),
        (ones, starts, sums[:7]),
    ):
        with pytest.raises(ValueError, match="an index is out of range"):
            twins.rows_summed(rows, factors, places, parts, ones.copy(), room)
    taken = *np.empty((2, 8), np.int64), np.empty(8, np.int64), np.empty(16, bool)
    begins = np.array([0, 1] * 4)
    rows_of = np.repeat(np.arange(4), 2)
    for parts, room, width in ((starts, sums[:7], 1), (starts + 1, sums, 1), (starts, sums, 0)):
        with pytest.raises(ValueError, match="an index is out of range"):
            twins.rows_chosen(width, rows, factors, 0 * ones, parts, room)
    for row, begin, length in (
        (rows_of + 1, begins, ones),
        (rows_of - 1, begins, ones),
        (rows_of, begins + 4, ones),
        (rows_of, begins, ones * 5),
        (rows_of, begins, ones * 2),
        (rows_of, begins, -ones),
    ):
        with pytest.raises(ValueError, match="a sequence is out of range"):
            twins.columns_taken(4, row, begin, length, *taken)
    with pytest.raises(ValueError, match="sequences lie in the same columns"):
        twins.columns_taken(4, rows_of, 0 * ones, ones, *taken)
    for step in (-1, 3):
        with pytest.raises(ValueError, match="a step is out of range"):
            twins.begun(step * ones[:1], ones[:1], np.empty(4, np.int64), ones[:1].copy())
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.columns_taken(4)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.first_fit(ones)
