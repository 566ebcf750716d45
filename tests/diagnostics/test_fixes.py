"""Fixes are taken whole, never touch each other, and come to an end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import ROUNDS, choose, fix_all
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix
from netsharp_lsp.text.edits import overlaps
from tests.diagnostics.toy import TOY

LAW = settings(max_examples=200, deadline=None, derandomize=True)


def check(text: bytes) -> list[Diagnostic]:
    return TOY.check(text, Context()).diagnostics


def proposal(severity: str, safe: bool, *edits: tuple[int, int]) -> Diagnostic:
    fix = Fix("x", safe, [Edit(start, end, "x") for start, end in edits])
    return Diagnostic("TY001", severity, "m", edits[0][0], edits[0][1], fix=fix)


def test_safe_fixes_alone_leave_unsafe_ones() -> None:
    result = fix_all(b"bad worse todo", check)
    assert result.text == b"good worse todo"
    assert result.applied == {"TY001": 1}
    assert [d.code for d in result.diagnostics] == ["TY002", "TY003"]


def test_unsafe_fixes_go_on_until_none_is_left() -> None:
    result = fix_all(b"bad worse todo", check, unsafe=True)
    assert result.text == b"good good todo"
    assert result.applied == {"TY001": 2, "TY002": 1}
    assert result.rounds == 2


def test_a_clean_text_is_the_same_text() -> None:
    result = fix_all(b"good", check)
    assert (result.text, result.applied, result.rounds) == (b"good", {}, 0)


def test_fixes_that_undo_each_other_end() -> None:
    def flip(text: bytes) -> list[Diagnostic]:
        other = "b" if text == b"a" else "a"
        return [Diagnostic("TY001", "error", "m", 0, 1, fix=Fix("flip", True, [Edit(0, 1, other)]))]

    result = fix_all(b"a", flip)
    assert result.text in (b"a", b"b")
    assert result.rounds <= ROUNDS


def test_a_text_that_grows_for_ever_ends_after_ten_rounds() -> None:
    def grow(text: bytes) -> list[Diagnostic]:
        return [Diagnostic("TY001", "error", "m", 0, 0, fix=Fix("grow", True, [Edit(0, 0, "x")]))]

    result = fix_all(b"", grow)
    assert result.text == b"x" * ROUNDS
    assert result.applied == {"TY001": ROUNDS}


def test_the_most_severe_of_two_fixes_that_collide_is_taken() -> None:
    slight, severe = proposal("hint", True, (0, 3)), proposal("error", True, (2, 4))
    assert choose([slight, severe], unsafe=False) == [severe]


def test_a_fix_is_taken_whole_or_not_at_all() -> None:
    first = proposal("error", True, (0, 1), (8, 9))
    second = proposal("warning", True, (4, 5), (8, 9))
    assert choose([second, first], unsafe=False) == [first]


SPANS = st.tuples(st.integers(0, 12), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))


@LAW
@given(
    st.lists(
        st.builds(proposal, st.sampled_from(["error", "hint"]), st.booleans(), SPANS), max_size=8
    ),
    st.booleans(),
)
def test_chosen_fixes_never_overlap_and_are_as_safe_as_asked(
    proposals: list[Diagnostic], unsafe: bool
) -> None:
    chosen = choose(proposals, unsafe)
    edits = [edit for diagnostic in chosen for edit in diagnostic.fix.edits]
    assert not any(overlaps(first, second) for n, first in enumerate(edits) for second in edits[:n])
    assert unsafe or all(diagnostic.fix.safe for diagnostic in chosen)
    assert bool(chosen) == any(unsafe or diagnostic.fix.safe for diagnostic in proposals)


@LAW
@given(st.lists(st.lists(SPANS, min_size=1, max_size=3), max_size=12))
def test_a_fix_is_passed_over_only_where_it_collides_with_one_taken(
    spans: list[list[tuple[int, int]]],
) -> None:
    proposals = [proposal("error", True, *edits) for edits in spans]
    chosen = choose(proposals, unsafe=False)
    taken: list[Edit] = []
    for diagnostic in sorted(proposals, key=lambda d: (d.start, d.end)):
        edits = diagnostic.fix.edits
        if not any(overlaps(edit, other) for edit in edits for other in taken):
            taken += edits
            assert any(diagnostic is one for one in chosen)
        else:
            assert not any(diagnostic is one for one in chosen)
