"""The links of a text: addresses in comments, and rules that suppressions name."""

from __future__ import annotations

from netsharp_lsp.ide.links import addresses, suppressed_rules
from netsharp_lsp.netsharp.rules import RULES
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Link, Range
    from netsharp_lsp.netsharp.meaning.network import Network


def links_of(network: Network) -> list[Link]:
    """Return all links in text order."""
    RULES.load()
    specification = network.specification
    lines, comments = LineIndex(specification.data), specification.comments
    rules = suppressed_rules(lines, comments.spans(), ("//",), RULES.severities)

    def body_at(offset: int) -> Range | None:
        """Return a comment without the mark that closes it."""
        comment = comments.around(offset)
        if comment is None:
            return None
        return comment.start, comment.end - (len("*/") if comment.kind == "block" else 0)

    found = [*addresses(specification.data, body_at), *rules]
    return sorted(found, key=lambda link: link.start)
