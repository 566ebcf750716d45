"""Texts of rows, of which equal ones are stored once, so that a function of texts is computed few
times.

It must not know tables or files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt


class CodedTexts(Sequence[str]):
    """Texts of rows: ``levels`` in the order in which they come first, each at least once, and for
    each row the index of its level, ``codes`` [rows] (int32).
    """

    def __init__(self, levels: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        self.levels = levels
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> CodedTexts: ...

    def __getitem__(self, index: int | slice) -> str | CodedTexts:
        if isinstance(index, slice):
            return CodedTexts(self.levels, self.codes[index])
        return self.levels[int(self.codes[index])]

    def __iter__(self) -> Iterator[str]:
        return map(self.levels.__getitem__, self.codes.tolist())

    def mapped(self, change: Callable[[str], str]) -> CodedTexts:
        """Return texts with each level changed."""
        return CodedTexts([change(level) for level in self.levels], self.codes)


def coded_texts(texts: Sequence[str]) -> CodedTexts:
    """Return texts of rows with equal ones stored once."""
    index: dict[str, int] = {}
    codes = (index.setdefault(text, len(index)) for text in texts)
    found = np.fromiter(codes, np.int32, len(texts))
    return CodedTexts(tuple(index), found)


def numbered(texts: Sequence[str], number: Callable[[str], int]) -> npt.NDArray[np.int32]:
    """Return the number of each row's text [rows] (int32), asked for in the order of first
    occurrence.
    """
    if not isinstance(texts, CodedTexts):
        return np.fromiter(map(number, texts), np.int32, len(texts))
    numbers = np.full(len(texts.levels), -1, np.int32)
    for code in np.flatnonzero(np.bincount(texts.codes)).tolist():
        numbers[code] = number(texts.levels[code])
    return numbers[texts.codes]
