"""Some fuzzers for a third of a minute; `make laws` runs all a minute each, `make fuzz` longer."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from tests.collection import RESOLVING
from tests.costs import now
from tests.drawing import FULL
from tests.fuzz import campaign as campaigns
from tests.fuzz.campaign import FUZZERS, WEIGHTS, run, summary
from tests.fuzz.checking import check_bytes
from tests.fuzz.generator import count_edges, filling_pads

#: Both are reached, whatever the machine; a quick try sets them lower.
SECONDS = float(os.environ.get("NETSHARP_FUZZ_SECONDS", "60" if FULL else "5"))
INPUTS = int(os.environ.get("NETSHARP_FUZZ_INPUTS", "20000" if FULL else "2000"))
#: Texts that once failed, kept as they were.
FOUND = sorted((Path(__file__).parent / "found").glob("*.nn"))


@pytest.mark.drawn
@pytest.mark.parametrize("name", FUZZERS)
@pytest.mark.costly
def test_nothing_that_is_thrown_at_it_breaks_it(name: str, seed: int) -> None:
    inputs = INPUTS // WEIGHTS.get(name, 1)
    campaign = run(name, seed, SECONDS, inputs)
    print(summary(name, seed, campaign))
    assert not campaign.failures, summary(name, seed, campaign)
    assert campaign.inputs >= inputs


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_once_failed_does_no_more(path: Path) -> None:
    for context in (Context(), RESOLVING):
        check_bytes(path.read_bytes(), context)


def test_a_list_in_the_place_of_a_block_s_name_is_no_fault_of_ours() -> None:
    """Model files of the second format hold values of any kind under any name."""
    campaign = run("models", 7, 0, only=905)
    assert campaign.inputs == 12
    assert campaign.failures == []


@pytest.mark.parametrize("name", FUZZERS)
def test_a_seed_gives_the_same_texts_again(name: str) -> None:
    first, second = (run(name, 7, 0, 60) for _ in range(2))
    assert (first.trials, first.inputs) == (second.trials, second.inputs)
    assert first.failures == second.failures == []


def test_a_text_that_takes_long_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def trial(_chance: random.Random) -> Iterator[bytes]:
        yield b"quick"
        yield b"slow"
        until = now() + 0.6
        while now() < until:
            pass
        yield b"quick again"

    monkeypatch.setitem(FUZZERS, "slow", trial)
    monkeypatch.setattr(campaigns, "FOLDER", tmp_path)
    (failure,) = run("slow", 7, 0, 1).failures
    assert failure.text == b"slow"
    assert "4 bytes took 0.6" in failure.report
    assert (tmp_path / "slow-7-0.nn").read_bytes() == b"slow"


def test_the_generator_counts_as_the_guide_does() -> None:
    assert count_edges("s[0] == d[0]", (10, 20), (10, 12)) == 2400
    assert count_edges("abs(s[1] - d[1]) <= 1", (10, 20), (5, 20)) == 2900
    assert filling_pads(28, 5, 2) == [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1)]
