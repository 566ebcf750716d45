"""Edits are applied together, to the text as it was before any of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.text.edits import Edit, apply_edits, compose, difference, overlaps
from netsharp_lsp.text.line_edits import line_edits
from netsharp_lsp.text.width import shown

LAW = settings(max_examples=200, deadline=None, derandomize=True)


@LAW
@given(st.binary(max_size=30), st.lists(st.integers(0, 30), max_size=8), st.data())
def test_edits_together_equal_edits_one_by_one_from_the_end(
    text: bytes, cuts: list[int], data: st.DataObject
) -> None:
    bounds = sorted({min(cut, len(text)) for cut in cuts})
    edits = [
        Edit(start, end, data.draw(st.text(max_size=3)))
        for start, end in zip(bounds[::2], bounds[1::2], strict=False)
    ]
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.text.encode() + expected[edit.end :]
    shuffled = data.draw(st.permutations(edits))
    assert apply_edits(text, shuffled) == expected


@LAW
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_overlap_is_symmetric_and_is_what_cannot_be_applied(numbers: list[int]) -> None:
    a, b = sorted(numbers[:2])
    c, d = sorted(numbers[2:])
    first, second = Edit(a, b, "x"), Edit(c, d, "y")
    assert overlaps(first, second) == overlaps(second, first)
    if not overlaps(first, second):
        assert apply_edits(b"0123456789", [first, second]) == apply_edits(
            b"0123456789", [second, first]
        )


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply_edits(b"ad", [Edit(1, 1, "b"), Edit(1, 1, "c")]) == b"abcd"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, ""), Edit(1, 3, "")], [Edit(2, 9, "")], [Edit(2, 1, "")]]
)
def test_edits_that_cannot_be_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another edit or lies outside"):
        apply_edits(b"abcd", edits)


@pytest.mark.parametrize(
    ("text", "visible", "columns"),
    [
        ("ab", "ab", [0, 1, 2]),
        ("a\tb", "a   b", [0, 1, 4, 5]),
        ("数a", "数a", [0, 2, 3]),
        ("e\u0301a", "e\u0301a", [0, 1, 1, 2]),
        ("\x1b[0m", r"\x1b[0m", [0, 4, 5, 6, 7]),
        ("\u202e", r"\u202e", [0, 6]),
        ("", "", [0]),
    ],
)
def test_columns_in_a_terminal(text: str, visible: str, columns: list[int]) -> None:
    assert shown(text) == (visible, columns)


TEXTS = st.text("ab\r\né😀", max_size=12)
LINES = st.lists(
    st.sampled_from(["a\n", "b\r\n", "é\n", "\n", "c\r", "d😀\n", "e"]), max_size=12
).map("".join)


def drawn(data: st.DataObject, text: str) -> Edit:
    """An edit of a text, at whole characters."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    return Edit(len(text[:start].encode()), len(text[:end].encode()), data.draw(TEXTS))


@LAW
@given(TEXTS, st.data())
def test_composed_edits_do_what_all_do_in_turn(text: str, data: st.DataObject) -> None:
    now, composed = text.encode(), []
    for _ in range(data.draw(st.integers(1, 5))):
        edit = drawn(data, now.decode())
        now = apply_edits(now, [edit])
        composed = compose(composed, [edit])
    assert apply_edits(text.encode(), composed) == now
    assert all(a.end < b.start for a, b in itertools.pairwise(composed))


@LAW
@given(TEXTS, TEXTS)
def test_the_difference_makes_one_text_of_the_other_and_is_short(first: str, second: str) -> None:
    before, after = first.encode(), second.encode()
    edit = difference(before, after)
    assert apply_edits(before, [edit]) == after
    before[: edit.start].decode()
    before[edit.end :].decode()
    gone, put_in = before[edit.start : edit.end].decode(), edit.text
    assert not (gone and put_in and (gone[0] == put_in[0] or gone[-1] == put_in[-1]))


@LAW
@given(LINES, LINES)
def test_line_edits_make_one_text_of_the_other(first: str, second: str) -> None:
    before, after = first.encode(), second.encode()
    edits = line_edits(before, after)
    assert apply_edits(before, edits) == after
    assert all(a.end <= b.start for a, b in itertools.pairwise(edits))
    for edit in edits:
        assert before[edit.start - 1 : edit.start + 1] != b"\r\n"
        assert before[edit.end - 1 : edit.end + 1] != b"\r\n"


def test_line_edits_leave_alone_what_is_the_same() -> None:
    before = b"".join(b"line %d ;\n" % number for number in range(2000))
    after = before.replace(b"line 7 ;", b"line 7;").replace(b"line 1500 ;", b"line 1500;")
    edits = line_edits(before, after)
    assert [before[edit.start : edit.end] for edit in edits] == [b" ", b" "]
