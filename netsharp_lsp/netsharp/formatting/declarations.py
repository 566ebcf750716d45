"""From a declaration's tree to its formatted text; knows nothing of its neighbours."""

from __future__ import annotations

import re

from netsharp_lsp.layout.render import render
from netsharp_lsp.netsharp.formatting.documents import INDENT, line_document
from netsharp_lsp.netsharp.formatting.lines import flat_text, hold_verbatim, split_lines
from netsharp_lsp.netsharp.formatting.tokens import FROM, declaration_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from netsharp_lsp.netsharp.formatting.lines import Line

WIDTH = 100
#: Brackets nested deeper stay as they are: each level indents all within, which squares a text.
DEEPEST = 200
_BRACKETS = re.compile(rb"[()\[\]]")


class Sheet:
    """The text that is being formatted: its bytes, the line end to write, how to count others."""

    __slots__ = ("line_ends", "new_line", "text")

    def __init__(self, text: bytes, new_line: bytes) -> None:
        self.text = text
        self.new_line = new_line
        self.line_ends = line_end_counter(text)


def line_end_counter(text: bytes) -> Callable[[int, int], int]:
    """Return a function that counts line ends (LF, CRLF, CR) between two offsets of a text."""
    count = text.count
    if count(b"\r") == count(b"\r\n"):
        return lambda start, end: count(b"\n", start, end)
    return lambda start, end: (
        count(b"\n", start, end) + count(b"\r", start, end) - count(b"\r\n", start, end)
    )


def declaration_text(node: Node, sheet: Sheet) -> bytes | None:
    """Return a formatted declaration, or None where it is broken and must stay."""
    tokens = declaration_tokens(node, sheet.text)
    if tokens is None or _nests_too_deep(node, sheet.text):
        return None
    lines = split_lines(tokens, sheet.line_ends)
    if sheet.text.find(b"fmt:", node.start_byte, node.end_byte) >= 0:
        lines = hold_verbatim(lines)
    return _lines_text(lines, sheet)


def _nests_too_deep(node: Node, text: bytes) -> bool:
    """Return whether brackets nest beyond `DEEPEST`; those in comments may count, too."""
    start, end = node.start_byte, node.end_byte
    if text.count(b"(", start, end) + text.count(b"[", start, end) <= DEEPEST:
        return False
    depth = 0
    for bracket in _BRACKETS.finditer(text, start, end):
        depth += 1 if bracket[0] in b"([" else -1
        if depth > DEEPEST:
            return True
    return False


def _lines_text(lines: list[Line], sheet: Sheet) -> bytes:
    """Return the lines one below the other, each indented by the depth of its block."""
    pieces: list[bytes] = []
    columns = [0]
    for line in lines:
        depth = line.depth
        indent = columns[depth + 1] - INDENT if line.closes else columns[depth]
        if pieces:
            pieces.append(sheet.new_line * (1 + line.blank) + b" " * indent)
        body = _line_text(line, indent, sheet)
        pieces.append(body)
        pieces += [b" " + comment[1] for comment in line.trailing]
        if line.opens:
            # Below a head of several lines the block is as deep as the head's last one.
            shift = INDENT if _breaks_at_from(line, body) else 0
            columns[depth + 1 :] = (indent + INDENT + shift,)
    return b"".join(pieces)


def _line_text(line: Line, indent: int, sheet: Sheet) -> bytes:
    if line.verbatim:
        return sheet.text[line.start : line.end]
    tokens = line.tokens
    if line.is_comment:
        return tokens[0][1]
    flat = flat_text(tokens)
    if flat is not None and len(flat) + indent <= WIDTH:
        return flat
    document = line_document(tokens, sheet.line_ends)
    return render(document, WIDTH, indent, indent, sheet.new_line)


def _breaks_at_from(line: Line, body: bytes) -> bool:
    if b"\n" not in body and b"\r" not in body:
        return False
    return any(token[0] == FROM for token in line.tokens[1:])
