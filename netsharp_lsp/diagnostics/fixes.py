"""Applying fixes: those that do not touch each other, again and again until none is left.

A safe fix that makes an error where it stands was a guess, and is left to a person. Knows no
language: the caller hands in the check that finds the diagnostics of a text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter

from netsharp_lsp.diagnostics.model import RANKS, Diagnostic, Fix
from netsharp_lsp.text.edits import Edit, apply_edits, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Check = Callable[[bytes], Sequence[Diagnostic]]
    #: The code, the sentence and the title of a fix, and the line that it is about.
    Proposal = tuple[str, str, str, bytes]

#: After so many rounds the text is taken as it is; contracts promise a fixed point within them.
ROUNDS = 10
BLANKS = (b" ", b"\t")


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


def fix_all(text: bytes, check: Check, unsafe: bool = False) -> Fixed:
    """Apply fixes until none is left, at most `ROUNDS` times; never returns to a text seen.

    Where unsafe ones are not asked for, none stays applied that has left an error at its own
    place; in the diagnostics that are left its fix is unsafe.
    """
    before = check(text)
    fixed = Fixed(text, before, {}, 0)
    for _ in range(ROUNDS):
        guesses: set[Proposal] = set()
        more = fixed
        for _ in range(ROUNDS):
            more, written = _rounds(fixed, check, unsafe, guesses)
            blamed = set() if unsafe else set(_blamed(before, more, written))
            if not blamed:
                break
            guesses |= blamed
        if more.text == fixed.text or not guesses:
            return more
        # What stood beside a guess was taken for one, too: it has another chance without it.
        before = check(more.text)
        fixed = Fixed(more.text, before, more.applied, more.rounds)
    return more


class _Written:
    """Where an edit stands in the text that it and others gave, and which fix it belongs to."""

    __slots__ = ("end", "proposal", "start")

    def __init__(self, start: int, end: int, proposal: Proposal) -> None:
        self.start = start
        self.end = end
        self.proposal = proposal


def _rounds(
    begun: Fixed, check: Check, unsafe: bool, guesses: set[Proposal]
) -> tuple[Fixed, list[_Written]]:
    """Apply fixes round by round, guesses as unsafe ones; also what they wrote."""
    text, diagnostics, applied = begun.text, begun.diagnostics, dict(begun.applied)
    seen = {text}
    written: list[_Written] = []
    for done in range(begun.rounds, ROUNDS):
        if guesses:
            diagnostics = [_doubted(d) if _proposal(d, text) in guesses else d for d in diagnostics]
        chosen = choose(diagnostics, unsafe)
        edits = [(edit, d) for d in chosen if d.fix is not None for edit in d.fix.edits]
        new = apply_edits(text, [edit for edit, _ in edits])
        if new in seen:
            return Fixed(text, diagnostics, applied, done), written
        written = _moved(written, [edit for edit, _ in edits])
        written += _placed(edits, text)
        seen.add(new)
        text = new
        for diagnostic in chosen:
            applied[diagnostic.code] = applied.get(diagnostic.code, 0) + 1
        diagnostics = check(text)
    return Fixed(text, diagnostics, applied, ROUNDS), written


def _placed(edits: Iterable[tuple[Edit, Diagnostic]], text: bytes) -> Iterator[_Written]:
    """Where the edits of one round stand once they are made."""
    shift = 0
    for edit, diagnostic in sorted(edits, key=lambda pair: (pair[0].start, pair[0].end)):
        start = edit.start + shift
        end = start + len(edit.text.encode())
        shift += end - start - (edit.end - edit.start)
        yield _Written(start, end, _proposal(diagnostic, text))


def _moved(written: Iterable[_Written], edits: Iterable[Edit]) -> list[_Written]:
    """The same places in the text that further edits give."""
    ends, shifts = [], [0]
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        ends.append(edit.end)
        shifts.append(shifts[-1] + len(edit.text.encode()) - (edit.end - edit.start))
    return [
        _Written(
            max(0, one.start + shifts[bisect_right(ends, one.start)]),
            max(0, one.end + shifts[bisect_right(ends, one.end)]),
            one.proposal,
        )
        for one in written
    ]


def _blamed(
    before: Iterable[Diagnostic], fixed: Fixed, written: Iterable[_Written]
) -> Iterator[Proposal]:
    """The fixes at whose places, or a blank from there, errors are left that were not there before.

    Those elsewhere the broken text had hidden.
    """
    left = [d for d in fixed.diagnostics if d.severity == "error"]
    new = Counter(map(_said, left)) - Counter(_said(d) for d in before if d.severity == "error")
    errors = [(d.start, d.end) for d in left if _said(d) in new]
    for one in written if errors else ():
        start, end = one.start, one.end
        while fixed.text[start - 1 : start] in BLANKS:
            start -= 1
        while fixed.text[end : end + 1] in BLANKS:
            end += 1
        if any(at <= end and start <= until for at, until in errors):
            yield one.proposal


def _proposal(diagnostic: Diagnostic, text: bytes) -> Proposal:
    """What a fix is known by in texts that differ elsewhere: its sentences and its line."""
    line = text[text.rfind(b"\n", 0, diagnostic.start) + 1 :].partition(b"\n")[0]
    return (*_said(diagnostic), diagnostic.fix.title if diagnostic.fix is not None else "", line)


def _doubted(diagnostic: Diagnostic) -> Diagnostic:
    """The same diagnostic with an unsafe fix."""
    fix = diagnostic.fix
    return Diagnostic(
        diagnostic.code,
        diagnostic.severity,
        diagnostic.message,
        diagnostic.start,
        diagnostic.end,
        diagnostic.related,
        Fix(fix.title, False, fix.edits) if fix is not None else None,
    )


def _said(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.message


def _collides(edit: Edit, taken: list[tuple[int, int]]) -> bool:
    """Whether an edit touches the bytes of one taken.

    Spans in `taken` are in order and do not overlap, so only its neighbours can: on either side
    one that holds bytes, and an insertion at that one's edge.
    """
    at = bisect_left(taken, (edit.start, edit.end))
    near = taken[max(0, at - 2) : at + 2]
    return any(overlaps(edit, Edit(start, end, "")) for start, end in near)
