"""Writes predictions as CSV, JSON lines or Parquet, part by part; knows no model.

A file is written aside and renamed when everything is in it, so none is ever half there.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from netsharp_engine.atomic_files import AtomicFile
from netsharp_lsp.project.writing import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def open_writer(path: str | None, *, lines: bool = False) -> Writer:
    """Return the writer for a path by its suffix; without one for stdout, CSV or ``lines`` of JSON.

    Raises WriteError.
    """
    if path is None:
        return (LineWriter if lines else CsvWriter)(sys.stdout)
    suffix = path.rpartition(".")[2].lower()
    if suffix not in SUFFIXES:
        raise WriteError(f"{path}: predictions end in {', '.join(f'.{s}' for s in SUFFIXES)}.")
    reason = refusal(path)
    if reason is not None:
        raise WriteError(reason)
    if suffix == "parquet":
        return ParquetFile(path)
    with naming(path):
        file = AtomicFile(path)
    stream = io.TextIOWrapper(file.stream, encoding="utf-8", newline="")
    kind = CsvWriter if suffix == "csv" else LineWriter
    return kind(stream, file, path)


@contextmanager
def naming(path: str | None) -> Iterator[None]:
    """Let what cannot be written to a file be said of it by name."""
    try:
        yield
    except OSError as error:
        if path is None:
            raise
        raise WriteError(f"{path}: cannot be written: {error.strerror}.") from None


def text_of(value: Any) -> str:
    """Return a cell as text, empty for no answer; nine digits name any float32."""
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def plain(value: Any) -> Any:
    """Return a value for JSON: numbers that are not finite become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class TextWriter:
    """The common part of CSV and JSON lines: a stream, and a file in its place at the end."""

    def __init__(
        self, stream: TextIO, file: AtomicFile | None = None, path: str | None = None
    ) -> None:
        self.stream = stream
        self.file = file
        self.path = path

    def finish(self) -> None:
        """Put the file in its place; stdout is only flushed."""
        with naming(self.path):
            self.stream.flush()
            if self.file is not None:
                self.file.commit()

    def discard(self) -> None:
        """Remove the temporary file."""
        if self.file is not None:
            self.file.discard()


class CsvWriter(TextWriter):
    """A header, then one row an answer."""

    def __init__(
        self, stream: TextIO, file: AtomicFile | None = None, path: str | None = None
    ) -> None:
        super().__init__(stream, file, path)
        self.rows = csv.writer(stream, lineterminator="\n")
        self.started = False

    def write(self, columns: Columns) -> None:
        """Write the next rows; the first call writes the header."""
        with naming(self.path):
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
            with naming(self.path):
                self.stream.write(json.dumps(values, ensure_ascii=False) + "\n")


class ParquetFile:
    """One row group a part; needs pyarrow.  Raises WriteError without it."""

    def __init__(self, path: str) -> None:
        if find_spec("pyarrow") is None:
            raise WriteError(f"{path}: Parquet needs pyarrow: pip install 'netsharp[data]'.")
        self.path = path
        with naming(path):
            self.file = AtomicFile(path)
        self.rows: Any = None

    def write(self, columns: Columns) -> None:
        """Write the next rows."""
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({name: list(values) for name, values in columns.items()})
        with naming(self.path):
            if self.rows is None:
                self.rows = pyarrow.parquet.ParquetWriter(self.file.stream, table.schema)
            self.rows.write_table(table)

    def finish(self) -> None:
        """Put the file in its place."""
        with naming(self.path):
            if self.rows is not None:
                self.rows.close()
                self.file.commit()

    def discard(self) -> None:
        """Remove the temporary file."""
        self.file.discard()
