"""Node groups: arrays in any case, tags in every spelling, and what does not become a group."""

from __future__ import annotations

import pytest

from tests.cntk.ndl.building import faults, network, outcome

ARRAYS = [
    ("featureNodes", "feature"),
    ("FEATURENODES", "feature"),
    ("LabelNodes", "label"),
    ("criterionNodes", "criterion"),
    ("CriteriaNodes", "criterion"),
    ("evalNodes", "evaluation"),
    ("OutputNodes", "output"),
]


@pytest.mark.parametrize(("array", "group"), ARRAYS)
def test_arrays(array: str, group: str) -> None:
    found = network(f"i = Input(2)\nx = Tanh(i)\ny = Exp(i)\n{array} = (y : x, y)")
    assert [node.name for node in found.groups[group]] == ["y", "x"]
    assert found.nodes["x"].tags == [group]


@pytest.mark.parametrize(
    ("tag", "group"),
    [
        ("feature", "feature"),
        ('"Label"', "label"),
        ("criteria", "criterion"),
        ("CRITERION", "criterion"),
        ("eval", "evaluation"),
        ("evaluation", "evaluation"),
        ("evalNode", "evaluation"),
        ("output", "output"),
    ],
)
def test_tags(tag: str, group: str) -> None:
    found = network(f"x = Input(2, tag = {tag})")
    assert [node.name for node in found.groups[group]] == ["x"]


def test_what_belongs_to_no_group() -> None:
    found = network("x = Input(2, tag = multiSeq)")
    assert not any(found.groups.values())
    assert faults("x = Input(2, tag = inputs)") == [("group", "tag = inputs")]
    assert faults("x = Input(2)\nevaluationNodes = (x)") == [("group-name", "(x)")]


def test_calls_of_macros_have_tags_too() -> None:
    found = network("F(x) { y = Tanh(x) }\ni = Input(2, tag = feature)\nz = F(i, tag = output)")
    assert [node.name for node in found.groups["output"]] == ["z.y"]


def test_tags_of_macros_come_before_those_of_functions() -> None:
    text = "F(x) { y = Tanh(x) }\ni = Input(2)\na = Exp(i, tag = output)\nb = F(i, tag = output)"
    assert [node.name for node in network(text).groups["output"]] == ["b.y", "a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("outputNodes = (x)\nx = Input(2)", [("group-order", "x")]),
        ("x = Input(2)\noutputNodes = (y)", [("group-member", "y")]),
        ("x = Input(2)\noutputNodes = (3)", [("group-member", "3")]),
        ("x = Input(2)\noutputNodes = 3", [("group-value", "3")]),
    ],
)
def test_what_goes_wrong(text: str, expected: list[tuple[str, str]]) -> None:
    assert faults(text) == expected


def test_an_array_without_brackets_takes_the_name_away() -> None:
    found = outcome("i = Input(2)\nx = Tanh(i)\noutputNodes = x")
    assert [one.kind for one in found.faults] == ["renamed"]
    assert found.network is not None
    assert [node.name for node in found.network.groups["output"]] == ["outputNodes"]


def test_a_network_needs_features() -> None:
    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.ndl.program import evaluate_file

    found = evaluate_file(Source("a.ndl", b"x = Input(2)"))
    assert [(one.kind, one.place.start) for one in found.faults] == [("no-features", 0)]
    assert evaluate_file(Source("a.ndl", b"F(x) = Tanh(x)")).faults == ()
