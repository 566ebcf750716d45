"""How a text falls into keys and values."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.configuration.traced import Traced, Weaver
from tests.cntk.texts import configuration, kinds, shown

RECORDS = [
    ("a = 1", {"a": "1"}),
    ("a=1;b=2,c=3\nd=4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
    ("flag", {"flag": "true"}),
    ("a b = c d ", {"a b": "c d"}),
    ('s = "  x y "', {"s": "x y"}),
    ('s = ""', {"s": ""}),
    ('s = "a;b\nc,d"', {"s": "a;b\nc,d"}),
    ('file = "$"/x.txt', {"file": "$", "/x.txt": "true"}),
    ('names = "a":"b"', {"names": "a", ":": "b"}),
    ("a = [x=1] b = 2", {"a": "[x=1]", "a.x": "1", "b": "2"}),
    ("SGD [ x = 1 ]", {"SGD": "[ x = 1 ]", "SGD.x": "1"}),
    ("SGD { x = 1 }", {"SGD": "{ x = 1 }", "SGD.x": "1"}),
    ("a = (1:2) b", {"a": "(1:2)", "b": "true"}),
    ("z = F(a, b) + G(c)", {"z": "F(a, b)", "+ G": "(c)"}),
    ("[ a = 1 ; b = 2 ]", {"a": "1", "b": "2"}),
    ("x = [-a=1-b=2]", {"x": "[-a=1-b=2]", "x.a": "1", "x.b": "2"}),
    ("x = [./a=1]", {"x": "[./a=1]", "x../a": "1"}),
    ('array = 10:"this is a test":1.25', {"array": '10:"this is a test"', ":1.25": "true"}),
    ('array = (10:"this is a test":1.25)', {"array": '(10:"this is a test":1.25)'}),
    ("Key = Value", {"Key": "Value"}),
    ("a=1\r\nb=2\r\n", {"a": "1", "b": "2"}),
    ("a=1\n\ufeffb=2", {"a": "1", "b": "2"}),
    ("=1", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "values"), RECORDS)
def test_records(text: str, values: dict[str, str]) -> None:
    assert shown(configuration(text)) == values


KINDS = [
    ("a = 1", "text"),
    ("a = (1:2)", "text"),
    ('a = "1"', "string"),
    ("a", "flag"),
    ("a = [b=1]", "block"),
    ("a { b=1 }", "block"),
    ("b = $a$\na = [c=1]", "block"),
    ("BrainScriptNetworkBuilder = (new ComputationNetwork {})", "block"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_kinds(text: str, kind: str) -> None:
    assert configuration(text).values()[0].kind == kind


ARRAYS = [
    ("256:512:1024", ["256", "512", "1024"]),
    ("256:512*3:1024", ["256", "512", "512", "512", "1024"]),
    ("a", ["a"]),
    ("", []),
    (" a : b ", ["a", "b"]),
    ("a,b", ["a", "b"]),
    ("a\nb", ["a", "b"]),
    ("a;b", ["a;b"]),
    ("(1:2:3)", ["1", "2", "3"]),
    ("(a:(b:c):d)", ["a", "(b:c)", "d"]),
    ("[x=1]:[y=2]", ["x=1", "y=2"]),
    ("([x=1]:[y=2])", ["[x=1]", "[y=2]"]),
    (r"(;c:\x;d:\y)", [r"c:\x", r"d:\y"]),
    ("(-1)", ["1"]),
    ("( -1)", ["-1"]),
    (r"(..\a:b)", [r"..\a", "b"]),
    ("(./a:b)", ["./a", "b"]),
    (r"(.\a:b)", [r".\a", "b"]),
    (r"(\\a:b)", [r"\\a", "b"]),
    ("(.5)", ["5"]),
    ('(10:"this is a test":1.25)', ["10", "this is a test", "1.25"]),
    ("x*0", []),
    ("x*2*3", None),
    ("x*y", None),
    ("x*", []),
    ("a:x*:b", ["a"]),
    ("x*999999999", None),
    ('10:"a"', None),
    ("f(a, b)", ["f(a, b)"]),
    ("1e-3*2", ["1e-3", "1e-3"]),
]


def traced(text: str) -> Traced:
    weaver = Weaver()
    weaver.add(Source("t", text.encode()), 0, len(text.encode()))
    return weaver.done()


@pytest.mark.parametrize(("text", "parts"), ARRAYS)
def test_arrays(text: str, parts: list[str] | None) -> None:
    found = elements(traced(text))
    assert (None if found is None else [part.text.decode() for part in found]) == parts


@pytest.mark.parametrize("separator", "`~!@$%^&*_-+|:;,?.")
def test_every_character_that_may_separate(separator: str) -> None:
    text = f"({separator}x{separator}y)"
    found = elements(traced(text), repeats=False)
    assert found is not None
    assert [part.text.decode() for part in found] == ["x", "y"]


FAULTS = [
    ("stderr=", ["empty-value"]),
    ("stderr= # later", ["empty-value"]),
    ("a = ; b = 1", ["empty-value"]),
    ("a = [ b = ]", ["empty-value"]),
    ("a =\n[ b=1 ]", ["empty-value"]),
    ("a = [ b=1 }", ["unmatched"]),
    ("a = [ b=(1 ]", ["unmatched"]),
    ("a = [ b=1", ["unclosed"]),
    ('a = "b', ["unclosed"]),
    ("a = 1\n]", ["stray-bracket"]),
    ("a = [ b=1 ] }", ["stray-bracket"]),
    ("a = 1", []),
    ("a = 1\rb = 2\rc = 3", ["carriage-return"]),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS)
def test_faults(text: str, expected: list[str]) -> None:
    assert kinds(configuration(text)) == expected


def test_a_wrong_bracket_costs_only_its_own_block() -> None:
    resolved = configuration("a = [ x = [ y=1 } ]\nb = 2\n")
    assert shown(resolved)["b"] == "2"
    fault = next(iter(resolved.faults))
    assert str(fault.place) == "a.cntk:1:17"
    assert [str(place) for _, place in fault.related] == ["a.cntk:1:11"]


def test_an_unclosed_string_costs_only_its_line() -> None:
    assert shown(configuration('a = "x\nb = 2\n'))["b"] == "2"
