"""Laws of lines and columns over random text with every line end and astral characters."""

from __future__ import annotations

import re
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.text.edits import Edit
from netsharp_lsp.text.lines import LineIndex

LAW = settings(max_examples=300, deadline=None, derandomize=True)
PIECES = st.sampled_from(
    [
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        "\u2029",
        "\x0b",
        "\x0c",
        "\x85",
        "\t",
        "a",
        "bc",
        "é",
        "数",
        "😀",
        "e\u0301",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)
LINE_END = re.compile("\r\n|\r|\n")


def slow_lines(text: str) -> list[str]:
    return LINE_END.split(text)


@LAW
@given(TEXTS)
def test_only_lf_crlf_and_cr_end_a_line(text: str) -> None:
    index = LineIndex(text.encode())
    lines = slow_lines(text)
    assert [index.line_text(number) for number in range(index.count)] == lines
    assert index.starts == [
        len(text[:match].encode()) for match in [0, *(m.end() for m in LINE_END.finditer(text))]
    ]


@LAW
@given(TEXTS)
def test_position_counts_lines_and_code_points_from_one(text: str) -> None:
    index = LineIndex(text.encode())
    for at in range(len(text) + 1):
        before = text[:at]
        ends = [m.end() for m in LINE_END.finditer(text) if m.end() <= at]
        line = len(ends) + 1
        column = at - (ends[-1] if ends else 0) + 1
        assert index.position(len(before.encode())) == (line, column)


@LAW
@given(TEXTS)
def test_offset_undoes_position_but_inside_a_line_end(text: str) -> None:
    data = text.encode()
    index = LineIndex(data)
    for at in range(len(text) + 1):
        offset = len(text[:at].encode())
        line, _ = index.position(offset)
        expected = min(offset, index.span(line - 1)[1])
        assert index.offset(*index.position(offset)) == expected
        utf16_line, character = index.utf16_position(offset)
        assert utf16_line == line - 1
        assert index.utf16_offset(utf16_line, character) == expected


@LAW
@given(TEXTS)
def test_utf16_columns_count_code_units(text: str) -> None:
    index = LineIndex(text.encode())
    for at in range(len(text) + 1):
        line, column = index.position(len(text[:at].encode()))
        before = text[:at][-(column - 1) :] if column > 1 else ""
        units = len(before.encode("utf-16-le", "surrogatepass")) // 2
        assert index.utf16_position(len(text[:at].encode())) == (line - 1, units)


@LAW
@given(TEXTS, st.integers(-5, 60), st.integers(-5, 60))
def test_any_position_gives_an_offset_at_the_start_of_a_character(
    text: str, line: int, column: int
) -> None:
    data = text.encode()
    index = LineIndex(data)
    for offset in (index.offset(line, column), index.utf16_offset(line, column)):
        assert 0 <= offset <= len(data)
        data[:offset].decode()
        data[offset:].decode()


@LAW
@given(st.binary(max_size=40), st.integers(-3, 45))
def test_bytes_that_are_not_utf8_never_raise(data: bytes, offset: int) -> None:
    index = LineIndex(data)
    line, column = index.position(offset)
    assert 1 <= line <= index.count
    assert column >= 1
    assert 0 <= index.offset(line, column) <= len(data)
    assert index.utf16_position(offset)[0] == line - 1


def test_an_offset_inside_a_character_counts_as_its_start() -> None:
    index = LineIndex("a😀b".encode())
    assert [index.position(offset)[1] for offset in range(7)] == [1, 2, 2, 2, 2, 3, 4]
    assert [index.utf16_position(offset)[1] for offset in range(7)] == [0, 1, 1, 1, 1, 3, 4]


def test_a_position_between_surrogates_is_the_start_of_the_character() -> None:
    index = LineIndex("a😀b".encode())
    assert [index.utf16_offset(0, character) for character in range(6)] == [0, 1, 1, 5, 6, 6]


def test_an_empty_text_has_one_empty_line() -> None:
    index = LineIndex(b"")
    assert index.count == 1
    assert index.span(0) == (0, 0)
    assert index.position(0) == (1, 1)
    assert index.offset(7, 7) == 0


def test_spans_leave_out_the_line_end_and_full_spans_hold_it() -> None:
    index = LineIndex(b"a\r\nb\rc\nd")
    assert [index.span(line) for line in range(4)] == [(0, 1), (3, 4), (5, 6), (7, 8)]
    assert [index.full_span(line) for line in range(4)] == [(0, 3), (3, 5), (5, 7), (7, 8)]


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    index = LineIndex(b"a\nb")
    assert index._starts is None
    assert index._ascii is None


@LAW
@given(TEXTS)
def test_utf8_positions_count_bytes_from_zero_and_lead_back(text: str) -> None:
    index = LineIndex(text.encode())
    for at in range(len(text) + 1):
        before = text[:at]
        ends = [m.end() for m in LINE_END.finditer(text) if m.end() <= at]
        character = len(before[ends[-1] if ends else 0 :].encode())
        assert index.utf8_position(len(before.encode())) == (len(ends), character)
        if text[at - 1 : at + 1] != "\r\n":
            assert index.utf8_offset(len(ends), character) == len(before.encode())


def test_utf8_positions_outside_move_to_the_nearest_character() -> None:
    index = LineIndex("aé😀\r\nb".encode())
    assert index.utf8_offset(0, 2) == 1
    assert index.utf8_offset(0, 5) == 3
    assert index.utf8_offset(0, 99) == 7
    assert index.utf8_offset(-1, 3) == 0
    assert index.utf8_offset(7, 0) == len(index.text)


@LAW
@given(TEXTS, st.data())
def test_lines_after_an_edit_are_those_of_the_new_text(text: str, data: st.DataObject) -> None:
    index = LineIndex(text.encode())
    assert index.count
    for _ in range(3):
        now = index.text.decode()
        start = data.draw(st.integers(0, len(now)))
        end = data.draw(st.integers(start, len(now)))
        put_in = data.draw(TEXTS)
        edit = Edit(len(now[:start].encode()), len(now[:end].encode()), put_in)
        new = (now[:start] + put_in + now[end:]).encode()
        index = index.edited(new, edit)
        assert index.starts == LineIndex(new).starts


def test_long_lines_are_counted_like_short_ones() -> None:
    random = Random(9)
    for _ in range(20):
        text = "x\n" + "".join(random.choices("aé😀\t", k=random.randint(2_000, 9_000))) + "\r\nend"
        data, index = text.encode(), LineIndex(text.encode())
        start, end = index.span(1)
        for offset in (end, *(random.randint(start, end + 2) for _ in range(50))):
            before = data[start : min(offset, end)].decode("utf-8", "ignore")
            if offset <= end:
                assert index.position(offset) == (2, len(before) + 1)
                assert index.utf16_position(offset) == (1, len(before.encode("utf-16-le")) // 2)
                assert index.utf8_position(offset) == (1, len(before.encode()))
            exact = start + len(before.encode())
            assert index.offset(2, len(before) + 1) == exact
            units = len(before.encode("utf-16-le")) // 2
            assert index.utf16_offset(1, units) == exact
            assert index.utf16_offset(1, units + 1) >= exact
        assert index.offset(2, 10**9) == index.utf16_offset(1, 10**9) == end
