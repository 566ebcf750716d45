"""What cannot be parsed in a text of BrainScript is reported once, where it is."""

from __future__ import annotations

from functools import partial

import pytest

from netsharp_lsp.cntk.rules.brainscript.text import last_word
from tests.cntk.rules.brainscript_reporting import alone, built, reported
from tests.costs import assert_in_proportion

TEXTS = [
    ("a = (1 + ", [("BS002", "("), ("BS001", "+")]),
    ("a = (b]\nb = 1", [("BS003", "]")]),
    ("a = { b = 1 )\nc = 2", [("BS003", ")")]),
    ("a = 1 ] b = 2", [("BS004", "]")]),
    ("a = 1 ;; b = 2", [("BS009", ";")]),
    ("a = 1, b = 2", [("BS010", ",")]),
    ("a = 1 b c = 2", [("BS008", "b")]),
    ("true = 1", [("BS012", "true")]),
    ("then = 1", [("BS012", "then")]),
    ("a = 3 ^ 2", [("BS007", "^")]),
    ("a = @ b = 2", [("BS007", "@")]),
    ("a = 1 | 2", [("BS007", "|")]),
    ("a = 13abc", [("BS073", "abc")]),
    ("a = if true then 1", [("BS036", "true"), ("BS015", "1")]),
    ("a = if 1 2 else 3", [("BS015", "1"), ("BS043", "1")]),
    ("f (x) { y = 1 }", [("BS016", "f")]),
    ("f (x) { y = 1 }\na = f (2)", [("BS016", "f")]),
    ("include 3", [("BS011", "include")]),
    ("a = new = 3", [("BS017", "new")]),
    ("= 3", [("BS017", "")]),
    ("a = 'x\nb = 2", [("BS005", "'x")]),
    ("a = 1 /* b", [("BS006", "/*")]),
    ("a = [ b = 1 ]", [("BS076", "[")]),
    ("a = 1\n...\nb = f (a)", [("BS078", "...")]),
    ("a = ...\nb = f (a)", [("BS078", "...")]),
    ("a = { ... (the first) }\nb = 2", [("BS078", "...")]),
    ("a = 1 // ^ & |\nb = 2 # ;;", []),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_damage_is_reported_once(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


def test_a_wrong_bracket_names_its_partner() -> None:
    (found,) = alone("a = f (1]\nf (x) = x")
    (note,) = found.related
    assert (found.code, note.message, note.start) == ("BS003", "'(' is opened here.", 6)


def test_a_comment_that_two_stars_keep_open_reports_it() -> None:
    (found,) = alone("a = 1 /* b **/\nc = 2")
    assert found.code == "BS006"
    assert "'**/' does not close" in found.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f (x) = x\na = f\n(3)", [("BS037", "(")]),
        ("a = 1\n- 2", [("BS037", "-")]),
        ("a = { b = 1 }\n.b", [("BS037", ".")]),
        ("a = (1:2)\n[0]", [("BS037", "[")]),
        ("f (x) = x\na = f\n    (3)", []),
        ("f (x) = x\na = f (\n3\n)", []),
        ("f (x) = x\na = f\n(\n    3\n)", []),
        ("a = 1 +\n2", []),
    ],
)
def test_a_line_that_continues_another(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a = 2 * 3 ** 2", 1),
        ("a = 2 ** 3 ** 2", 1),
        ("a = -3 ** 2", 1),
        ("a = (2 * 3) ** 2", 0),
        ("a = 2 * (3 ** 2)", 0),
        ("a = (-3) ** 2", 0),
        ("a = 3 ** 2 + 1", 0),
    ],
)
def test_powers(text: str, count: int) -> None:
    assert [one.code for one in alone(text)] == ["BS038"] * count


def test_a_variable_is_replaced_in_a_configuration_alone() -> None:
    (found,) = alone("a = $dim$")
    assert found.code == "BS075"
    codes = [one.code for listed in built("a = $dim$").values() for one in listed]
    assert codes == []


def test_a_message_shows_words_as_they_are_written() -> None:
    (found,) = alone("a = ` b")
    assert found.message.startswith("'`' means nothing in BrainScript")


@pytest.mark.parametrize(
    ("word", "marked"),
    [
        ("é", "é"),
        ("é" * 300, "é" * 128),
        (f"x{'é' * 300}", "é" * 128),
        (f"{'é' * 300}x", f"{'é' * 127}x"),
        (f"b{' ' * 3000}", "b"),
    ],
)
def test_of_a_long_word_before_what_is_missing_the_end_is_marked(word: str, marked: str) -> None:
    found = last_word(f"a = {word}".encode(), len(f"a = {word}".encode()))
    assert found is not None
    assert f"a = {word}".encode()[slice(*found)].decode() == marked


def test_a_value_that_is_missing_before_the_first_word_has_no_word_before_it() -> None:
    assert last_word(b" " * 3000 + b"1", 3000) is None


def test_values_that_are_missing_everywhere_cost_by_their_number() -> None:
    def reported(pairs: int) -> None:
        assert len(alone("()" * pairs)) >= pairs

    assert_in_proportion(lambda pairs: partial(reported, pairs), 2000, 8000)
