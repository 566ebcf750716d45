"""A short storm; `python -m tests.torture` makes longer ones."""

from __future__ import annotations

import pytest

from tests.server.storm import storm

MESSAGES = 1_500
#: Seconds of the processor a message, on the average of a wave: most take less than one in 1,000.
SLOWEST = 0.25


@pytest.mark.costly
@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_leaves_the_server_as_it_was(seed: int) -> None:
    report = storm(MESSAGES, seed)
    print(report)
    assert report.faults == []
    assert report.sent == MESSAGES
    assert report.requests > MESSAGES / 2
    assert report.answers[0] > 100
    assert report.slowest < SLOWEST
    if any(report.memory.values()):
        assert report.memory[MESSAGES] < 1.5 * report.memory[MESSAGES // 3] + 2**24
