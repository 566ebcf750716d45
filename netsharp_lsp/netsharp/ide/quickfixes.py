"""The fixes for the diagnostics of a range, and explanations of them."""

from __future__ import annotations

from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.ide import quickfixes
from netsharp_lsp.netsharp.ide.places.node_paths import node_path_at
from netsharp_lsp.netsharp.reading.syntax import LayerItem
from netsharp_lsp.netsharp.rules import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic, Fix, Result
    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.netsharp.meaning.network import Network

RULES = RuleBook(FOLDER)
#: The codes of a suppression that matches nothing and of one that names no rule.
SUPPRESSION_CODES = ("NS126", "NS127")


def unsuppressed(data: bytes, result: Result) -> Sequence[Diagnostic]:
    """Return the diagnostics of a text, less those that its comments suppress."""
    return quickfixes.unsuppressed(data, result, RULES, ("//",), SUPPRESSION_CODES)


def quick_fixes(network: Network, result: Result, start: int, end: int) -> Iterator[Action]:
    """Yield fixes and explanations for those diagnostics of a network that touch a range."""

    def offers(diagnostic: Diagnostic, fix: Fix) -> bool:
        return not _breaks_readers(network, diagnostic, fix)

    diagnostics = unsuppressed(network.specification.data, result)
    return quickfixes.quick_fixes(diagnostics, (start, end), RULES, offers)


def _breaks_readers(network: Network, diagnostic: Diagnostic, fix: Fix) -> bool:
    """Return whether a fix of no error resizes a layer that others read by its shape."""
    if diagnostic.severity == "error" or fix.safe:
        return False
    node_path = node_path_at(network.specification, diagnostic.start)
    item = None if node_path is None else node_path.holding(LayerItem)
    if node_path is None or item is None or item.size is None:
        return False
    start, end = node_path.span(item.size)
    if not any(start <= edit.start and edit.end <= end for edit in fix.edits):
        return False
    layer = network.layers.get(item.name.text)
    return layer is not None and any(reader.kind != "all" for reader in network.reads_of(layer))
