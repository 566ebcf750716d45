"""From tokens to lines: how deep each is, what stands on it, and where its comment begins.

The same for all of CNTK's languages; what a line end means was settled before.
"""

from __future__ import annotations

from itertools import pairwise

from netsharp_lsp.cntk.formatting.documents import INDENT, LineLayout, may_break
from netsharp_lsp.cntk.formatting.tokens import (
    BLOCK,
    BLOCK_COMMENT,
    BRANCH,
    CLOSERS,
    COMMENT,
    OPENERS,
    SEPARATORS,
    gap,
    open_choices,
)
from netsharp_lsp.layout.render import render, text_width
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.formatting.tokens import Token

WIDTH = 100
#: Blanks before a comment that nothing else decides on.
_DISTANCE = 2
#: What a line begins with that goes on with the one before, wanted or not.
_JOINTS = frozenset((b"(", b"[", b"{", b".", b"+", b"-"))
#: How far apart tabulators may have been when comments were aligned with them.
_TABULATORS = (4, 8)


class Line:
    """One line: its indentation, its text without a comment behind it, and that comment.

    `blank`: an empty line stands before it. `columns` are where the comment, or a comment that is
    the line, stood in the original; none where it may not move.
    """

    __slots__ = ("alone", "blank", "body", "columns", "comment", "indent")

    def __init__(self, indent: int, blank: bool) -> None:
        self.indent = indent
        self.blank = blank
        self.body = b""
        self.comment: bytes | None = None
        self.columns: tuple[int, ...] = ()
        self.alone = False


class Sheet:
    """The text that is being formatted, the line end to write, and brackets not to break."""

    __slots__ = ("_lines", "kept", "new_line", "text")

    def __init__(self, text: bytes, new_line: bytes, kept: frozenset[int] = frozenset()) -> None:
        self.text = text
        self.new_line = new_line
        self.kept = kept
        self._lines = LineIndex(text)

    def before(self, at: int) -> bytes:
        """What stands before a place on its line."""
        return self.text[self._lines.starts[self._lines.line_at(at)] : at]


def print_lines(tokens: Sequence[Token], sheet: Sheet) -> bytes:
    """Return tokens as lines, without a line end behind the last."""
    lines = _Lines(tokens, sheet).all()
    return sheet.new_line.join(_with_comments(lines))


class _Lines:
    """One way through the tokens; a bracket is kept with the indentation of its line."""

    __slots__ = ("_choices", "_code_at", "_layout", "_members", "_open", "_sheet", "_tokens")

    def __init__(self, tokens: Sequence[Token], sheet: Sheet) -> None:
        self._tokens = tokens
        self._sheet = sheet
        self._layout = LineLayout(sheet.text, sheet.kept)
        self._open: list[tuple[int, int]] = []
        self._code_at = -1
        #: The latest statement around each bracket of statements, with its line's indentation.
        self._members: list[tuple[Token, int] | None] = [None]
        #: How many choices still lack their `else`, around each bracket.
        self._choices = [0]

    def all(self) -> list[Line]:
        """Return every line."""
        tokens = self._tokens
        starts = [number for number, token in enumerate(tokens) if token.breaks or not number]
        starts.append(len(tokens))
        return [self._line(tokens[start:end], end) for start, end in pairwise(starts)]

    def _line(self, tokens: Sequence[Token], end: int) -> Line:
        first = tokens[0]
        hangs = self._hangs(first, end)
        line = Line(self._indent(first, hangs), first.breaks > 1)
        code = tokens
        if tokens[-1].role == COMMENT:
            last = tokens[-1]
            code = tokens[:-1]
            line.columns = _columns(self._sheet.before(last.start))
            line.comment = last.text
            line.alone = not code
            if code and code[-1].end == last.start and last.text.startswith(b"#"):
                line.columns = ()
        line.body = self._body(code, line.indent, hangs) if code else b""
        self._follow(code, line.indent)
        return line

    def _follow(self, code: Sequence[Token], indent: int) -> None:
        """Keep what is open behind a line."""
        for token in code:
            role = token.role
            if token.starts:
                self._members[-1] = (token, indent)
                self._choices[-1] = 0
            if role in OPENERS:
                self._open.append((indent, role))
                self._choices.append(0)
                if role == BLOCK:
                    self._members.append(None)
            elif role in CLOSERS and self._open:
                self._choices.pop()
                if self._open.pop()[1] == BLOCK:
                    self._members.pop()
            else:
                self._choices[-1] = open_choices(self._choices[-1], token)

    def _hangs(self, first: Token, end: int) -> bool:
        """Whether a line goes on with the statement of the line before it."""
        if self._open and self._open[-1][1] != BLOCK:
            return False
        if first.role == COMMENT or first.role == BLOCK_COMMENT:
            following = self._behind_comments(end)
            if following is None:
                return False
            first = following
        return not (first.starts or first.role in CLOSERS or first.role in SEPARATORS)

    def _behind_comments(self, number: int) -> Token | None:
        """The first token from a number on that is no comment; found once for many comments."""
        tokens = self._tokens
        if number > self._code_at:
            while number < len(tokens) and tokens[number].role in (COMMENT, BLOCK_COMMENT):
                number += 1
            self._code_at = number
        return tokens[self._code_at] if self._code_at < len(tokens) else None

    def _indent(self, first: Token, hangs: bool) -> int:
        if first.pinned:
            return 0
        if first.free and not first.starts and first.text in _JOINTS:
            indent = self._unindented(first)
            if indent is not None:
                return indent
        further = INDENT if hangs else 0
        if first.role == BRANCH:
            # The branches of a choice within a branch are told from those around.
            further += INDENT * max(0, self._choices[-1] - 1)
        if not self._open:
            # In the first column it would be the program's, which it was not.
            return further if hangs else int(first.text.startswith(b"include="))
        around = self._open[-1][0]
        if first.role in CLOSERS:
            return around
        return around + INDENT + further

    def _unindented(self, first: Token) -> int | None:
        """The indentation of a member that a line goes on with by accident, it seems.

        Such a line stands no further right than the member, and the checker says so.
        """
        member = self._members[-1]
        if member is None:
            return None
        above = _column(self._sheet.before(member[0].start))
        here = _column(self._sheet.before(first.start))
        if above is None or here is None or here > above:
            return None
        return member[1]

    def _body(self, tokens: Sequence[Token], indent: int, hangs: bool) -> bytes:
        text = self._sheet.text
        before = tokens[0]
        pieces = [before.text]
        for token in tokens[1:]:
            pieces += (gap(before, token, text), token.text)
            before = token
        flat = b"".join(pieces)
        if len(flat) + indent <= WIDTH or not may_break(tokens):
            return flat
        if text_width(flat) + indent <= WIDTH:
            return flat
        inside = bool(self._open) and self._open[-1][1] != BLOCK
        layout = self._layout
        document = (
            layout.inner_document(tokens) if inside else layout.document(tokens, hang=not hangs)
        )
        return render(document, WIDTH, indent, indent, self._sheet.new_line)


def _column(before: bytes) -> int | None:
    """How far the first token of a line is indented; None for any other."""
    return None if before.strip() else len(before)


def _columns(before: bytes) -> tuple[int, ...]:
    """Where a comment stood, by each distance of tabulators that it may have been aligned with."""
    if b"\t" not in before:
        return (text_width(before),) * len(_TABULATORS)
    return tuple(text_width(before.expandtabs(size)) for size in _TABULATORS)


def _with_comments(lines: list[Line]) -> list[bytes]:
    """The lines as they are written; comments that were aligned are so again."""
    written: list[bytes] = []
    number = 0
    while number < len(lines):
        end = _aligned_until(lines, number)
        column = max(_width(line) for line in lines[number:end]) + _DISTANCE
        for line in lines[number:end]:
            if line.blank:
                written.append(b"")
            written.append(_written(line, column))
        number = end
    return written


def _aligned_until(lines: list[Line], number: int) -> int:
    """The end of the lines whose comments stood below each other."""
    first = lines[number]
    end = number + 1
    if first.alone or not first.columns:
        return end
    while end < len(lines) and not lines[end].blank and _are_aligned(first, lines[end]):
        end += 1
    return end


def _are_aligned(first: Line, other: Line) -> bool:
    return any(one == two for one, two in zip(first.columns, other.columns, strict=False))


def _width(line: Line) -> int:
    if line.alone:
        return 0
    body = line.body
    last = max(body.rfind(b"\n"), body.rfind(b"\r")) + 1
    return text_width(body[last:]) + (0 if last else line.indent)


def _written(line: Line, column: int) -> bytes:
    if line.comment is None:
        return b" " * line.indent + line.body
    if line.alone:
        indent = line.indent if column == _DISTANCE else column
        return b" " * indent + line.comment
    if not line.columns:
        return b" " * line.indent + line.body + line.comment
    distance = column - _width(line)
    return b" " * line.indent + line.body + b" " * distance + line.comment
