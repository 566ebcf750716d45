"""What leads somewhere from a text: addresses in comments, and rules that suppressions name."""

from __future__ import annotations

import re

from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.ide.answers import Link
from netsharp_lsp.netsharp.rules import SEVERITIES, load
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Specification

#: An address; a mark that ends the sentence around it does not belong to it.
ADDRESS = re.compile(rb"https?://[^\s<>\"'`\\^{}|]*[^\s<>\"'`\\^{}|.,;:!?)\]*]")


def links_of(network: Network) -> list[Link]:
    """All links in the order of the text."""
    found = [*_addresses(network.specification), *_rules(network.specification)]
    return sorted(found, key=lambda link: link.start)


def _addresses(specification: Specification) -> Iterator[Link]:
    for match in ADDRESS.finditer(specification.data):
        comment = specification.comments.around(match.start())
        if comment is not None:
            closing = len("*/") if comment.kind == "block" else 0
            end = min(match.end(), comment.end - closing)
            address = specification.data[match.start() : end].decode("utf-8", "replace")
            yield Link(match.start(), end, url=address, tooltip="Open the page")


def _rules(specification: Specification) -> Iterator[Link]:
    load()
    lines = LineIndex(specification.data)
    for suppression in find_suppressions(lines, specification.comments.spans(), "//"):
        for code, start, end in suppression.codes:
            if code in SEVERITIES:
                yield Link(start, end, code=code, tooltip=f"Explain {code}")
