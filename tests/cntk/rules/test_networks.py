"""Rules on evaluated networks: shapes with where they come from, groups, for every builder."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES, family
from netsharp_lsp.cntk.rules.networks.shapes import KINDS
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.rules.brainscript_reporting import alone, inside, reported
from tests.cntk.texts import Memory

SHAPES = [
    ("x = Input {4}\nz = x + ParameterTensor {3}", "BS050"),
    ("x = Input {4}\nz = ParameterTensor {(2:3)} * x", "BS051"),
    ("x = ImageInput (4, 4, 1)\nz = Pooling (x, 'max', (9:9), autoPadding=false)", "BS052"),
    ("x = Input {4}\ny = Input {3}\nz = CrossEntropyWithSoftmax (y, x)", "BS053"),
    ("x = Input {4}\nz = Where (x)", "BS054"),
    ("x = Input {4}\nz = Slice (3, 9, x)", "BS055"),
    ("z = ParameterTensor {0}", "BS056"),
    ("z = Input {3, dynamicAxis='t'}", "BS057"),
    ("w = ParameterTensor {4}\nz = BS.Loop.Previous (w)", "BS061"),
]


@pytest.mark.parametrize(("text", "code"), SHAPES)
def test_each_cause_has_its_code(text: str, code: str) -> None:
    assert [found for found, _ in reported(text)] == [code]


def test_every_family_of_types_has_a_code() -> None:
    assert {family(operation) for operation in NODE_TYPES} <= set(KINDS)


def test_shapes_say_where_they_come_from() -> None:
    text = "x = Input {4}\nh = Sigmoid (Tanh (x))\nW = ParameterTensor {(2:3)}\nz = W * h"
    (found,) = alone(text)
    assert "[2 x 3]" in found.message
    assert "[4]" in found.message
    notes = {note.message: text[note.start : note.end] for note in found.related}
    assert notes == {
        "'W' is [2 x 3]: it is declared here.": "ParameterTensor {(2:3)}",
        "'h' is [4] because of 'x', which is an input here.": "Input {4}",
    }


def test_nothing_follows_from_a_shape_that_does_not_fit() -> None:
    text = "x = Input {4}\na = x + ParameterTensor {3}\nb = Sigmoid (a)\nc = b + x"
    assert [code for code, _ in reported(text)] == ["BS050"]


def test_swapped_criteria() -> None:
    head = "x = Input {4}\ny = Input {4, tag='label'}\n"
    assert reported(f"{head}c = CrossEntropyWithSoftmax (x, y)") == [
        ("BS062", "CrossEntropyWithSoftmax (x, y)")
    ]
    assert reported(f"{head}c = SquareError (x, y)") == []
    assert reported("labels = Input {4}\nx = Input {4}\nc = ClassificationError (x, labels)") == [
        ("BS062", "ClassificationError (x, labels)")
    ]


def test_nodes_without_effect_are_reported_once_and_not_what_they_rest_on() -> None:
    text = "x = Input {4}\na = Tanh (x)\nb = Sigmoid (a)\nz = Abs (x, tag='output')"
    assert inside(text) == [("BS060", "hint", "Sigmoid (a)")]


def test_a_node_that_a_command_names_is_needed() -> None:
    text = (
        "Model = {\n BrainScriptNetworkBuilder = { x = Input {4} ; a = Tanh (x)\n"
        " z = Abs (x, tag='output') }\n}\nWrite = { outputNodeNames = a }\n"
    )
    assert "BS060" not in codes(text)
    assert "BS060" in codes(text.replace("outputNodeNames = a", "outputNodeNames = z"))


def test_networks_of_ndl_are_held_to_the_same() -> None:
    network = "x = InputValue(4)\n w = Parameter(2, 3)\n z = Times(w, x)\n"
    text = f"Model = {{\n NDLNetworkBuilder = {{\n  run = N\n  N = [\n{network}]\n }}\n}}\n"
    assert "BS051" in codes(text)
    assert "BS051" not in codes(text.replace("2, 3", "2, 4"))


def codes(text: str) -> list[str]:
    run = Run(("configFile=a.cntk",), declared=False)
    found = diagnostics_by_file(Experiment(run, Memory({"a.cntk": text.encode()})))
    return [one.code for listed in found.values() for one in listed]
