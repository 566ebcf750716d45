"""Marker files: texts whose comments ask features of an editor about the code line above them.

    hidden Conv [5, 13, 13] from Image convolve { ... }
    //     ^^^^ hover
    //| what the feature answers, rewritten by `pytest --update`

Carets are below the columns they mean; `//<^^` moves them three columns to the left, for the
start of a line.  `//: symbols` alone on a line asks about the whole text, and
`//% features=784 task=multiclass` at the top gives the context (`features=784@digits.toml` with
its origin).  Features get the text without these lines.  Where `//` begins no comment, `#`
replaces it everywhere.  This module knows the form of a file and no feature.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.text.lines import LineIndex


class Forms:
    """The forms of marking lines where a mark begins a comment."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.pointing = re.compile(rf"\s*{mark}(<?)\s*(\^+)\s+([a-z-]+)(?: (.*))?$")
        self.whole = re.compile(rf"\s*{mark}: ([a-z-]+)(?: (.*))?$")
        self.expected = re.compile(rf"\s*{mark}\|")
        self.setting = re.compile(rf"{mark}% (.*)$")

    def holds(self, line: str) -> bool:
        """Whether a line is marking."""
        forms = (self.pointing, self.whole, self.expected, self.setting)
        return any(form.match(line) for form in forms)


class Marker(NamedTuple):
    """One question: the feature, words after it, and the bytes of the plain text it points at."""

    feature: str
    argument: str
    start: int
    end: int


class Case(NamedTuple):
    """A marker file: the text without markers, the context, and the file's lines.

    `lines` are pairs of a line and the marker it is, None for all others; the expectations are
    left out, so that `rendered` can put others there.
    """

    text: bytes
    context: Context
    lines: list[tuple[str, Marker | None]]
    line_end: str
    mark: str = "//"

    @property
    def markers(self) -> list[Marker]:
        """The questions in the order of the file."""
        return [marker for _, marker in self.lines if marker is not None]

    def rendered(self, answers: list[list[str]]) -> str:
        """The file with an answer, as lines, below each marker."""
        remaining = iter(answers)
        out = []
        for line, marker in self.lines:
            out.append(line)
            if marker is not None:
                out += [f"{self.mark}| {answer}".rstrip() for answer in next(remaining)]
        return self.line_end.join(out)


def read_case(content: str, mark: str = "//") -> Case:
    """Read a marker file; a marker that points outside its line raises ValueError."""
    forms = Forms(mark)
    line_end = "\r\n" if "\r\n" in content else "\n"
    lines = content.split(line_end)
    plain = [line for line in lines if not forms.holds(line)]
    text = line_end.join(plain).encode()
    index = LineIndex(text)
    context = Context()
    found: list[tuple[str, Marker | None]] = []
    above = -1
    for line in lines:
        if forms.expected.match(line):
            continue
        if setting := forms.setting.match(line):
            context = _context(setting[1])
        above += not forms.holds(line)
        found.append((line, _marker(forms, line, index, above)))
    return Case(text, context, found, line_end, mark)


def _marker(forms: Forms, line: str, index: LineIndex, above: int) -> Marker | None:
    if whole := forms.whole.match(line):
        return Marker(whole[1], whole[2] or "", 0, len(index.text))
    if pointing := forms.pointing.match(line):
        shift = len(f"{forms.mark}<") if pointing[1] else 0
        first, last = pointing.start(2) - shift, pointing.end(2) - shift
        width = len(index.line_text(above))
        # One caret may be at the end of the line: so may a cursor.
        if above < 0 or first > width or (last > width and last - first > 1):
            raise ValueError(f"Marker points outside the line above it: {line!r}")
        start = index.offset(above + 1, first + 1)
        return Marker(pointing[3], pointing[4] or "", start, index.offset(above + 1, last + 1))
    return None


def _context(words: str) -> Context:
    known: dict[str, object] = {}
    origin = {}
    for word in words.split():
        name, _, value = word.partition("=")
        if name not in FIELDS:
            raise ValueError(f"'{name}' is no field of a context; they are {', '.join(FIELDS)}")
        value, _, source = value.partition("@")
        known[name] = int(value) if value.isdigit() else value
        if source:
            origin[name] = source
    return Context(**known, origin=origin)  # type: ignore[arg-type]
