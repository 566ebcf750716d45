"""Where the scripts of a network are: sections, files, macros, variables, what is not there."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.ndl.containers import program_of_builder, program_of_file
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.workspace import Run
from tests.cntk.ndl.building import Folder, built, run

INLINE = """
train = {
    NDLNetworkBuilder = [
        load = macros
        run = net
        macros = [ Layer(x) = { y = Tanh(x) } ]
        net = [ x = Input($dim$, tag = feature) ; h = Layer(x) ]
    ]
}
dim = 3
"""
BY_FILE = """
train = {{
    NDLNetworkBuilder = [ networkDescription = "net.ndl" {more} ]
}}
dim = 3
"""
SECTIONS = """
load = macros
run = small
macros = [ Layer(x) = { y = Tanh(x) } ]
others = [ Layer(x) = { y = Exp(x) } ]
small = [ x = Input($dim$, tag = feature) ; h = Layer(x) ]
large = [ x = Input($dim$, tag = feature) ; g = Layer(x) ; h = Layer(g) ]
"""


def names(files: dict[str, str], *items: str) -> list[str]:
    return list(built(files, *items).nodes)


def test_sections_in_the_builder() -> None:
    found = built({"a.cntk": INLINE})
    assert list(found.nodes) == ["x", "h.y"]
    assert found.nodes["x"].shape == (3,)


def test_sections_further_out() -> None:
    text = "net = [ x = Input(2, tag = feature) ]\ntrain = { NDLNetworkBuilder = [ run = net ] }"
    assert names({"a.cntk": text}) == ["x"]


def test_sections_of_a_file() -> None:
    files = {"a.cntk": BY_FILE.format(more=""), "net.ndl": SECTIONS}
    assert names(files) == ["x", "h.y"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("run = large", ["x", "g.y", "h.y"]),
        ("; load = others", ["x", "h.y"]),
        ("; run = Large ; load = others", ["x", "g.y", "h.y"]),
    ],
)
def test_the_builder_overrides_what_a_file_says(more: str, expected: list[str]) -> None:
    files = {"a.cntk": BY_FILE.format(more=more), "net.ndl": SECTIONS}
    found = built(files)
    assert list(found.nodes) == expected
    kind = "Exp" if "others" in more else "Tanh"
    assert found.nodes["h.y"].operation == kind


def test_several_sections_of_a_file() -> None:
    net = "load = a:b\nrun = c:d\na = [ F(x) = Tanh(x) ]\nb = [ G(x) = F(x) ]\n"
    net += "c = [ i = Input(2, tag = feature) ]\nd = [ j = G(i) ]\n"
    assert names({"a.cntk": BY_FILE.format(more=""), "net.ndl": net}) == [
        "i",
        "j.unnamed2.unnamed1",
    ]


def test_a_file_without_sections_is_one_script() -> None:
    net = "F(x) = { y = Tanh(x) }\nx = Input($dim$, tag = feature)\nh = F(x)\n"
    assert names({"a.cntk": BY_FILE.format(more=""), "net.ndl": net}) == ["x", "h.y"]


MACROS = BY_FILE.format(more='; ndlMacros = "m1.ndl+m2.ndl"')


def test_files_of_macros() -> None:
    files = {
        "a.cntk": MACROS,
        "m1.ndl": "load = s\ns = [ F(x) = { y = Tanh(x) } ]\nother = [ F(x) = { y = Exp(x) } ]",
        "m2.ndl": "n = $dim$\nG(x, r) { y = RowRepeat(F(x), r) }",
        "net.ndl": "x = Input(2, tag = feature)\nh = G(x, 2)",
    }
    found = built(files)
    assert [node.operation for node in found.nodes.values()] == ["InputValue", "Tanh", "RowRepeat"]


def test_variables_of_a_file_of_macros_stay_there() -> None:
    files = {
        "a.cntk": MACROS,
        "m1.ndl": "n = 3",
        "m2.ndl": "k = 3",
        "net.ndl": "x = Input(n, tag = feature)",
    }
    assert [one.kind for one in run(files).faults] == ["unknown-name"]


def test_macros_are_found_further_out() -> None:
    text = "ndlMacros = m.ndl\nnet = [ x = Input(2, tag = feature) h = F(x) ]\n"
    text += "train = { NDLNetworkBuilder = [ run = net ] }"
    assert names({"a.cntk": text, "m.ndl": "F(x) = { y = Tanh(x) }"}) == ["x", "h.y"]


def test_which_section_may_come_from_the_command_line() -> None:
    text = "train = { NDLNetworkBuilder = [ run = $which$ ; a = [ x = Input(2, tag = feature) ]"
    text += " b = [ y = Input(3, tag = feature) ] ] }\nwhich = a"
    assert names({"a.cntk": text}) == ["x"]
    assert names({"a.cntk": text}, "which=b") == ["y"]


@pytest.mark.parametrize(
    ("files", "kind", "marked"),
    [
        ({"a.cntk": BY_FILE.format(more="")}, "missing-file", "net.ndl"),
        ({"a.cntk": "train = { NDLNetworkBuilder = [ a = 1 ] }"}, "no-run", "[ a = 1 ]"),
        ({"a.cntk": "train = { NDLNetworkBuilder = [ run = net ] }"}, "missing-section", "net"),
        (
            {"a.cntk": "a = [ x = 1 ]\ntrain = { NDLNetworkBuilder = [ run = a:b ] }"},
            "missing-section",
            "a:b",
        ),
        (
            {"a.cntk": 'train = { NDLNetworkBuilder = [ networkDescription = "a+b" ] }'},
            "several-files",
            "a+b",
        ),
    ],
)
def test_what_is_not_there(files: dict[str, str], kind: str, marked: str) -> None:
    (fault,) = run(files).faults
    assert fault.kind == kind
    assert files[fault.place.source][fault.place.start : fault.place.end] == marked


def test_what_a_variable_leaves_open_is_no_fault() -> None:
    found = run({"a.cntk": "train = { NDLNetworkBuilder = $net$ }"})
    assert (found.network, found.faults) == (None, ())


def test_a_section_cannot_be_called_as_the_option_for_files() -> None:
    text = "train = { NDLNetworkBuilder = [ load = ndlMacros ; run = net"
    text += " ; ndlMacros = [ F(x) = Tanh(x) ] ; net = [ x = Input(2) y = F(x) ] ] }"
    found = run({"a.cntk": text})
    assert [one.kind for one in found.faults] == ["missing-file", "no-features"]
    assert found.network is not None
    assert len(found.network.nodes) == 2


def test_a_section_that_a_file_has_not() -> None:
    files = {"a.cntk": BY_FILE.format(more=""), "net.ndl": "run = nett\nnet = [ x = Input(2) ]"}
    (fault,) = run(files).faults
    assert fault.kind == "missing-section"
    assert files["net.ndl"][fault.place.start : fault.place.end] == "nett"
    assert "net" in fault.message


def test_a_variable_without_a_value_is_reported_once_and_leaves_shapes_open() -> None:
    text = "x = Input($n$, tag = feature)\nW = Parameter(2, $n$, init = $how$)\ny = Times(W, x)\n"
    source = Source("a.ndl", text.encode())
    assert [one.kind for one in program_of_file(source).faults] == ["undefined-variable"] * 2
    found = SingleFile("a.ndl", "ndl", Folder({"a.ndl": text})).networks[0]
    assert found.network is not None
    assert [node.shape for node in found.network.nodes.values()] == [None, None, None]
    assert found.network.troubles == ()


def test_a_file_that_lets_another_say_what_is_run_has_candidates() -> None:
    text = "run = $which$\na = [ x = Input(2) ]\nb = [ y = Input(3) ]\n"
    found = program_of_file(Source("a.ndl", text.encode()))
    assert [one.name for one in found.candidates] == ["a", "b"]
    assert found.parts == ()


def test_parts_say_what_they_are() -> None:
    files = {"a.cntk": MACROS, "m1.ndl": "F(x) = Tanh(x)", "m2.ndl": "n = 1", "net.ndl": SECTIONS}
    folder = Folder(files)
    scope = resolve(("a.cntk",), folder).root.block(b"train")
    assert scope is not None
    found = scope.look_up(b"NDLNetworkBuilder")
    assert found is not None
    parts = program_of_builder(found, scope, folder).parts
    assert [(part.role, part.name) for part in parts] == [
        ("macros", ""),
        ("macros", ""),
        ("load", "macros"),
        ("run", "small"),
    ]


def test_texts_of_an_experiment_lead_to_their_files() -> None:
    files = {"a.cntk": "command = train\n" + INLINE, "net.ndl": SECTIONS}
    texts = Experiment(Run(("a.cntk",)), Folder(files)).texts("ndl")
    assert len(texts) == 2
    for text in texts:
        for statement in text.ndl.statements:
            place = text.place(statement.start, statement.end)
            assert place.source == "a.cntk"
        assert text.ndl is text.ndl
    (macros, net) = texts
    assert macros.ndl.statements[0].start > 0
    name = net.ndl.statements[0].name
    assert name is not None
    place = net.place(name.start, name.end)
    assert files["a.cntk"][place.start : place.end] == "x"
