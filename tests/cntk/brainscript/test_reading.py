"""Text reads as the original parser reads it: levels, lists, statements, and places of it all."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Argument,
    ArrayConstructor,
    ArrayLiteral,
    Binary,
    BrainScriptCall,
    Broken,
    Choice,
    Elements,
    Expression,
    Index,
    Lambda,
    Member,
    Name,
    New,
    Number,
    RecordLiteral,
    Select,
    Text,
    Truth,
    Unary,
    Variable,
)


def shown(e: Expression) -> str:
    """An expression with every grouping in brackets."""
    if isinstance(e, Number):
        return f"{e.value:g}"
    if isinstance(e, Text):
        return repr(e.value)
    if isinstance(e, Truth):
        return str(e.value).lower()
    if isinstance(e, Name | Variable):
        return e.name
    if isinstance(e, Unary):
        return f"({e.operator}{shown(e.operand)})"
    if isinstance(e, Binary):
        return f"({shown(e.left)} {e.operator} {shown(e.right)})"
    if isinstance(e, Elements | ArrayLiteral):
        return f"[{' '.join(map(shown, e.items))}]"
    if isinstance(e, Select):
        return f"{shown(e.record)}.{e.name}"
    if isinstance(e, Index):
        return f"{shown(e.target)}[{shown(e.position)}]"
    if isinstance(e, BrainScriptCall):
        return f"{shown(e.function)}({', '.join(map(argument, e.arguments))})"
    if isinstance(e, Lambda):
        return f"({' '.join(one.name for one in e.parameters)} => {shown(e.body)})"
    if isinstance(e, Choice):
        return f"if {shown(e.condition)} then {shown(e.consequence)} else {shown(e.alternative)}"
    if isinstance(e, New):
        return f"new {e.class_name} {shown(e.arguments)}"
    if isinstance(e, ArrayConstructor):
        return f"array[{shown(e.first)}..{shown(e.last)}]({shown(e.element)})"
    if isinstance(e, RecordLiteral):
        return f"{{{' '.join(one.name for one in e.entries if isinstance(one, Member))}}}"
    return "?"


def argument(one: Argument) -> str:
    return f"{one.name}={shown(one.value)}" if one.name else shown(one.value)


READINGS = (
    ("2**3**2", "((2 ** 3) ** 2)"),
    ("a*b**c", "((a * b) ** c)"),
    ("-x**2", "((-x) ** 2)"),
    ("!a==b", "((!a) == b)"),
    ("- - x", "(-(-x))"),
    ("a - b + c with d", "(((a - b) + c) with d)"),
    ("a || b && c == d + e * f", "(a || (b && (c == (d + (e * f)))))"),
    ("a < b < c", "((a < b) < c)"),
    ("f >> g << 1", "((f >> g) << 1)"),
    ("1:2:3", "[1 2 3]"),
    ("(1:2):3", "[1 2 3]"),
    ("1:(2:3)", "[1 [2 3]]"),
    ("1 + 2 : 3 * 4 : 5", "[(1 + 2) (3 * 4) 5]"),
    ("x => y => x + y", "(x => (y => (x + y)))"),
    ("x => x : 2", "(x => [x 2])"),
    ("if c then 1 else 2 + 3", "if c then 1 else (2 + 3)"),
    ("if c then 1 : 2 else x => x", "if c then [1 2] else (x => x)"),
    ("1 + if c then 2 else 3 * 4", "(1 + if c then 2 else (3 * 4))"),
    ("new C {a = 1}.x", "new C {a}.x"),
    ("new C if c then {a=1} else {b=1}", "new C if c then {a} else {b}"),
    ("(if c then 1 else 2) + 3", "(if c then 1 else 2 + 3)"),
    ("(x => x) : (y => y)", "[(x => x) (y => y)]"),
    ("f (a, b=2){c}[3].d", "f(a, b=2)(c)[3].d"),
    ("f (axis=2, x)", "f(axis=2, x)"),
    ("-f (x).y", "(-f(x).y)"),
    ("f\n  (b)", "f(b)"),
    ("a\n- b", "(a - b)"),
    ("2.*x", "(2 * x)"),
    (".5 + 1e3 + 0x1F", "((0.5 + 1000) + 31)"),
    ('\'it is "so"\' + "don\'t"', '(\'it is "so"\' + "don\'t")'),
    ("'two\nlines'", "'two\\nlines'"),
    ("[]", "{}"),
    ("[||]", "[]"),
    ("[|1 ; f (x) ; 3|]", "[1 f(x) 3]"),
    ("array[0..2] (i => i)", "array[0..2]((i => i))"),
    ("true && false", "(true && false)"),
    ("$dim$ * 2", "(dim * 2)"),
    ("_", "_"),
    ("{ a = 1 ; b = 2 c = 3 }", "{a b c}"),
    ("[ a = 1 b = (2) ]", "{a b}"),
)


@pytest.mark.parametrize(("text", "expected"), READINGS)
def test_reading(text: str, expected: str) -> None:
    entries = parse(f"x = {text}".encode()).entries
    assert len(entries) == 1
    assert isinstance(entries[0], Member)
    assert shown(entries[0].value) == expected
    assert entries[0].value.place.end == len(f"x = {text}".encode())


def test_members() -> None:
    script = parse(b"a = 1 b = 2 ; f (x, y=1) = x\ng {z} = z  v[i:0..3] = i include 'more.bs'")
    names = [one.name if isinstance(one, Member) else one.path for one in script.entries]
    assert names == ["a", "b", "f", "g", "v", "more.bs"]
    f, g, v = script.entries[2:5]
    assert isinstance(f, Member)
    assert f.parameters is not None
    assert [(one.name, one.default is None) for one in f.parameters] == [("x", True), ("y", False)]
    assert isinstance(g, Member)
    assert g.braced
    assert isinstance(v, Member)
    assert v.index_range is not None
    assert v.index_range.name == "i"


def test_comments_in_order() -> None:
    script = parse(b"a = 1 # one\n// two\nb = /* three */ 2")
    assert [one.text for one in script.comments] == ["# one", "// two", "/* three */"]


@pytest.mark.parametrize("text", ["({a=1}.a)", "{a=1}", "[a=1]", "new ComputationNetwork {a=1}"])
def test_values_of_builders(text: str) -> None:
    assert parse(text.encode()).built is not None


@pytest.mark.parametrize("text", ["x =", "x = (", "x = f (a,", "x = 1 +", "x = if", "x = new"])
def test_what_is_missing_is_broken(text: str) -> None:
    entries = parse(text.encode()).entries
    assert len(entries) == 1
    assert "?" in shown(entries[0].value) if isinstance(entries[0], Member) else False


def test_nothing_fails_on_what_is_no_text() -> None:
    for data in (b"", b"\x00\xff\xfe", b"{" * 3000, b"x=" + b"(" * 3000, b"x=" + b"-" * 3000):
        script = parse(data)
        assert script.place.end == len(data)


def test_deep_expressions_are_cut_off() -> None:
    script = parse(b"x = " + b"(" * 5000 + b"1" + b")" * 5000)
    assert isinstance(script.entries[0], Member)
    assert isinstance(script.entries[0].value, Broken)
