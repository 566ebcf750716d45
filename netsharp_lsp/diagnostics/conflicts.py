"""Diagnostics of texts with merge conflicts: those that are true whichever side is kept."""

from __future__ import annotations

from netsharp_lsp.diagnostics.model import Diagnostic, Related
from netsharp_lsp.text.conflicts import Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Fix
    from netsharp_lsp.text.conflicts import Conflict


def unresolved(conflict: Conflict, code: str) -> Diagnostic:
    """Return the one diagnostic of a conflict, at the first of its marks."""
    _, start, end = conflict.marks[0]
    related = [Related(sentence, first, last) for sentence, first, last in conflict.notes]
    return Diagnostic(code, "error", conflict.message, start, end, related)


def undisputed(
    conflicts: Sequence[Conflict], ours: Iterable[Diagnostic], theirs: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Yield the diagnostics that both readings of a text have outside its conflicts."""
    undecided = Undecided(conflicts)
    others = {one.sort_key: one for one in theirs}
    for one in ours:
        other = others.get(one.sort_key)
        last = max(one.start, one.end - 1)
        if other is None or undecided.holds(one.start) or undecided.holds(last):
            continue
        related = [it for it in one.related if it in other.related]
        fix = one.fix if one.fix == other.fix and not _touches(undecided, one.fix) else None
        yield Diagnostic(one.code, one.severity, one.message, one.start, one.end, related, fix)


def _touches(undecided: Undecided, fix: Fix | None) -> bool:
    edits = fix.edits if fix is not None else ()
    return any(undecided.meets(edit.start, edit.end) for edit in edits)
