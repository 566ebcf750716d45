"""Networks that are the same are mapped one to one, and nearly equal ones are told apart."""

from __future__ import annotations

from random import Random

import pytest

from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.cntk.networks.same import Difference, compare
from tests.cntk.brainscript.building import network
from tests.cntk.migration.networks import drawn, renamed

LAYERS = """{
    feat = Input {4, tag="feature"} ; labels = Input {2, tag="label"}
    Layer (n, m, x) = { W = Parameter {n, m} ; b = ParameterTensor {n} ; z = Sigmoid (W * x + b) }.z
    h = Layer (3, 4, feat) ; out = Layer (2, 3, h)
    ce = CrossEntropyWithSoftmax (labels, out, tag="criterion")
    outputNodes = (out)
}"""


@pytest.mark.parametrize("seed", range(60))
def test_a_renamed_and_reordered_network_is_the_same(seed: int) -> None:
    random = Random(seed)
    before = drawn(random, random.randint(4, 40))
    after, _ = renamed(before, random)
    found = compare(before, after)
    assert found.differences == ()
    assert found.names.keys() == before.nodes.keys()
    assert sorted(found.names.values()) == sorted(after.nodes)
    for name, node in before.nodes.items():
        other = after.nodes[found.names[name]]
        assert [found.names[one.name] for one in node.inputs] == [one.name for one in other.inputs]


@pytest.mark.parametrize("seed", range(40))
def test_one_change_is_found(seed: int) -> None:
    random = Random(seed)
    before = drawn(random, 30)
    after, _ = renamed(before, random)
    node = random.choice([one for one in after.nodes.values() if one.attributes])
    key = "timeStep" if "timeStep" in node.attributes else "initValue"
    node.attributes[key] = 7
    found = compare(before, after)
    assert found.differences
    assert compare(after, before).differences


@pytest.mark.parametrize("seed", range(40))
def test_exchanged_inputs_are_found(seed: int) -> None:
    random = Random(seed)
    before = drawn(random, 20)
    after, names = renamed(before, random)
    for name, node in before.nodes.items():
        if node.operation == "Minus" and node.inputs[0].operation != node.inputs[1].operation:
            copy = after.nodes[names[name]]
            copy.inputs = copy.inputs[::-1]
            assert compare(before, after).differences
            return


def test_a_network_without_groups_is_mapped_by_its_nodes_alone() -> None:
    before = network('{ x = Input {3, tag=""} ; a = Exp (x) ; b = Exp (x) ; c = a - b }')
    after = network('{ q = Input {3, tag=""} ; r = Exp (q) ; s = Exp (q) ; c = s - r }')
    assert compare(before, after).names == {"x": "q", "a": "s", "b": "r", "c": "c"}


def test_a_loop_that_nothing_uses_is_mapped() -> None:
    text = '{{ x = Input {{3, tag=""}} ; {h} = x + {p} ; {p} = PastValue (3, {h}) }}'
    before = network(text.format(h="h", p="p"))
    after = network(text.format(h="state", p="former"))
    assert compare(before, after).names == {"x": "x", "h": "state", "p": "former"}


def test_symmetric_parts_are_mapped_whole() -> None:
    ring = "{" + " ; ".join(f"p{n} = Parameter {{2, 2}}" for n in range(12))
    ring += " ; " + " ; ".join(f"s{n} = p{n} - p{(n + 1) % 12}" for n in range(12)) + "}"
    turned = ring.replace("s", "t").replace("p", "q").replace("Parameter", "Parameter")
    turned = turned.replace("q", "_q")
    found = compare(network(ring), network(turned))
    assert found.differences == ()
    assert len(set(found.names.values())) == 24


def test_a_shared_parameter_is_not_two_parameters() -> None:
    shared = network("{ p = Parameter {2, 2} ; a = Exp (p) ; b = Log (p) ; outputNodes = (a:b) }")
    apart = network(
        "{ p = Parameter {2, 2} ; q = Parameter {2, 2}"
        " ; a = Exp (p) ; b = Log (q) ; outputNodes = (a:b) }"
    )
    (difference,) = compare(shared, apart).differences
    assert difference.aspect == "counterpart"
    assert compare(apart, shared).differences


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Sigmoid (W", "Tanh (W", ("out", "operation", "Sigmoid", "Tanh")),
        ("Layer (3, 4", "Layer (5, 4", ("h", "shape", "[3]", "[5]")),
        ("ParameterTensor {n}", "ParameterTensor {n, init='gaussian'}", ("init", "'uniform'")),
        ("ParameterTensor {n}", "ParameterTensor {n, learningRateMultiplier=0}", ("1", "0")),
        ("(out)", "(out:h)", ("h", "group output", "(out)", "(out, h)")),
        ('tag="label"', 'tag=""', ("labels", "group label")),
        ("(labels, out", "(out, labels", ("labels", "counterpart")),
    ],
)
def test_a_difference_names_node_and_aspect(old: str, new: str, expected: tuple[str, ...]) -> None:
    after = LAYERS.replace(old, new).replace(
        "Layer (2, 3", "Layer (2, 5" if "5" in new else "Layer (2, 3"
    )
    found = compare(network(LAYERS), network(after))
    assert found.differences
    assert any(_tells(one, expected) for one in found.differences), found.differences


def _tells(difference: Difference, expected: tuple[str, ...]) -> bool:
    reported = [difference.node, difference.aspect, difference.before, difference.after]
    assert difference.message.startswith(f"'{difference.node}'")
    return all(part in reported for part in expected)


def test_where_numbers_are_drawn_does_not_count() -> None:
    other = LAYERS.replace("Parameter {n, m}", "Parameter {n, m, initOnCPUOnly=false}")
    assert compare(network(LAYERS), network(other)).same


def test_another_order_of_parameters_is_a_note() -> None:
    before = network("{ a = Parameter {2, 2} ; b = Parameter {3, 3} ; c = Exp (a) }")
    after = network("{ b = Parameter {2, 2} ; a = Parameter {3, 3} ; c = Exp (b) }")
    found = compare(before, after)
    assert found.same
    assert found.note is not None
    assert "number 1 was 'b'" in found.note
    assert compare(before, before).note is None


def test_dynamic_axes_are_distinguished() -> None:
    text = '{{ d = DynamicAxis () ; e = DynamicAxis () ; x = Input {{2, dynamicAxis={x}, tag=""}}'
    text += ' ; y = Input {{2, dynamicAxis={y}, tag=""}} ; z = Exp (x) ; outputNodes = (x:y) }}'
    same = network(text.format(x="d", y="d"))
    apart = network(text.format(x="d", y="e"))
    assert compare(same, network(text.format(x="e", y="e"))).same
    assert [one.aspect for one in compare(same, apart).differences] == ["dynamic axis"]


def test_opaque_networks_differ_from_none() -> None:
    assert compare(Network({}, {}), Network({}, {})).same
    assert not compare(network(LAYERS), Network({}, {})).same
