"""The comments of a text, which may suppress findings; reads no other text."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.configuration.comments import code_span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def comments_of(language_id: str, data: bytes) -> Iterator[tuple[int, int]]:
    """Return the spans of the comments of a text, lazily."""
    return _script_comments(data) if language_id == "brainscript" else _line_comments(data)


def _script_comments(data: bytes) -> Iterator[tuple[int, int]]:
    for comment in parse(data).comments:
        yield comment.place.start, comment.place.end


def _line_comments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ends of lines that CNTK cuts off."""
    start = 0
    for line in data.splitlines(keepends=True):
        bare = line.rstrip(b"\r\n")
        sign = bare.find(b"#", code_span(bare)[1])
        if sign >= 0 and code_span(bare) != (0, len(bare)):
            yield start + sign, start + len(bare)
        start += len(line)
