"""The line ends that a layout keeps and those that it adds, before any width is known.

Works on the `breaks` of tokens, in place: a bracket around statements is on one line or has each
line of its statements, and both its ends, on lines of their own.
"""

from __future__ import annotations

from netsharp_lsp.cntk.formatting.tokens import (
    ASSIGN,
    BLOCK,
    BLOCK_COMMENT,
    BRANCH,
    CLOSERS,
    CUSTOM_SEPARATORS,
    NAMED,
    OPENERS,
    SEPARATORS,
    TIGHT,
    WORD,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.formatting.tokens import Token

#: What may stand between two ends of brackets on a line: `}.result)`.
_AFTER_CLOSERS = frozenset((TIGHT, WORD))
#: What may go from between two tokens.
_BLANKS = b" \t\r\n"


class _Level:
    """An open bracket, or the whole text: its token's number and its latest statement.

    `at` counts the line ends up to the bracket, `since` those up to the statement's first token.
    `column` identifies the indentation of the bracket's line: that of others with the same number.
    `beside`: the statement shares its line with one before, which is `above_broken` where it has
    several lines.
    """

    __slots__ = ("above_broken", "at", "beside", "column", "opener", "since", "statement")

    def __init__(self, opener: int, at: int, column: int) -> None:
        self.opener = opener
        self.at = at
        self.column = column
        self.statement = -1
        self.since = 0
        self.beside = False
        self.above_broken = False


def count_breaks(tokens: list[Token], text: bytes) -> None:
    """Set the number of line ends before each token; 2 means more than one.

    What is neither a blank nor a line end, such as a byte-order mark, sticks to the next token.
    """
    done = 0
    for token in tokens:
        start = token.start
        if start > done:
            between = text[done:start]
            if between != b" ":
                token.breaks = min(2, _line_ends(between))
                odd = between.strip(_BLANKS)
                if odd:
                    _keep_column(token, between, odd)
        done = token.end


def _line_ends(between: bytes) -> int:
    if b"\r" not in between:
        return between.count(b"\n")
    return between.count(b"\n") + between.count(b"\r") - between.count(b"\r\n")


def _keep_column(token: Token, between: bytes, odd: bytes) -> None:
    """Keep odd bytes at their place on the line: in the first column they have a meaning."""
    before = between[: between.index(odd)].rstrip(b" \t")
    at = len(before)
    begins_line = before[-1:] in (b"\n", b"\r") or token.start == len(between)
    if not begins_line:
        at = between.index(odd)
    token.text = between[at:] + token.text
    token.start -= len(between) - at
    token.breaks = min(2, _line_ends(before))
    token.pinned = begins_line


def decide_breaks(tokens: list[Token]) -> None:
    """Decide on every line end that does not depend on the width."""
    _join(tokens)
    tokens[0].breaks = 0
    count = solid = column = 0
    closes = False
    levels = [_Level(-1, 0, 0)]
    for number, token in enumerate(tokens):
        role = token.role
        if token.starts:
            _begin(tokens, levels[-1], number, solid)
        if role in CLOSERS and len(levels) > 1:
            level = levels.pop()
            _begin(tokens, level, -1, solid)
            _close(tokens, level, number, count)
            if token.breaks and closes and column == level.column:
                _stack(tokens, level, number)
            if token.breaks:
                closes, column = True, level.column
        elif token.breaks:
            closes, column = False, number
        elif role not in _AFTER_CLOSERS:
            closes = False
        before = tokens[number - 1]
        if token.breaks > 1 and number and before.role in OPENERS:
            token.breaks = 1
        count += token.breaks > 0
        if role < BLOCK_COMMENT:
            # Comments after a statement are not part of it.
            solid = count
        if token.starts:
            levels[-1].since = count
        if role in OPENERS:
            levels.append(_Level(number, count, column))


def _join(tokens: list[Token]) -> None:
    """Move to the line above what belongs there: `=`, and an opening bracket after it."""
    before = tokens[0]
    for token in tokens:
        if token.breaks and token.free and not token.starts and before.role < BLOCK_COMMENT:
            opens = token.role in OPENERS and before.role in (ASSIGN, NAMED, BRANCH)
            if opens or token.role in (ASSIGN, NAMED):
                token.breaks = 0
        before = token


def _begin(tokens: list[Token], level: _Level, number: int, count: int) -> None:
    """Begin a statement, or with -1 only end the one before.

    Statements share a line only where each of them is on one line.
    """
    last = level.statement
    broken = last >= 0 and count > level.since
    if level.beside and (broken or level.above_broken):
        tokens[last].breaks = 1
    level.above_broken = broken
    level.statement = number
    level.beside = last >= 0 and number >= 0 and not tokens[number].breaks
    if level.beside and not tokens[number].free:
        # At the start of a line `#` would begin a comment.
        after_separator = tokens[number - 1].role in SEPARATORS
        level.beside = after_separator and not tokens[number].text.startswith(b"#")


def _close(tokens: list[Token], level: _Level, number: int, count: int) -> None:
    closer, first = tokens[number], tokens[level.opener + 1]
    closer.breaks = min(1, closer.breaks)
    if tokens[level.opener].role != BLOCK or count + closer.breaks == level.at:
        return
    could_separate = first.text[0] in CUSTOM_SEPARATORS
    if first.breaks or not (could_separate or first.text.startswith((b"#", b"//"))):
        first.breaks = 1
    closer.breaks = 1


def _stack(tokens: list[Token], level: _Level, number: int) -> None:
    """Put the end of a bracket on the line above, where one ends at the same indentation."""
    beside_comment = tokens[number - 1].role >= BLOCK_COMMENT
    if tokens[level.opener].role != BLOCK and not beside_comment and not tokens[number].pinned:
        tokens[number].breaks = 0
