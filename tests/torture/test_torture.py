"""A glance at every row of the campaign, so that it works when it is wanted for hours."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("the campaign sends signals and sets limits of POSIX", allow_module_level=True)

from tests.bounds.bombs import Bomb
from tests.bounds.every import EVERY
from tests.torture.campaign import Report, Row, Scale, Try, run
from tests.torture.rows import ROWS
from tests.torture.rows.bombs import drawn

SEED = 1


@pytest.mark.parametrize("name", ROWS)
def test_a_row_finds_nothing(name: str) -> None:
    (outcome,) = run([ROWS[name]], 0, SEED, Scale.GLANCE)
    assert outcome.tries
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.cpu > 0


def test_a_try_is_the_same_again_and_its_failure_says_how() -> None:
    def attempt(one: Try) -> Report:
        return Report(1, [f"{one.number} {one.chance.random()}"])

    def fail(_one: Try) -> Report:
        raise ValueError("of the row's own")

    rows = [Row("drawn", "", attempt), Row("faulty", "", fail)]
    first, second = (list(run(rows, 0, 7, only=3)) for _ in range(2))
    assert [one.failures for one in first] == [one.failures for one in second]
    assert first[0].failures[0].endswith("(again: --row drawn --seed 7 --only 3)")
    assert "of the row's own" in first[1].failures[0]
    (long,) = run(rows[:1], 0, 7, Scale.LONG, only=3)
    assert long.failures[0].endswith("(again: --row drawn --seed 7 --only 3 --full)")


def test_a_seed_chooses_bombs_and_every_one_has_its_turn() -> None:
    def of(seed: int, number: int) -> Bomb:
        return drawn(Try(seed, number, random.Random(0), Path(), Scale.SHORT))

    assert {of(5, number) for number in range(len(EVERY))} == {*EVERY}
    assert [of(1, number) for number in range(9)] != [of(2, number) for number in range(9)]


def test_rows_share_the_time_and_each_tries_at_least_once() -> None:
    rows = [Row(name, "", lambda _: Report(1, [])) for name in ("a", "b")]
    assert [one.tries for one in run(rows, 0, 1)] == [1, 1]
    assert [one.tries for one in run(rows, 60, 1, most=5)] == [5, 5]
