"""Reads blocks of plain rows by the compiled twin of `delimited`, which takes what this refuses.

It knows cells by their columns, and neither files nor faults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.texts import CodedTexts

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: What separates nothing here: what numbers are written with, ends rows and quotes cells.
_NO_DELIMITERS = frozenset('+-._"\r\n')


class PlainRows(NamedTuple):
    """Rows of a block: numbers [rows, columns asked for], NaN where they are missing, and texts by
    their columns; ``missing``: some numbers are; ``size``: bytes of the rows.
    """

    rows: int
    size: int
    missing: bool
    numbers: npt.NDArray[np.float64]
    texts: tuple[CodedTexts, ...]


class BlockReader:
    """Reads numbers and texts of some columns of ``width``; those of ``strict`` may not be missing.

    A text may be asked for several times, a number once.
    """

    def __init__(
        self,
        delimiter: str,
        point: str,
        width: int,
        numeric: Sequence[int],
        text: Sequence[int],
        strict: int | None = None,
    ) -> None:
        self._number_of, self._text_of = np.full((2, width), -1, np.int32)
        self._number_of[list(numeric)] = np.arange(len(numeric))
        self._different = tuple(dict.fromkeys(text))
        self._text_of[list(self._different)] = np.arange(len(self._different))
        self._texts = tuple(map(self._different.index, text))
        self._across = len(numeric)
        self._sizes = ord(delimiter), ord(point)
        self._strict = -1 if strict is None else strict

    def read(self, data: bytes, most: int) -> PlainRows | int | None:
        """Read up to ``most`` rows of UTF-8 text, all of which have to be plain.

        Return else the index of a column of numbers that certainly holds none, or None for other
        text.
        """
        numbers = np.empty((most, self._across))
        codes = np.empty((len(self._different), most), np.int32)
        sizes = (*self._sizes, most, self._across, len(self._different), self._strict)
        arrays = numbers, codes, self._number_of, self._text_of
        try:
            rows, size, failed, missing, levels = twins.table_read(data, *sizes, *arrays)
        except UnicodeDecodeError:
            return None
        if rows < 0:
            return failed if failed >= 0 else None
        different = [
            CodedTexts([_text(level) for level in found], code[:rows])
            for found, code in zip(levels, codes, strict=True)
        ]
        texts = tuple(different[each] for each in self._texts)
        return PlainRows(rows, size, bool(missing), numbers[:rows], texts)


def _text(level: str) -> str:
    """Return the text of a cell; quotes are in it only where it is quoted itself."""
    return level.replace('""', '"').strip()


def can_read(delimiter: str, numeric: Sequence[int | None]) -> bool:
    """Return whether there is a twin for rows with this delimiter and these columns of numbers."""
    plain = delimiter.isascii() and not delimiter.isalnum() and delimiter not in _NO_DELIMITERS
    return twins is not None and plain and len(set(numeric)) == len(numeric)


def lines_of(block: bytes, newline: bytes) -> int:
    """Return the number of lines that end in a block; ``bytes.count`` is slower than a sum in
    numpy.
    """
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == newline[0]))
