"""What layers of CNTK's networks are called: as a person wrote it, or by the shortest path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.importing.tensors import tensor_layers
from tests.cli.command_line import netsharp as command
from tests.cntk.training.model_writing import First
from tests.compiling.test_networks_of_cntk import PRODUCT, trained
from tests.conftest import SEED

Layer = tuple[str, str, str]


def model(folder: Path, layers: Sequence[Layer]) -> netsharp.Model:
    """A chain of products with sigmoids, by the names of parameter, product and value; the last has
    none.
    """
    chance = np.random.default_rng(SEED)
    stored = First(27)
    stored.input("x", (4,))
    before = "x"
    for weights, product, value in layers:
        stored.parameter(weights, chance.normal(size=(4, 4)))
        last = value == layers[-1][-1]
        stored.add("Times", value if last else product, PRODUCT, weights, before)
        if not last:
            stored.add("Sigmoid", value, b"", product)
        before = value
    (folder / "net.dnn").write_bytes(stored.data([("OutputNodes", [before])]))
    return netsharp.load(folder / "net.dnn")


def names(found: netsharp.Model) -> list[str]:
    return [one.name for one in tensor_layers(found.graph, found.tensors)]


CASES: list[tuple[list[Layer], list[str]]] = [
    # Names without a path stay as they are.
    ([("W", "t", "hidden"), ("V", "s", "z")], ["hidden", "z"]),
    # Macros of NDL: the name of the call identifies one layer.
    ([("h1.W", "h1.t", "h1.y"), ("ol.W", "ol.t", "ol.z")], ["h1", "ol"]),
    # A call that has two layers does not.
    (
        [("a.W", "a.t", "a.y"), ("a.V", "a.s", "a.z"), ("ol.W", "ol.t", "ol.z")],
        ["a.y", "a.z", "ol"],
    ),
    # Functions in a list have no name where they are applied, and one where they are.
    (
        [
            ("model.arrayOfFunctions[0].W", "z.x._.t", "z.x._"),
            ("model.arrayOfFunctions[1].arrayOfFunctions[0].W", "z.x.t", "_z.x"),
            ("model.arrayOfFunctions[2].W", "z.t", "z"),
        ],
        ["model[0]", "model[1]", "z"],
    ),
    # A function with a name gives it even where the path of its application is short.
    ([("model.arrayOfFunctions[0].W", "z.x.t", "z.x"), ("V", "s", "z")], ["model", "z"]),
    # Two layers that share what they multiply by have their paths.
    ([("f.W", "z.x._.t", "z.x._"), ("f.V", "z.t", "z._")], ["z.x._", "z._"]),
    # A name that another node has is none for a layer.
    ([("h.W", "h", "h.y"), ("ol.W", "ol.t", "ol.z")], ["h.y", "ol"]),
    # A function without a name gives none.
    ([("_.W", "z.x._.t", "z.x._"), ("V", "s", "z")], ["z.x._", "z"]),
    # Names of the Python library: a block's parameters, and numbers where a node has no name.
    ([("first/W", "Times3", "Sigmoid4"), ("last/W", "Times7", "z")], ["first", "z"]),
]


@pytest.mark.parametrize(("layers", "wanted"), CASES)
def test_layers_have_the_names_that_someone_wrote(
    layers: list[Layer], wanted: list[str], tmp_path: Path
) -> None:
    assert names(model(tmp_path, layers)) == wanted


def test_widths_are_given_by_either_name_and_by_no_other(tmp_path: Path) -> None:
    chain = [
        ("model.arrayOfFunctions[0].W", "z.x._.t", "z.x._"),
        ("model.arrayOfFunctions[1].W", "z.t", "z"),
    ]
    found = model(tmp_path, chain)
    rows = np.random.default_rng(SEED).normal(size=(50, 4))
    short, long, plain = (
        netsharp.compile(found, rows, layers=layers).network.layers[0].target
        for layers in ({"model[0]": "uint10"}, {"z.x._": "uint10"}, {})
    )
    assert short == long
    assert short.bits != plain.bits
    with pytest.raises(netsharp.CompileError, match=r"'model\[O\]'.* Did you mean 'model\[0\]'"):
        netsharp.compile(found, rows, layers={"model[O]": "uint10"})


@pytest.mark.costly
def test_of_many_layers_the_nearest_are_reported(tmp_path: Path) -> None:
    chain = [(f"part{n}.W", f"part{n}.t", f"part{n}.y") for n in range(20)]
    model(tmp_path, chain)
    for asked, reported in (
        ("prt7", "no layer 'prt7' to have a width of its own. Did you mean 'part7' or"),
        ("zebra", "There are 20; --explain lists them."),
    ):
        given = ("compile", "net.dnn", "--explain", "--layer", f"{asked}=uint10")
        answer = command(*given, cwd=tmp_path)
        assert (answer.code, answer.out) == (2, "")
        assert reported in answer.err


def test_a_refusal_tells_the_node_and_not_a_shorter_name(tmp_path: Path) -> None:
    stored = First(27)
    stored.input("x", (4,))
    stored.parameter("h.W", np.eye(4))
    stored.add("Times", "h.t", PRODUCT, "h.W", "x")
    stored.add("Exp", "h.y", b"", "h.t")
    (tmp_path / "net.dnn").write_bytes(stored.data([("OutputNodes", ["h.y"])]))
    with pytest.raises(netsharp.CompileError, match=r"'h\.y' in .*net\.dnn cannot be"):
        netsharp.compile(tmp_path / "net.dnn", np.zeros((3, 4)))


@pytest.mark.costly
def test_layers_of_a_sequence_in_brainscript_go_by_their_places_in_it(tmp_path: Path) -> None:
    found = trained("numerals", tmp_path)
    parts = ("model[0]", "model[0].pool", "model[1]", "model[1].pool", "model[2]", "z")
    assert names(found) == list(parts)
