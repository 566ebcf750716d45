"""Words by their numbers, their classes, and words that are drawn as noise; it must not know files
of samples.

Source: CNTK, Readers/LMSequenceReader/SequenceReader.h, ReadClassInfo and noiseSampler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices

#: CNTK's seed; of each later epoch the next one, as a run may begin with any.
_SEED = 1234
_SPAN, _WORDS = 2**32, 3


class Vocabulary(NamedTuple):
    """The number of each word, how many numbers there are, and what stands for unknown words."""

    ids: Mapping[bytes, int]
    size: int
    unknown: bytes = b"<unk>"

    def find(self, word: bytes) -> int | None:
        """Return the number of a word, or of the word for all unknown ones; None without such a
        word.
        """
        found = self.ids.get(word)
        return self.ids.get(self.unknown) if found is None else found


class Classes:
    """The class of each word; words of a class follow each other.

    DataError, a sentence without the file, where they do not.
    """

    def __init__(self, of: Sequence[int]) -> None:
        found = np.array(of, np.intp)
        if found.size and (found.min() < 0 or (np.diff(found) < 0).any()):
            word = int(np.argmax(np.diff(found, prepend=0) < 0))
            raise DataError(
                f"the class of word {word:,} is below that of the word before, and words have to "
                "be sorted by classes."
            )
        self._of: Indices = found
        # By word: a file may number its classes as high as it likes.
        self._begins: Indices = np.searchsorted(found, found)
        self._ends: Indices = np.searchsorted(found, found, side="right")

    def __len__(self) -> int:
        return len(self._of)

    def labels(self, words: Indices, dtype: str) -> Array:
        """Return four numbers for each word, [words, 4]: itself, its class, the first word of that,
        and the one after its last.
        """
        four = (words, self._of[words], self._begins[words], self._ends[words])
        return np.stack(four, axis=1).astype(dtype)


class NoiseWords:
    """Words by their frequencies, of which ``drawn`` are drawn as noise for each label, with the
    logarithms that noise-contrastive estimation needs.

    The draws are those of the GNU library of 2016 [CNTK:
    Readers/LMSequenceReader/SequenceReader.h]. DataError, a sentence without the file, where all
    frequencies are 0.
    """

    def __init__(self, counts: Sequence[float], drawn: int) -> None:
        found = np.array(counts, np.float64)
        if found.size == 0 or found.sum() <= 0 or (found < 0).any():
            raise DataError("no word comes more than never, so that none can be drawn as noise.")
        shares = found / found.sum()
        self.drawn = drawn
        with np.errstate(divide="ignore"):
            self._logs: Array = np.log(shares)
        self._ends: Array = np.cumsum(shares)
        self._ends[-1] = 1.0
        self.begin(0)

    @property
    def size(self) -> int:
        """Return the number of elements of a label."""
        return 2 * (self.drawn + 1)

    @property
    def words(self) -> int:
        """Return the number of words."""
        return len(self._logs)

    def begin(self, epoch: int) -> None:
        """Begin an epoch (from 0)."""
        self._generator = np.random.RandomState(_SEED + epoch)
        self._left = np.empty(0, np.uint32)

    def labels(self, words: Indices, dtype: str) -> Array:
        """Return, for each word, itself and the logarithm of its share, then each drawn word and
        minus the logarithm of its own, [words, 2 * (drawn + 1)].
        """
        found = np.empty((len(words), self.size), np.float64)
        found[:, 0], found[:, 1] = words, self._logs[words]
        drawn = self._samples(len(words) * self.drawn).reshape(len(words), self.drawn)
        found[:, 2::2], found[:, 3::2] = drawn, -self._logs[drawn]
        return found.astype(dtype)

    def _samples(self, count: int) -> Indices:
        """Return the next ``count`` words; each takes one draw that is discarded, and two that make
        one number.
        """
        past = _SPAN - 1 - (_SPAN - 1) % self.words
        blocks, known = [np.empty(0, np.intp)], 0
        while known < count:
            raw = self._draws((count - known) * _WORDS).reshape(-1, _WORDS)
            # A number beyond the last whole range is drawn again.
            again = np.flatnonzero(raw[:, 0] >= past)
            good = raw[: again[0]] if len(again) else raw
            self._left = raw[len(good) :].reshape(-1)[int(len(again) > 0) :]
            units = (good[:, 1] + good[:, 2] * float(_SPAN)) / float(_SPAN) ** 2
            units = np.minimum(units, np.nextafter(1.0, 0.0))
            blocks.append(np.searchsorted(self._ends, units).astype(np.intp))
            known += len(good)
        found: Indices = np.concatenate(blocks)
        return found

    def _draws(self, count: int) -> Array:
        known = self._left
        more = max(count - len(known), 0)
        fresh = self._generator.randint(0, _SPAN, more, np.uint32)
        found: Array = np.concatenate((known, fresh))
        self._left = found[count:]
        return found[:count].astype(np.float64)
