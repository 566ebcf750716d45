"""The request to a reader and its answer: columns by index, rows in chunks.

It must not know file formats; every format's source uses these two values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.reading.faults import TableFaults
from netsharp_engine.data.reading.files import Meter

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Request:
    """The columns wanted, by index into ``Source.names``.

    ``numeric`` come as numbers, ``text`` as stripped text, ``either`` (a class label) as
    whichever its cells are.  Faults are counted in ``faults``, where it is given, else raised;
    ``kinds`` says by column what a text in it is that should be a number, mostly ``text``,
    and ``numbers`` what index the first file gives a column.
    """

    numeric: tuple[int, ...] = ()
    text: tuple[int, ...] = ()
    either: int | None = None
    faults: TableFaults | None = None
    kinds: Mapping[int, str] = field(default_factory=dict)
    numbers: Mapping[int, int] = field(default_factory=dict)


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
        """Return the first ``count`` rows."""
        either = None if self.either is None else self.either[:count]
        texts = tuple(text[:count] for text in self.texts)
        return Chunk(count, self.numbers[:count], texts, either, self.lines[:count])


class Source(Protocol):
    """One table on disk.

    ``named`` says whether the names come from the file; ``line_word`` is what ``lines`` count;
    ``label`` and ``weight`` are columns that the format itself marks as such; ``texts`` are those
    that hold text, by their type where ``typed``, else by the first rows; ``counts``: the first has
    no name and seems to count rows.  ``remarks`` are sentences about how the file was
    read, ``doubles`` about names that two columns have.
    """

    path: str
    names: tuple[str, ...]
    named: bool
    line_word: str
    label: str | None
    texts: frozenset[int]
    typed: bool
    counts: bool
    remarks: list[str]
    doubles: tuple[str, ...]

    def chunks(self, request: Request, meter: Meter) -> Iterator[Chunk]:
        """Yield all rows, in order; raises DataError."""
        ...
