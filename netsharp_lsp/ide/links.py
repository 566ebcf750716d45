"""Links in comments: addresses, and rules that suppressions name; knows no language."""

from __future__ import annotations

import re

from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.ide.answers import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.text.lines import LineIndex

#: An address; a mark that ends the sentence around it does not belong to it.
ADDRESS = re.compile(rb"https?://[^\s<>\"'`\\^{}|]*[^\s<>\"'`\\^{}|.,;:!?)\]*]")


def addresses(data: bytes, comment_at: Callable[[int], Range | None]) -> Iterator[Link]:
    """Yield the addresses in comments, in order.

    `comment_at` returns the comment around an offset, without its closing mark: few texts have an
    address, and many have comments.
    """
    for match in ADDRESS.finditer(data):
        comment = comment_at(match.start())
        if comment is not None:
            end = min(match.end(), comment[1])
            address = data[match.start() : end].decode("utf-8", "replace")
            yield Link(match.start(), end, url=address, tooltip="Open the page")


def suppressed_rules(
    lines: LineIndex, comments: Sequence[Range], marks: Sequence[str], known: Container[str]
) -> Iterator[Link]:
    """Yield the codes that suppressions name, each as a link to its page."""
    for suppression in find_suppressions(lines, comments, *marks):
        for code, start, end in suppression.codes:
            if code in known:
                yield Link(start, end, code=code, tooltip=f"Explain {code}")
