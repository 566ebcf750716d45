"""What names and calls mean without evaluation, as an editor asks for it."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.brainscript.analysis.program import (
    Program,
    analysed,
    nothing_included,
)
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.brainscript.reading.syntax import Include
from tests.cntk.brainscript.building import SOURCE
from tests.cntk.brainscript.library import FUNCTIONS, LIBRARY
from tests.costs import within

TEXT = """\
dim = 3
Layer (x, size=dim) = {
    W = ParameterTensor {size:0}
    z = W * x + bias
    bias = ParameterTensor {size}
}.z
rows[i:0..2] = { h = if i == 0 then dim else rows[i - 1].h }
inner = { dim = 5 ; twice = dim * 2 }
y = Layer (Input {dim}, size=inner.dim)
last = rows[2].h
act = (v => v + dim)
"""


def program(text: str, files: dict[str, str] | None = None) -> Program:
    def splice(entry: Include) -> object:
        found = (files or {}).get(entry.path)
        return None if found is None else parse(found.encode(), entry.path).entries

    return analysed(parse(text.encode(), SOURCE), LIBRARY, splice)  # type: ignore[arg-type]


def at(text: str, words: str, skip: int = 0) -> int:
    """Where words stand for the n-th time."""
    offset = -1
    for _ in range(skip + 1):
        offset = text.index(words, offset + 1)
    return offset


@pytest.mark.parametrize(
    ("words", "skip", "definition"),
    [
        ("bias\n", 0, "bias = "),
        ("size:0", 0, "size=dim"),
        ("dim) = {", 0, "dim = 3"),
        ("dim * 2", 0, "dim = 5"),
        ("dim}", 0, "dim = 3"),
        ("dim)\nlast", 0, "dim = 5"),
        ("h\nact", 0, "h = if"),
        ("i - 1", 0, "i:0..2"),
        ("v + dim", 0, "v => v"),
        ("x + bias", 0, "x, size"),
    ],
)
def test_definition(words: str, skip: int, definition: str) -> None:
    found = program(TEXT).declaration_at(SOURCE, at(TEXT, words, skip))
    assert found is not None
    assert found.place.start == at(TEXT, definition)


def test_references() -> None:
    here = program(TEXT)
    outer = here.declaration_at(SOURCE, 0)
    assert outer is not None
    starts = sorted(use.place.start for use in here.uses_of(outer))
    expected = ["dim) = {", "dim else", "dim}", "dim)\n"]
    assert starts == sorted([*(at(TEXT, one) for one in expected[:3]), at(TEXT, "dim)\n", 1)])


def test_what_is_in_sight() -> None:
    here = program(TEXT)
    inside = here.scope_at(SOURCE, at(TEXT, "bias\n")).visible()
    assert {"W", "z", "bias", "x", "size", "dim", "Layer", "Sigmoid", "BS"} <= set(inside)
    assert "twice" not in inside
    outside = here.scope_at(SOURCE, len(TEXT)).visible()
    assert "W" not in outside


def test_call_around_a_place_and_its_signature() -> None:
    here = program(TEXT)
    call = here.call_at(SOURCE, at(TEXT, "size=inner"))
    assert call is not None
    signature = here.signature(call)
    assert signature is not None
    assert (signature.name, signature.required) == ("Layer", ("x",))
    assert signature.named == ("size",)
    inner = here.call_at(SOURCE, at(TEXT, "dim}"))
    assert inner is not None
    signature = here.signature(inner)
    assert signature is not None
    assert signature.name == "Input"


def test_members_after_a_point() -> None:
    here = program("r = { a = 1 ; b = { c = 2 } }\nx = r.b\n")
    select = here.survey.selects[0][0]
    scope = here.network
    assert scope is not None
    assert sorted(here.members_of(select.record, scope)) == ["a", "b"]
    assert sorted(here.members_of(select, scope)) == ["c"]


def test_names_of_included_files() -> None:
    here = program("include 'b.bs'\nx = a\n", {"b.bs": "a = 1\n"})
    (use,) = [use for use in here.uses if use.name == "a"]
    assert use.declaration is not None
    assert use.declaration.place == ("b.bs", 0, 1)
    missing = program("include 'c.bs'\nx = a\n")
    assert [use.certain for use in missing.uses] == [False]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_the_library_is_resolved(name: str) -> None:
    here = program(f"x = {name} (1)\n")
    assert all(use.declaration is not None and use.declaration.library for use in here.uses)
    (call,) = here.applications
    assert here.signature(call) is not None


def test_ten_thousand_lines_take_less_than_a_second() -> None:
    lines = ["x = Input {10}"]
    for number in range(2500):
        lines += [
            f"f{number} (v, k=1) = {{",
            "    W = ParameterTensor {(10:10), init='uniform'}",
            "    z = Sigmoid (W * v) + v",
            "}.z",
        ]
    script = parse("\n".join(lines).encode(), SOURCE)
    within(1, lambda: analysed(script, LIBRARY, nothing_included))
