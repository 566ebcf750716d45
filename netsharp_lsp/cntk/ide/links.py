"""What leads somewhere from a text: addresses in comments, rules that suppressions name, and the
files of networks that a text names.
"""

from __future__ import annotations

import re
from urllib.request import pathname2url

from netsharp_lsp.cntk.ide.paths import FILE, file_at
from netsharp_lsp.cntk.rules import SEVERITIES, load
from netsharp_lsp.diagnostics.suppression import find_suppressions
from netsharp_lsp.ide.answers import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.cntk.ide.text import Text

#: An address; a mark that ends the sentence around it does not belong to it.
ADDRESS = re.compile(rb"https?://[^\s<>\"'`\\^{}|]*[^\s<>\"'`\\^{}|.,;:!?)\]*]")


def links_of(edited: Edited) -> list[Link]:
    """All links in the order of the text."""
    text = edited.text
    found = [*_addresses(text), *_rules(text), *_files(edited)]
    return sorted(found, key=lambda link: link.start)


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


def _files(edited: Edited) -> Iterator[Link]:
    """Files beside the run that are there; no text of theirs is read."""
    comments = edited.text.comments
    for match in FILE.finditer(edited.data):
        if any(start <= match.start() < end for start, end in comments):
            continue
        found = file_at(edited, match.start())
        if found is not None and found.file != edited.name:
            url = f"file://{pathname2url(found.file)}"
            tooltip = f"Open {match.group().decode('utf-8', 'replace')}"
            yield Link(match.start(), match.end(), url=url, tooltip=tooltip)
