"""Encodings, normalisers and splits against numbers computed by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.data import (
    Column,
    DataError,
    Encoding,
    Feature,
    Normalizer,
    ReadOptions,
    Table,
    fit_normalizer,
    read_table,
    split_rows,
)
from netsharp_engine.train import prepare, read_settings

CSV = "size,colour,weight,label\n1,red,10,a\n2,blue,,b\n3,red,30,a\n4,green,50,b\n5,,70,a\n"


def table_of(tmp_path, missing="mean"):
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    return read_table(str(path), ReadOptions(categorical=("colour",), missing=missing))


def test_levels_are_those_of_the_training_rows_sorted_with_one_for_unknown(tmp_path):
    table = table_of(tmp_path)
    encoding = Encoding.fit(table, np.array([0, 1, 2]), missing="mean")
    assert encoding.names == ("size", "colour=blue", "colour=red", "colour=?", "weight")
    expected = [
        [1, 0, 1, 0, 10],
        [2, 1, 0, 0, 20],
        [3, 0, 1, 0, 30],
        [4, 0, 0, 1, 50],
        [5, 0, 0, 1, 70],
    ]
    np.testing.assert_array_equal(encoding.encode(table), np.float32(expected))


def test_without_the_unknown_indicator_unknown_levels_are_all_zeros(tmp_path):
    table = table_of(tmp_path)
    encoding = Encoding.fit(table, np.array([0, 1, 2]), unknown=False, missing="zero")
    assert encoding.features == 4
    np.testing.assert_array_equal(encoding.encode(table)[3:], [[4, 0, 0, 50], [5, 0, 0, 70]])
    np.testing.assert_array_equal(encoding.encode(table)[1], [2, 1, 0, 0])


def test_encoding_survives_json(tmp_path):
    encoding = Encoding.fit(table_of(tmp_path), missing="mean")
    assert Encoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding


def test_a_column_without_any_value_has_no_mean():
    table = Table.from_arrays([[1, np.nan], [2, np.nan]], ["a", "b"])
    with pytest.raises(DataError, match="Column 'column2' has no value in any training row"):
        Encoding.fit(table, missing="mean")


# The training rows are the first four; the fifth lies outside their range.
ROWS = np.array([0, 1, 2, 3])
MATRIX = [[2, -4, 7], [4, 2, 7], [6, 1, 7], [8, 0, 7], [11, 8, 9]]
BY_HAND = {
    "minmax": [[0, 0, 0], [1 / 3, 1, 0], [2 / 3, 5 / 6, 0], [1, 4 / 6, 0], [1.5, 2, 0]],
    "minmax-zero": [[0.25, -1, 0], [0.5, 0.5, 0], [0.75, 0.25, 0], [1, 0, 0], [1.375, 2, 0]],
    # mean 5, variance 5; mean -0.25, variance (14.0625 + 5.0625 + 1.5625 + 0.0625) / 4
    "gaussian": [
        [-3 / 5**0.5, -3.75 / 5.1875**0.5, 0],
        [-1 / 5**0.5, 2.25 / 5.1875**0.5, 0],
        [1 / 5**0.5, 1.25 / 5.1875**0.5, 0],
        [3 / 5**0.5, 0.25 / 5.1875**0.5, 0],
        [6 / 5**0.5, 8.25 / 5.1875**0.5, 0],
    ],
    # Nothing lies beyond the bounds 2 and 8, -4 and 2 of the training rows, which are the extremes.
    "robust": [
        [-3 / 5**0.5, -3.75 / 5.1875**0.5, 0],
        [-1 / 5**0.5, 2.25 / 5.1875**0.5, 0],
        [1 / 5**0.5, 1.25 / 5.1875**0.5, 0],
        [3 / 5**0.5, 0.25 / 5.1875**0.5, 0],
        [3 / 5**0.5, 2.25 / 5.1875**0.5, 0],
    ],
    "binning": [[0, 0, 0], [1 / 3, 1, 0], [2 / 3, 2 / 3, 0], [1, 1 / 3, 0], [1, 1, 0]],
    "none": MATRIX,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BY_HAND)
def test_normalisers_by_hand(name, dtype):
    matrix = np.array(MATRIX, dtype)
    normalizer = fit_normalizer(name, matrix, ROWS)
    stored = Normalizer.from_json(json.loads(json.dumps(normalizer.to_json())))
    again = matrix.copy()
    normalizer.apply(matrix)
    stored.apply(again)
    np.testing.assert_allclose(matrix, BY_HAND[name], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(matrix, again)


def test_a_row_far_from_all_others_moves_the_others_little():
    """By hand: of 0 to 99 and a million, 5 and 95 of 100 lie at 5 and 95, so the bounds are 0 and
    185.  An indicator that is mostly 0 keeps its two values.
    """
    matrix = np.stack([np.append(np.arange(100.0), 1e6), np.append(np.zeros(100), 1)], axis=1)
    robust = fit_normalizer("robust", matrix)
    low, high = robust.bounds()
    np.testing.assert_allclose(low, [0, 0])
    np.testing.assert_allclose(high, [185, 1])
    robust.apply(matrix)
    kept = np.append(np.arange(100.0), 185)
    np.testing.assert_allclose(matrix[:, 0], (kept - kept.mean()) / kept.std())
    assert len(set(matrix[:, 1])) == 2


def test_a_row_of_weight_two_is_two_rows_to_robust():
    random = np.random.default_rng(2)
    matrix, weights = random.lognormal(size=(60, 40)), random.integers(1, 5, 60).astype(float)
    rows = np.arange(5, 55)
    once = fit_normalizer("robust", matrix, rows, weights=weights)
    often = fit_normalizer("robust", np.repeat(matrix[rows], weights[rows].astype(int), axis=0))
    np.testing.assert_array_equal(once.bounds(), often.bounds())
    np.testing.assert_allclose(once.offset, often.offset)
    np.testing.assert_allclose(once.scale, often.scale)


FITTED = """
import numpy as np
from netsharp_engine.data import fit_normalizer
random = np.random.default_rng(5)
matrix = random.normal(size=(3_000, 40)).astype(np.float32) * 10 ** random.uniform(-3, 3, 40)
for name in ("minmax", "minmax-zero", "gaussian", "robust", "binning"):
    found = fit_normalizer(name, matrix, weights=random.uniform(size=3_000))
    print(found.offset.tolist(), found.scale.tolist(), [each.tolist() for each in found.edges])
"""


@pytest.mark.costly
def test_a_normaliser_is_the_same_on_every_processor():
    """A run is resumed where the data are the same to the bit; products of matrices are not."""
    output = [
        subprocess.run(
            [sys.executable, "-c", FITTED],
            env={**os.environ, "OPENBLAS_CORETYPE": kind},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kind in ("", "Nehalem")
    ]
    assert output[0]
    assert output[0] == output[1]


def test_bins_hold_equally_many_rows():
    matrix = np.arange(1000, dtype=np.float64)[:, None] ** 2
    fit_normalizer("binning", matrix, bins=4).apply(matrix)
    values, counts = np.unique(matrix, return_counts=True)
    np.testing.assert_allclose(values, [0, 1 / 3, 2 / 3, 1])
    assert counts.tolist() == [250, 250, 250, 250]


def test_bins_of_repeated_values_stay_whole():
    matrix = np.array([0] * 90 + list(range(1, 11)), dtype=np.float64)[:, None]
    fit_normalizer("binning", matrix, bins=4).apply(matrix)
    assert len(set(matrix[:90, 0])) == 1
    assert np.all(np.diff(matrix[:, 0]) >= 0)


def test_normalising_a_row_does_not_depend_on_other_rows():
    random = np.random.default_rng(1)
    matrix = random.normal(size=(5000, 120)).astype(np.float32)
    for name in BY_HAND:
        normalizer = fit_normalizer(name, matrix)
        whole = matrix.copy()
        normalizer.apply(whole)
        single = matrix[4321:4322].copy()
        normalizer.apply(single)
        np.testing.assert_array_equal(whole[4321:4322], single)


def test_a_stratified_fraction_keeps_the_shares_of_the_classes():
    labels = ["a"] * 60 + ["b"] * 30 + ["c"] * 9 + ["d"]
    table = Table.from_arrays(np.zeros((100, 1)), labels)
    train, held = split_rows(table, 0.25, seed=3)
    assert sorted([*train, *held]) == list(range(100))
    counts = np.bincount(table.class_codes[held], minlength=4).tolist()
    assert counts == [15, 8, 2, 0]  # 7.5 and 2.25 share what rounding leaves; d is never lost
    again = split_rows(table, 0.25, seed=3)
    np.testing.assert_array_equal(held, again[1])
    assert held.tolist() != split_rows(table, 0.25, seed=4)[1].tolist()


def test_a_fraction_of_a_regression_is_random_and_exact():
    table = Table.from_arrays(np.zeros((10, 1)), np.arange(10), task="regression")
    train, held = split_rows(table, 0.3, seed=1)
    assert (len(train), len(held)) == (7, 3)


def test_splits_that_leave_nothing():
    table = Table.from_arrays(np.zeros((2, 1)), ["a", "b"])
    with pytest.raises(DataError, match="takes no row for validation"):
        split_rows(table, 0.4, seed=0)
    table.held_out = np.array([True, True])
    with pytest.raises(DataError, match="none is left for training"):
        split_rows(table, None, seed=0)


def test_a_column_that_names_the_rows_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,label\n" + "".join(f"n{row},1,{row % 2}\n" for row in range(1500)))
    table = read_table(str(path), ReadOptions(categorical=("id",)))
    with pytest.raises(DataError, match=r"'id' has 1,500 levels.* exclude = \[\"id\"\]"):
        prepare(table, read_settings({}, {}))


def test_features_that_do_not_fit_into_memory_are_a_sentence():
    levels = tuple(str(level) for level in range(1 << 20))
    encoding = Encoding((Feature("c", 0, levels),))
    rows = 1 << 40
    table = Table((Column("c", 0, levels),), np.empty((rows, 0), np.float32), ())
    with pytest.raises(DataError, match=r"need .* TB of memory, more than there is"):
        encoding.encode(replace(table, codes=(np.broadcast_to(np.int32(0), 1),)))
