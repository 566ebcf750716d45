"""One line of CNTK's text format, read with care: its samples, and all that is wrong with it.

Source: CNTK, Readers/CNTKTextFormatReader/TextParser.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from netsharp_engine.cntk.samples.faults import LineFault, LineFaults
from netsharp_engine.data.errors import nearest
from netsharp_engine.excerpt import excerpt

_BETWEEN = bytes(range(10)) + bytes(range(11, 33))
_NUMBERS = re.compile(rb"(?:[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?:[ \t]+|\Z))*")
_ENTRIES = re.compile(rb"(?:[0-9]+:[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?:[ \t]+|\Z))*")
_WORD = re.compile(rb"\S+")
#: A sample: its numbers, and of a sparse one their indices.
Sample = tuple[Sequence[float], Sequence[int]]


class TextStream(NamedTuple):
    """A column: what the network calls it, what the file does, numbers of a sample.

    Of a ``sparse`` one a sample names those that are not 0, each by its index.
    """

    name: str
    alias: str
    dim: int
    sparse: bool = False


class _Fault(Exception):  # noqa: N818
    """A fault of a column: a sentence part that follows its place, and the place in bytes of the
    line.
    """

    def __init__(self, words: str, start: int, end: int) -> None:
        super().__init__(words)
        self.words, self.start, self.end = words, start, end


class CarefulLines:
    """Reads lines for some streams, and reports their faults."""

    def __init__(self, streams: Sequence[TextStream], faults: LineFaults) -> None:
        self._streams = {stream.alias.encode(): stream for stream in streams}
        self._faults = faults

    def samples(self, number: int, line: bytes, start: int) -> dict[str, Sample] | None:
        """Return the samples of a line by stream; None where they are lost."""
        found: dict[str, Sample] = {}
        head, *columns = line.split(b"|")
        before = head[start:]
        if before.strip(_BETWEEN):
            words = f"'{_shown(before)}' is before the first '|'"
            self._report(number, line, _Fault(words, *_bounds(before, start)))
        lost = False
        at = len(head) + 1
        for column in columns:
            if not column.startswith(b"#"):
                try:
                    self._column(number, line, (at, column), found)
                except _Fault as fault:
                    self._report(number, line, fault)
                    lost = True
            at += len(column) + 1
        if lost:
            return None
        if not found:
            self._report(number, line, _Fault("the line holds no column that is read", 0, 0))
            return None
        return found

    def _column(
        self, number: int, line: bytes, placed: tuple[int, bytes], found: dict[str, Sample]
    ) -> None:
        at, column = placed
        alias, _, rest = column.rstrip(_BETWEEN).replace(b"\t", b" ").partition(b" ")
        stream = self._streams.get(alias)
        named = (at, at + len(alias))
        if stream is None:
            if alias:
                known = (one.decode() for one in self._streams)
                hint = nearest(_shown(alias), known)
                words = f"'{_shown(alias)}' is not an input of the reader and is skipped.{hint}"
                self._faults.add(LineFault(number, line, *named, words, counts=False))
                return
            raise _Fault("a column has no name", at - 1, at)
        if stream.name in found:
            raise _Fault(f"the line has more than one sample of '{_shown(alias)}'", *named)
        at += len(alias) + 1
        if stream.sparse:
            found[stream.name] = self._entries(stream, _shown(alias), rest, at)
            return
        values = self._numbers(stream, _shown(alias), rest, at)
        if len(values) < stream.dim:
            short = f"a sample of '{_shown(alias)}' has {len(values)} of {stream.dim} numbers"
            words = f"{short}; the others are set to 0"
            self._faults.add(LineFault(number, line, *named, words, counts=False))
            values += [0.0] * (stream.dim - len(values))
        found[stream.name] = values, ()

    def _numbers(self, stream: TextStream, alias: str, rest: bytes, at: int) -> list[float]:
        stripped = rest.strip(_BETWEEN)
        if not _NUMBERS.fullmatch(stripped):
            wrong, *place = _wrong(rest, at, _NUMBERS)
            raise _Fault(f"'{_shown(wrong)}' in column '{alias}' is not a number", *place)
        values = [float(value) for value in stripped.split()]
        if len(values) > stream.dim:
            many = f"a sample of '{alias}' has {len(values)} numbers"
            _, *place = _nth(rest, at, stream.dim)
            raise _Fault(f"{many}, and its dim is {stream.dim}", *place)
        return values

    def _entries(self, stream: TextStream, alias: str, rest: bytes, at: int) -> Sample:
        stripped = rest.strip(_BETWEEN)
        if not _ENTRIES.fullmatch(stripped):
            wrong, *bounds = _wrong(rest, at, _ENTRIES)
            words = (
                f"'{_shown(wrong)}' in column '{alias}' is not an index with a number, as in 7:1"
            )
            raise _Fault(words, *bounds)
        pairs = [one.split(b":") for one in stripped.split()]
        for number, (place, _) in enumerate(pairs):
            # A longer text of digits is more than any dim.
            if len(place) > 18 or int(place) >= stream.dim:
                beyond = f"the index {_shown(place)} in column '{alias}'"
                _, *bounds = _nth(rest, at, number)
                raise _Fault(f"{beyond} is not below its dim, {stream.dim}", *bounds)
        return [float(value) for _, value in pairs], [int(place) for place, _ in pairs]

    def not_ended(self, number: int, line: bytes) -> None:
        """Report a last line without an end, which is an error and lost."""
        words = "the last line does not end, and is left out"
        self._report(number, line, _Fault(words, len(line) - 1, len(line)))

    def _report(self, number: int, line: bytes, fault: _Fault) -> None:
        """Report one error, with which the line is lost."""
        fate = "the line is left out"
        place = fault.start, fault.end
        self._faults.add(LineFault(number, line, *place, fault.words, fate=fate))


def _shown(data: bytes) -> str:
    return excerpt(data.strip(_BETWEEN).decode("utf-8", "replace"))


def _bounds(data: bytes, at: int) -> tuple[int, int]:
    """Return the bounds of a text without the blanks around it."""
    start = at + len(data) - len(data.lstrip(_BETWEEN))
    return start, start + len(data.strip(_BETWEEN))


def _wrong(values: bytes, at: int, form: re.Pattern[bytes]) -> tuple[bytes, int, int]:
    """Return the first of some words that does not have the required form, and its bounds."""
    for word in _WORD.finditer(values):
        if not form.fullmatch(word[0]):
            return word[0], at + word.start(), at + word.end()
    return values, *_bounds(values, at)


def _nth(values: bytes, at: int, number: int) -> tuple[bytes, int, int]:
    """Return one of some words, and its bounds."""
    word = next(islice(_WORD.finditer(values), number, number + 1))
    return word[0], at + word.start(), at + word.end()
