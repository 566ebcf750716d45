"""Applying fixes: those that do not touch each other, again and again until none is left.

A safe fix that causes an error at its own place was a guess, and is left to a person. Knows no
language: the caller passes the check that finds the diagnostics of a text, or of several.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from itertools import accumulate

from netsharp_lsp.diagnostics.model import RANKS, Diagnostic, Fix
from netsharp_lsp.text.edits import Edit, apply_edits, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Check = Callable[[bytes], Sequence[Diagnostic]]
    #: Gives the diagnostics of each of several texts, by their names.
    CheckTexts = Callable[[Mapping[str, bytes]], Mapping[str, Sequence[Diagnostic]]]
    #: The name of a text, the code, the sentence and the title of a fix, and what surrounds its
    #: place.
    Proposal = tuple[str, str, str, str, bytes]

#: The text after this many rounds is final; contracts promise a fixed point within them.
ROUNDS = 10
BLANKS = (b" ", b"\t")
#: This many bytes before and after a place identify it: a line may be a whole text.
AROUND = 200


class Fixed:
    """The result of fixing: the new `text`, the diagnostics left, how often each code was fixed."""

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
    """Return the diagnostics whose fixes can be applied together, the most severe chosen first.

    A fix is applied whole or not at all; one that touches bytes of a fix chosen before waits for
    the next round. Unsafe fixes are chosen only where `unsafe` is true.
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
    """Apply fixes until none is left, at most `ROUNDS` times; never return to an earlier text.

    Without `unsafe`, none stays applied that has caused an error at its own place; in the
    diagnostics that are left its fix is unsafe.
    """
    return fix_texts({"": text}, lambda texts: {"": check(texts[""])}, unsafe)[""]


def fix_texts(
    texts: Mapping[str, bytes], check: CheckTexts, unsafe: bool = False
) -> dict[str, Fixed]:
    """Do as `fix_all` does for several texts, by their names, that are checked together."""
    before = check(texts)
    fixed = {name: Fixed(text, before[name], {}, 0) for name, text in texts.items()}
    done = 0
    for _ in range(ROUNDS):
        guesses: set[Proposal] = set()
        more, rounds = fixed, done
        for _ in range(ROUNDS):
            more, rounds, written = _rounds(fixed, done, check, unsafe, guesses)
            blamed: set[Proposal] = set()
            if not unsafe:
                for name, one in more.items():
                    blamed.update(_faulty_fixes(before[name], one, written[name]))
            if not blamed:
                break
            guesses |= blamed
        if not guesses or all(more[name].text == one.text for name, one in fixed.items()):
            return more
        # Fixes beside a guess counted as guesses, too: they have another chance without it.
        before = check({name: one.text for name, one in more.items()})
        fixed = {
            name: Fixed(one.text, before[name], one.applied, one.rounds)
            for name, one in more.items()
        }
        done = rounds
    return more


class _Written:
    """The place of an edit in the text that all edits give, and the fix that it belongs to."""

    __slots__ = ("end", "proposal", "start")

    def __init__(self, start: int, end: int, proposal: Proposal) -> None:
        self.start = start
        self.end = end
        self.proposal = proposal


def _rounds(
    begun: Mapping[str, Fixed], done: int, check: CheckTexts, unsafe: bool, guesses: set[Proposal]
) -> tuple[dict[str, Fixed], int, dict[str, list[_Written]]]:
    """Apply fixes round by round, guesses as unsafe ones; return the texts, the count of rounds and
    the edits made.
    """
    fixed = dict(begun)
    seen = {name: {one.text} for name, one in begun.items()}
    written: dict[str, list[_Written]] = {name: [] for name in begun}
    while done < ROUNDS:
        changed = False
        for name, one in fixed.items():
            diagnostics = one.diagnostics
            if guesses:
                diagnostics = [
                    _doubted(d) if _proposal(d, name, one.text) in guesses else d
                    for d in diagnostics
                ]
            chosen = choose(diagnostics, unsafe)
            edits = [(edit, d) for d in chosen if d.fix is not None for edit in d.fix.edits]
            new = apply_edits(one.text, [edit for edit, _ in edits])
            if new in seen[name]:
                fixed[name] = Fixed(one.text, diagnostics, one.applied, done)
                continue
            changed = True
            seen[name].add(new)
            written[name] = _moved(written[name], [edit for edit, _ in edits])
            written[name] += _placed(edits, name, one.text)
            applied = Counter(one.applied)
            applied.update(d.code for d in chosen)
            fixed[name] = Fixed(new, (), dict(applied), done + 1)
        if not changed:
            break
        done += 1
        remaining = check({name: one.text for name, one in fixed.items()})
        fixed = {
            name: Fixed(one.text, remaining[name], one.applied, one.rounds)
            for name, one in fixed.items()
        }
    return fixed, done, written


def _placed(edits: Iterable[tuple[Edit, Diagnostic]], name: str, text: bytes) -> Iterator[_Written]:
    """Yield the places of the edits of one round after they are made."""
    shift = 0
    for edit, diagnostic in sorted(edits, key=lambda pair: (pair[0].start, pair[0].end)):
        start = edit.start + shift
        end = start + len(edit.text.encode())
        shift += end - start - (edit.end - edit.start)
        yield _Written(start, end, _proposal(diagnostic, name, text))


def _moved(written: Iterable[_Written], edits: Iterable[Edit]) -> list[_Written]:
    """Return the same places in the text that further edits give."""
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


def _faulty_fixes(
    before: Iterable[Diagnostic], fixed: Fixed, written: Iterable[_Written]
) -> Iterator[Proposal]:
    """Yield the fixes at whose places, or within a blank of them, new errors are left.

    New errors elsewhere were hidden by the broken text.
    """
    left = [d for d in fixed.diagnostics if d.severity == "error"]
    new = Counter(map(_key, left)) - Counter(_key(d) for d in before if d.severity == "error")
    errors = sorted((d.start, d.end) for d in left if _key(d) in new)
    starts = [start for start, _ in errors]
    reached = list(accumulate((end for _, end in errors), max))
    for one in written if errors else ():
        start, end = one.start, one.end
        while fixed.text[start - 1 : start] in BLANKS:
            start -= 1
        while fixed.text[end : end + 1] in BLANKS:
            end += 1
        begun = bisect_right(starts, end)
        if begun and reached[begun - 1] >= start:
            yield one.proposal


def _proposal(diagnostic: Diagnostic, name: str, text: bytes) -> Proposal:
    """Return the identity of a fix in texts that differ elsewhere: the text's name, the fix's
    sentences and the rest of its line.
    """
    before = text[max(0, diagnostic.start - AROUND) : diagnostic.start].rpartition(b"\n")[2]
    after = text[diagnostic.start : diagnostic.start + AROUND].partition(b"\n")[0]
    line = before + after
    title = diagnostic.fix.title if diagnostic.fix is not None else ""
    return (name, *_key(diagnostic), title, line)


def _doubted(diagnostic: Diagnostic) -> Diagnostic:
    """Return the same diagnostic with an unsafe fix."""
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


def _key(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.message


def _collides(edit: Edit, taken: list[tuple[int, int]]) -> bool:
    """Return whether an edit touches the bytes of one chosen before.

    Spans in `taken` are in order and do not overlap, so only its neighbours can: on either side one
    that has bytes, and an insertion at that one's edge.
    """
    at = bisect_left(taken, (edit.start, edit.end))
    near = taken[max(0, at - 2) : at + 2]
    return any(overlaps(edit, Edit(start, end, "")) for start, end in near)
