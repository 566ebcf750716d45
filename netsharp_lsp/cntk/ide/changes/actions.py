"""Code actions for a range: fixes, explanations, steps of a migration. One row for each
provider.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.changes.migration import KIND, migrations_at
from netsharp_lsp.ide.quickfixes import QUICK_FIX, quick_fixes, unsuppressed, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.diagnostics.model import Result
    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.interface import Language


def actions_in(
    edited: Edited,
    language: Language,
    check: Callable[[], Result],
    span: tuple[int, int],
    only: Sequence[str] | None,
) -> list[Action]:
    """Return the code actions for a range; `only` are the wanted kinds, including their subkinds.

    `check` returns the diagnostics of the text.
    """
    found: list[Action] = []
    if wanted(QUICK_FIX, only):
        codes = language.suppression_codes
        rules, marks = language.rules, language.comment_marks
        diagnostics = unsuppressed(edited.data, check(), rules, marks, codes)
        found += quick_fixes(diagnostics, span, rules)
    if wanted(KIND, only):
        found += migrations_at(edited, span[0])
    return found
