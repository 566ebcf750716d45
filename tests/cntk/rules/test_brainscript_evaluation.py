"""Faults that evaluation meets are reported at the user's text, with the way there."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.rules.brainscript.evaluation import ELSEWHERE, KINDS
from tests.cntk.rules.brainscript_reporting import alone, reported

FAULTS = [
    ("a = 1 .* 2", [("BS040", "1 .* 2")]),
    ("x = Input {3}\na = x || x", [("BS041", "x || x")]),
    ("a = if 1 then 2 else 3", [("BS043", "1")]),
    ("a = (1:2)[5]", [("BS044", "5")]),
    ("a = new TensorShape { }", [("BS045", "new TensorShape { }")]),
    ("w = ParameterTensor {(3:-1)}", [("BS046", "3:-1")]),
    ("x = ImageInput (3, 3, 1, imageLayout='x')", [("BS048", "'x'")]),
    ("a = Fail ('no')", [("BS065", "'no'")]),
    ("a = IntDiv (1, 0)", [("BS067", "IntDiv (1, 0)")]),
    ("f (n) = f (n)\na = f (1)", [("BS066", "f")]),
    ("x = Input {3}\na = x.dims", [("BS021", "dims")]),
    ("a = nowhere.b", [("BS020", "nowhere")]),
    ("r = { a = 1 } with { b = 2 }", [("BS042", "{ a = 1 } with { b = 2 }")]),
]


@pytest.mark.costly
@pytest.mark.parametrize(("text", "expected"), FAULTS)
def test_fault(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = LinearLayer {4, init='norml'} (x)", ["'norml'"]),
        ("F (x) = LinearLayer {4, init='norml'} (x)\ny = F (x)\nz = F (y)", ["'norml'"]),
        (
            "y = Sequential (LinearLayer {4, init='norml'} : LinearLayer {4, init='nrml'}) (x)",
            ["'norml'", "'nrml'"],
        ),
        (
            "y = LinearLayer {4, init='no' + 'ne'} (LinearLayer {4, init='norml'} (x))",
            ["LinearLayer {4, init='no' + 'ne'} (LinearLayer {4, init='norml'} (x))", "'norml'"],
        ),
    ],
)
def test_a_wrong_start_is_reported_once_where_it_is_written(text: str, expected: list[str]) -> None:
    text = f"x = Input {{3}}\n{text}"
    found = [one for one in alone(text) if one.code == "BS030"]
    assert [text[one.start : one.end] for one in found] == expected
    assert {one.severity for one in found} == {"error"}


def test_a_fault_within_the_library_is_reported_at_the_call() -> None:
    text = "a = Sigmoid (true:'x')"
    (found,) = alone(text)
    assert (found.code, text[found.start : found.end]) == ("BS043", text[4:])
    text = "x = Input {3}\nn = BS.Loop.Count (x)"
    (found,) = alone(text)
    assert (found.code, text[found.start : found.end]) == ("BS022", "BS.Loop.Count (x)")


def test_the_way_to_a_fault_is_reported() -> None:
    text = "f (x) = x .* 2\ng (x) = f (x)\na = g (1)"
    (found,) = alone(text)
    assert text[found.start : found.end] == "x .* 2"
    assert [text[note.start : note.end] for note in found.related] == ["f (x)", "g (1)"]


def test_a_fault_that_many_meet_is_reported_once() -> None:
    assert reported("a = 1 .* 2\nb = a + 1\nc = a + b\nd = c") == [("BS040", "1 .* 2")]


def test_every_kind_of_fault_has_its_code() -> None:
    import re
    from pathlib import Path

    import netsharp_lsp.cntk.brainscript.evaluation as evaluation

    (folder,) = evaluation.__path__
    text = "".join(path.read_text() for path in Path(folder).glob("*.py"))
    kinds = set(re.findall(r"(?:fail|Fault)\(\s*\"([a-z-]+)\"", text))
    assert kinds - ELSEWHERE == set(KINDS) - {"unreadable"}
