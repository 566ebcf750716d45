"""Applying fixes: those that do not touch each other, again and again until none is left.

Knows no language: the caller hands in the check that finds the diagnostics of a text.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from netsharp_lsp.diagnostics.model import RANKS
from netsharp_lsp.text.edits import Edit, apply_edits, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic

#: After so many rounds the text is taken as it is; contracts promise a fixed point within them.
ROUNDS = 10


class Fixed:
    """What fixing gave: the new `text`, what is left, how often each code was fixed."""

    __slots__ = ("applied", "diagnostics", "rounds", "text")

    def __init__(
        self,
        text: bytes,
        diagnostics: Sequence[Diagnostic],
        applied: dict[str, int],
        rounds: int,
    ) -> None:
        self.text = text
        self.diagnostics = diagnostics
        self.applied = applied
        self.rounds = rounds


def choose(diagnostics: Iterable[Diagnostic], unsafe: bool) -> list[Diagnostic]:
    """Return the diagnostics whose fixes can be applied together, the gravest first chosen.

    A fix is taken whole or not at all; one that touches bytes of a fix taken before waits for
    the next round. Unsafe fixes are taken only where `unsafe` is true.
    """
    candidates = [d for d in diagnostics if d.fix is not None and (unsafe or d.fix.safe)]
    candidates.sort(key=lambda d: (RANKS[d.severity], d.start, d.end))
    taken: list[tuple[int, int]] = []
    chosen: list[Diagnostic] = []
    for diagnostic in candidates:
        edits = diagnostic.fix.edits if diagnostic.fix is not None else ()
        if edits and not any(_collides(edit, taken) for edit in edits):
            for edit in edits:
                insort(taken, (edit.start, edit.end))
            chosen.append(diagnostic)
    return chosen


def fix_all(
    text: bytes, check: Callable[[bytes], Sequence[Diagnostic]], unsafe: bool = False
) -> Fixed:
    """Apply fixes until none is left, at most `ROUNDS` times; never returns to a text seen."""
    seen = {text}
    applied: dict[str, int] = {}
    diagnostics = check(text)
    for done in range(ROUNDS):
        chosen = choose(diagnostics, unsafe)
        new = apply_edits(text, [e for d in chosen if d.fix is not None for e in d.fix.edits])
        if new in seen:
            return Fixed(text, diagnostics, applied, done)
        seen.add(new)
        text = new
        for diagnostic in chosen:
            applied[diagnostic.code] = applied.get(diagnostic.code, 0) + 1
        diagnostics = check(text)
    return Fixed(text, diagnostics, applied, ROUNDS)


def _collides(edit: Edit, taken: list[tuple[int, int]]) -> bool:
    """Whether an edit touches the bytes of one taken.

    Spans in `taken` are in order and do not overlap, so only its neighbours can: on either side
    one that holds bytes, and an insertion at that one's edge.
    """
    at = bisect_left(taken, (edit.start, edit.end))
    near = taken[max(0, at - 2) : at + 2]
    return any(overlaps(edit, Edit(start, end, "")) for start, end in near)
