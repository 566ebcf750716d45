"""What can be done to a range: fixes, explanations, steps of a migration.  One row a provider."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.migration import KIND, migrations_at
from netsharp_lsp.cntk.rules import FOLDER
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress
from netsharp_lsp.ide.answers import Action, Command
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.snapshot import Snapshot
    from netsharp_lsp.diagnostics.model import Diagnostic

RULES = RuleBook(FOLDER)
QUICK_FIX = "quickfix"


def actions_in(
    snapshot: Snapshot, start: int, end: int, only: Sequence[str] | None
) -> list[Action]:
    """What can be done to a range; `only` are kinds wanted, those below them included."""
    found = list(quick_fixes(snapshot, start, end)) if wanted(QUICK_FIX, only) else []
    if wanted(KIND, only):
        found += migrations_at(snapshot.text, start)
    return found


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a kind, or one above it, is asked for."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)


def told(snapshot: Snapshot) -> Sequence[Diagnostic]:
    """The diagnostics of a text, less those that its comments silence."""
    result = snapshot.check()
    lines = LineIndex(snapshot.data)
    found = find_suppressions(lines, result.comments, *snapshot.language.comment_marks)
    codes = snapshot.language.suppression_codes
    return suppress(result.diagnostics, lines, found, lambda: RULES.codes, *codes)


def quick_fixes(snapshot: Snapshot, start: int, end: int) -> Iterator[Action]:
    """For each diagnostic that touches a range its fix, then for each rule its explanation."""
    touched = [one for one in told(snapshot) if one.start <= end and start <= one.end]
    for diagnostic in touched:
        fix = diagnostic.fix
        if fix is not None:
            yield Action(
                fix.title,
                QUICK_FIX,
                fix.edits,
                preferred=fix.safe,
                fixes=((diagnostic.code, diagnostic.start, diagnostic.end),),
                message=diagnostic.message,
            )
    for code in dict.fromkeys(diagnostic.code for diagnostic in touched):
        title = f"Explain {code}: {RULES.title(code)}"
        yield Action(title, QUICK_FIX, command=Command("netsharp.server.explain", title, (code,)))
