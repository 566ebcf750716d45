"""Figures of merit computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netsharp_engine.limits import CONFUSION_CLASSES
from netsharp_engine.train import metrics
from netsharp_engine.train.metrics import (
    BaselineTally,
    NumberTally,
    auc,
    make_tally,
    tally_bytes,
    trivial_answer,
)
from netsharp_engine.train.objective import Objective
from netsharp_engine.train.report import Report

THREE = Objective(("a", "b", "c"), 3, "softmax", "cross entropy")
ONE = Objective(("no", "yes"), 1, "sigmoid", "binary cross entropy")
SIGMOIDS = Objective(("a", "b"), 2, "sigmoid", "binary cross entropy")
NUMBER = Objective(None, 1, "linear", "squared error")


def test_classes_by_hand():
    tally = make_tally(THREE)
    outputs = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])
    tally.add(outputs, np.array([0, 1, 2]), np.array([1.0, 1.0, 2.0]))
    found = tally.metrics()
    assert found["accuracy"] == 0.5
    assert found["log_loss"] == pytest.approx((2 * math.log(2) + 2 * math.log(4)) / 4)
    assert "auc" not in found
    # beside the true class: 1/4 and 1/4; 1/4 and 1/4; 1/2 and 1/4 (twice)
    wrong = -(4 * math.log(0.75) + 2 * math.log(0.5) + 2 * math.log(0.75)) / 4
    assert found["mean_error"] == pytest.approx(found["log_loss"] + wrong)
    assert tally.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [2, 0, 0]]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("objective", [THREE, ONE, SIGMOIDS])
def test_batches_count_alike_one_by_one_and_together(objective, order, monkeypatch):
    """To the last bit: a run that is resumed elsewhere reports the same figures."""
    random = np.random.default_rng(11)
    classes, found = len(objective.classes), []
    batches = [
        (
            np.asarray(
                random.random((64 - number % 3, objective.outputs), np.float32), order=order
            ),
            random.integers(0, classes, 64 - number % 3),
            random.uniform(0, 2, 64 - number % 3),
        )
        for number in range(300)
    ]
    for held in (1, 1000, metrics.HELD_NUMBERS):
        monkeypatch.setattr(metrics, "HELD_NUMBERS", held)
        tally = make_tally(objective)
        for batch in batches:
            tally.add(*batch)
        found.append((tally.rows, tally.confusion.tolist(), tally.metrics()))
    assert found[0] == found[1] == found[2]


def test_more_classes_than_anybody_reads_have_figures_and_no_confusion_matrix():
    count = CONFUSION_CLASSES.most + 1
    many = Objective(tuple(map(str, range(count))), count, "linear", "squared error")
    few = Objective(many.classes[1:], count - 1, "linear", "squared error")
    random = np.random.default_rng(7)
    outputs, codes = random.random((40, count)), random.integers(0, count, 40)
    outputs[np.arange(0, 40, 2), codes[::2]] = 2
    tally = make_tally(many)
    tally.add(outputs, codes, np.ones(40))
    assert tally.confusion is None
    assert tally.metrics()["accuracy"] == np.mean(np.argmax(outputs, axis=1) == codes) >= 0.5
    assert make_tally(few).confusion.shape == (count - 1, count - 1)
    assert tally_bytes(few, 64).total() > 48 * (count - 1) ** 2 > tally_bytes(many, 64).total()


def test_one_output_is_the_second_class():
    tally = make_tally(ONE)
    tally.add(np.array([[0.8], [0.3], [0.5], [0.1]]), np.array([1, 0, 1, 0]), np.ones(4))
    found = tally.metrics()
    assert found["accuracy"] == 0.75  # 0.5 is not above one half
    expected = -(math.log(0.8) + math.log(0.7) + math.log(0.5) + math.log(0.9)) / 4
    assert found["log_loss"] == pytest.approx(expected)
    assert found["auc"] == 1.0


def test_sigmoids_are_divided_by_their_sum():
    found = SIGMOIDS.probabilities(np.array([[0.5, 0.25], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3], [0.5, 0.5]])


def test_numbers_by_hand():
    tally = make_tally(NUMBER)
    tally.add(np.array([[1.0], [2.0]]), np.array([2.0, 2.0]), np.ones(2))
    tally.add(np.array([[5.0]]), np.array([5.0]), np.ones(1))
    found = tally.metrics()
    assert found["rmse"] == pytest.approx(math.sqrt(1 / 3))
    assert found["r2"] == pytest.approx(1 - 1 / 6)


def test_numbers_that_come_in_parts_have_the_figures_of_the_whole():
    random = np.random.default_rng(3)
    targets = 1e6 + random.normal(size=1000)
    outputs = (targets + random.normal(size=1000))[:, None]
    weights = random.uniform(size=1000) * (random.uniform(size=1000) > 0.3)
    tally = NumberTally()
    for part in np.array_split(np.arange(1000), [0, 1, 7, 400]):
        tally.add(outputs[part], targets[part], weights[part])
    mean = np.average(targets, weights=weights)
    spread = np.average(np.square(targets - mean), weights=weights)
    error = np.average(np.square(outputs[:, 0] - targets), weights=weights)
    assert tally.metrics() == pytest.approx({"rmse": math.sqrt(error), "r2": 1 - error / spread})


def test_equal_numbers_have_no_spread():
    tally = NumberTally()
    for _ in range(3):
        tally.add(np.zeros((7, 1)), np.full(7, 0.1), np.full(7, 0.3))
    assert list(tally.metrics()) == ["rmse"]


def test_auc_counts_pairs_and_halves_ties():
    random = np.random.default_rng(0)
    scores = random.integers(0, 6, 60).astype(float)
    truths = random.random(60) < 0.4
    weights = random.integers(1, 4, 60).astype(float)
    wins = total = 0.0
    for i in np.flatnonzero(truths):
        for j in np.flatnonzero(~truths):
            pair = weights[i] * weights[j]
            total += pair
            wins += pair * (1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j]))
    assert auc(scores, truths, weights) == pytest.approx(wins / total)
    assert auc(scores, np.ones(60, bool)) is None


def test_the_baseline_answers_the_most_frequent_class_or_the_mean():
    codes = np.array([0, 2, 2, 2, 1])
    answer = trivial_answer(THREE, [(codes, np.ones(5))])
    assert answer == pytest.approx((0.2, 0.2, 0.6))
    tally = BaselineTally(THREE, answer)
    tally.add(np.empty((5, 3)), codes, np.ones(5))
    found = tally.metrics()
    assert found["accuracy"] == pytest.approx(0.6)
    assert found["log_loss"] == pytest.approx(-(2 * math.log(0.2) + 3 * math.log(0.6)) / 5)
    assert trivial_answer(NUMBER, [(np.array([1.0, 4.0]), np.array([2.0, 1.0]))]) == (2.0,)


def test_the_mean_error_of_an_untrained_network_of_three_classes_is_that_of_the_hosts_log():
    """1.91 = -ln(1/3) - 2 ln(2/3), as the printed logs start."""
    tally = make_tally(THREE)
    tally.add(np.full((3, 3), 1 / 3), np.array([0, 1, 2]), np.ones(3))
    assert tally.metrics()["mean_error"] == pytest.approx(1.9095, abs=1e-4)


def test_a_report_reads_well():
    report = Report(
        "test",
        1234,
        0.25,
        {"accuracy": 0.9},
        {"accuracy": 0.5},
        ("cat", "dog"),
        [[600, 17], [100.5, 517]],
    )
    assert report.lines() == [
        "test: 1,234 rows (in brackets: always answering the most frequent class)",
        "  loss      0.25",
        "  accuracy  90.00%  (50.00%)",
        "  confusion (rows: true class, columns: predicted)",
        "         cat   dog",
        "  cat    600    17",
        "  dog  100.5   517",
    ]
    assert Report.from_json(report.to_json()) == report


def test_scores_that_are_counted_give_the_area_of_pairs() -> None:
    """To the last bit, whatever is added later, and also where weights come late."""
    chance = np.random.default_rng(4)
    tally = make_tally(ONE)
    scores = chance.integers(0, 40, 900) / 40
    codes = chance.integers(0, 2, 900)
    weights = np.where(np.arange(900) < 600, 1.0, chance.uniform(0, 3, 900))
    for start in range(0, 900, 60):
        cut = slice(start, start + 60)
        tally.add(scores[cut, None], codes[cut], weights[cut])
        seen = slice(0, start + 60)
        area = auc(scores[seen], codes[seen] == 1, weights[seen])
        assert area is not None
        found = tally.metrics()["auc"]
        assert found == area if start < 600 else found == pytest.approx(area, rel=1e-12)
