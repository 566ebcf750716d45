"""Faults of lines of data: counted until there are too many, or all kept.

It must not know any format; a reader provides the sentence and the place.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from netsharp_engine.data.errors import DataError
from netsharp_engine.limits import DATA_FAULTS, DATA_FAULTS_BYTES

#: The most warnings that are reported one by one.
_MOST_WARNINGS = 20


class LineFault(NamedTuple):
    """A sentence without its end about bytes of a ``line`` (from 1); those of ``text`` from
    ``start`` to ``end`` are wrong, and none where the whole line is meant.

    ``counts``: it is one of the errors that are allowed up to a number; ``ends``: it is allowed
    never.
    """

    line: int
    text: bytes
    start: int
    end: int
    words: str
    counts: bool = True
    ends: bool = False
    fate: str = ""

    @property
    def place(self) -> str:
        """Return the line, and the column where one is meant, from 1 in characters."""
        where = f"line {self.line:,}"
        if self.end <= self.start:
            return where
        before = self.text[: self.start].decode("utf-8", "replace")
        return f"{where}, column {len(before) + 1:,}"


class LineFaults(Protocol):
    """A receiver of faults."""

    def add(self, fault: LineFault) -> None:
        """Take one; DataError where reading ends with it."""

    def finish(self) -> list[str]:
        """Return the warnings, at the end of the file."""


class AllowedFaults:
    """Lets errors of a file pass up to a number; the first beyond is a DataError."""

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most = path, most
        self._errors = self._warned = 0
        self._warnings: list[str] = []

    def add(self, fault: LineFault) -> None:
        """Count a fault, or keep it as a warning. DataError with the first one that is not
        allowed.
        """
        where = f"{self._path}, {fault.place}: {fault.words}"
        if fault.ends:
            raise DataError(_sentence(where))
        if fault.counts:
            self._errors += 1
            if self._errors > self._most:
                raise DataError(
                    f"{_sentence(where)} The maximum number of allowed errors was reached "
                    f"(maxErrors={self._most}). Fix the file, or allow more."
                )
        self._warned += 1
        if self._warned <= _MOST_WARNINGS:
            fate = f"; {fault.fate}" if fault.counts else ""
            self._warnings.append(_sentence(where + fate))

    def finish(self) -> list[str]:
        """Return the warnings, of many only the first."""
        if self._warned > _MOST_WARNINGS:
            self._warnings.append(f"{self._path}: {self._warned - _MOST_WARNINGS:,} more warnings.")
        return self._warnings


class DataSurvey:
    """Keeps every fault of a file, up to a bound, and lets reading go on."""

    def __init__(self) -> None:
        self.faults: list[LineFault] = []
        #: LineFaults that are only counted, and the errors among all.
        self.unlisted = self.errors = 0
        self._bytes = 0

    def add(self, fault: LineFault) -> None:
        """Take a fault."""
        self.errors += fault.counts
        known = bool(self.faults) and self.faults[-1].line == fault.line
        more = 0 if known else len(fault.text)
        if len(self.faults) >= DATA_FAULTS.most or self._bytes + more > DATA_FAULTS_BYTES.most:
            self.unlisted += 1
            return
        self._bytes += more
        self.faults.append(fault)

    def finish(self) -> list[str]:
        """Return no warnings: all faults are kept."""
        return []


class IgnoredFaults:
    """A receiver that ignores faults: all of them were reported when the file was read first."""

    def add(self, fault: LineFault) -> None:
        """Pass over a fault."""

    def finish(self) -> list[str]:
        """Return no warnings."""
        return []


def _sentence(words: str) -> str:
    return words if words.endswith((".", "?")) else f"{words}."
