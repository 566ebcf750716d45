"""Fenced blocks of Markdown: where they are, and their text without quote marks and indents.

Reads block structure as CommonMark defines it, as far as fences need; knows no language of a block.
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.passage import Passage, Pieces
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: What may precede a fence: quote marks, list markers, indentation.
_CONTAINER = re.compile(rb"[ \t]{0,3}>[ \t]?|[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_MARKER = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_FENCE = re.compile(rb"([ \t]*)(`{3,}|~{3,})([^\r\n]*)")
_INDENTED_CODE = 4


class Fence:
    """A fenced block: its info string, the offset of its first line, its content."""

    __slots__ = ("info", "opening", "passage")

    def __init__(self, info: str, opening: int, passage: Passage) -> None:
        self.info = info
        self.opening = opening
        self.passage = passage


class _Line:
    """A line of the host: where it starts, where its text ends, where the next line starts."""

    __slots__ = ("end", "next", "start")

    def __init__(self, start: int, end: int, following: int) -> None:
        self.start = start
        self.end = end
        self.next = following


class Frame:
    """The prefix of each line of a block: quote marks, list indents, the fence's indent.

    Of each container the number of columns, 0 for a quote mark; `written` is how a new line begins,
    `mark` the fence.
    """

    __slots__ = ("containers", "indent", "line_end", "mark", "written")

    own_lines = True
    one_line = False

    def __init__(self, containers: list[int], indent: int, mark: bytes) -> None:
        self.containers = containers
        self.indent = indent
        self.mark = mark
        self.line_end = b"\n"
        self.written = b"".join(b" " * n if n else b"> " for n in containers) + b" " * indent

    def skip(self, line: bytes) -> int | None:
        """Return the length of a line's prefix before the block's text; None if it is outside."""
        at = 0
        for columns in self.containers:
            if columns:
                here = _blanks(line, at, columns)
                if here < columns and line[at + here :].strip():
                    return None
                at += here
                continue
            quote = re.compile(rb"[ \t]{0,3}>[ \t]?").match(line, at)
            if quote is None:
                return None
            at = quote.end()
        return at

    def closes(self, line: bytes, at: int) -> bool:
        """Return whether a line, from `at`, is the fence that ends the block."""
        indent = _blanks(line, at, len(line))
        rest = line[at + indent :].rstrip(b" \t")
        return (
            indent < _INDENTED_CODE
            and len(rest) >= len(self.mark)
            and not rest.strip(self.mark[:1])
        )

    # What follows is the form of a content; see `Form` in passage.

    def encode(self, text: str) -> str | None:
        """Return lines with their prefixes; the first one continues the line it is put into."""
        before = self.written.decode()
        line_end = self.line_end.decode()
        first, *others = text.split("\n")
        made = [first]
        for number, line in enumerate(others, 1):
            blank = not line and number < len(others)
            made.append((before.rstrip() if blank else before) + line)
        return line_end.join(made)

    def decode(self, written: bytes) -> bytes | None:
        """Return the text of a content, None where a line of it would end the block."""
        lines = re.split(rb"\r\n?|\n", written)
        parts = lines[:1]
        if self.closes(lines[0], 0):
            return None
        for number, line in enumerate(lines[1:], 2):
            at = self.skip(line) if line or number < len(lines) else 0
            if at is None or self.closes(line, at):
                return None
            parts.append(line[at + _blanks(line, at, self.indent) :])
        return b"\n".join(parts)

    def settle(self, text: bytes, edit: Edit) -> Edit | None:
        """Return the edit so that the line end before the next line, or the fence, is kept.

        That line end includes the prefix of the next line.
        """
        start, end, new = edit.start, edit.end, edit.text
        whole_lines = text.endswith(b"\n", 0, end) and (not new or new.endswith("\n"))
        if whole_lines and text.endswith(b"\n", 0, start):
            return (
                Edit(start - 1, end - 1, "\n" + new[:-1]) if new else Edit(start - 1, end - 1, "")
            )
        if end < len(text) or (start == end == len(text) and not new):
            return edit if text else None
        return Edit(start, end - 1, new[:-1]) if whole_lines and new and start < end else None


def find_fences(data: bytes, parent: Passage | None = None) -> Iterator[Fence]:
    """Yield the fenced blocks of a Markdown text that are not inside another, in order.

    A block without an end extends to the end of the text or of its container.
    """
    lines = _lines(data)
    at = 0
    item: int | None = None
    while at < len(lines):
        text = data[lines[at].start : lines[at].end]
        item = _item_around(text, item)
        opened = _opening(text, item)
        at += 1
        if opened is None:
            continue
        frame, info = opened
        first = at
        while at < len(lines) and _is_inside(data, lines[at], frame):
            at += 1
        passage = _passage(data, lines[first:at], frame, lines[first - 1].next)
        passage.parent = parent
        yield Fence(info, lines[first - 1].start, passage)
        if at < len(lines) and _closes(data, lines[at], frame):
            at += 1


def _lines(data: bytes) -> list[_Line]:
    found = []
    start = 0
    for line in data.splitlines(keepends=True):
        end = start + len(line)
        found.append(_Line(start, start + len(line.rstrip(b"\r\n")), end))
        start = end
    return found


def _opening(text: bytes, item: int | None) -> tuple[Frame, str] | None:
    """Return the frame and the info string of a fence; `item` is the indent of its list item."""
    if b"```" not in text and b"~~~" not in text:
        return None
    at = 0
    containers = []
    while (found := _CONTAINER.match(text, at)) is not None:
        containers.append(0 if b">" in found.group() else found.end() - at)
        at = found.end()
    fence = _FENCE.match(text, at)
    if fence is None:
        return None
    indent, mark, info = fence.groups()
    if mark[:1] == b"`" and b"`" in info:
        return None
    if len(indent) >= _INDENTED_CODE:
        # Deep indentation is code, except inside a list, whose own indent this line only repeats.
        if item is None or not len(indent) - _INDENTED_CODE < item <= len(indent):
            return None
        containers.append(len(indent))
        indent = b""
    return Frame(containers, len(indent), mark), info.decode("utf-8", "replace").strip()


def _item_around(text: bytes, item: int | None) -> int | None:
    """Return the indent of the list item of a line, from that of the line before it."""
    marker = _MARKER.match(text)
    if marker is not None:
        return marker.end()
    return None if text.strip() and not _blanks(text, 0, len(text)) else item


def _is_inside(data: bytes, line: _Line, frame: Frame) -> bool:
    text = data[line.start : line.end]
    at = frame.skip(text)
    return at is not None and not frame.closes(text, at)


def _closes(data: bytes, line: _Line, frame: Frame) -> bool:
    text = data[line.start : line.end]
    at = frame.skip(text)
    return at is not None and frame.closes(text, at)


def _passage(data: bytes, lines: list[_Line], frame: Frame, end: int) -> Passage:
    """Return the content: each line end together with the prefix of the next line."""
    pieces = Pieces()
    for number, line in enumerate(lines):
        text = data[line.start : line.end]
        skipped = frame.skip(text) or 0
        skipped += _blanks(text, skipped, frame.indent)
        if number:
            pieces.put(lines[number - 1].end, b"\n")
        pieces.copy(line.start + skipped, text[skipped:])
    if lines:
        end = lines[-1].next
        frame.line_end = data[lines[0].end : lines[0].next] or b"\n"
        if lines[-1].end < end:
            pieces.put(lines[-1].end, b"\n")
    return Passage(data, end, pieces, frame)


def _blanks(line: bytes, at: int, most: int) -> int:
    """Return the number of blanks of a line from `at`, at most `most`."""
    rest = line[at : at + most]
    return len(rest) - len(rest.lstrip(b" \t"))
