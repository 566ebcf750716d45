"""The order of samples over several chunks and within windows, against a second formulation."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.generators import Twister
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.order import shuffled
from netsharp_engine.cntk.samples.text_format import Sequences
from tests.cntk.training.experiments import made, run


class Draws:
    """One draw after the other."""

    def __init__(self, seed: int) -> None:
        self._all = iter(Twister(seed).draws(20_000).tolist())

    def below(self, first: int, last: int) -> int:
        return first + next(self._all) % (last - first)


class Chunk:
    """A chunk at its new place: where its samples and sequences begin, and its window."""

    def __init__(self, original: int, samples: int, sequences: int) -> None:
        self.original, self.samples, self.sequences = original, samples, sequences
        self.sample = self.sequence = self.first = self.last = 0


def by_the_letter(chunks: list[int], samples: list[int], sweep: int, window: int) -> list[int]:
    """Steps 1 to 3 of the order as they are described, one position after the other."""
    draws = Draws(sweep)
    order = list(range(len(chunks)))
    for place in range(len(order)):
        other = draws.below(0, len(order))
        order[place], order[other] = order[other], order[place]
    placed = [Chunk(one, samples[one], chunks[one]) for one in order]
    for before, one in pairwise(placed):
        one.sample = before.sample + before.samples
        one.sequence = before.sequence + before.sequences
    half = window // 2
    for number, one in enumerate(placed):
        before = placed[max(number - 1, 0)]
        one.first, one.last = (before.first, before.last) if number else (0, 1)
        while one.sample - placed[one.first].sample > half:
            one.first += 1
        one.first, one.last = min(one.first, number), max(one.last, number + 1)
        while one.last < len(placed):
            following = placed[one.last]
            if following.sample + following.samples - one.sample >= half:
                break
            one.last += 1
    begins = np.cumsum([0, *chunks])
    held = [
        (position, number)
        for number, one in enumerate(placed)
        for position in range(int(begins[one.original]), int(begins[one.original + 1]))
    ]

    def chunk_at(position: int) -> Chunk:
        return [one for one in placed if one.sequence <= position and one.sequences][-1]

    draws = Draws(sweep)
    for here in range(len(held)):
        own = chunk_at(here)
        begin = placed[own.first].sequence
        end = placed[own.last - 1].sequence + placed[own.last - 1].sequences
        while True:
            there = draws.below(begin, end)
            other = chunk_at(there)
            if own.first <= held[there][1] < own.last and other.first <= held[here][1] < other.last:
                held[here], held[there] = held[there], held[here]
                break
    return [position for position, _ in held]


@pytest.mark.parametrize("sweep", [0, 1, 7])
@pytest.mark.parametrize("window", [1, 2, 9, 10, 24, 60, 10_000])
@pytest.mark.parametrize(
    "chunks", [[5], [4, 2, 3], [3] * 12, [1, 9, 2, 2, 30, 1, 6], [1] * 20, [40, 1]]
)
def test_windows_of_chunks(chunks: list[int], window: int, sweep: int) -> None:
    expected = by_the_letter(chunks, chunks, sweep, window)
    assert shuffled(chunks, sweep, window) == expected
    assert sorted(expected) == list(range(sum(chunks)))


@pytest.mark.parametrize("window", [2, 30, 77, 10_000])
def test_windows_count_samples_and_not_sequences(window: int) -> None:
    chunks, samples = [4, 2, 3, 5, 1, 4], [40, 5, 3, 60, 30, 11]
    for sweep in range(4):
        expected = by_the_letter(chunks, samples, sweep, window)
        assert shuffled(chunks, sweep, window, samples) == expected


def test_a_window_over_all_is_no_window() -> None:
    for sweep in range(5):
        assert shuffled([6, 4, 9], sweep, 10**12) == shuffled([6, 4, 9], sweep)


@pytest.mark.parametrize(
    ("window", "worked"),
    [
        (
            2,
            [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 2, 1, 8, 6, 7, 4, 5, 3], [4, 5, 3, 7, 8, 6, 0, 2, 1]],
        ),
        (
            6,
            [[0, 1, 2, 4, 5, 3, 7, 6, 8], [0, 2, 1, 7, 8, 6, 5, 3, 4], [4, 5, 3, 8, 6, 7, 0, 2, 1]],
        ),
    ],
)
def test_worked_windows(window: int, worked: list[list[int]]) -> None:
    """Three chunks of three sequences."""
    assert [shuffled([3, 3, 3], sweep, window) for sweep in range(3)] == worked


def test_samples_move_no_further_than_their_window() -> None:
    chunks = [10] * 50
    chunk_order = [one // 10 for one in shuffled(chunks, 3, 1)[::10]]
    order = shuffled(chunks, 3, 40)
    for place, position in enumerate(order):
        assert abs(place // 10 - chunk_order.index(position // 10)) <= 2
    assert sorted(order) == list(range(500))
    assert order != sorted(order)


def test_sweeps_take_the_window_of_their_reader() -> None:
    lines = np.array([3, 1, 2, 2, 5, 1, 1, 4])
    values = {"x": np.arange(float(lines.sum()))[:, None]}
    sequences = Sequences(values, [3, 2, 3], [], lines)
    for window in (None, 4, 8):
        source = Sweeps(sequences, True, window)
        for sweep in range(3):
            found = [one for batch in source.epoch(sweep, 0, 5) for one in batch.sequences.tolist()]
            assert found == shuffled(sequences.chunks, sweep, window, [6, 7, 6])


def test_a_configuration_names_its_window(tmp_path: Path) -> None:
    """Chunks of few lines: a window changes the order, and one over all does not."""
    losses = {}
    for name, more in (
        ("plain", ""),
        ("all", "; randomizationWindow = 100000"),
        ("narrow", "; randomizationWindow = 20"),
        ("never", "; randomizationWindow = 0"),
        ("none", "; randomize = none"),
    ):
        folder = made(tmp_path / name)
        text = (folder / "net.cntk").read_text()
        message = f'file = "data.ctf" ; chunkSizeInBytes = 500 {more} ;'
        (folder / "net.cntk").write_text(text.replace('file = "data.ctf" ;', message, 1))
        answer, follower = run(folder, "command=learn")
        assert answer.code == 0, answer.complaints
        losses[name] = [one["loss"] for one in follower.epochs]
    assert losses["plain"] == losses["all"]
    assert losses["never"] == losses["none"]
    assert len({tuple(one) for one in losses.values()}) == 3
