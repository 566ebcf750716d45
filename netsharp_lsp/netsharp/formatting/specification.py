"""Formats a specification: its declarations and comments, and the gaps between them.

What is broken, exempted by a comment or outside the selected lines stays byte for byte, and so do
the gaps beside it.
"""

from __future__ import annotations

from bisect import bisect_right

from netsharp_lsp.netsharp.formatting.declarations import Sheet, declaration_text
from netsharp_lsp.netsharp.formatting.lines import directive
from netsharp_lsp.netsharp.formatting.tokens import (
    BLOCK_COMMENT_KIND,
    FILE_KIND,
    LINE_COMMENT_KIND,
    STRAY_KIND,
)
from netsharp_lsp.netsharp.reading.grammar import parse_tree, passing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TypeAlias

    from tree_sitter import Node

    from netsharp_lsp.layout.options import LineRange

    # Kind of node, first byte, end, and the text in the one style (None: as it is).
    _Part: TypeAlias = tuple[int, int, int, bytes | None]

#: A byte-order mark within a text: the parser passes it like a blank, but it is none.
_MARK = b"\xef\xbb\xbf"


def arrange(
    text: bytes,
    new_line: bytes,
    ranges: Sequence[LineRange] = (),
    fixed: Collection[int] = (),
) -> tuple[bytes, list[int]]:
    """Return a formatted specification, and the offsets of invalid text in it.

    New lines are written as `new_line`. With `ranges` only the declarations and comments that touch
    one of them are changed. Those with an offset in `fixed` stay as they are.
    """
    root = parse_tree(text).root_node
    if root.kind_id != FILE_KIND:
        return text, [0]
    if not root.child_count:
        return text if text.strip() else b"", []
    kept = _kept(root, text, ranges, fixed)
    sheet = Sheet(text, new_line)
    parts: list[_Part] = []
    broken: list[int] = []
    # A node keeps all below it once asked for; letting each go keeps long texts linear.
    for index, node in enumerate(passing(root)):
        kind = node.kind_id
        if kind == STRAY_KIND and parts and parts[-1][3] is None:
            # A `;` after a node that stays belongs to it.
            kept.add(index)
        body = None if index in kept else _body(node, sheet)
        if body is None and index not in kept:
            broken.append(node.start_byte)
        if body is None and parts and parts[-1][3] is None:
            # What stays beside what stays is one part: a text may have millions.
            parts[-1] = (kind, parts[-1][1], node.end_byte, None)
        else:
            parts.append((kind, node.start_byte, node.end_byte, body))
    _keep_before_kept(parts, sheet)
    return _joined_parts(parts, sheet, bool(ranges)), broken


def _kept(root: Node, text: bytes, ranges: Sequence[LineRange], fixed: Collection[int]) -> set[int]:
    """Return the numbers of the nodes that stay as they are, whatever they are."""
    kept: set[int] = set()
    if not (b"fmt:" in text or ranges or fixed or _MARK in text):
        return kept
    nodes = [*passing(root)]
    if b"fmt:" in text:
        kept |= _exempted(nodes, text)
    if ranges:
        kept |= _outside(nodes, text, ranges)
    if fixed:
        kept |= _holding(nodes, fixed)
    if _MARK in text:
        kept |= {i for i in range(len(nodes)) if _holds_mark(nodes, i, text)}
    return kept


def _joined_parts(parts: list[_Part], sheet: Sheet, partial: bool) -> bytes:
    """Return the text of the parts, with the gaps between those that move formatted."""
    text, new_line = sheet.text, sheet.new_line
    pieces: list[bytes] = []
    last_kind, done, moved_before = -1, 0, not partial
    open_ended = False
    for kind, start, end, body in parts:
        moved = body is not None
        if not (moved and moved_before):
            pieces.append(_gap(text[done:start], moved_before and last_kind >= 0, moved))
        elif last_kind >= 0:
            ends = sheet.line_ends(done, start)
            between = None if open_ended else _beside(kind, last_kind, ends)
            pieces.append(new_line * min(2, max(1, ends)) if between is None else between)
        pieces.append(text[start:end] if body is None else body)
        open_ended = body is not None and _is_open_ended(text, end, body)
        last_kind, done, moved_before = kind, end, moved
    if partial or not moved_before:
        pieces.append(_gap(text[done:], moved_before, False))
    else:
        pieces.append(new_line)
    return b"".join(pieces)


def _is_open_ended(text: bytes, end: int, body: bytes) -> bool:
    """Return whether a declaration ends with a comment that was inside it before."""
    if b"//" not in body:
        return body[-1] != text[end - 1]
    last_line = body[max(body.rfind(b"\n"), body.rfind(b"\r")) + 1 :]
    return body[-1] != text[end - 1] or b"//" in last_line


def _keep_before_kept(parts: list[_Part], sheet: Sheet) -> None:
    """Keep a declaration whose comment would otherwise come before a node that must stay."""
    for index in range(len(parts) - 2, -1, -1):
        kind, start, end, body = parts[index]
        _, next_start, _, next_body = parts[index + 1]
        if (
            next_body is None
            and body is not None
            and _is_open_ended(sheet.text, end, body)
            and not sheet.line_ends(end, next_start)
        ):
            parts[index] = (kind, start, end, None)


def _body(node: Node, sheet: Sheet) -> bytes | None:
    """Return a formatted comment or declaration, None where it must stay as it is."""
    if node.kind_id in (LINE_COMMENT_KIND, BLOCK_COMMENT_KIND):
        return sheet.text[node.start_byte : node.end_byte]
    return declaration_text(node, sheet)


def _beside(kind: int, last_kind: int, ends: int) -> bytes | None:
    """Return the blanks between a node and the one on its line before it, None if it begins a line.

    A comment stays beside what it was beside, and a stray `;` goes there.
    """
    if kind == STRAY_KIND and last_kind not in (LINE_COMMENT_KIND, BLOCK_COMMENT_KIND):
        return b""
    stays = kind in (STRAY_KIND, LINE_COMMENT_KIND, BLOCK_COMMENT_KIND)
    return b" " if stays and not ends and last_kind != LINE_COMMENT_KIND else None


def _gap(gap: bytes, after_moved: bool, before_moved: bool) -> bytes:
    """Return the gap between two nodes of which one stays, without blanks on the other's lines."""
    if before_moved:
        line_start = max(gap.rfind(b"\n"), gap.rfind(b"\r")) + 1
        gap = gap[:line_start] if line_start else gap
    if after_moved:
        rest = gap.lstrip(b" \t\v\f")
        gap = rest if rest[:1] in (b"\n", b"\r") else gap
    return gap


def _exempted(nodes: list[Node], text: bytes) -> set[int]:
    """Return the nodes between `fmt: off` and `fmt: on`, with those comments, and those to skip."""
    kept: set[int] = set()
    off = False
    for index, node in enumerate(nodes):
        if node.kind_id == LINE_COMMENT_KIND:
            word = directive(text[node.start_byte : node.end_byte])
            if word == b"off":
                off = True
            elif word == b"on" and off:
                off = False
                kept.add(index)
            elif word == b"skip" and index:
                kept |= _on_line(nodes, index, text)
        if off:
            kept.add(index)
    return kept


def _on_line(nodes: list[Node], index: int, text: bytes) -> set[int]:
    """Return a comment with the nodes before it on its line; nothing where it is alone."""
    first = index
    while first and not text.count(b"\n", nodes[first - 1].end_byte, nodes[first].start_byte):
        first -= 1
    return set(range(first, index + 1)) if first < index else set()


def _outside(nodes: list[Node], text: bytes, ranges: Sequence[LineRange]) -> set[int]:
    from netsharp_lsp.text.lines import LineIndex

    lines = LineIndex(text)

    def touches(node: Node) -> bool:
        first = lines.line_at(node.start_byte) + 1
        last = lines.line_at(max(node.start_byte, node.end_byte - 1)) + 1
        return any(start <= last and first <= end for start, end in ranges)

    return {index for index, node in enumerate(nodes) if not touches(node)}


def _holding(nodes: list[Node], offsets: Collection[int]) -> set[int]:
    """Return the nodes that contain the offsets."""
    starts = [node.start_byte for node in nodes]
    return {bisect_right(starts, offset) - 1 for offset in offsets}


def _holds_mark(nodes: list[Node], index: int, text: bytes) -> bool:
    """Return whether a byte-order mark is in a node or in a gap beside it."""
    start = nodes[index - 1].end_byte if index else 0
    end = nodes[index + 1].start_byte if index + 1 < len(nodes) else len(text)
    return _MARK in text[start:end]
