"""The values that CNTK's binary files are made of, written and read with their places.

A number in a file never causes an allocation by itself: lengths are compared with the bytes that
are left, and numbers are views on the bytes that were read.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.values import CSC, CSR, LegacyShape, SparseValues

_WIDTHS = {2: "<f2", 4: "<f4", 8: "<f8"}
#: What the bytes of a file were read into.
Memory = bytes | bytearray
#: No name is longer.
_LONGEST = 10_000
_DENSE, _SPARSE, _MATRIX, _MATRIX_END = b"d", b"s", "BMAT", "EMAT"
_MATRIX_NAME = "unnamed"


class ModelFault(Exception):  # noqa: N818
    """A file that cannot be used; the text says what is wrong, to follow its name."""

    def __init__(self, words: str) -> None:
        # Names in a damaged file may hold anything.
        super().__init__("".join(one if one.isprintable() else "\ufffd" for one in words))


class BinaryWriting:
    """Bytes that grow."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def data(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)

    def pack(self, form: str, *values: Any) -> None:
        """Append numbers, formatted as by `struct`."""
        self._parts.append(struct.pack(f"<{form}", *values))

    def size(self, value: int) -> None:
        """Append a count."""
        self.pack("Q", value)

    def text(self, value: str) -> None:
        """Append a text, which a zero ends."""
        self._parts.append(value.encode("utf-16-le", "surrogatepass") + b"\0\0")

    def shape(self, value: tuple[int, ...]) -> None:
        """Append dimensions."""
        if isinstance(value, LegacyShape):
            channels, width, height = value
            self.pack("3Q", width, height, channels)
        else:
            self.pack(f"I{len(value)}I", len(value), *value)

    def matrix(self, values: Array, rows: int, name: str = _MATRIX_NAME) -> None:
        """Append an array of any shape as a matrix of ``rows``, whose columns follow each other in
        the array. Source: CNTK, Math/CPUMatrix.h, operator<<.
        """
        flat = np.ascontiguousarray(values).reshape(-1)
        self._parts.append(_DENSE)
        self._matrix_head(flat, name, 0)
        self.size(rows)
        self.size(flat.size // max(rows, 1))
        self._parts.append(flat.astype(_WIDTHS[flat.itemsize]).tobytes())
        self.text(_MATRIX_END)

    def sparse(self, given: SparseValues, name: str = _MATRIX_NAME) -> None:
        """Append a sparse matrix; the number of columns comes before that of rows."""
        self._parts.append(_SPARSE)
        self._matrix_head(given.values, name, given.form)
        self.size(given.values.size)
        self.size(given.columns)
        self.size(given.rows)
        if given.values.size:
            self._parts.append(np.asarray(given.values, _WIDTHS[given.values.itemsize]).tobytes())
            self._parts.append(np.asarray(given.indices, "<u8").tobytes())
            self._parts.append(np.asarray(given.starts, "<u8").tobytes())
        self.text(_MATRIX_END)

    def _matrix_head(self, values: Array, name: str, form: int) -> None:
        self.text(_MATRIX)
        self.size(values.itemsize)
        self.text(name)
        self.pack("i", form)


class BinaryReading:
    """Bytes that are read from the beginning; ModelFault names the byte from which they are
    invalid.
    """

    def __init__(self, data: Memory) -> None:
        self._data = data
        self._view = memoryview(data)
        self.at = 0

    @property
    def ended(self) -> bool:
        """Return whether no bytes are left."""
        return self.at == len(self._data)

    @property
    def left(self) -> int:
        """Return the number of bytes that are left."""
        return len(self._data) - self.at

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return len(self._data)

    def fault(self, words: str, at: int | None = None) -> ModelFault:
        """Return a fault at this place, or at another."""
        return ModelFault(f"byte {self.at if at is None else at:,}: {words}")

    def take(self, form: str) -> tuple[Any, ...]:
        """Read numbers, formatted as by `struct`. ModelFault where the file is truncated."""
        size = struct.calcsize(f"<{form}")
        return struct.unpack(f"<{form}", self._bytes(size))

    def size(self) -> int:
        """Read a count."""
        return int(self.take("Q")[0])

    def whole(self, form: str = "i") -> int:
        """Read a whole number."""
        return int(self.take(form)[0])

    def text(self) -> str:
        """Read a text, which a zero ends."""
        start = self.at
        limit = min(len(self._data), start + 2 * _LONGEST)
        end = self._data.find(b"\0\0", start, limit)
        while end >= 0 and (end - start) % 2:
            end = self._data.find(b"\0\0", end + 1, limit)
        if end < 0:
            raise self.fault("a text is expected, and does not end")
        try:
            found = self._data[start:end].decode("utf-16-le")
        except UnicodeDecodeError:
            raise self.fault("a text is expected", start) from None
        self.at = end + 2
        return found

    def expect(self, mark: str) -> None:
        """Read a mark of the format. ModelFault where another text is found."""
        at = self.at
        found = self.text()
        if found != mark:
            raise self.fault(f"'{mark}' is expected", at)

    def starts(self, mark: str) -> bool:
        """Return whether a mark comes next, without reading it."""
        coded = mark.encode("utf-16-le") + b"\0\0"
        return self._data.startswith(coded, self.at)

    def find(self, mark: str, at: int) -> int:
        """Return where a text occurs next, -1 where it does not."""
        return self._data.find(mark.encode("utf-16-le") + b"\0\0", at)

    def shape(self) -> tuple[int, ...]:
        """Read dimensions."""
        rank = self.whole("I")
        if 4 * rank > len(self._data) - self.at:
            raise self.fault(
                f"a shape of {rank:,} dimensions does not fit into the file", self.at - 4
            )
        return tuple(int(one) for one in self.take(f"{rank}I"))

    def old_shape(self) -> tuple[int, ...]:
        """Read dimensions, or width, height and channels of an image as older files have them.

        [0 x 0 x 0], a change of shape to no image, begins as an image of width 3 does, whose height
        is not 0.
        """
        at = self.at
        if self.left >= 8:
            rank, first = self.take("II")
            none = rank == 3 and self.left >= 8 and self.take("II") == (0, 0)
            self.at = at
            if rank and not first and not none:
                width, height, channels = self.take("3Q")
                return LegacyShape((channels, width, height))
        return self.shape()

    def matrix(self) -> Array:
        """Read numbers column by column, as a flat view on the file."""
        found = self.any_matrix()[0]
        assert not isinstance(found, SparseValues)
        return found

    def any_matrix(self, *, sparse: bool = False) -> tuple[Array | SparseValues, int, int, str]:
        """Read numbers as a view on the file; return them, where they begin, rows, and the matrix's
        name. The view is flat, in the order of the file: column by column. Raises ModelFault where
        there is no matrix.
        """
        at, kind = self.at, bytes(self._bytes(1))
        if kind != _DENSE and not (sparse and kind == _SPARSE):
            raise self.fault("a matrix is expected", at)
        self.expect(_MATRIX)
        width = self.size()
        if width not in _WIDTHS:
            raise self.fault(f"numbers of {width:,} bytes are not read", self.at - 8)
        name = self.text()
        form = self.whole()
        if kind == _SPARSE:
            sparse_values, begin = self._sparse(form, width)
            self.expect(_MATRIX_END)
            return sparse_values, begin, sparse_values.rows, name
        rows, columns = self.size(), self.size()
        begin = self.at
        found = np.frombuffer(self._bytes(rows * columns * width), _WIDTHS[width])
        self.expect(_MATRIX_END)
        return found, begin, rows, name

    def _sparse(self, form: int, width: int) -> tuple[SparseValues, int]:
        if form not in (CSC, CSR):
            raise self.fault(f"a sparse matrix of format {form} is not read", self.at - 4)
        count, columns, rows = self.size(), self.size(), self.size()
        outer = columns if form == CSC else rows
        begin = self.at
        values = np.frombuffer(self._bytes(count * width), _WIDTHS[width])
        indices = np.frombuffer(self._bytes(count * 8), "<u8")
        starts = np.frombuffer(self._bytes((outer + 1) * 8 if count else 0), "<u8")
        inner = rows if form == CSC else columns
        orderly = not count or (
            starts[0] == 0 and starts[-1] == count and bool((starts[1:] >= starts[:-1]).all())
        )
        if not orderly or (count and int(indices.max()) >= inner):
            raise self.fault("the places of a sparse matrix do not fit its shape", begin)
        return SparseValues(form, rows, columns, values, indices, starts), begin

    def _bytes(self, count: int) -> memoryview:
        left = len(self._data) - self.at
        if count > left:
            raise self.fault(
                f"{count:,} bytes are expected, and {left:,} are left: it is truncated"
            )
        found = self._view[self.at : self.at + count]
        self.at += count
        return found
