"""The ranges around a place, each larger than the one before, as a selection grows."""

from __future__ import annotations

from netsharp_lsp.netsharp.ide.places.node_paths import comment_at, node_path_at
from netsharp_lsp.netsharp.reading.syntax import (
    BundleItem,
    Declaration,
    LayerItem,
    Predicate,
    Tuple,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Node

BLANKS = b" \t\r\n"


def selections_at(network: Network, offset: int) -> list[Range]:
    """Return the ranges around an offset, from the innermost to the whole text, each larger."""
    data = network.specification.data
    found: list[Range] = []
    for start, end in (*_candidates(network, offset), (0, len(data))):
        inner = found[-1] if found else (offset, offset)
        holds = start <= inner[0] and inner[1] <= end
        if holds and (start, end) != inner:
            found.append((start, end))
    return found or [(0, len(data))]


def _candidates(network: Network, offset: int) -> list[Range]:
    """Return spans that may contain an offset, the smallest first."""
    specification = network.specification
    spans: set[Range] = set()
    comment = comment_at(specification, offset)
    if comment is not None:
        spans.add((comment.start, comment.end))
    node_path = node_path_at(specification, offset)
    if node_path is not None:
        for node in node_path.path:
            for start, end in _spans(node):
                spans.add((node_path.base + start, node_path.base + end))
        spans |= set(_in_brackets(specification.data, node_path))
        spans |= set(_words(node_path))
    return sorted(spans, key=lambda span: (span[1] - span[0], span))


def _spans(node: Node) -> Iterator[Range]:
    """Yield the spans of a node: its own, and those of the contents of its brackets."""
    yield node.start, node.end
    if isinstance(node, Declaration):
        yield from _block(node.group)
    elif isinstance(node, LayerItem):
        yield from _block(node.body)
    elif isinstance(node, BundleItem):
        yield from _block(node.block)
        yield node.kind_span
        yield node.keyword.start, max(node.source.end, node.kind_span[1])
    elif isinstance(node, Predicate):
        yield node.source.start, node.destination.end
    elif isinstance(node, Tuple) and node.items:
        yield node.items[0].start, node.items[-1].end


def _block(span: Range | None) -> Iterator[Range]:
    """Yield a block, and the content of its braces."""
    if span is not None:
        yield span
        yield span[0] + 1, span[1] - 1


def _words(node_path: NodePath) -> Iterator[Range]:
    """Yield a keyword that is not a node (`auto`, `true`, `all`)."""
    for word in node_path.declaration.keywords:
        yield node_path.span(word)


def _in_brackets(data: bytes, node_path: NodePath) -> Iterator[Range]:
    """Yield the expressions on the path that are in parentheses, with these."""
    for node in node_path.path[1:]:
        start, end = node_path.span(node)
        while True:
            before = _back(data, start)
            after = _forth(data, end)
            if data[before - 1 : before] != b"(" or data[after : after + 1] != b")":
                break
            start, end = before - 1, after + 1
            yield start, end


def _back(data: bytes, at: int) -> int:
    """Return the end of the last byte before an offset that is not a blank."""
    while at > 0 and data[at - 1] in BLANKS:
        at -= 1
    return at


def _forth(data: bytes, at: int) -> int:
    """Return the offset of the first byte from an offset on that is not a blank."""
    while at < len(data) and data[at] in BLANKS:
        at += 1
    return at
