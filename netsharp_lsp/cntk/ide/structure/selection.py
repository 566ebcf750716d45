"""The ranges around a place, each larger than the one before, for a growing selection."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.places.text import expressions_in, nodes_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.places.text import EditedText
    from netsharp_lsp.ide.answers import Range

_PAIRS = {b"(": b")", b"[": b"]", b"{": b"}", b'"': b'"', b"'": b"'"}


def selections_at(text: EditedText, offset: int) -> list[Range]:
    """Return the ranges around an offset, from the innermost to the whole text, each strictly
    larger.
    """
    whole = (0, len(text.data))
    found: list[Range] = []
    around = {span for span in _candidates(text, offset) if span[0] <= offset <= span[1]}
    for span in (*sorted(around, key=lambda one: (one[1] - one[0], one)), whole):
        inner = found[-1] if found else (offset, offset)
        if span[0] <= inner[0] and inner[1] <= span[1] and span != inner:
            found.append(span)
    return found or [whole]


def _candidates(text: EditedText, offset: int) -> Iterator[Range]:
    yield from (span for span in text.comments if span[0] <= offset <= span[1])
    if text.document is not None:
        for node in nodes_at(text.document.records, offset):
            yield from _inside(text.data, node.start, node.end)
    island = text.island_at(offset)
    if island is not None:
        for one in expressions_in(island.script):
            start, end = island.start + one.place.start, island.start + one.place.end
            if start <= offset <= end:
                yield from _inside(text.data, start, end)


def _inside(data: bytes, start: int, end: int) -> Iterator[Range]:
    """Yield a span, and the text between its brackets or quotes if it has some."""
    yield start, end
    if end - start >= 2 and _PAIRS.get(data[start : start + 1]) == data[end - 1 : end]:
        yield start + 1, end - 1
