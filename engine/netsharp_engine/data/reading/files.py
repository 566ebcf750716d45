"""Finds data files, detects their kind from their first bytes and opens them decompressed.

It must not know tables: only paths, bytes, and the progress of reading all files.
"""

from __future__ import annotations

import glob
import gzip
import os
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, cast

from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.data.reading.standard_input import NAME, spooled_input
from netsharp_engine.excerpt import excerpt
from netsharp_engine.plain_files import open_plain

GZIP = b"\x1f\x8b"
IDX_TYPES = frozenset((0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E))
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """The progress of reading: bytes as stored on disk, rows, and seconds."""

    bytes_read: int
    bytes_total: int
    rows: int
    seconds: float

    @property
    def remaining(self) -> float | None:
        """Return the estimated seconds left; None before anything was read."""
        if not self.bytes_read:
            return None
        return self.seconds * max(self.bytes_total - self.bytes_read, 0) / self.bytes_read


ProgressCallback = Callable[[ReadProgress], None]


class Meter:
    """Counts bytes over several files and calls back at most every ``interval`` seconds."""

    def __init__(
        # Ten times a second: as often as an eye follows.
        self,
        paths: Sequence[str],
        callback: ProgressCallback | None,
        interval: float = 0.1,
    ) -> None:
        self._callback = callback
        self._interval = interval
        self._total = sum(os.path.getsize(path) for path in paths) if callback else 0
        self._done = 0
        self._rows = 0
        self._start = self._last = time.perf_counter()

    def add_rows(self, count: int) -> None:
        """Count rows that were read."""
        self._rows += count

    def at(self, position: int) -> None:
        """Report that ``position`` bytes of the present file were read."""
        if self._callback is None:
            return
        now = time.perf_counter()
        if now - self._last >= self._interval:
            self._last = now
            self._report(self._done + position, now)

    def finish_file(self, path: str) -> None:
        """Report that the present file was read to its end."""
        if self._callback is not None:
            self._done += os.path.getsize(path)
            self._report(self._done, time.perf_counter())

    def _report(self, done: int, now: float) -> None:
        assert self._callback is not None
        self._callback(ReadProgress(done, self._total, self._rows, now - self._start))


def find_files(paths: str | Sequence[str], directory: str = ".") -> list[str]:
    """Return the files that paths and globs name, in order, relative ones below ``directory``.

    A glob's files come sorted; ``-`` is standard input. Raises DataError for nothing, a missing
    file or a directory.
    """
    names = [paths] if isinstance(paths, str) else list(paths)
    if not names:
        raise DataError("No data file is named. Give one with 'train' or --train.")
    found: list[str] = []
    for name in names:
        if name == NAME:
            found.append(spooled_input())
        else:
            found += _expand(os.fspath(name), directory)
    return found


def _expand(name: str, directory: str) -> list[str]:
    path = name if os.path.isabs(name) else os.path.normpath(os.path.join(directory, name))
    if os.path.isdir(path):
        raise DataError(f"{path} is a directory. Name its files or a glob such as {path}/*.csv.")
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        matches = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
        if matches:
            return matches
        raise DataError(f"No file matches {excerpt(path, 200)}.")
    raise DataError(f"There is no file {excerpt(path, 200)}.{_nearby(path)}")


def _nearby(path: str) -> str:
    parent = os.path.dirname(path) or "."
    if not os.path.isdir(parent):
        return f" There is no directory {excerpt(parent, 200)} either."
    hint = nearest(os.path.basename(path), os.listdir(parent))
    return hint if hint.startswith(" Did") else ""


def stem_suffix(path: str) -> str:
    """Return the lower-case suffix of a path, the one before ``.gz``."""
    lowered = path.lower()
    if lowered.endswith(".gz"):
        lowered = lowered[:-3]
    return os.path.splitext(lowered)[1]


def file_kind(path: str, *, named: bool = False) -> str:
    """Return ``text``, ``npz``, ``npy``, ``idx`` or ``parquet``, by the first bytes of the content.

    ``named``: the encoding of the text is given, which may hold any bytes. Raises DataError for an
    empty file and for content that is none of them.
    """
    head = head_bytes(path, 8)
    if not head:
        raise DataError(f"{path} is empty: a header or at least one row is needed.")
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PAR1"):
        return "parquet"
    if len(head) >= 4 and head[:2] == b"\0\0" and head[2] in IDX_TYPES and 0 < head[3] <= 8:
        return "idx"
    if not named and not head.startswith(WIDE_MARKS):
        _check_suffix(path, head)
    return "text"


def _check_suffix(path: str, head: bytes) -> None:
    suffix = stem_suffix(path)
    shown = head[:4].hex(" ")
    if "idx" in suffix or suffix.endswith("-ubyte") or path.removesuffix(".gz").endswith("-ubyte"):
        raise DataError(
            f"{path} is not an IDX file: it starts with {shown}, an IDX file with 00 00, the "
            "type of its numbers and the count of dimensions. Download or unpack it again."
        )
    if suffix in (".npz", ".parquet"):
        raise DataError(f"{path} is not a {suffix[1:]} file: it starts with {shown}.")
    if b"\0" in head:
        raise DataError(
            f"{path} is not a table that can be read: it starts with {shown}. "
            "Known are CSV, TSV, .npz, IDX and Parquet."
        )


def head_bytes(path: str, count: int) -> bytes:
    """Return the first ``count`` bytes of the content. Raises DataError where the file cannot be
    opened.
    """
    with open_bytes(path) as stream:
        return read_bytes(path, stream, count)


def open_bytes(path: str) -> BinaryIO:
    """Return the content of a file, decompressed if it is gzipped; raises DataError when it cannot
    be opened.
    """
    try:
        raw = open_plain(path)
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}.") from None
    start = raw.read(2)
    raw.seek(0)
    if start == GZIP:
        return cast(BinaryIO, GzipStream(raw))
    return raw


class GzipStream(gzip.GzipFile):
    """A gzip stream that owns its raw file and knows how much of it was read."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        super().__init__(fileobj=raw, mode="rb")

    def stored_position(self) -> int:
        """Return the bytes of the compressed file read so far."""
        return self._raw.tell()

    def close(self) -> None:
        """Close the stream and its raw file."""
        try:
            super().close()
        finally:
            self._raw.close()


def stored_position(stream: BinaryIO) -> int:
    """Return the bytes of the file on disk that were read so far."""
    if hasattr(stream, "stored_position"):
        position: int = stream.stored_position()
        return position
    return stream.tell()


def read_bytes(path: str, stream: BinaryIO, count: int = -1) -> bytes:
    """Read as ``stream.read`` does; DataError, a sentence, for a truncated or damaged gzip file."""
    try:
        return stream.read(count)
    except EOFError:
        raise DataError(
            f"{path} ends in the middle of its gzip stream: it was cut off. Copy it again."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        reason = excerpt(error)
        raise DataError(f"{path} is a damaged gzip file ({reason}). Copy it again.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def total_size(paths: Iterable[str]) -> int:
    """Return the bytes that the files take on disk."""
    return sum(os.path.getsize(path) for path in paths)
