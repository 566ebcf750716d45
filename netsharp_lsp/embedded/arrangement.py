"""Formats a specification where it stands: its indentation, first line and last line are kept.

The formatter is handed in; this knows only lines, and what a literal can hold.
"""

from __future__ import annotations

from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.layout.options import Formatted

    #: Formats a text; the number is that of the lines of the specification before it.
    Format: TypeAlias = Callable[[bytes, int], Formatted]

_BLANKS = b" \t\n\r\f\v"
_ONE_LINE = "it is on one line, and in order it takes several"
_NOT_WRITABLE = "the literal cannot hold the formatted text"
_UNSTABLE = "formatting it a second time would change it again"
#: Texts with more lines are compared by their beginning and end alone.
_MANY_LINES = 2000


class Arrangement:
    """What formatting a specification in its host gave.

    `edits` are those of the host.  `broken` holds the offsets in the specification of what was
    left alone for its syntax; `reason` says, as the end of a sentence, why all was left alone.
    `failure` is the formatter's: a fault of ours.
    """

    __slots__ = ("broken", "edits", "failure", "reason")

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self.broken: list[int] = []
        self.reason = ""
        self.failure: str | None = None


class _Cut:
    """A specification cut into what stays at its ends and the lines between, less their indent."""

    __slots__ = ("core", "indent", "indents_first", "lead", "tail")

    def __init__(self, text: bytes, own_lines: bool, after_line_end: bool) -> None:
        if own_lines:
            self.lead = b""
            self.tail = b"\n" if text.endswith(b"\n") else b""
        else:
            blanks = text[: len(text) - len(text.lstrip(_BLANKS))]
            self.lead = blanks[: blanks.rfind(b"\n") + 1]
            if b"\n" not in blanks and not after_line_end:
                self.lead = blanks
            self.tail = text[len(text.rstrip(_BLANKS)) :]
        self.core = text[len(self.lead) : len(text) - len(self.tail)]
        self.indents_first = own_lines or after_line_end or self.lead.endswith(b"\n")
        self.indent = self._common_indent()

    def _common_indent(self) -> bytes:
        lines = self.core.split(b"\n")
        counted = lines if self.indents_first else lines[1:]
        indents = [line[: len(line) - len(line.lstrip(b" \t"))] for line in counted if line.strip()]
        if not indents:
            return b""
        first, last = min(indents), max(indents)
        length = 0
        while length < min(len(first), len(last)) and first[length] == last[length]:
            length += 1
        return first[:length]

    def bare(self) -> bytes:
        """The lines between, without their indent."""
        lines = self.core.split(b"\n")
        made = [
            line.removeprefix(self.indent) if number or self.indents_first else line
            for number, line in enumerate(lines)
        ]
        return b"\n".join(made) + b"\n"

    def around(self, formatted: bytes) -> bytes:
        """The specification with other lines between."""
        lines = formatted.rstrip(b"\n").split(b"\n")
        made = [
            self.indent + line if line and (number or self.indents_first) else line
            for number, line in enumerate(lines)
        ]
        return self.lead + b"\n".join(made) + self.tail


def arrange(region: Region, format_text: Format, partial: bool = False) -> Arrangement:
    """Format a specification in its host; `partial` where only some of its lines are meant."""
    done = Arrangement()
    if not region.editable:
        done.reason = region.reason
        return done
    new = _arranged(region, region.text, format_text, done)
    if new is None or new == region.text:
        return done
    if b"\n" not in region.text and b"\n" in new and _is_one_line(region):
        done.reason = _ONE_LINE
        return done
    if not partial and _arranged(region, new, format_text, Arrangement()) != new:
        done.reason = _UNSTABLE
        return done
    edits = region.outer_edits(list(_line_edits(region.text, new)))
    if edits is None:
        done.reason = _NOT_WRITABLE
    else:
        done.edits = edits
    return done


def _arranged(region: Region, text: bytes, format_text: Format, done: Arrangement) -> bytes | None:
    """The formatted text, None where it cannot be formatted."""
    if not text.strip(_BLANKS):
        return text
    form = region.passage.form
    own_lines = form is not None and form.own_lines
    after_line_end = region.passage.outer(0) > region.passage.start
    cut = _Cut(text, own_lines, after_line_end)
    new = _format(cut, format_text, done)
    if new is not None and _Cut(new, own_lines, after_line_end).indent != cut.indent:
        # All its lines but the first are indented anyway, so nothing tells that from an indent.
        cut.indent = b""
        new = _format(cut, format_text, done)
    return new


def _format(cut: _Cut, format_text: Format, done: Arrangement) -> bytes | None:
    bare = cut.bare()
    formatted = format_text(bare, cut.lead.count(b"\n"))
    done.failure = formatted.failure
    if formatted.failure is not None:
        return None
    done.broken = [_offset_in_text(cut, bare, offset) for offset in formatted.broken]
    return cut.around(formatted.text)


def _offset_in_text(cut: _Cut, bare: bytes, offset: int) -> int:
    """Where a byte of the bare lines stands in the specification."""
    line = bare.count(b"\n", 0, offset)
    column = offset - (bare.rfind(b"\n", 0, offset) + 1)
    lines = cut.core.split(b"\n")
    start = len(cut.lead) + sum(len(above) + 1 for above in lines[:line])
    indented = line < len(lines) and (line or cut.indents_first)
    return start + column + (len(cut.indent) if indented else 0)


def _is_one_line(region: Region) -> bool:
    form = region.passage.form
    return form is not None and form.one_line


def _line_edits(before: bytes, after: bytes) -> Iterator[Edit]:
    """The edits that turn one text into the other, by whole lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for first, last, lines in _changes(old, new):
        yield Edit(starts[first], starts[last], b"".join(lines).decode())


def _changes(old: list[bytes], new: list[bytes]) -> Iterator[tuple[int, int, Sequence[bytes]]]:
    if len(old) + len(new) > _MANY_LINES:
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        yield same, len(old), new[same:]
        return
    from difflib import SequenceMatcher

    for tag, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            yield first, last, new[start:end]
