"""Texts of MEL are cut into statements as the original cuts them."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.mel.functions import FUNCTIONS, NAMES, fits, meant, property_meant
from netsharp_lsp.cntk.mel.reading import MelScript, dropped_character, parameter, read, word


def script(text: str) -> MelScript:
    return read(file_text(Source("a.mel", text.encode()), None))


def shown(text: str) -> list[tuple[str, str | None, list[str]]]:
    return [
        (one.kind, None if one.key is None else word(one.key), [word(it) for it in one.arguments])
        for one in script(text).statements
    ]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("m = LoadModel(a.dnn)\n", [("model", "m", ["a.dnn"])]),
        ("m = CreateModel()", [("model", "m", [])]),
        ("m=loadm(a)", [("model", "m", ["a"])]),
        ("SetProperty(z, output, true)", [("call", None, ["z", "output", "true"])]),
        (
            "A(x) ; B(y), C(z)",
            [("call", None, ["x"]), ("call", None, ["y"]), ("call", None, ["z"])],
        ),
        ("A(x) B(y)", [("call", None, ["x"]), ("call", None, ["y"])]),
        ("h = 512 # hidden", [("ndl", "h", [])]),
        ("w = Times(a, b)", [("ndl", "w", ["a", "b"])]),
        ("t = [\n z = Plus(a, b)\n]", [("snippet", "t", [])]),
        ("save it", [("nothing", None, [])]),
        ("# nothing\n\n", []),
        (
            'Dump(m, "a b.txt", includeData = true)',
            [
                ("call", None, ["m", "a b.txt", "includeData = true"]),
            ],
        ),
        ("SetInput(\n  z,\n  1,\n  x\n)", [("call", None, ["z", "1", "x"])]),
        ("Copy(a:b, c*2)", [("call", None, ["a:b", "c*2"])]),
        ("F($x$, y)", [("call", None, ["$x$", "y"])]),
        (
            "edit = one:two\none = [ A(x) ]\ntwo = [ B(y) ]\nthree = [ C(z) ]",
            [
                ("call", None, ["x"]),
                ("call", None, ["y"]),
            ],
        ),
    ],
)
def test_statements(text: str, statements: list[tuple[str, str | None, list[str]]]) -> None:
    assert shown(text) == statements


def test_parts_know_where_they_are_written() -> None:
    (statement,) = script("# first\nSetInput(z , 1, x)").statements
    places = [one.place(0, len(one)) for one in statement.arguments]
    assert [place.text for place in places] == [b"z", b"1", b"x"]
    assert [place.start for place in places] == [17, 21, 24]


def test_unclosed_brackets_leave_nothing_to_follow() -> None:
    assert script("m = LoadModel(a\n").broken


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("F(*.W, x)", "*"),
        ("F( *.W, x)", None),
        ("F(./a, x)", None),
        ("F(../a, x)", None),
        ("F(_a, x)", "_"),
        ("F($a$, x)", None),
        ("F(a, *)", None),
        ("F()", None),
    ],
)
def test_the_first_character_may_be_lost(text: str, lost: str | None) -> None:
    (statement,) = script(text).statements
    assert statement.list is not None
    found = dropped_character(statement.list)
    assert (None if found is None else word(found)) == lost


def test_options_lose_their_quotes() -> None:
    (statement,) = script('F(a, format = "cntk")').statements
    found = parameter(statement.arguments[1])
    assert found is not None
    assert (word(found.name), word(found.value)) == ("format", "cntk")
    assert parameter(statement.arguments[0]) is None


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("Load", "LoadModel"),
        ("Loa", None),
        ("loadmodelw", "LoadModelWithName"),
        ("Dump", "DumpModel"),
        ("DumpN", "DumpNode"),
        ("Copy", "CopyNode"),
        ("CopyS", "CopySubTree"),
        ("CopyNodeI", "CopyNodeInputs"),
        ("SetNodeInpu", "SetNodeInput"),
        ("SetNodeInputs", "SetNodeInputs"),
        ("SetI", "SetNodeInput"),
        ("Set", None),
        ("Rem", "RemoveNode"),
        ("DELETE", "DeleteNode"),
        ("", None),
    ],
)
def test_names_may_be_shortened_to_half(name: str, function: str | None) -> None:
    found = meant(name)
    assert (None if found is None else found.name) == function


def test_every_name_means_its_own_function() -> None:
    for one in FUNCTIONS:
        assert meant(one.name) is one
        assert not one.alias or meant(one.alias) is one
        assert one.documentation.endswith(".")
        assert one.form.startswith(one.name)
    assert len({name.lower() for name in NAMES}) == len(NAMES) == 28


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("criterion", ("criterion", "")),
        ("Criteria", ("criterion", "Criteria")),
        ("crit", ("criterion", "Criteria")),
        ("eval", ("evaluation", "eval")),
        ("evaluation", ("evaluation", "")),
        ("needGradient", ("learningRateMultiplier", "needGradient")),
        ("computeG", ("learningRateMultiplier", "computeGradient")),
        ("freeze", None),
        ("freezePa", ("freezeParameters", "")),
        ("multiSeq", None),
    ],
)
def test_properties(name: str, meaning: tuple[str, str] | None) -> None:
    found = property_meant(name)
    assert (None if found is None else (found[0].name, found[1])) == meaning


def test_half_of_a_name_is_rounded_down() -> None:
    assert fits("Sav", "SaveMod")
    assert not fits("Sa", "SaveMod")
    assert not fits("SaveModelled", "SaveModel")
