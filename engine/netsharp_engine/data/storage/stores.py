"""The storage of a table's arrays: in memory, or in files that are mapped.

Code that computes with arrays sees no difference. It knows rows of numbers, and must not know
tables.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.storage.growing import GrowingMatrix

Array = npt.NDArray[Any]
#: Computes the rows [n, width] that a slice names.
Part = Callable[[slice], Array]
#: Numbers that are computed together.
BLOCK_NUMBERS = 1 << 18


class StoreError(OSError):
    """A file of a store cannot be written or mapped: mostly a disk that is full."""


class GrowingRows(Protocol):
    """A matrix that grows by rows."""

    rows: int

    def append(self, values: Array) -> None:
        """Add rows [n, width], converted to the matrix's type."""

    def take(self) -> Array:
        """Return the matrix [rows, width]; the collection is empty afterwards."""


class Store(Protocol):
    """Makes matrices, and knows whether these are in memory."""

    in_memory: bool

    def growing(self, width: int, dtype: npt.DTypeLike) -> GrowingRows:
        """Return a matrix [0, width] that grows."""

    def computed(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] that is computed block by block."""

    def last(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] of a training, which may stay when the store is gone."""


class MemoryStore:
    """Arrays in memory."""

    in_memory = True

    def growing(self, width: int, dtype: npt.DTypeLike) -> GrowingRows:
        """Return a matrix [0, width] that grows."""
        return GrowingMatrix(width, np.dtype(dtype))

    def computed(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] that is computed block by block."""
        result = np.empty((rows, width), dtype)
        for cut in blocks(rows, width):
            result[cut] = part(cut)
        return result

    last = computed


MEMORY = MemoryStore()


class FileStore:
    """Arrays in files of a folder, which have no name and so are gone with the process, however it
    ends.  Raises StoreError.

    Files are written, never changed through a map, where a full disk would end the process.
    """

    in_memory = False

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def growing(self, width: int, dtype: npt.DTypeLike) -> GrowingRows:
        """Return a matrix [0, width] that grows. Raises StoreError where no file can be made."""
        return _FileRows(self._folder, width, np.dtype(dtype))

    def computed(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] that is computed block by block. Raises StoreError where
        its file cannot be written.
        """
        result = self.growing(width, dtype)
        for cut in blocks(rows, width):
            result.append(part(cut))
        return result.take()

    def last(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] of a training. Raises StoreError where its file cannot be
        written.
        """
        return self.computed(rows, width, dtype, part)


class _FileRows:
    """A matrix that grows in a file."""

    def __init__(self, folder: str, width: int, dtype: np.dtype[Any]) -> None:
        self._width, self._dtype = width, dtype
        self.rows = 0
        try:
            self._stream: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise StoreError(*error.args) from None

    def append(self, values: Array) -> None:
        """Add rows [n, width], converted to the matrix's type."""
        write_rows(self._stream, values, self._dtype)
        self.rows += len(values)

    def take(self) -> Array:
        """Return the matrix [rows, width], mapped; it is written only where it is sorted in
        place.
        """
        try:
            with self._stream as stream:  # which writes at its end, too
                return mapped(stream, self._dtype, (self.rows, self._width), writable=True)
        except OSError as error:
            raise StoreError(*error.args) from None


def write_rows(stream: IO[bytes], values: Array, dtype: np.dtype[Any]) -> None:
    """Append numbers to a file in a type; StoreError where that fails. ``values`` are [rows, ...];
    they are written in row-major order.
    """
    try:
        stream.write(np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8).data)
    except OSError as error:
        raise StoreError(*error.args) from None


def mapped(
    stream: IO[bytes],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    offset: int = 0,
    *,
    writable: bool = False,
) -> Array:
    """Return an array [*shape] mapped from a file, which may be closed then; StoreError where that
    fails.
    """
    if 0 in shape:
        return np.empty(shape, dtype)
    try:
        stream.flush()
        found = np.memmap(stream, dtype, "r+" if writable else "r", offset, shape)
    except (OSError, ValueError) as error:
        raise StoreError(*error.args) from None
    # Slices of a memmap are slow to make.
    return found.view(np.ndarray)


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Cut rows into blocks of about ``BLOCK_NUMBERS`` numbers."""
    step = max(BLOCK_NUMBERS // max(width, 1), 1)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def make_folder(path: str) -> None:
    """Make a folder that only its owner sees; StoreError where that fails."""
    try:
        os.makedirs(path, 0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(*error.args) from None
