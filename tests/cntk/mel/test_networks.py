"""Networks under edits: laws over every network of the collection, long texts, random edits."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.mel.evaluation import Edited, evaluate
from netsharp_lsp.cntk.mel.reading import read
from netsharp_lsp.cntk.mel.surroundings import Known, Surroundings
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import OPAQUE, Network
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.limits import EDITED_NODES
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES
from tests.cntk.texts import Memory
from tests.costs import assert_in_proportion

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

SAVED = 'SaveModel(m, "new")\n'
LOADED = 'm = LoadModel("old")\n'


def _networks() -> dict[str, Network]:
    """Every network of the collection of which all is known."""
    held = Memory({file.name: file.data for file in FILES})
    found = {}
    for file in FILES:
        if file.id == "cntk":
            run: Experiment = Experiment(Run((f"configFile={file.name}",), declared=False), held)
        else:
            run = SingleFile(file.name, file.id, held)
        for built in run.networks if file.id != "mel" else ():
            network = built.network
            if network is None or not network.nodes or network.troubles or built.faults:
                continue
            if all(node.operation != OPAQUE for node in network.nodes.values()):
                found[f"{file.name} {built.command}"] = network
    return found


NETWORKS = _networks()
#: Names that a text of MEL can hold: brackets in others are brackets of the text.
PLAIN = re.compile(r"[\w.]+ [\w.]+")


def made(name: str) -> dict[str, str] | None:
    function = function_of(name)
    return None if function is None else {"": function.operation}


def edited(text: str, network: Network) -> Edited:
    names = {name: node.operation for name, node in network.nodes.items()}
    around = Surroundings(
        lambda path: Known(names, "it is loaded", network) if path == "old" else None,
        lambda path: None,
        made,
        lambda path: False,
    )
    return evaluate(read(file_text(Source("a.mel", text.encode()), None)), around)


def after(text: str, network: Network) -> Network | None:
    return edited(LOADED + text + SAVED, network).saved["new"].network


def network_facts(network: Network) -> dict[str, object]:
    """The description of a network, without the places of its nodes and of their calls."""
    found = described(network)
    return {**found, "calls": [], "nodes": [{**one, "call": None} for one in found["nodes"]]}


def node_in_the_middle(network: Network) -> str:
    users = [node for node in network.nodes.values() if node.inputs]
    plain = [node for node in users if PLAIN.fullmatch(f"{node.name} {node.inputs[0].name}")]
    return plain[len(plain) // 2].name if plain else ""


@pytest.mark.parametrize("name", NETWORKS)
def test_an_edit_that_changes_nothing_leaves_the_network(name: str) -> None:
    network = NETWORKS[name]
    node = node_in_the_middle(network)
    texts = ["SetProperty(m.*, recurrent, true)\n", ""]
    if node:
        texts.append(f"SetInput( {node}, 0, {network.nodes[node].inputs[0].name})\n")
        texts.append(f"Rename( {node}, Q123)\nRename(q123, {node})\n")
    for text in texts:
        found = after(text, network)
        assert found is not None, text
        assert network_facts(found) == network_facts(network)


def test_the_collection_has_networks() -> None:
    assert len(NETWORKS) > 25


@pytest.mark.parametrize("name", NETWORKS)
def test_a_copy_of_everything_is_the_network_in_no_group(name: str) -> None:
    network = NETWORKS[name]
    text = f'{LOADED}q = CreateModel()\nCopyNode(m.*, q.*)\nSaveModel(q, "new")\n'
    found = edited(text, network).saved["new"].network
    assert found is not None
    assert set(found.nodes) == set(network.nodes)
    for one, node in network.nodes.items():
        twin = found.nodes[one]
        assert twin is not node
        assert (twin.operation, twin.shape) == (node.operation, node.shape)
        assert [it.name for it in twin.inputs] == [it.name for it in node.inputs]
    assert not any(found.groups.values())


def chain(length: int) -> Network:
    """A long chain of layers, as NDL writes it."""
    lines = ["x = Input(4, tag=feature)", "L0 = Tanh(x)"]
    lines += [f"L{number} = Tanh(L{number - 1})" for number in range(1, length)]
    files = Memory({"net.ndl": "\n".join(lines).encode()})
    (built,) = SingleFile("net.ndl", "ndl", files).networks
    assert built.network is not None
    return built.network


@pytest.mark.parametrize(
    "text",
    [
        "SetProperty(L*, learningRateMultiplier, 0)\n",
        "Rename(L*, K*)\nRename(K*, L*)\n",
        "CopyNode(L*, K*)\nDelete(K*)\n",
        "CopySubTree(L999, m, K)\nDelete(KL*)\n",
        "SetPropertyForSubTree(L*, needGradient, false)\n",
    ],
)
def test_patterns_over_many_nodes(text: str) -> None:
    networks = {count: chain(count) for count in (1_000, 10_000)}
    assert_in_proportion(
        lambda count: lambda: edited(LOADED + text + SAVED, networks[count]), 1_000, 10_000, slack=4
    )


def test_calls_within_calls_are_followed_or_left() -> None:
    network = chain(10)
    for depth in (50, 3_000):
        text = f"d = {'Tanh(' * depth}x{')' * depth}\nSetInput(L5, 0, d)\n"
        found = edited(LOADED + text + SAVED, network).saved["new"].network
        assert (found is not None and len(found.nodes) == 11 + depth) == (depth == 50)


def test_many_edits_of_a_large_network() -> None:
    network = chain(2_000)
    lines = [f"SetInput(L{number}, 0, x)\n" for number in range(1, 2_000)]
    lines += [f"Rename(L{number}, K{number})\n" for number in range(1, 2_000)]
    texts = {count: LOADED + "".join(lines[:: 4_000 // count]) + SAVED for count in (400, 4_000)}
    assert_in_proportion(lambda count: lambda: edited(texts[count], network), 400, 4_000, slack=4)


def test_what_is_edited_without_end_becomes_unknown() -> None:
    network = chain(2_000)
    rounds = EDITED_NODES.most // len(network.nodes)
    lines = [f'm{number} = LoadModel("old")\nDelete(m{number}.L9)\n' for number in range(rounds)]
    last = LOADED + "Delete(m.L1999)\n" + SAVED
    for count, is_known in ((1, True), (rounds, False)):
        found = edited("".join(lines[:count]) + last, network).saved["new"]
        assert (found.network is not None) == is_known
        assert found.nodes is not None


NAMES = ("x", "H", "W", "b", "t", "z", "ce", "new", "labels", "*", "H*", "m.z", "q.z")
BASE = """\
x = Input(4, tag=feature)
labels = Input(2, tag=label)
W = Parameter(2, 4)
b = Parameter(2, 1)
t = Times(W, x)
H = Plus(t, b)
z = Sigmoid(H, tag=output)
ce = CrossEntropyWithSoftmax(labels, z, tag=criterion)
"""
STATEMENTS = st.one_of(
    st.builds(
        "SetInput({}, {}, {})".format, *(st.sampled_from(one) for one in (NAMES, "012", NAMES))
    ),
    st.builds("SetInputs({}, {}, {})".format, *(st.sampled_from(NAMES) for _ in range(3))),
    st.builds("Rename({}, {})".format, *(st.sampled_from(NAMES) for _ in range(2))),
    st.builds(
        "CopyNode({}, {}, copy={})".format,
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(("all", "value")),
    ),
    st.builds("CopyNodeInputs({}, {})".format, *(st.sampled_from(NAMES) for _ in range(2))),
    st.builds(
        "CopySubTree({}, {}, {})".format,
        st.sampled_from(NAMES),
        st.sampled_from("mq"),
        st.sampled_from(("", "k")),
    ),
    st.builds("Delete({})".format, st.sampled_from(NAMES)),
    st.builds("{} = Plus({}, {})".format, *(st.sampled_from(NAMES) for _ in range(3))),
    st.builds(
        "SetProperty({}, {}, true)".format,
        st.sampled_from(NAMES),
        st.sampled_from(("output", "freezeParameters")),
    ),
    st.sampled_from(
        (
            "SaveModel(m, new)",
            "m = LoadModel(new)",
            "q = LoadModel(old)",
            "SetDefaultModel(q)",
            "UnloadModel(q)",
        )
    ),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(STATEMENTS, max_size=8))
def test_whatever_is_edited_names_and_nodes_agree(statements: list[str]) -> None:
    files = Memory({"net.ndl": BASE.encode()})
    (built,) = SingleFile("net.ndl", "ndl", files).networks
    assert built.network is not None
    before = network_facts(built.network)
    found = edited(LOADED + "\n".join(statements) + "\n" + 'SaveModel(m, "last")\n', built.network)
    assert network_facts(built.network) == before
    for known in found.saved.values():
        if known.network is None:
            continue
        assert known.nodes is not None
        assert set(known.network.nodes) == set(known.nodes)
        assert known.network.troubles == ()
        assert {n: node.operation for n, node in known.network.nodes.items()} == known.nodes
        inside = set(known.network.nodes.values())
        assert all(inside.issuperset(node.inputs) for node in inside)
        assert all(inside.issuperset(nodes) for nodes in known.network.groups.values())
