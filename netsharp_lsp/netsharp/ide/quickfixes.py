"""What removes the diagnostics of a range, and what explains them."""

from __future__ import annotations

from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress
from netsharp_lsp.ide.answers import Action, Command
from netsharp_lsp.netsharp.ide.standing import standing_at
from netsharp_lsp.netsharp.reading.syntax import LayerItem
from netsharp_lsp.netsharp.rules import FOLDER
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic, Fix
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.snapshot import Snapshot

RULES = RuleBook(FOLDER)
#: The codes of a suppression that matches nothing and of one that names no rule.
SUPPRESSION_CODES = ("NS126", "NS127")


def told(snapshot: Snapshot) -> Sequence[Diagnostic]:
    """The diagnostics of a text, less those that its comments silence."""
    result = snapshot.check()
    lines = LineIndex(snapshot.data)
    found = find_suppressions(lines, result.comments, "//")
    return suppress(result.diagnostics, lines, found, lambda: RULES.codes, *SUPPRESSION_CODES)


def quick_fixes(snapshot: Snapshot, start: int, end: int) -> Iterator[Action]:
    """For each diagnostic that touches a range its fix, then for each rule its explanation."""
    touched = [one for one in told(snapshot) if one.start <= end and start <= one.end]
    for diagnostic in touched:
        fix = diagnostic.fix
        if fix is not None and not _breaks_readers(snapshot.network, diagnostic, fix):
            yield Action(
                fix.title,
                "quickfix",
                fix.edits,
                preferred=fix.safe,
                fixes=((diagnostic.code, diagnostic.start, diagnostic.end),),
                message=diagnostic.message,
            )
    for code in dict.fromkeys(diagnostic.code for diagnostic in touched):
        title = f"Explain {code}: {RULES.title(code)}"
        command = Command("netsharp.server.explain", title, (code,))
        yield Action(title, "quickfix", command=command)


def _breaks_readers(network: Network, diagnostic: Diagnostic, fix: Fix) -> bool:
    """Whether a fix of no error resizes a layer that others read by its shape."""
    if diagnostic.severity == "error" or fix.safe:
        return False
    standing = standing_at(network.specification, diagnostic.start)
    item = None if standing is None else standing.holding(LayerItem)
    if standing is None or item is None or item.size is None:
        return False
    start, end = standing.span(item.size)
    if not any(start <= edit.start and edit.end <= end for edit in fix.edits):
        return False
    layer = network.layers.get(item.name.text)
    return layer is not None and any(reader.kind != "all" for reader in network.reads_of(layer))
