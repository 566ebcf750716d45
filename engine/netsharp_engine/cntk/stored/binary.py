"""The values that the original's binary files are made of, written and read with their places.

Nothing is asked of memory because a number in a file says so: lengths are compared with what is
left.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from netsharp_engine.cntk.generators import Array

_WIDTHS = {4: "<f4", 8: "<f8"}
#: No name is longer.
_LONGEST = 10_000
_DENSE, _MATRIX, _MATRIX_END = b"d", "BMAT", "EMAT"
_MATRIX_NAME = "unnamed"


class ModelFault(Exception):  # noqa: N818
    """A file that cannot be used; the text says what is wrong, behind its name."""


class BinaryWriting:
    """Bytes that grow."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def data(self) -> bytes:
        """All of them."""
        return b"".join(self._parts)

    def pack(self, form: str, *values: Any) -> None:
        """Numbers by their form, as `struct` calls it."""
        self._parts.append(struct.pack(f"<{form}", *values))

    def size(self, value: int) -> None:
        """A count."""
        self.pack("Q", value)

    def text(self, value: str) -> None:
        """A text, which a zero ends."""
        self._parts.append(value.encode("utf-16-le") + b"\0\0")

    def shape(self, value: tuple[int, ...]) -> None:
        """Dimensions."""
        self.pack(f"I{len(value)}I", len(value), *value)

    def matrix(self, values: Array, rows: int) -> None:
        """Numbers column by column."""
        flat = np.ascontiguousarray(values).reshape(-1)
        self._parts.append(_DENSE)
        self.text(_MATRIX)
        self.size(flat.itemsize)
        self.text(_MATRIX_NAME)
        self.pack("i", 0)
        self.size(rows)
        self.size(flat.size // max(rows, 1))
        self._parts.append(flat.astype(_WIDTHS[flat.itemsize]).tobytes())
        self.text(_MATRIX_END)


class BinaryReading:
    """Bytes that are read from the beginning; ModelFault names the byte where they stop to fit."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    @property
    def ended(self) -> bool:
        """Whether nothing is left."""
        return self.at == len(self._data)

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self.at

    def fault(self, words: str, at: int | None = None) -> ModelFault:
        """What is wrong here, or there."""
        return ModelFault(f"byte {self.at if at is None else at:,}: {words}")

    def take(self, form: str) -> tuple[Any, ...]:
        """Numbers by their form."""
        size = struct.calcsize(f"<{form}")
        return struct.unpack(f"<{form}", self._bytes(size))

    def size(self) -> int:
        """A count."""
        return int(self.take("Q")[0])

    def whole(self, form: str = "i") -> int:
        """A whole number."""
        return int(self.take(form)[0])

    def text(self) -> str:
        """A text, which a zero ends."""
        start, end = self.at, self.at
        limit = min(len(self._data), start + 2 * _LONGEST)
        while end + 2 <= limit and self._data[end : end + 2] != b"\0\0":
            end += 2
        if end + 2 > limit:
            raise self.fault("a text is expected, and does not end")
        self.at = end + 2
        try:
            return self._data[start:end].decode("utf-16-le")
        except UnicodeDecodeError:
            raise self.fault("a text is expected", start) from None

    def expect(self, mark: str) -> None:
        """A mark of the format."""
        at = self.at
        found = self.text()
        if found != mark:
            raise self.fault(f"'{mark}' is expected", at)

    def starts(self, mark: str) -> bool:
        """Whether a mark comes next; it stays there."""
        coded = mark.encode("utf-16-le") + b"\0\0"
        return self._data.startswith(coded, self.at)

    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        rank = self.whole("I")
        if 4 * rank > len(self._data) - self.at:
            raise self.fault(
                f"a shape of {rank:,} dimensions does not fit into the file", self.at - 4
            )
        return tuple(int(one) for one in self.take(f"{rank}I"))

    def matrix(self) -> Array:
        """Numbers column by column."""
        at = self.at
        if self._bytes(1) != _DENSE:
            raise self.fault("a dense matrix is expected; others are not read", at)
        self.expect(_MATRIX)
        width = self.size()
        if width not in _WIDTHS:
            raise self.fault(f"numbers of {width:,} bytes are not read", self.at - 8)
        self.text()
        self.whole()
        rows, columns = self.size(), self.size()
        found = np.frombuffer(self._bytes(rows * columns * width), _WIDTHS[width])
        self.expect(_MATRIX_END)
        return found.astype(found.dtype.newbyteorder("="))

    def _bytes(self, count: int) -> bytes:
        left = len(self._data) - self.at
        if count > left:
            raise self.fault(
                f"{count:,} bytes are expected, and {left:,} are left: it is truncated"
            )
        found = self._data[self.at : self.at + count]
        self.at += count
        return found
