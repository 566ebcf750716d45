"""A text of NDL comes apart as the program takes it apart, with the places of every piece."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.splitting import CUSTOM_SEPARATORS
from netsharp_lsp.cntk.ndl.reading import DEEPEST
from netsharp_lsp.cntk.ndl.syntax import (
    Array,
    Definition,
    NdlAssignment,
    NdlCall,
    Option,
    Word,
    values,
)
from tests.cntk.ndl.building import faults, script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.syntax import NdlScript, Statement, Value


def plain_value(value: Value | None) -> object:
    """A value as words, tuples and dicts."""
    if value is None or isinstance(value, Word):
        return None if value is None else value.text
    if isinstance(value, Array):
        return [plain_value(one) for one in value.items]
    if isinstance(value, Option):
        return {value.name.text: plain_value(value.value)}
    return (value.name.text, *(plain_value(one) for one in value.arguments))


def statement(one: Statement) -> object:
    if isinstance(one, NdlAssignment):
        return (one.name.text if one.name else None, plain_value(one.value))
    body = None if one.body is None else [statement(it) for it in one.body.statements]
    return (one.name.text, [it.text for it in one.parameters], body)


def read(text: str) -> list[object]:
    found = script(text)
    assert found.faults == ()
    return [statement(one) for one in found.statements]


def kinds(text: str) -> list[str]:
    return [one.kind for one in script(text).faults]


STATEMENTS = [
    ("a = 1\nb = 2", [("a", "1"), ("b", "2")]),
    ("a = 1; b = 2, c = 3", [("a", "1"), ("b", "2"), ("c", "3")]),
    ("a = Input(3) b = Input(4)", [("a", ("Input", "3")), ("b", ("Input", "4"))]),
    ('p = "a b" q = 1', [("p", "a b"), ("q", "1")]),
    ("a = f(x : y, z)", [("a", ("f", "x", "y", "z"))]),
    ("a = f(x*3)", [("a", ("f", "x", "x", "x"))]),
    ("a = f(2*2, n * 2)", [("a", ("f", "2", "2", "n", "n"))]),
    ("a = f(g(h(1)), 2)", [("a", ("f", ("g", ("h", "1")), "2"))]),
    ("a = f(x, init=uniform)", [("a", ("f", "x", {"init": "uniform"}))]),
    ('a = f(x, init = "uniform")', [("a", ("f", "x", {"init": "uniform"}))]),
    ("a = f(x, s = {1, 2})", [("a", ("f", "x", {"s": ["1", "2"]}))]),
    ("a = f({1:2}, [3])", [("a", ("f", ["1", "2"], ["3"]))]),
    ("n = (a, b)", [("n", ["a", "b"])]),
    ("n = {a : b}", [("n", ["a", "b"])]),
    ("a = f(\n  x,\n  y\n)", [("a", ("f", "x", "y"))]),
    ("a = f(x) # note\n# all\nb = 1", [("a", ("f", "x")), ("b", "1")]),
    ("a = c // d", [("a", "c // d")]),
    ("a = f()", [("a", ("f",))]),
    ("a = f( -1)", [("a", ("f", "-1"))]),
    ("a = f(./x)", [("a", ("f", "./x"))]),
    ("f(x) = { a = g(x) }", [("f", ["x"], [("a", ("g", "x"))])]),
    ("f(x) { a = g(x) }", [("f", ["x"], [("a", ("g", "x"))])]),
    ("f(x)\n[ a = g(x) ]", [("f", ["x"], [("a", ("g", "x"))])]),
    ("f(x) = g(x)", [("f", ["x"], [(None, ("g", "x"))])]),
    ("f(x, y) = { g(x) }", [("f", ["x", "y"], [(None, ("g", "x"))])]),
    ("f() [ a = 1 ]", [("f", [], [("a", "1")])]),
    ("f(x) { a = 1 } b = 2", [("f", ["x"], [("a", "1")]), ("b", "2")]),
    ("f(x) { h(y) { z = y } a = 1 }", [("f", ["x"], [("h", ["y"], [("z", "y")]), ("a", "1")])]),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS, ids=[it[0] for it in STATEMENTS])
def test_statements(text: str, expected: list[object]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("separator", [chr(it) for it in CUSTOM_SEPARATORS])
def test_a_separator_directly_after_a_bracket_is_lost(separator: str) -> None:
    text = f"a = f({separator}x)"
    (found,) = script(text).statements
    assert isinstance(found, NdlAssignment)
    assert isinstance(found.value, NdlCall)
    assert plain_value(found.value) == ("f", "x")
    # A bracket and a blank are inserted before the text of a whole file.
    assert found.value.swallowed == text.index(separator) + 2


def test_what_is_lost_separates() -> None:
    (found,) = script("a = Constant(-1-2)").statements
    assert isinstance(found, NdlAssignment)
    assert plain_value(found.value) == ("Constant", "1", "2")


@pytest.mark.parametrize(
    ("text", "kind", "statements"),
    [
        ("a = 1\nb =\nc = 2", "empty-value", 1),
        ('a = 1\nb = ""\nc = 2', "empty-value", 1),
        ("a = 1\nb\nc = 2", "no-statement", 2),
        ("f(x)", "macro-without-body", 1),
        ("f(x) =\n{ a = 1 }\nb = 2", "macro-without-body", 2),
        ("a = f(x * y)", "repeat", 1),
        ("a = f(g(x*2))", "repeat", 1),
        ("a = f(s = {1, 2*2})", "repeat", 1),
    ],
)
def test_what_cannot_be_read(text: str, kind: str, statements: int) -> None:
    found = script(text)
    assert [one.kind for one in found.faults][:1] == [kind]
    assert len(found.statements) == statements


def test_brackets_are_reported_once() -> None:
    assert faults("a = Input(2") == [("unclosed", "(")]
    assert faults("f(x) = { a = Tanh(x] }") == [("unmatched", "]")]


def test_brackets_without_end_are_not_followed() -> None:
    text = "a = " + "f(" * (DEEPEST + 5) + ")" * (DEEPEST + 5)
    assert set(kinds(text)) == {"deep"}


def everything(found: NdlScript) -> list[Value]:
    waiting = list(found.statements)
    result: list[Value] = []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Definition):
            waiting += one.body.statements if one.body else ()
        else:
            result += values(one.value)
    return result


def test_every_word_is_where_it_says() -> None:
    text = '# note\nf(x) = { y = Tanh(x) }\na = g(x, {1, 2}, s = {3}, t = "u v") # end\n'
    found = script(text)
    words = [it for it in everything(found) if isinstance(it, Word)]
    assert len(words) == 6
    for word in words:
        place = found.place(word.start, word.end)
        assert text[place.start : place.end] == word.text
