"""What can be done to a range: fixes, explanations, steps of a migration.  One row a provider."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.migration import KIND, migrations_at
from netsharp_lsp.ide.quickfixes import QUICK_FIX, quick_fixes, told, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.ide.snapshot import Snapshot
    from netsharp_lsp.ide.answers import Action


def actions_in(
    snapshot: Snapshot, start: int, end: int, only: Sequence[str] | None
) -> list[Action]:
    """What can be done to a range; `only` are kinds wanted, those below them included."""
    found: list[Action] = []
    if wanted(QUICK_FIX, only):
        language = snapshot.language
        codes = language.suppression_codes
        rules, marks = language.rules, language.comment_marks
        diagnostics = told(snapshot.data, snapshot.check(), rules, marks, codes)
        found += quick_fixes(diagnostics, (start, end), rules)
    if wanted(KIND, only):
        found += migrations_at(snapshot.text, start)
    return found
