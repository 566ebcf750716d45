"""The Net# language as `language.py` registers it; each answer imports what it needs on use.

A formatter never imports the checker, and nothing here reads a disk.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.context import Context
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.diagnostics.model import Result
    from netsharp_lsp.diagnostics.pages import RuleBook
    from netsharp_lsp.layout.options import FormatOptions, Formatted
    from netsharp_lsp.netsharp.snapshot import Snapshot

    Text = tuple[bytes, Context]


class NetSharp:
    """Net#: `.nn` and `.netsharp` files."""

    id = "netsharp"
    comment_marks = ("//",)
    suppression_codes = ("NS126", "NS127")
    unused_codes = ("NS033", "NS059", "NS126")
    asked_codes = tuple(f"NS{number}" for number in range(132, 140))
    conflict_code = "NS131"
    _rules: RuleBook | None = None

    @property
    def rules(self) -> RuleBook:
        """Return the pages of its rules."""
        from netsharp_lsp.diagnostics.pages import RuleBook

        if self._rules is None:
            self._rules = RuleBook(os.path.join(os.path.dirname(__file__), "rules"))
        return self._rules

    def check(self, data: bytes, context: Context) -> Result:
        """Return the diagnostics of a specification, and its comments."""
        from netsharp_lsp.diagnostics.model import Result
        from netsharp_lsp.netsharp.check import check

        network, diagnostics = check(data, context)
        comments = network.specification.comments
        return Result(diagnostics, [(comment.start, comment.end) for comment in comments])

    def format(self, data: bytes, options: FormatOptions) -> Formatted:
        """Return the formatted text; see `netsharp_lsp.netsharp.formatting`."""
        from netsharp_lsp.netsharp.formatting import format_text

        return format_text(data, options)

    def describe(self, data: bytes, context: Context) -> dict[str, Any]:
        """Return the network as far as it is known; see `netsharp_lsp.netsharp.describe`."""
        from netsharp_lsp.netsharp.describe import describe_network
        from netsharp_lsp.netsharp.meaning.steps.revision import resolve
        from netsharp_lsp.netsharp.reading.parser import parse

        return describe_network(resolve(parse(data), context))

    def compare(self, before: Text, after: Text) -> Comparison:
        """Return the differences between two networks; see `netsharp_lsp.netsharp.compare`."""
        from netsharp_lsp.netsharp.compare import compare
        from netsharp_lsp.netsharp.meaning.steps.revision import resolve
        from netsharp_lsp.netsharp.reading.parser import parse

        return compare(*(resolve(parse(data), context) for data, context in (before, after)))

    def open(self, data: bytes, context: Context) -> Snapshot:
        """Return a snapshot of a text to be edited; see `netsharp_lsp.netsharp.snapshot`."""
        from netsharp_lsp.netsharp.snapshot import Snapshot

        return Snapshot.opened(data, context)


LANGUAGE = NetSharp()
