"""The check of a text through the interface of its language: what is left to say of it."""

from __future__ import annotations

from netsharp_lsp.diagnostics.model import READING, is_in_order
from netsharp_lsp.diagnostics.suppression import MARK, find_suppressions, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic, Result
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.interface import Language
    from netsharp_lsp.text.lines import LineIndex


def examine(
    language: Language, lines: LineIndex, context: Context, selection: Selection
) -> list[Diagnostic]:
    """Check a text: its diagnostics in order, less those suppressed and those not selected."""
    return sift(language, lines, language.check(lines.text, context), selection)


def sift(
    language: Language, lines: LineIndex, result: Result, selection: Selection
) -> list[Diagnostic]:
    """Return a check's diagnostics in order, less those suppressed and those not selected."""
    diagnostics = result.diagnostics
    if not is_in_order(diagnostics):
        diagnostics = sorted(diagnostics, key=READING)
    comments = result.comments if MARK in lines.text else []
    suppressions = find_suppressions(lines, comments, *language.comment_marks)
    left = suppress(
        diagnostics,
        lines,
        suppressions,
        lambda: language.rules.codes,
        *language.suppression_codes,
        language.asked_codes,
    )
    return selection.filter(left)
