"""Writes predictions as CSV, JSON lines or Parquet, part by part; knows no model.

A file is written aside and renamed when everything is in it, so none is ever half there.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from netsharp_lsp.project.writing import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Columns = Mapping[str, Sequence[Any]]

SUFFIXES = ("csv", "jsonl", "parquet")


class WriteError(Exception):
    """Predictions that cannot be written, as a sentence."""


class Writer(Protocol):
    """Takes columns part by part; `finish` makes the file visible, `discard` leaves none."""

    def write(self, columns: Columns) -> None:
        """Write the next rows."""

    def finish(self) -> None:
        """Put the file in its place."""

    def discard(self) -> None:
        """Leave no file."""


def open_writer(path: str | None) -> Writer:
    """The writer for a path by its suffix; CSV on stdout without one.  Raises WriteError."""
    if path is None:
        return CsvWriter(sys.stdout)
    suffix = path.rpartition(".")[2].lower()
    if suffix not in SUFFIXES:
        raise WriteError(f"{path}: predictions end in {', '.join(f'.{s}' for s in SUFFIXES)}.")
    reason = refusal(path)
    if reason is not None:
        raise WriteError(reason)
    if suffix == "parquet":
        return ParquetFile(path)
    try:
        stream = open(aside(path), "w", encoding="utf-8", newline="")  # noqa: SIM115
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror}.") from None
    return CsvWriter(stream, path) if suffix == "csv" else LineWriter(stream, path)


def aside(path: str) -> str:
    """The name under which a file is written until it is whole."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, f".{name}.{os.getpid()}.part")


def _remove(stream: Any, path: str) -> None:
    """Close and remove a file; on a full disk it cannot even be closed."""
    with suppress(OSError):
        stream.close()
    os.unlink(path)


def text_of(value: Any) -> str:
    """A cell as text; nine digits name any float32."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def plain(value: Any) -> Any:
    """A value that JSON knows: what is not finite becomes null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class TextWriter:
    """What CSV and JSON lines share: a stream, and a file in its place at the end."""

    def __init__(self, stream: TextIO, path: str | None = None) -> None:
        self.stream = stream
        self.path = path

    def finish(self) -> None:
        """Put the file in its place; stdout is only flushed."""
        if self.path is None:
            self.stream.flush()
            return
        self.stream.close()
        os.replace(aside(self.path), self.path)

    def discard(self) -> None:
        """Remove what was written aside."""
        if self.path is not None:
            _remove(self.stream, aside(self.path))


class CsvWriter(TextWriter):
    """A header, then one row an answer."""

    def __init__(self, stream: TextIO, path: str | None = None) -> None:
        super().__init__(stream, path)
        self.rows = csv.writer(stream, lineterminator="\n")
        self.started = False

    def write(self, columns: Columns) -> None:
        """Write the next rows; the first call writes the header."""
        if not self.started:
            self.rows.writerow(columns)
            self.started = True
        for row in zip(*columns.values(), strict=True):
            self.rows.writerow([text_of(value) for value in row])


class LineWriter(TextWriter):
    """One JSON object a line."""

    def write(self, columns: Columns) -> None:
        """Write the next rows."""
        for row in zip(*columns.values(), strict=True):
            values = {name: plain(value) for name, value in zip(columns, row, strict=True)}
            self.stream.write(json.dumps(values, ensure_ascii=False) + "\n")


class ParquetFile:
    """One row group a part; needs pyarrow.  Raises WriteError without it."""

    def __init__(self, path: str) -> None:
        if find_spec("pyarrow") is None:
            raise WriteError(f"{path}: Parquet needs pyarrow: pip install 'netsharp[data]'.")
        self.path = path
        self.file: Any = None

    def write(self, columns: Columns) -> None:
        """Write the next rows."""
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({name: list(values) for name, values in columns.items()})
        if self.file is None:
            self.file = pyarrow.parquet.ParquetWriter(aside(self.path), table.schema)
        self.file.write_table(table)

    def finish(self) -> None:
        """Put the file in its place."""
        if self.file is not None:
            self.file.close()
            os.replace(aside(self.path), self.path)

    def discard(self) -> None:
        """Remove what was written aside."""
        if self.file is not None:
            _remove(self.file, aside(self.path))
