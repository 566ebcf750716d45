"""Conversion of tokens to lines: the depth of each, its contents, and the column of its comment.

The same for all of CNTK's languages; the meaning of line ends was settled before.
"""

from __future__ import annotations

from itertools import pairwise

from netsharp_lsp.cntk.formatting.columns import (
    WIDTH,
    Line,
    keep_columns,
    may_have_columns,
    place_of,
    with_comments,
)
from netsharp_lsp.cntk.formatting.documents import INDENT, LineLayout, may_break
from netsharp_lsp.cntk.formatting.stops import stops_of
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
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.formatting.tokens import Token

#: Tokens at the start of a line that continue the one before, intended or not.
_JOINTS = frozenset((b"(", b"[", b"{", b".", b"+", b"-"))


class Sheet:
    """The text that is being formatted, the line end to write, and brackets not to break.

    `columns`: those that the author aligned are kept; `signs`: there may be some of `=`.
    """

    __slots__ = ("_lines", "columns", "kept", "new_line", "signs", "text")

    def __init__(self, text: bytes, new_line: bytes, kept: frozenset[int], columns: bool) -> None:
        self.text = text
        self.new_line = new_line
        self.kept = kept
        self.columns = columns
        self.signs = columns and may_have_columns(text)
        self._lines = LineIndex(text)

    def before(self, at: int) -> bytes:
        """Return the text before a place on its line."""
        return self.text[self._lines.starts[self._lines.line_at(at)] : at]


def print_lines(stretches: Sequence[Sequence[Token]], sheet: Sheet) -> list[bytes]:
    """Return consecutive stretches of tokens as lines, each without a last line end."""
    parts = [_Lines(tokens, sheet).all() for tokens in stretches]
    lines = [line for part in parts for line in part]
    if sheet.signs:
        keep_columns(lines, sheet.before)
    written = iter(with_comments(lines, keep=sheet.columns))
    return [sheet.new_line.join(_spaced(part, written)) for part in parts]


def _spaced(lines: Sequence[Line], written: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        if line.blank:
            yield b""
        yield next(written)


class _Lines:
    """One traversal of the tokens; a bracket is kept with the indentation of its line."""

    __slots__ = (
        *("_begins_argument", "_choices", "_code_at", "_layout", "_members", "_open", "_sheet"),
        "_tokens",
    )

    def __init__(self, tokens: Sequence[Token], sheet: Sheet) -> None:
        self._tokens = tokens
        self._sheet = sheet
        self._layout = LineLayout(sheet.text, sheet.kept)
        self._open: list[tuple[int, int]] = []
        self._code_at = -1
        #: Whether the next line begins with an argument, if it is among arguments.
        self._begins_argument = False
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
        line = Line(self._indent(first, hangs), first.breaks > 1, len(self._open))
        code = tokens
        if tokens[-1].role == COMMENT:
            last = tokens[-1]
            code = tokens[:-1]
            line.place = place_of(self._sheet.before(last.start))
            line.comment = last.text
            line.alone = not code
            if code and code[-1].end == last.start and last.text.startswith(b"#"):
                line.place = ()
        if code:
            self._fill(line, code, hangs)
        self._follow(code, line.indent)
        if code:
            self._begins_argument = code[-1].role in SEPARATORS or code[-1].role in OPENERS
        return line

    def _follow(self, code: Sequence[Token], indent: int) -> None:
        """Record what is open after a line."""
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
        """Return whether a line continues the statement of the line before it."""
        if self._is_inside():
            return False
        if first.role == COMMENT or first.role == BLOCK_COMMENT:
            following = self._after_comments(end)
            if following is None:
                return False
            first = following
        return not (first.starts or first.role in CLOSERS or first.role in SEPARATORS)

    def _is_inside(self) -> bool:
        """Return whether a line begins in a bracket around elements."""
        return bool(self._open) and self._open[-1][1] != BLOCK

    def _after_comments(self, number: int) -> Token | None:
        """Return the first token from a number on that is not a comment; found once for many
        comments.
        """
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
            # The branches of a choice within a branch are separated from those around.
            further += INDENT * max(0, self._choices[-1] - 1)
        if not self._open:
            # In the first column it would be a directive of CNTK, which it was not.
            return further if hangs else int(first.text.startswith(b"include="))
        around = self._open[-1][0]
        if first.role in CLOSERS:
            return around
        return around + INDENT + further

    def _unindented(self, first: Token) -> int | None:
        """Return the indentation of a member that a line seems to continue by accident.

        Such a line is not indented more than the member, and the checker reports it.
        """
        member = self._members[-1]
        if member is None:
            return None
        above = _column(self._sheet.before(member[0].start))
        here = _column(self._sheet.before(first.start))
        if above is None or here is None or here > above:
            return None
        return member[1]

    def _fill(self, line: Line, tokens: Sequence[Token], hangs: bool) -> None:
        """Set the text of a line."""
        text = self._sheet.text
        before = tokens[0]
        pieces = [before.text]
        for token in tokens[1:]:
            pieces += (gap(before, token, text), token.text)
            before = token
        flat = line.body = b"".join(pieces)
        if len(flat) + line.indent > WIDTH and may_break(tokens):
            line.body = self._broken(flat, tokens, line.indent, hangs)
        if self._sheet.signs:
            self._find_stops(line, tokens, pieces)

    def _broken(self, flat: bytes, tokens: Sequence[Token], indent: int, hangs: bool) -> bytes:
        """Return the text of a line that may be too long for one."""
        if text_width(flat) + indent <= WIDTH:
            return flat
        inside = self._is_inside()
        layout = self._layout
        document = (
            layout.inner_document(tokens) if inside else layout.document(tokens, hang=not hangs)
        )
        return render(document, WIDTH, indent, indent, self._sheet.new_line)

    def _find_stops(self, line: Line, tokens: Sequence[Token], pieces: Sequence[bytes]) -> None:
        """Set the parts of a line, which begins with a statement or an argument, that may be
        aligned.
        """
        inside = self._is_inside()
        line.member = self._begins_argument if inside else tokens[0].starts
        if not line.member or tokens[0].pinned:
            return
        line.stops = stops_of(tokens, pieces, self._sheet.text, inside=inside)
        if not _has_line_end(line.body):
            return
        line.crowded = len(line.stops) > 1
        first = line.stops[0]
        if first is not None:
            end = first.left + (1 if first.tight else 2)
            kept = line.body.startswith(b"".join(pieces)[:end])
            line.stops = [first] if kept else [None]


def _has_line_end(body: bytes) -> bool:
    return b"\n" in body or b"\r" in body


def _column(before: bytes) -> int | None:
    """Return the indentation of the first token of a line; None for any other."""
    return None if before.strip() else len(before)
