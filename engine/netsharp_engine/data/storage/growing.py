"""A matrix that grows by rows without ever being in memory twice."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.errors import DataError
from netsharp_engine.memory import free_memory, shown_bytes

Scalar = TypeVar("Scalar", bound=np.generic)

FIRST_BYTES = 1 << 18
LARGEST_BYTES = 1 << 26


class GrowingMatrix(Generic[Scalar]):
    """Rows of ``width`` numbers collected in blocks and joined at the end.

    Blocks grow to 64 MB; joining frees each one after its copy, so that the peak is the size of
    the matrix plus one block.  Untouched parts of a block cost no memory.
    """

    def __init__(self, width: int, dtype: type[Scalar] | np.dtype[Scalar]) -> None:
        self._width = width
        self._dtype: np.dtype[Scalar] = np.dtype(dtype)
        self._blocks: list[npt.NDArray[Scalar]] = []
        self._filled = 0
        self.rows = 0

    def append(self, values: npt.NDArray[np.generic]) -> None:
        """Add rows [n, width], converted to the matrix's type."""
        start = 0
        while start < len(values):
            room = len(self._blocks[-1]) - self._filled if self._blocks else 0
            if not room:
                self._add_block(len(values) - start)
                room = len(self._blocks[-1])
            count = min(room, len(values) - start)
            block = self._blocks[-1]
            block[self._filled : self._filled + count] = values[start : start + count]
            self._filled += count
            start += count
        self.rows += len(values)

    def _add_block(self, least: int) -> None:
        row_bytes = max(self._width * self._dtype.itemsize, 1)
        size = min(max(self.rows * row_bytes, FIRST_BYTES), LARGEST_BYTES)
        rows = max(size // row_bytes, min(least, LARGEST_BYTES // row_bytes), 1)
        free = free_memory() if size == LARGEST_BYTES else None
        if free is not None and free < rows * row_bytes:
            raise self._no_room(free)
        self._blocks.append(np.empty((rows, self._width), self._dtype))
        self._filled = 0

    def _no_room(self, free: int) -> DataError:
        taken = shown_bytes(self.rows * self._width * self._dtype.itemsize)
        return DataError(
            f"{self.rows:,} rows take {taken} of memory, and {shown_bytes(free)} are free. "
            "Use fewer rows (rows = N) or leave columns out (exclude)."
        )

    def take(self) -> npt.NDArray[Scalar]:
        """Return the matrix [rows, width]; the collection is empty afterwards."""
        blocks, rows = self._blocks, self.rows
        try:
            result = np.empty((rows, self._width), self._dtype)
        except MemoryError:
            raise self._no_room(free_memory() or 0) from None
        blocks.reverse()
        done = 0
        while blocks:
            block = blocks.pop()
            count = min(len(block), rows - done)
            result[done : done + count] = block[:count]
            done += count
        self.rows = self._filled = 0
        return result

    def joined(self) -> npt.NDArray[Scalar]:
        """Return the matrix [rows, width]; more rows may follow."""
        result = self.take()
        self._blocks = [result]
        self.rows = self._filled = len(result)
        return result
