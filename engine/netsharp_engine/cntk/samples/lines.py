"""Opens a file of data and gives its lines; it must not know formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import BinaryIO

from netsharp_engine.data.errors import DataError
from netsharp_engine.limits import DATA_LINE
from netsharp_engine.plain_files import open_plain

#: Bytes that are read at a time.
_BLOCK = 1 << 15
_MARK, _OTHER_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: str) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """Yield the first line of a file without its byte order mark, and the lines after it, with
    their ends.

    DataError where it cannot be read, is empty, or has a line that is too long.
    """
    try:
        with open_plain(path) as file:
            lines = iter(partial(file.readline, DATA_LINE.most), b"")
            first = next(lines, b"")
            if first.startswith(_OTHER_MARKS):
                raise DataError(f"{path}: is UTF-16, which is not read. Save it as UTF-8.")
            if not first.removeprefix(_MARK):
                raise DataError(f"{path}: the file is empty.")
            bounded = _bounded(path, chain((first,), lines))
            yield next(bounded).removeprefix(_MARK), bounded
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None


@contextmanager
def opened_blocks(path: str) -> Iterator[Iterator[bytes]]:
    """Yield the lines of a file without its byte order mark, many at a time; only the last may lack
    its end.

    DataError as for `opened`.
    """
    try:
        with open_plain(path) as file:
            blocks = _blocks(path, file)
            first = next(blocks, b"")
            if first.startswith(_OTHER_MARKS):
                raise DataError(f"{path}: is UTF-16, which is not read. Save it as UTF-8.")
            if not first.removeprefix(_MARK):
                raise DataError(f"{path}: the file is empty.")
            yield chain((first.removeprefix(_MARK),), blocks)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None


def _blocks(path: str, file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines in blocks of about ``_BLOCK`` bytes. DataError for a line that is too
    long.
    """
    number = 0
    while block := file.read(_BLOCK):
        if not block.endswith(b"\n"):
            block += file.readline(DATA_LINE.most)
            start = block.rfind(b"\n", 0, -1) + 1
            if len(block) - start >= DATA_LINE.most + block.endswith(b"\n"):
                if start:
                    yield block[:start]
                number += block.count(b"\n", 0, start) + 1
                raise _too_long(path, number)
        number += block.count(b"\n")
        yield block


def _too_long(path: str, number: int) -> DataError:
    where = f"{path}, line {number:,}"
    return DataError(f"{where}: is longer than {DATA_LINE}, which is not read.")


def _bounded(path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines. DataError for one that is too long."""
    most = DATA_LINE.most
    for number, line in enumerate(lines, 1):
        if len(line) >= most and not line.endswith(b"\n"):
            raise _too_long(path, number)
        yield line


def marked(file: BinaryIO) -> int:
    """Return the number of bytes of the byte order mark with which a file begins."""
    return len(_MARK) if file.read(len(_MARK)) == _MARK else 0
