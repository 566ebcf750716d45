"""What a reader is asked for and what it answers: columns by index, rows in chunks.

It knows no file format; every format's source speaks these two values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.reading.files import Meter

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Request:
    """The columns wanted, by index into ``Source.names``.

    ``numeric`` come as numbers, ``text`` as stripped text, ``either`` (a class label) as
    whichever its cells are.
    """

    numeric: tuple[int, ...] = ()
    text: tuple[int, ...] = ()
    either: int | None = None


@dataclass(slots=True)
class Chunk:
    """Some consecutive rows.

    ``numbers`` is float64 [count, len(request.numeric)], NaN where a cell is missing;
    ``texts`` one list per text column; ``lines`` the file's line (or row) of each row.
    """

    count: int
    numbers: npt.NDArray[np.float64]
    texts: tuple[Sequence[str], ...]
    either: npt.NDArray[np.float64] | Sequence[str] | None
    lines: Sequence[int]

    def head(self, count: int) -> Chunk:
        """The first ``count`` rows."""
        either = None if self.either is None else self.either[:count]
        texts = tuple(text[:count] for text in self.texts)
        return Chunk(count, self.numbers[:count], texts, either, self.lines[:count])


class Source(Protocol):
    """One table on disk.

    ``named`` says whether the names come from the file; ``line_word`` is what ``lines`` count;
    ``label`` and ``weight`` are columns that the format itself marks as such.
    """

    path: str
    names: tuple[str, ...]
    named: bool
    line_word: str
    label: str | None

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """All rows, in order; raises DataError."""
        ...
