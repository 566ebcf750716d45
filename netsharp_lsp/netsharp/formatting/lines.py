"""From a declaration's tokens to its logical lines: statements, block ends, comments of their own.

A logical line is one line of text if it fits. Knows nothing of widths.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.formatting.tokens import (
    BLOCK_CLOSE,
    BLOCK_COMMENT,
    BLOCK_OPEN,
    CLOSE,
    COMMA,
    END,
    LINE_COMMENT,
    OPEN,
    POWER,
    SIGN,
    STRAY,
    TIGHT_OPEN,
)
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.formatting.tokens import Token

#: Roles with no space before them, and those with none after them.
TIGHT_BEFORE = frozenset((COMMA, CLOSE, TIGHT_OPEN, POWER, END, STRAY, BLOCK_CLOSE))
TIGHT_AFTER = frozenset((OPEN, TIGHT_OPEN, SIGN, POWER))

COMMENTS = (BLOCK_COMMENT, LINE_COMMENT)

_DIRECTIVE = late(rb"//\s*fmt:\s*(off|on|skip)\s*\Z")


class Line:
    """A logical line: its tokens, the depth of its block, and its surroundings.

    `blank`: an empty line comes before it; `trailing` has the comments after it on the same line. A
    comment of its own is a line of one token. A `verbatim` line is printed as the bytes from
    `start` to `end` are.
    """

    __slots__ = ("blank", "depth", "tokens", "trailing", "verbatim")

    def __init__(self, tokens: list[Token], depth: int, blank: bool) -> None:
        self.tokens = tokens
        self.depth = depth
        self.blank = blank
        self.trailing: list[Token] = []
        self.verbatim = False

    @property
    def start(self) -> int:
        """Return the offset of its first token."""
        return self.tokens[0][2]

    @property
    def end(self) -> int:
        """Return the end of its last token or comment."""
        return (self.trailing or self.tokens)[-1][3]

    @property
    def opens(self) -> bool:
        """Return whether a block begins at its end."""
        return self.tokens[-1][0] == BLOCK_OPEN

    @property
    def closes(self) -> bool:
        """Return whether it is the end of a block."""
        return self.tokens[0][0] == BLOCK_CLOSE

    @property
    def is_comment(self) -> bool:
        """Return whether it is a comment of its own."""
        return self.tokens[0][0] in COMMENTS


def directive(comment: bytes) -> bytes | None:
    """Return a comment's directive to the formatter: b"off", b"on", b"skip", or None."""
    if b"fmt" not in comment:
        return None
    match = _DIRECTIVE.match(comment)
    return match[1] if match else None


def flat_text(tokens: list[Token]) -> bytes | None:
    """Return tokens on one line, None where a comment is among them."""
    pieces: list[bytes] = []
    tight = True
    for role, spelling, _, _ in tokens:
        if role in COMMENTS:
            return None
        if not tight and role not in TIGHT_BEFORE:
            pieces.append(b" ")
        pieces.append(spelling)
        tight = role in TIGHT_AFTER
    return b"".join(pieces)


def split_lines(tokens: list[Token], line_ends: Callable[[int, int], int]) -> list[Line]:
    """Return the logical lines of a declaration.

    `line_ends` counts the line ends between two offsets of the text.
    """
    lines: list[Line] = []
    depth = 0
    blank = False
    before = 0
    current: list[Token] = []
    for token in tokens:
        role = token[0]
        if not current:
            gap = line_ends(before, token[2]) if lines else 0
            if role == BLOCK_CLOSE:
                lines += _inner_comments(lines[-1])
            if role >= BLOCK_COMMENT and lines and _joins(lines[-1], token, gap):
                depth -= role == BLOCK_CLOSE
                before = token[3]
                continue
            depth -= role == BLOCK_CLOSE
            blank = gap > 1 and role != BLOCK_CLOSE and not lines[-1].opens
        current.append(token)
        if role > LINE_COMMENT or (role >= BLOCK_COMMENT and len(current) == 1):
            moved = _moved_comments(current)
            lines.append(Line(current, depth, blank))
            depth += role == BLOCK_OPEN
            before = current[-2][3] if moved else token[3]
            for comment in moved:
                if not _joins(lines[-1], comment, line_ends(before, comment[2])):
                    lines.append(Line([comment], depth, blank=False))
                before = comment[3]
            before = token[3]
            current = []
    if current:
        lines.append(Line(current, depth, blank))
    return lines


def _inner_comments(last: Line) -> list[Line]:
    """Remove block comments at the end of a line after its `{`; return them as lines."""
    if not last.opens or any(comment[0] != BLOCK_COMMENT for comment in last.trailing):
        return []
    inner = [Line([comment], last.depth + 1, blank=False) for comment in last.trailing]
    last.trailing = []
    return inner


def _moved_comments(tokens: list[Token]) -> list[Token]:
    """Remove and return the comments before a final `;` or `{`, if one ends with its line.

    Directives to the formatter stay, since they apply to what is beside them.
    """
    first = len(tokens) - 1
    while first > 1 and tokens[first - 1][0] in COMMENTS:
        first -= 1
    moved = tokens[first:-1]
    if all(comment[0] == BLOCK_COMMENT for comment in moved):
        return []
    if any(directive(comment[1]) for comment in moved):
        return []
    del tokens[first:-1]
    return moved


def _joins(last: Line, token: Token, gap: int) -> bool:
    """Add to the last line a comment beside it, a stray `;` or the end of an empty block.

    Return whether it was added.
    """
    role = token[0]
    if role in COMMENTS:
        if gap or (last.trailing or last.tokens)[-1][0] == LINE_COMMENT:
            return False
        last.trailing.append(token)
        return True
    if last.trailing or last.is_comment or last.opens != (role == BLOCK_CLOSE):
        return False
    last.tokens.append(token)
    return True


def hold_verbatim(lines: list[Line]) -> list[Line]:
    """Return the lines with those that a comment exempts made into verbatim ones."""
    kept: list[Line] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        last = index
        if line.is_comment and directive(line.tokens[0][1]) == b"off":
            last = _region_end(lines, index)
        elif any(directive(comment[1]) == b"skip" for comment in line.trailing):
            if line.closes:
                line = _reopen(kept, line)
            elif line.opens:
                last = _block_end(lines, index)
        else:
            kept.append(line)
            index += 1
            continue
        kept.append(_verbatim(line, lines[last]))
        index = last + 1
    return kept


def _verbatim(first: Line, last: Line) -> Line:
    tokens = [first.tokens[0], (last.trailing or last.tokens)[-1]]
    region = Line(tokens, first.depth, first.blank)
    region.verbatim = True
    return region


def _region_end(lines: list[Line], index: int) -> int:
    """Return the line of the `on` that matches an `off`, or the last of the block."""
    depth = lines[index].depth
    for later in range(index + 1, len(lines)):
        line = lines[later]
        if line.depth < depth:
            return later - 1
        if line.depth == depth and line.is_comment and directive(line.tokens[0][1]) == b"on":
            return later
    return len(lines) - 1


def _block_end(lines: list[Line], index: int) -> int:
    later = index + 1
    while not (lines[later].closes and lines[later].depth == lines[index].depth):
        later += 1
    return later


def _reopen(kept: list[Line], closing: Line) -> Line:
    """Remove the lines of the block that ends here; return the one that begins it."""
    while True:
        line = kept.pop()
        if line.depth == closing.depth and line.opens:
            return line
