"""The formatter's entry point: formats, proves that nothing was lost, and keeps parts unchanged
where needed.

Knows no disk and no command line; works on UTF-8 bytes without a byte-order mark.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.formatting.arrangement import arrange, spans_around
from netsharp_lsp.cntk.formatting.safety import find_difference
from netsharp_lsp.layout.options import FormatOptions, Formatted
from netsharp_lsp.text.conflicts import conflicts_in
from netsharp_lsp.text.decode import majority_line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.formatting.regions import Span

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_ANY_LINE_END = re.compile(rb"\r\n?|\n")
#: The most passes of formatting until nothing changes.
_ROUNDS = 4
#: How many stretches are left as they are before all is.
_MOST_HELD = 24


def format_text(data: bytes, language: str, options: FormatOptions | None = None) -> Formatted:
    """Format a text of `cntk`, `brainscript`, `ndl` or `mel`, valid or not.

    A statement that cannot be formatted without a change of its meaning is unchanged.
    """
    options = options or FormatOptions()
    if b"\0" in data:
        # The file would be binary, which is not read.
        return Formatted(data, [data.index(0)])
    conflicts = conflicts_in(data)
    if conflicts:
        # These lines are only recognised in the column where they begin.
        return Formatted(data, [one.marks[0][1] for one in conflicts])
    text = data
    chosen = _LINE_ENDS.get(options.line_ending)
    if chosen is not None and (chosen != b"\n" or b"\r" in text):
        text = _ANY_LINE_END.sub(chosen, text)
    new_line = chosen or _majority(text)
    formatting = _Formatting(text, language, new_line, options)
    after, broken = formatting.run()
    if chosen is None and b"\r" in after and _majority(after) != new_line:
        # Removed line ends were counted too: the next pass must have the same result.
        formatting = _Formatting(text, language, _majority(after), options)
        after, broken = formatting.run()
    if formatting.failure is None:
        return Formatted(after, broken)
    # Invalid text may be parsed in more than one way: that is not a fault of the formatter.
    return Formatted(data, broken, None if broken else formatting.failure)


def _majority(text: bytes) -> bytes:
    return majority_line_end(text).encode("ascii")


class _Formatting:
    """The formatting of one text; `failure` is a sentence where it failed."""

    __slots__ = (
        *("_differences", "_held", "_language", "_new_line", "_options", "_text"),
        "failure",
    )

    def __init__(self, text: bytes, language: str, new_line: bytes, options: FormatOptions) -> None:
        self._text = text
        self._language = language
        self._new_line = new_line
        self._options = options
        self._held: set[Span] = set()
        self._differences = 0
        self.failure: str | None = None

    def run(self) -> tuple[bytes, list[int]]:
        """Format until the text is stable and has its old meaning; return it with the offsets of
        its faults.
        """
        while True:
            after, broken = self._fixed_point()
            proved = after == self._text or not self._options.self_check
            if proved or self.failure is not None or not self._keeps_more(after):
                return after, broken

    def _fixed_point(self) -> tuple[bytes, list[int]]:
        after, broken = self._arranged(self._text, self._held)
        if self._options.ranges or after == self._text:
            return after, broken
        for _ in range(_ROUNDS):
            again, _ = self._arranged(after, self._moved(after))
            if again == after:
                return after, broken
            after = again
        self.failure = "formatting a second time would change the text again"
        return after, broken

    def _arranged(self, text: bytes, held: set[Span]) -> tuple[bytes, list[int]]:
        options = self._options
        request = (options.ranges, frozenset(held), options.keeps_columns)
        return arrange(text, self._language, self._new_line, request)

    def _moved(self, after: bytes) -> set[Span]:
        """Return the new spans of what stays unchanged."""
        moved: set[Span] = set()
        done = 0
        for start, end in sorted(self._held):
            found = after.find(self._text[start:end], done)
            if found >= 0:
                done = found + end - start
                moved.add((found, done))
        return moved

    def _keeps_more(self, after: bytes) -> bool:
        """Keep more of the text unchanged, where that is needed; return False where it is not."""
        difference = find_difference(self._text, after, self._language)
        if difference is not None:
            if self._holds_around(difference.offset):
                return True
            self.failure = f"formatting would change the meaning of the text: {difference.words}"
            return False
        if b"netsharp:" not in self._text:
            return False
        from netsharp_lsp.cntk.formatting.suppressions import find_displaced

        displaced = find_displaced(self._text, after, self._language)
        held = len(self._held)
        self._held |= displaced
        return len(self._held) > held

    def _holds_around(self, offset: int) -> bool:
        """Keep the smallest statement around a place unchanged that is not kept so already."""
        self._differences += 1
        if self._differences > _MOST_HELD:
            return False
        for span in spans_around(self._text, self._language, offset):
            if span not in self._held:
                self._held.add(span)
                return True
        return False
