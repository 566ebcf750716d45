"""The order of samples: sweeps over the data, each shuffled by its own number (Readers/ReaderLib,
ChunkRandomizer and SequenceRandomizer).

Positions are those of sequences in the file; a chunk is a run of consecutive sequences. It must not
know files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain

from netsharp_engine.cntk.generators import Twister

#: The number of draws that are made at a time.
_DRAWN = 4096


def shuffled(
    chunks: Sequence[int],
    sweep: int,
    window: int | None = None,
    samples: Sequence[int] | None = None,
) -> list[int]:
    """Return the positions of all sequences in the order of a sweep; ``chunks`` are sizes in
    sequences.

    Chunks change places first, then sequences: over the whole set, or, with a ``window`` of that
    number of samples, in the chunks around their own. ``samples`` are those of each chunk, where a
    sequence may have more than one.
    """
    starts = [0, *accumulate(chunks)]
    order = _exchanged(list(range(len(chunks))), sweep)
    spans = (range(starts[chunk], starts[chunk + 1]) for chunk in order)
    places = list(chain.from_iterable(spans))
    sizes = chunks if samples is None else samples
    if window is None or len(chunks) == 1:
        return _exchanged(places, sweep)
    begins = [0, *accumulate(chunks[chunk] for chunk in order)]
    windows = _windows([sizes[chunk] for chunk in order], window // 2)
    return _exchanged_within(places, begins, windows, sweep)


def _exchanged(places: list[int], seed: int) -> list[int]:
    """Return places, each in turn exchanged with any other, not only with a later one."""
    count = len(places)
    for here, drawn in enumerate(Twister(seed).draws(count).tolist()):
        there = drawn % count
        places[here], places[there] = places[there], places[here]
    return places


def _windows(sizes: Sequence[int], reach: int) -> list[tuple[int, int]]:
    """Return, for each of some chunks, the first chunk and the one after the last among which its
    sequences move: those within a reach of its first sample.
    """
    ends = list(accumulate(sizes))
    found: list[tuple[int, int]] = []
    begin, end = 0, 1
    for chunk, last in enumerate(ends):
        start = last - sizes[chunk]
        while begin < chunk and start - (ends[begin] - sizes[begin]) > reach:
            begin += 1
        end = max(end, chunk + 1)
        while end < len(ends) and ends[end] - start < reach:
            end += 1
        found.append((begin, end))
    return found


def _exchanged_within(
    places: list[int], begins: Sequence[int], windows: Sequence[tuple[int, int]], seed: int
) -> list[int]:
    """Exchange each place in turn with one in its window, where both are allowed to move."""
    draws = _draws(seed)
    #: The chunk from which the sequence at a place comes.
    homes = [
        chunk for chunk in range(len(windows)) for _ in range(begins[chunk], begins[chunk + 1])
    ]
    for chunk, (first, last) in enumerate(windows):
        least, many = begins[first], begins[last] - begins[first]
        for here in range(begins[chunk], begins[chunk + 1]):
            while True:
                there = least + next(draws) % many
                other_first, other_last = windows[bisect_right(begins, there) - 1]
                if first <= homes[there] < last and other_first <= homes[here] < other_last:
                    break
            places[here], places[there] = places[there], places[here]
            homes[here], homes[there] = homes[there], homes[here]
    return places


def _draws(seed: int) -> Iterator[int]:
    """Yield all draws of a generator, one after the other."""
    twister = Twister(seed)
    while True:
        yield from twister.draws(_DRAWN).tolist()
