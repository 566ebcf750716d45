"""What leads somewhere from a text: addresses in comments, and rules that suppressions name."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.rules import SEVERITIES, load
from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.ide.answers import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.text import Text

#: An address; a mark that ends the sentence around it does not belong to it.
ADDRESS = re.compile(rb"https?://[^\s<>\"'`\\^{}|]*[^\s<>\"'`\\^{}|.,;:!?)\]*]")


def links_of(text: Text) -> list[Link]:
    """All links in the order of the text."""
    return sorted((*_addresses(text), *_rules(text)), key=lambda link: link.start)


def _addresses(text: Text) -> Iterator[Link]:
    for start, end in text.comments:
        for match in ADDRESS.finditer(text.data, start, end):
            address = match.group().decode("utf-8", "replace")
            yield Link(match.start(), match.end(), url=address, tooltip="Open the page")


def _rules(text: Text) -> Iterator[Link]:
    load()
    for suppression in find_suppressions(text.lines, text.comments, "#", "//"):
        for code, start, end in suppression.codes:
            if code in SEVERITIES:
                yield Link(start, end, code=code, tooltip=f"Explain {code}")
