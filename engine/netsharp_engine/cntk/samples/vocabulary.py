"""Words by their numbers, and the classes that they fall into; knows no file of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices


class Vocabulary(NamedTuple):
    """The number of each word, how many numbers there are, and what stands for unknown words."""

    ids: Mapping[bytes, int]
    size: int
    unknown: bytes = b"<unk>"

    def find(self, word: bytes) -> int | None:
        """The number of a word, of an unknown one that of all such; None where that is none."""
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
        """For each word four numbers: itself, its class, the first word of that, and the one
        behind its last.
        """
        four = (words, self._of[words], self._begins[words], self._ends[words])
        return np.stack(four, axis=1).astype(dtype)
