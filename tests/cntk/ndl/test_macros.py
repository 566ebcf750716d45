"""Macros: their results, names with dots, names of nodes, parameters, what goes wrong."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.ndl.assembly import DEEPEST
from tests.cntk.ndl.building import faults, network, outcome


def edges(text: str) -> dict[str, list[str]]:
    """Every node of a network with its inputs."""
    found = network(text)
    return {name: [one.name for one in node.inputs] for name, node in found.nodes.items()}


@pytest.mark.parametrize(
    ("macro", "result"),
    [
        ("f(a) = { t = Exp(a) ; y = Log(t) }", "x.y"),
        ("f(a) { t = Exp(a)  y = Log(t) }", "x.y"),
        ("f(a) [ f = Exp(a)  y = Log(f) ]", "x.f"),
        ("f(a) [ F = Exp(a)  y = Log(F) ]", "x.F"),
        ("f(a) = Exp(a)", "x.unnamed1"),
        ("f(a) = { Exp(a) }", "x.unnamed1"),
        ("g(a) = Exp(a)\nf(b) { y = g(b) }", "x.y.unnamed1"),
        ("f(a) { y = Exp(a) n = 3 }", "x.y"),
    ],
)
def test_what_a_macro_comes_to(macro: str, result: str) -> None:
    found = network(f"{macro}\ni = Input(2)\nx = f(i)\nz = Tanh(x)")
    assert [one.name for one in found.nodes["z"].inputs] == [result]


def test_members_are_reached_with_dots() -> None:
    text = """
Affine(x, r, c) { W = Parameter(r, c) b = Parameter(r) t = Times(W, x) z = Plus(t, b) }
Layer(x, r, c) { A = Affine(x, r, c) y = Sigmoid(A.t) }
i = Input(3)
l = Layer(i, 4, 3)
u = Tanh(l.A.b)
v = Exp(l.A)
"""
    found = edges(text)
    assert found["u"] == ["l.A.b"]
    assert found["v"] == ["l.A.z"]
    assert found["l.y"] == ["l.A.t"]
    assert list(found) == ["i", "l.A.W", "l.A.b", "l.A.t", "l.A.z", "l.y", "u", "v"]


def test_calls_without_a_name_are_counted() -> None:
    # Numbers count, too, and what gets its name only later.
    found = edges("i = Input(3)\nx = Tanh(Exp(Log(i)))\ny = Sin(i)\nz = Tanh(Cos(i))")
    assert list(found) == ["i", "x", "unnamed4", "unnamed5", "y", "z", "unnamed8"]


def test_a_macro_within_a_macro_is_everybodys() -> None:
    text = "M(x) { g(y) = Tanh(y) z = g(x) }\ni = Input(2)\nu = g(i)\nv = M(i)"
    assert list(edges(text)) == ["i", "u.unnamed1", "v.z.unnamed1"]


def test_names_that_come_later() -> None:
    text = "i = Input(3)\nh = Delay(3, 1, y)\ny = Plus(i, h)\n"
    found = network(text)
    assert [one.name for one in found.nodes["h"].inputs] == ["y"]
    assert [[one.name for one in loop] for loop in found.loops] == [["h", "y"]]


def test_names_that_come_later_in_a_macro() -> None:
    text = "R(x, n) { d = PastValue(n, out) out = Tanh(Plus(x, d)) }\ni = Input(3)\nr = R(i, 3)"
    assert edges(text)["r.d"] == ["r.out"]


def test_parameters_lead_through_macros() -> None:
    text = """
One(x, n) { w = Parameter(n, n) y = Times(w, x) }
Two(x, n) { a = One(x, n) b = One(a, n) }
i = Input(2)
size = 2
z = Two(later, size)
later = Tanh(i)
"""
    found = network(text)
    assert found.nodes["z.b.w"].shape == (2, 2)
    assert [one.name for one in found.nodes["z.a.y"].inputs] == ["z.a.w", "later"]


def test_each_call_has_nodes_of_its_own() -> None:
    found = network(
        "M(x) { w = Parameter(2, 2) y = Times(w, x) }\ni = Input(2)\na = M(i)\nb = M(a)"
    )
    assert found.nodes["a.w"] is not found.nodes["b.w"]
    assert [one.name for one in found.nodes["b.y"].inputs] == ["b.w", "a.y"]


def test_a_macro_sees_no_variable_outside() -> None:
    text = "n = 3\nA(x) { w = Parameter(n, 2) y = Times(w, x) }\ni = Input(2)\na = A(i)"
    assert faults(text) == [("unknown-name", "n")]


def test_options_of_calls_reach_the_macro() -> None:
    text = "A(x) { y = RowRepeat(x, k) }\ni = Input(2)\na = A(i, k = 3)"
    found = outcome(text)
    assert [one.kind for one in found.faults] == ["macro-option"]
    assert found.network is not None
    assert found.network.nodes["a.y"].shape is None, "the program takes no number from there"


def test_options_of_options_are_no_numbers_either() -> None:
    text = "A(x) { y = PastValue(2, x, timeStep = k) }\ni = Input(2)\na = A(i, k = 3)"
    found = outcome(text)
    assert [one.kind for one in found.faults] == ["macro-option"]
    assert found.network is not None
    assert "timeStep" not in found.network.nodes["a.y"].attributes


def test_truths_and_kinds_of_pooling_are_taken_from_options_of_calls() -> None:
    text = """
P(x) { y = Pooling(x, kind, {2, 2, 1}, autoPadding = pad) }
i = Input(8, 8, 3)
a = P(i, pad = false, kind = average)
b = P(i, pad = true, kind = max)
"""
    nodes = network(text).nodes
    assert [nodes[name].attributes["pool"] for name in ("a.y", "b.y")] == ["average", "max"]
    assert [nodes[name].attributes["dimPadding"] for name in ("a.y", "b.y")] == [(False,), (True,)]
    wrong = text.replace("pad = false", "pad = perhaps")
    assert faults(wrong) == [("option-value", "autoPadding = pad")]


UNKNOWN = [
    ("M(x, n) { W = Parameter(n, 2) }\ni = Input(2)\na = M(i, 2)\nb = M(i, lost)", ["lost"]),
    ("M(x) { y = Tanh(x) }\ni = Input(2)\na = M(lost)\nb = M(lost)", ["lost", "lost"]),
    ("I(x) { y = Tanh(x) }\nM(z) { y = I(z) }\na = M(lost)", ["lost"]),
    ("M(n) { W = Parameter(2, 2, initValueScale = n) }\na = M(lost)", ["lost"]),
    (
        "i = Input(2)\nh = Times(k, i)\ny = PastValue(2, i, timeStep = k)",
        ["timeStep = k", "k"],
    ),
    (
        "i = Input(4, 4, 1)\na = RowRepeat(i, k)\ny = Pooling(i, max, {2, k, 1})",
        ["k", "k"],
    ),
]


@pytest.mark.parametrize(("text", "words"), UNKNOWN)
def test_an_unknown_name_is_shown_where_it_is_written(text: str, words: list[str]) -> None:
    found = [one for one in outcome(text).faults if one.kind == "unknown-name"]
    assert sorted(text[one.place.start : one.place.end] for one in found) == sorted(words)
    assert len({one.place for one in found}) == len(words)
    for one in found:
        word = words[0].rpartition(" ")[2]
        assert one.message == f"'{word}' is not defined here."
        for call in one.calls:
            assert not call.start <= one.place.start < call.end, "no call leads to itself"


def test_a_list_may_be_handed_on() -> None:
    text = """
P(x, k, s) { y = Pooling(x, max, k, stride = s, autoPadding = false) }
i = Input(8, 8, 3)
s = {2, 2}
a = P(i, s, s)
"""
    assert network(text).nodes["a.y"].shape == (4, 4, 3)


WRONG = [
    ("A(x) { y = Tanh(x) }\nA(z) { y = Exp(z) }", [("redefined", "A")]),
    ("Tanh(x) { y = Exp(x) }", [("macro-reserved", "Tanh")]),
    ("A(mean) { y = Tanh(mean) }", [("reserved-parameter", "mean")]),
    ("A(x, k=1) { y = Tanh(x) }", [("parameter-default", "k=1")]),
    ("A(x) { y = A(x) }", [("recursion", "A(x)")]),
    ("A(x) { y = Tanh(A(x)) }\ni = Input(2)\na = A(i)", [("recursion", "A(x)")]),
    ("A(x) { y = B(x) }\nB(x) { y = Tanh(x) }", [("unknown-function", "B")]),
    ("A(x, y) { z = Plus(x, y) }\ni = Input(2)\na = A(i)", [("macro-arity", "A(i)")]),
    ("A(x) { z = Tanh(x) }\ni = Input(2)\na = A(i, i)", [("macro-arity", "A(i, i)")]),
    ("A(x) { z = Tanh(x) }\na = A(Input(2))", [("nested-argument", "Input(2)")]),
    ("A(x) { n = 3 }\ni = Input(2)\na = A(i)\nb = Tanh(a)", [("no-result", "a")]),
    (
        "F(x) { y = Tanh(x) }\ni = Input(2)\nF = F(i)\nG = F(F)",
        [("shadowed", "F")],
    ),
    (
        "A(x) { y = Tanh(x.W) }\ni = Input(2)\na = A(i)",
        [("member", "x.W"), ("unknown-name", "x.W")],
    ),
    ("i = Input(2)\na = Tanh(i.W)", [("member", "i.W")]),
    (
        "A(x, n) { y = Times(Parameter(n, 2), x) }\ni = Input(2)\na = A(i, 3)",
        [("nested-number", "n"), ("nested-parameter", "Parameter(n, 2)")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), WRONG, ids=[text for text, _ in WRONG])
def test_what_goes_wrong(text: str, expected: list[tuple[str, str]]) -> None:
    found = [one for one in faults(text) if one[0] != "renamed"]
    assert found == expected


def test_faults_in_macros_are_reported_once_with_the_calls() -> None:
    text = "In(x) { y = Tanh(x, x) }\nOut(x) { a = In(x) b = In(x) }\ni = Input(2)\nc = Out(i)\n"
    (fault,) = outcome(text).faults
    marked = [text[place.start : place.end] for place in fault.calls]
    assert (fault.kind, marked) == ("arity", ["Out(i)", "In(x)"])


def test_macros_within_macros_have_an_end() -> None:
    lines = ["m0(x) { y = Tanh(x) }"]
    lines += [f"m{n}(x) {{ a = m{n - 1}(x) b = m{n - 1}(a) }}" for n in range(1, 40)]
    lines += ["i = Input(2)", "z = m39(i)"]
    assert [one.kind for one in outcome("\n".join(lines)).faults] == ["too-much"]


def test_a_long_chain_of_macros() -> None:
    count = DEEPEST + 20
    lines = ["m0(x) { y = Tanh(x) }"]
    lines += [f"m{n}(x) {{ y = m{n - 1}(x) }}" for n in range(1, count)]
    lines += ["i = Input(2)", f"z = m{count - 1}(i)"]
    assert [one.kind for one in outcome("\n".join(lines)).faults] == ["too-much"]
