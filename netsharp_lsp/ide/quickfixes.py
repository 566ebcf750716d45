"""Actions for diagnostics: their fixes, and explanations of their rules; knows no language."""

from __future__ import annotations

from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress
from netsharp_lsp.ide.answers import Action, Command
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic, Fix, Result
    from netsharp_lsp.diagnostics.pages import RuleBook

QUICK_FIX = "quickfix"


def unsuppressed(
    data: bytes,
    result: Result,
    rules: RuleBook,
    marks: Sequence[str],
    suppression_codes: tuple[str, str],
) -> Sequence[Diagnostic]:
    """Return the diagnostics of a text, less those that its comments suppress.

    `marks` begin comments; `suppression_codes` are those of faulty suppressions.
    """
    lines = LineIndex(data)
    found = find_suppressions(lines, result.comments, *marks)
    return suppress(result.diagnostics, lines, found, lambda: rules.codes, *suppression_codes)


def quick_fixes(
    diagnostics: Sequence[Diagnostic],
    span: tuple[int, int],
    rules: RuleBook,
    offers: Callable[[Diagnostic, Fix], bool] = lambda diagnostic, fix: True,
) -> Iterator[Action]:
    """Yield the fix of each diagnostic that touches a span, then the explanation of each rule.

    `offers` returns whether a fix is offered here.
    """
    start, end = span
    touched = [one for one in diagnostics if one.start <= end and start <= one.end]
    for diagnostic in touched:
        fix = diagnostic.fix
        if fix is not None and offers(diagnostic, fix):
            yield Action(
                fix.title,
                QUICK_FIX,
                fix.edits,
                preferred=fix.safe,
                fixes=((diagnostic.code, diagnostic.start, diagnostic.end),),
                message=diagnostic.message,
            )
    for code in dict.fromkeys(diagnostic.code for diagnostic in touched):
        title = f"Explain {code}: {rules.title(code)}"
        yield Action(title, QUICK_FIX, command=Command("netsharp.server.explain", title, (code,)))


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a kind of action, or one above it, is requested; without any all are."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)
