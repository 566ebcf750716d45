"""Minibatches of sentences side by side, from the beginning of the file in each epoch.

CNTK's two readers of sentences make them so (LMSequenceReader); the shuffle is that of the GNU
standard library of 2016.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import MinimalStandard
from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps, taken
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.cntk.samples.vocabulary import NoiseWords
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices, Packing
from netsharp_engine.program import Packed

#: The number of draws that are made at a time.
_DRAWN = 4096
_TWISTED, _STANDARD = 2**32 - 1, 2**31 - 3


class Grouping(NamedTuple):
    """The grouping of sentences: at most ``beside`` side by side (0: as many as a minibatch has
    room for), only of one length (``alike``), and of these only from the ``next`` sentences that
    are left, 0 for all.

    ``spare``: words of a sentence that are not samples and take room. ``sentences``: an epoch's
    size counts them. ``cuts``: a sentence of more steps than a minibatch has samples is cut into
    pieces, one minibatch each, with its neighbours of the same length.
    """

    beside: int = 1
    alike: bool = True
    next: int = 0
    spare: int = 0
    sentences: bool = False
    cuts: bool = False

    def groups(
        self, order: Sequence[int], lengths: Indices, samples: int
    ) -> Iterator[Sequence[int]]:
        """Yield groups of a block's sentences, given in this order."""
        if not self.alike:
            for at in range(0, len(order), self.beside):
                yield order[at : at + self.beside]
        elif self.next:
            yield from self._near(order, lengths)
        else:
            yield from self._alike(order, lengths, samples)

    def _alike(
        self, order: Sequence[int], lengths: Indices, samples: int
    ) -> Iterator[Sequence[int]]:
        """Yield the first sentence that is left, with those of its length after it."""
        waiting: dict[int, deque[int]] = defaultdict(deque)
        for one in order:
            waiting[int(lengths[one])].append(one)
        for one in order:
            same = waiting[int(lengths[one])]
            if not same or same[0] != one:
                continue  # it was taken
            room = (samples - 1) // (int(lengths[one]) + self.spare)
            yield [same.popleft() for _ in range(min(self.beside or max(room, 1), len(same)))]

    def _near(self, order: Sequence[int], lengths: Indices) -> Iterator[Sequence[int]]:
        """Yield the first sentence that is left, with those of its length that come next."""
        rest, held = iter(order), list[int]()
        while True:
            held += islice(rest, self.next - len(held))
            if not held:
                return
            length = lengths[held[0]]
            chosen = [one for one in held if lengths[one] == length][: self.beside]
            yield chosen
            taken = set(chosen)
            held = [one for one in held if one not in taken]


class Sentences(Sweeps):
    """The sentences of a file.

    ``randomize``: those of a block (a chunk) change places, by a ``seed`` that counts up from block
    to block; ``twisted`` ones by the 32-bit twister and from the epoch's number on.  ``noise``: the
    stream of labels, and what is drawn beside each word of it.
    """

    def __init__(
        self,
        sequences: Sequences,
        grouping: Grouping,
        randomize: bool,
        *,
        twisted: bool,
        noise: tuple[str, NoiseWords] | None = None,
    ) -> None:
        super().__init__(sequences, randomize)
        self._noise = noise
        assert sequences.lines is not None
        self._grouping, self._lengths, self._mersenne_draws = grouping, sequences.lines, twisted

    def widest(self, samples: int) -> int:
        """Return the most columns that a minibatch of ``samples`` samples can have."""
        beside = self._grouping.beside
        return beside * self.longest if beside else max(samples, self.longest)

    def epoch(self, number: int, size: int, samples: int) -> Iterator[Minibatch]:
        """Yield the minibatches of an epoch, which ends after the first sample beyond its size.
        Raises DataError where a sentence is longer than a minibatch.
        """
        self._demand_room(samples)
        chunks, grouping, done = self.sequences.chunks, self._grouping, 0
        if self._noise is not None:
            self._noise[1].begin(number)
        for block, end in enumerate(accumulate(chunks)):
            order: Sequence[int] = range(end - chunks[block], end)
            if self.randomize:
                order = shuffled_block(list(order), self._seed(number, block), self._mersenne_draws)
            for chosen in grouping.groups(order, self._lengths, samples):
                for batch in self._pieces(np.array(chosen, np.intp), self.cuts(samples)):
                    if size and done > size:
                        return
                    yield batch
                    done += len(chosen) if grouping.sentences else batch.samples

    def cuts(self, samples: int) -> int:
        """Return the steps after which minibatches of ``samples`` samples cut sentences; 0: they
        cut none.

        Source: LMSequenceReader/SequenceReader.cpp, GetMinibatchData.
        """
        grouping = self._grouping
        is_cut = grouping.cuts and grouping.beside and self.longest > samples
        return samples if is_cut else 0

    def _pieces(self, chosen: Indices, steps: int) -> Iterator[Minibatch]:
        """Yield sentences as one minibatch; those longer than ``steps``, which have one length, as
        several that follow each other.
        """
        whole, length = self.minibatch(chosen), int(self._lengths[chosen].max())
        if not steps or length <= steps:
            yield whole
            return
        rows, none = np.arange(len(chosen)), np.zeros(len(chosen), np.intp)
        for at in range(0, length, steps):
            long = none + min(steps, length - at)
            packing = Packing(len(chosen), int(long[0]), rows, none, long, none + at)
            columns = np.arange(at * packing.rows, at * packing.rows + packing.columns)
            inputs = {name: taken(one, columns, packing) for name, one in whole.inputs.items()}
            yield Minibatch(inputs, chosen, packing.samples, packing.columns)

    def minibatch(self, chosen: Indices) -> Minibatch:
        """Return the minibatch of the sentences with these indexes [sentences], side by side."""
        columns = len(chosen) * int(self._lengths[chosen].max())
        found = super().minibatch(chosen)._replace(columns=columns)
        return found if self._noise is None else self._drawn(found, *self._noise)

    def _drawn(self, batch: Minibatch, name: str, noise: NoiseWords) -> Minibatch:
        """Return a minibatch with noise in its labels, column after column."""
        one = batch.inputs[name]
        assert isinstance(one, Packed)
        assert isinstance(one.values, np.ndarray)
        labels = noise.labels(one.values[:, 0].astype(np.intp), str(one.values.dtype))
        return batch._replace(inputs={**batch.inputs, name: Packed(labels, one.packing)})

    def _seed(self, number: int, block: int) -> int:
        return (
            number + block + 1
            if self._mersenne_draws
            else number * len(self.sequences.chunks) + block
        )

    def _demand_room(self, samples: int) -> None:
        """Refuse a sentence that would have to be cut."""
        longest = int(self._lengths.max())
        if self._grouping.beside and longest > samples and not self._grouping.cuts:
            raise DataError(
                f"sentence {int(self._lengths.argmax()) + 1:,} has {longest:,} samples, more than "
                f"the {samples:,} of a minibatch, and none is cut: CNTK stops there, too. Set "
                f"minibatchSize={longest} or more: it is the bound of a sentence here, and no "
                "number that is computed with."
            )


def shuffled_block(places: list[int], seed: int, twisted: bool) -> list[int]:
    """Return these places in another order: each in turn exchanged with itself or one before it."""
    span = _TWISTED if twisted else _STANDARD
    draws = _mersenne_draws(seed) if twisted else _standard(seed)
    for here in range(1, len(places)):
        share = span // (here + 1)
        drawn = next(one for one in draws if one < share * (here + 1))
        there = drawn // share
        places[here], places[there] = places[there], places[here]
    return places


def _mersenne_draws(seed: int) -> Iterator[int]:
    """Yield the draws of the 32-bit Mersenne twister."""
    generator = np.random.RandomState(seed)
    while True:
        yield from generator.randint(0, 2**32, _DRAWN, np.uint32).tolist()


def _standard(seed: int) -> Iterator[int]:
    """Yield the draws of the minimal standard generator, from 0 on."""
    generator = MinimalStandard(seed)
    while True:
        yield from (generator.draws(_DRAWN).astype(np.int64) - 1).tolist()
