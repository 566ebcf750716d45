"""Formats a specification in its host: its indentation, first line and last line are kept.

The formatter is passed in; this knows only lines, and what a literal can contain.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.edits import Edit
from netsharp_lsp.text.line_edits import line_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.layout.options import Formatted

    Format: TypeAlias = Callable[[bytes, FormatOptions], Formatted]

_BLANKS = b" \t\n\r\f\v"
_ONE_LINE = "it is on one line, and formatted it takes several"
_NOT_WRITABLE = "the literal cannot hold the formatted text"
_UNSTABLE = "formatting it a second time would change it again"


class Arrangement:
    """The result of formatting a specification in its host.

    `edits` are those of the host. `broken` has the offsets in the specification of what was left
    unchanged for its syntax errors; `reason` says, as the end of a sentence, why nothing was
    changed. `failure` is the formatter's: a fault of ours.
    """

    __slots__ = ("broken", "edits", "failure", "reason")

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self.broken: list[int] = []
        self.reason = ""
        self.failure: str | None = None


class _Cut:
    """A specification split into its ends, which stay, and the lines between, less their indent."""

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
        """Return the lines between, without their indent."""
        lines = self.core.split(b"\n")
        made = [
            line.removeprefix(self.indent) if number or self.indents_first else line
            for number, line in enumerate(lines)
        ]
        return b"\n".join(made) + b"\n"

    def around(self, formatted: bytes) -> bytes:
        """Return the specification with other lines between its ends."""
        lines = formatted.rstrip(b"\n").split(b"\n")
        made = [
            self.indent + line if line and (number or self.indents_first) else line
            for number, line in enumerate(lines)
        ]
        return self.lead + b"\n".join(made) + self.tail


class _Style:
    """A formatter and its options."""

    __slots__ = ("_format", "_options")

    def __init__(self, format_text: Format, options: FormatOptions) -> None:
        self._format = format_text
        self._options = options

    def format(self, text: bytes, before: int) -> Formatted:
        """Format lines that come after `before` other lines of the specification."""
        own = [
            (max(1, first - before), max(1, last - before)) for first, last in self._options.ranges
        ]
        options = self._options
        mine = FormatOptions("lf", own, options.self_check, options.keeps_columns)
        return self._format(text, mine)


def arrange(region: Region, format_text: Format, options: FormatOptions) -> Arrangement:
    """Format a specification in its host with a language's formatter.

    Ranges of the options are lines of the specification; lines end as those of the host do.
    """
    done = Arrangement()
    style = _Style(format_text, options)
    if not region.editable:
        done.reason = region.reason
        return done
    new = _arranged(region, region.text, style, done)
    if new is None or new == region.text:
        return done
    if b"\n" not in region.text and b"\n" in new and _is_one_line(region):
        done.reason = _ONE_LINE
        return done
    if not options.ranges and _arranged(region, new, style, Arrangement()) != new:
        done.reason = _UNSTABLE
        return done
    edits = region.outer_edits(line_edits(region.text, new))
    if edits is None:
        edits = region.outer_edits([Edit(0, len(region.text), new.decode())])
    if edits is None:
        done.reason = _NOT_WRITABLE
    else:
        done.edits = edits
    return done


def _arranged(region: Region, text: bytes, style: _Style, done: Arrangement) -> bytes | None:
    """Return the formatted text, None where it cannot be formatted."""
    if not text.strip(_BLANKS):
        return text
    form = region.passage.form
    own_lines = form is not None and form.own_lines
    after_line_end = region.passage.outer(0) > region.passage.start
    cut = _Cut(text, own_lines, after_line_end)
    new = _format(cut, style, done)
    if new is not None and _Cut(new, own_lines, after_line_end).indent != cut.indent:
        # All its lines but the first are indented anyway, so that is the same as an indent.
        cut.indent = b""
        new = _format(cut, style, done)
    return new


def _format(cut: _Cut, style: _Style, done: Arrangement) -> bytes | None:
    bare = cut.bare()
    formatted = style.format(bare, cut.lead.count(b"\n"))
    done.failure = formatted.failure
    if formatted.failure is not None:
        return None
    done.broken = _offsets_in_text(cut, bare, formatted.broken)
    return cut.around(formatted.text)


def _offsets_in_text(cut: _Cut, bare: bytes, offsets: Sequence[int]) -> list[int]:
    """Return the offsets in the specification of offsets in its bare lines."""
    if not offsets:
        return []
    lengths = [len(line) + 1 for line in cut.core.split(b"\n")]
    starts = [*accumulate(lengths, initial=len(cut.lead))]
    bare_starts = [*accumulate((len(line) + 1 for line in bare.split(b"\n")), initial=0)]
    found = []
    for offset in offsets:
        line = bisect_right(bare_starts, offset) - 1
        indented = line < len(lengths) and (line or cut.indents_first)
        indent = len(cut.indent) if indented else 0
        found.append(starts[min(line, len(lengths))] + offset - bare_starts[line] + indent)
    return found


def _is_one_line(region: Region) -> bool:
    form = region.passage.form
    return form is not None and form.one_line
