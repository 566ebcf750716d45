"""The format of a file of mapped arrays: arrays, then their table, then the table's place.

A file is written to a temporary one and seen whole or not at all. A file that was changed
afterwards is invalid: its time in the system differs from the one written in it.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine import stored
from netsharp_engine.atomic_files import AtomicFile
from netsharp_engine.data.storage.stores import (
    FileStore,
    Part,
    StoreError,
    blocks,
    mapped,
    write_rows,
)
from netsharp_engine.plain_files import open_plain

Array = npt.NDArray[Any]
#: What every file begins and ends with.
MARK = b"netsharp table 1\n"
#: After the table: its place, its length, its checksum.
TAIL = struct.Struct(f"<QQI{len(MARK)}s")
#: Arrays begin at multiples of a page.
PAGE = 4096
KINDS = "biuf"
#: The most bytes of the table of a file: names of levels and classes, edges of bins.
MOST_TABLE = 1 << 28


class KeptArrays(NamedTuple):
    """The contents of a file: arrays by name, mapped for reading, and plain values."""

    arrays: Mapping[str, Array]
    values: Mapping[str, Any]


class KeptStore(FileStore):
    """A store whose `last` arrays go at once into the file that is kept.

    Without `commit` nothing is left of it.  Raises StoreError.
    """

    def __init__(self, path: str) -> None:
        super().__init__(os.path.dirname(path))
        try:
            if os.path.islink(path):  # which would stay, and its target be replaced
                os.unlink(path)
            self._aside = AtomicFile(path)
            self._aside.stream.write(MARK)
        except OSError as error:
            raise StoreError(*error.args) from None
        self._path = path
        self._entries: dict[str, tuple[str, tuple[int, ...], int]] = {}
        #: Arrays that are in the file already, each with its offset.
        self._written: list[tuple[Array, int]] = []

    def __enter__(self) -> KeptStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._aside.discard()

    def last(self, rows: int, width: int, dtype: npt.DTypeLike, part: Part) -> Array:
        """Return a matrix [rows, width] that is computed block by block into the file that will be
        kept. StoreError where it cannot be written.
        """
        offset, kind = self._begin(), np.dtype(dtype)
        stream = self._aside.stream
        for cut in blocks(rows, width):
            write_rows(stream, part(cut), kind)
        try:
            stream.flush()
        except OSError as error:
            raise StoreError(*error.args) from None
        with _reopened(self._aside.path) as written:
            found = mapped(written, kind, (rows, width), offset)
        self._written.append((found, offset))
        return found

    def keep(self, name: str, array: Array) -> None:
        """Let an array be in the file by a name, once if it has several. Raises StoreError where it
        cannot be written. The array is [rows, ...].
        """
        offset = next((at for known, at in self._written if known is array), None)
        if offset is None:
            offset = self._begin()
            for cut in blocks(len(array), array[:1].size):
                write_rows(self._aside.stream, array[cut], array.dtype)
            self._written.append((array, offset))
        self._entries[name] = (array.dtype.str, array.shape, offset)

    def commit(self, values: Mapping[str, Any]) -> None:
        """Put the file with its table in its place. StoreError where that fails."""
        # Whole and even seconds: every file system keeps them, and other writers hardly have such.
        seconds = int(time.time()) // 2 * 2
        table = {"arrays": self._entries, "values": values, "written": seconds}
        text = json.dumps(table, separators=(",", ":")).encode()
        try:
            stream = self._aside.stream
            offset = stream.tell()
            stream.write(text + TAIL.pack(offset, len(text), zlib.crc32(text), MARK))
            stream.flush()
            os.utime(self._aside.path, (seconds, seconds))
            self._aside.commit()
        except OSError as error:
            raise StoreError(*error.args) from None

    def _begin(self) -> int:
        """Fill up to the next page; where that begins."""
        stream = self._aside.stream
        here = stream.tell()
        try:
            stream.write(bytes(-here % PAGE))
        except OSError as error:
            raise StoreError(*error.args) from None
        return here + -here % PAGE


def read_kept(path: str) -> KeptArrays | None:
    """Return the contents of a file; None where there is none, or it is damaged, changed or
    another's.
    """
    try:
        with open_plain(path, follow=False) as stream:
            table = read_table_of(stream)
            if table is None:
                return None
            arrays = {
                name: _mapped_entry(stream, entry)
                for name, entry in stored.table(table, "arrays").items()
            }
            return KeptArrays(arrays, stored.table(table, "values"))
    except (OSError, ValueError, TypeError):
        return None


def read_table_of(stream: BinaryIO) -> Mapping[str, Any] | None:
    """Return the table of an open file; None where it is not a whole file of ours. Raises
    OSError.
    """
    status = os.fstat(stream.fileno())
    if status.st_size < len(MARK) + TAIL.size or stream.read(len(MARK)) != MARK:
        return None
    stream.seek(-TAIL.size, os.SEEK_END)
    offset, length, checksum, mark = TAIL.unpack(stream.read(TAIL.size))
    if mark != MARK or length > MOST_TABLE or offset + length + TAIL.size != status.st_size:
        return None
    stream.seek(offset)
    text = stream.read(length)
    if zlib.crc32(text) != checksum:
        return None
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(table, dict) or table.get("written") != status.st_mtime:
        return None
    return table


def _mapped_entry(stream: BinaryIO, entry: Any) -> Array:
    """Return one array of the table; ValueError where it cannot be in the file."""
    kind, shape, offset = entry
    dtype = np.dtype(str(kind))
    sizes = tuple(stored.whole({"shape": size}, "shape") for size in shape)
    if dtype.kind not in KINDS or not sizes:
        raise ValueError("an array of numbers is needed")
    count = int(np.prod([*sizes, 1], dtype=object))
    at = stored.whole({"offset": offset}, "offset")
    if at % PAGE or at + count * dtype.itemsize > os.fstat(stream.fileno()).st_size:
        raise ValueError("an array does not lie in its file")
    return mapped(stream, dtype, sizes, at)


def _reopened(path: str) -> BinaryIO:
    try:
        return open_plain(path)
    except OSError as error:
        raise StoreError(*error.args) from None
