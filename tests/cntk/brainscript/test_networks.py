"""Whole networks come out with every node, shape, axis and loop; with another library as well.

`NETSHARP_CNTK_LIBRARY` may name the original library; it has to come to the same networks.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from netsharp_lsp.cntk import library
from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_builder
from netsharp_lsp.cntk.brainscript.reading.syntax import Member, RecordLiteral
from netsharp_lsp.cntk.library import other_library, own_library, versions
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import Network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.brainscript.reading.syntax import Entry, Script

FOLDER = Path(__file__).parent / "networks"
NETWORKS = sorted(FOLDER.glob("*.bs"))
ORIGINAL = os.environ.get("NETSHARP_CNTK_LIBRARY", "")
#: Internal functions, those that fail in the program too, and those of deeper records.
NOT_USED = {
    *("Print", "Fail", "IsSameObject", "_PFValue", "GMMLogLikelihood", "TimeReverse", "Shift"),
    *("_Fold", "FoldL", "FoldR", "Iteration", "Count", "_Parameter", "GRU", "Edit"),
    *("ReplaceLinksToNode", "ReplaceLinksToNamedNode", "GreedySequenceDecoderFrom"),
    *("BeamSearchSequenceDecoderFrom", "_IsWithin", "NoAuxInputHook"),
}


def evaluated(path: Path, functions: tuple[Script, ...]) -> Network:
    around = Surroundings(lambda name: None, functions)
    found = evaluate_builder(path.read_bytes(), path.name, around)
    assert found.faults == ()
    assert found.network is not None
    assert [(one.node.name, one.message) for one in found.network.troubles] == []
    return found.network


def lines(network: Network) -> Iterator[str]:
    for node in network.nodes.values():
        inputs = ", ".join(one.name for one in node.inputs)
        shape = "?" if node.shape is None else " x ".join(map(str, node.shape))
        axis = "" if node.axis is None else f" x {node.axis.name}"
        loop = "" if node.loop is None else f" in loop {node.loop}"
        yield f"{node.name} = {node.operation} ({inputs}) : [{shape}{axis}]{loop}\n"
    for group, nodes in network.groups.items():
        yield f"{group}: {', '.join(node.name for node in nodes)}\n"


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_network(path: Path, update: bool) -> None:
    found = "".join(lines(evaluated(path, own_library())))
    expected = path.with_suffix(".txt")
    if update:
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


@pytest.mark.skipif(not ORIGINAL, reason="NETSHARP_CNTK_LIBRARY names no library")
@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_the_original_library_comes_to_the_same(path: Path) -> None:
    original = other_library(Path(ORIGINAL).read_bytes(), "original")
    ours, theirs = evaluated(path, own_library()), evaluated(path, original)
    assert list(lines(ours)) == list(lines(theirs))
    assert [one.attributes for one in ours.nodes.values()] == [
        one.attributes for one in theirs.nodes.values()
    ]


def declared(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, Member) and entry.parameters is not None:
            yield entry.name
        elif isinstance(entry, Member) and isinstance(entry.value, RecordLiteral):
            yield from declared(entry.value.entries)


def test_every_function_of_the_library_is_used() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in NETWORKS)
    used = set(re.findall(r"\w+", text))
    # A function that another one of the library calls is used where that one is.
    bodies = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted(Path(library.__file__).parent.glob("*.bs"))
    )
    later = {name.rpartition(".")[2] for name in versions.FUNCTIONS}
    names = {name for script in own_library() for name in declared(script.entries)} - later
    missing = names - used - NOT_USED
    assert {name for name in missing if len(re.findall(rf"\b{name}\b", bodies)) < 2} == set()


def test_numbers_of_lenet() -> None:
    json = described(evaluated(FOLDER / "lenet.bs", own_library()))
    weights = 5 * 5 * 16 + 16, 5 * 5 * 16 * 32 + 32, 4 * 4 * 32 * 256 + 256, 256 * 10 + 10
    products = 784 * 400, 14 * 14 * 32 * 400, 4 * 4 * 32 * 256, 2560
    assert json["parameters"] == sum(weights)
    assert json["multiply_adds"] == sum(products)
    assert json["memory_bytes"] % 4 == 0
    assert json["loops"] == []
    named = {node["name"]: node for node in json["nodes"]}
    assert named["errs"]["groups"] == ["evaluation"]
    assert named["features"]["axis"] == "*"
    weight = named["model.arrayOfFunctions[2].W"]
    assert (weight["shape"], weight["trainable"]) == ([5, 5, 16, 32], True)
    assert weight["attributes"]["initFilterRank"] == 2
    double = described(evaluated(FOLDER / "lenet.bs", own_library()), "double")
    assert double["memory_bytes"] == 2 * json["memory_bytes"]


def test_nodes_say_where_the_text_asks_for_them() -> None:
    path = FOLDER / "lenet.bs"
    text = path.read_text(encoding="utf-8")
    asked = {
        node.name: text[node.where[1] : node.where[2]]
        for node in evaluated(path, own_library()).nodes.values()
        if node.where[0] == path.name
    }
    assert asked["ce"] == "CrossEntropyWithSoftmax (labels, z)"
    assert asked["model.arrayOfFunctions[6].W"] == "LinearLayer {labelDim}"
    assert asked["model.arrayOfFunctions[0].W"].startswith("ConvolutionalLayer {16,")
    assert asked["z"] == "model (features / 256)"


def test_loops_of_recurrent_layers() -> None:
    network = evaluated(FOLDER / "tagger.bs", own_library())
    delays = [one for one in network.nodes.values() if one.operation.endswith("Value")]
    assert len(network.loops) == 2
    for loop in network.loops:
        kinds = {one.operation for one in loop if one in delays}
        assert len(kinds) == 1
    assert {one.loop for one in delays if one.operation == "InputValue"} <= {None}


def test_what_hangs_on_a_saved_network_is_unknown() -> None:
    json = described(evaluated(FOLDER / "adapted.bs", own_library()))
    shapes = {node["name"]: node["shape"] for node in json["nodes"]}
    assert shapes["h"] is None
    assert shapes["z.W"] is None
    assert shapes["z"] == [132]
    assert shapes["labels"] == [132]
    assert json["parameters"] is None
    assert json["multiply_adds"] is None
