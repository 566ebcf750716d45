"""What leads somewhere from a text: addresses in comments, rules that suppressions name, and the
files of networks that a text names.
"""

from __future__ import annotations

from urllib.request import pathname2url

from netsharp_lsp.cntk.ide.places.paths import FILE, file_at
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.ide.answers import Link
from netsharp_lsp.ide.links import addresses, suppressed_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.places.edited import Edited


def links_of(edited: Edited) -> list[Link]:
    """All links in the order of the text."""
    text = edited.text
    RULES.load()
    rules = suppressed_rules(text.lines, text.comments, ("#", "//"), RULES.severities)
    found = [*addresses(text.data, text.comment_at), *rules, *_files(edited)]
    return sorted(found, key=lambda link: link.start)


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
