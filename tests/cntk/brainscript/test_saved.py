"""Networks that are taken from others: loaded, edited, copied in part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from netsharp_lsp.cntk.brainscript.evaluation.program import evaluate_builder
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import Network
from tests.cntk.brainscript.building import SOURCE, around, network
from tests.costs import assert_in_proportion, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.networks.faults import Outcome

BASE = """{
    features = Input {4}
    labels = Input {3}
    h = DenseLayer {8, activation = Sigmoid} (features)
    z = LinearLayer {3} (h)
    ce = CrossEntropyWithSoftmax (labels, z)
    featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce) ; outputNodes = (z)
}"""
LOOPS = """{
    x = Input {4}
    norm = BatchNormalizationLayer {} (x)
    r = RecurrentLSTMLayer {5} (norm)
    z = LinearLayer {2} (r)
    outputNodes = (z)
}"""
OLD = 'old = BS.Network.Load ("m")\n'


def built(text: str, base: str = BASE, path: str = "m") -> Outcome:
    """A network of which one model is known."""
    held = {path: network(base)}
    return evaluate_builder(text.encode(), SOURCE, around()._replace(model=held.get))


def sound(text: str, base: str = BASE) -> Network:
    found = built(text, base)
    assert found.faults == ()
    assert found.network is not None
    assert [(one.node.name, one.message) for one in found.network.troubles] == []
    return found.network


def facts(net: Network) -> dict[str, tuple[object, ...]]:
    """What a network computes, whatever the order of creation."""
    groups = {one: sorted(node.name for node in nodes) for one, nodes in net.groups.items()}
    return {
        "": tuple(groups.items()),
        **{
            one.name: (one.operation, one.shape, [it.name for it in one.inputs], one.attributes)
            for one in net.nodes.values()
        },
    }


@pytest.mark.parametrize("base", [BASE, LOOPS])
def test_what_is_loaded_and_what_an_edit_leaves_alone_is_the_network(base: str) -> None:
    before = facts(network(base))
    assert facts(sound('(BS.Network.Load ("m"))', base)) == before
    again = '(BS.Network.Edit (BS.Network.Load ("m"), (node => node), {}))'
    assert facts(sound(again, base)) == before
    names = list(sound('(BS.Network.Load ("m"))', base).nodes)
    assert names == sorted(names, key=str.lower)


def test_each_load_has_nodes_of_its_own() -> None:
    text = (
        f'{{ {OLD} new = BS.Network.Load ("m") ; same = IsSameObject (old.z, new.z) ; z = old.z }}'
    )
    net = sound(text)
    assert "_z" not in net.nodes
    text = f'{{ {OLD} a = old.z ; b = BS.Network.Load ("m").z ; both = Splice (a : b) }}'
    twice = built(text)
    assert twice.network is not None
    assert twice.network.nodes["both"].shape == (6,)
    assert twice.network.nodes["a"].saved == twice.network.nodes["b"].saved == ("m", "z")
    # Those inside layers are told apart, as the program does, and no others.
    assert {one.kind for one in twice.faults} == {"double-name"}
    message = {one.message for one in twice.faults}
    assert message == {f"the network has two nodes named '{name}'." for name in ("features", "h")}


def test_a_layer_on_top_of_a_model() -> None:
    net = sound(
        f"{{ {OLD} features = old.features ; more = LinearLayer {{5}} (old.h) "
        "; dim = old.h.dim ; same = LinearLayer {dim} (old.h) ; outputNodes = (more) }"
    )
    assert net.nodes["more"].shape == (5,)
    assert net.nodes["same"].shape == (8,)
    assert net.nodes["features"].tags == ["feature"]
    assert [one.name for one in net.groups["output"]] == ["more"]


@pytest.mark.parametrize(
    ("how", "parameters", "rates"),
    [("learnable", 2, [1.0, 1.0]), ("constant", 2, [0.0, 0.0]), ("shared", 0, [])],
)
def test_a_part_is_copied(how: str, parameters: int, rates: list[float]) -> None:
    net = sound(
        f"{{ {OLD} x = Input {{4}} ; f = BS.Network.CloneFunction (old.features, old.h, "
        f'parameters = "{how}") ; h = f (x) ; z = LinearLayer {{2}} (h) ; outputNodes = (z) }}'
    )
    copied = [one for one in net.nodes.values() if one.saved and one.operation != "InputValue"]
    own = [
        one for one in copied if one.operation == "LearnableParameter" and one.name[:4] == "h.h."
    ]
    assert [one.attributes.get("learningRateMultiplier", 1.0) for one in own] == rates
    assert len(own) == parameters
    assert net.nodes["z"].shape == (2,)
    assert net.nodes["h"].operation == "Sigmoid"
    assert "features" not in net.nodes
    described(net)


def test_a_part_with_loops_and_a_normalization() -> None:
    net = sound(
        f"{{ {OLD} y = Input {{4}} ; f = BS.Network.CloneFunction (old.x, {{ a = old.z ; "
        'b = old.r }, parameters = "constant") ; out = f (y) ; first = out.a ; second = out.b }',
        LOOPS,
    )
    assert (net.nodes["first"].shape, net.nodes["second"].shape) == ((2,), (5,))
    assert len(net.loops) == 1
    (norm,) = (one for one in net.nodes.values() if one.operation == "BatchNormalization")
    assert norm.attributes["blendTimeConstant"] == math.inf
    assert all(not one.trainable for one in net.nodes.values())
    assert all(len(one.inputs) == 2 for one in net.nodes.values() if one.operation == "Times")


def test_two_calls_copy_twice_and_shared_parameters_stay_one() -> None:
    text = (
        f"{{ {OLD} x = Input {{4}} ; y = Input {{4}} ; f = BS.Network.CloneFunction (old.features, "
        'old.h, parameters = "HOW") ; a = f (x) ; b = f (y) ; z = a .* b ; outputNodes = (z) }'
    )
    counts = {}
    for how in ("learnable", "shared"):
        nodes = sound(text.replace("HOW", how)).nodes.values()
        counts[how] = sum(one.operation == "LearnableParameter" for one in nodes)
    assert counts == {"learnable": 4, "shared": 2}


def test_links_to_a_node_are_replaced() -> None:
    net = sound(
        f"{{ {OLD} n = BS.Network.Edit (old, BS.Network.Editing.ReplaceLinksToNode (old.h, "
        "Tanh (old.h.inputs[0])), {}) }.n".join("()")
    )
    assert [one.operation for one in net.nodes["z.PlusArgs[0]"].inputs][1] == "Tanh"
    assert "Sigmoid" not in {one.operation for one in net.nodes.values()}
    named = 'BS.Network.Editing.ReplaceLinksToNamedNode ("ce", SquareError (old.labels, old.z))'
    net = sound(f"({{ {OLD} n = BS.Network.Edit (old, {named}, (Softmax (old.z))) }}.n)")
    operations = {one.operation for one in net.nodes.values()}
    assert {"SquareError", "Softmax"} <= operations
    assert "CrossEntropyWithSoftmax" not in operations
    assert "ce" not in net.nodes


def test_the_first_edit_that_gives_another_node_decides() -> None:
    other = "BS.Network.Editing.ReplaceLinksToNamedNode"
    net = sound(
        f"({{ {OLD} a = Tanh (old.features) ; b = Sigmoid (old.features) ; n = "
        "BS.Network.Edit (old, ("
        f'{other} ("h", LinearLayer {{8}} (old.features)) : {other} ("h", b)), {{}}) }}.n)'
    )
    assert net.nodes["z.PlusArgs[0]"].inputs[1].operation == "Plus"


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("x = old.hh", "unknown-member", "the model 'm' has no node 'hh'. Did you mean 'h'?"),
        ("x = BS.Network.Load (3)", "kind", "type 'string' is expected"),
        ("x = BS.Network.Edit (old.z, (n => n), {})", "kind", "type 'network' is expected"),
        ("x = BS.Network.Edit (old, 3, {})", "kind", "type 'function' is expected"),
        ("x = BS.Network.Edit (old, (n => 1), {})", "kind", "type 'ComputationNode' is expected"),
        ("x = BS.Network.Edit (old, (n => n), 3)", "kind", "type 'ComputationNode' is expected"),
        (
            "e (a, b) = BS.Network.Editing.ReplaceLinksToNode (a, b)\n"
            "x = BS.Network.Edit (old, (e (old.z, old.h) : e (old.h, old.z)), {})",
            "edit-circle",
            "the edits replace 'h' in a cycle",
        ),
        ("x = BS.Network.CloneFunction (old.labels, old.z)", "clone", "input 'labels'"),
        ("x = BS.Network.CloneFunction (old.z, {})", "clone", "no output"),
        ("x = BS.Network.CloneFunction (old.z, 3)", "kind", "type 'record' is expected"),
        ("x = BS.Network.CloneFunction (old.x, old.z)", "unknown-member", "no node 'x'"),
        (
            "x = BS.Network.CloneFunction (old.h, old.z, parameters = 'fixed')",
            "clone",
            "'fixed'",
        ),
        (
            "x = BS.Network.CloneFunction (old.h, { a = old.z ; b = old.features }, "
            "parameters = 'shared')",
            "clone",
            "the output 'features' depends on no input",
        ),
        ("f = BS.Network.CloneFunction (old.h, old.z) ; x = f (old.h, old.h)", "arity", "takes 1"),
        ("z = Sigmoid (old.z) ; labels = old.labels", "double-name", "two nodes named 'z'"),
    ],
)
def test_mistakes(text: str, kind: str, sentence: str) -> None:
    found = built(f"{{ {OLD} {text} }}")
    assert [one.kind for one in found.faults] == [kind], found.faults
    assert sentence in found.faults[0].message


def test_what_replaces_a_node_and_is_computed_from_it_goes_round_for_ever() -> None:
    text = (
        "n = BS.Network.Edit (old, BS.Network.Editing.ReplaceLinksToNode (old.h, Tanh (old.h)), {})"
    )
    found = built(f"({{ {OLD} {text} }}.n)")
    assert found.network is not None
    assert [one.kind for one in found.network.troubles] == ["size"]
    (loop,) = found.network.loops
    assert [one.operation for one in loop] == ["Tanh"]


@pytest.mark.parametrize(
    "text",
    [
        'x = BS.Network.Load ("$Dir$/m").z',
        'x = BS.Network.Load ("other").z',
        "x = BS.Network.Edit (old, (n => if $flag$ then n else old.z), {}).z",
        "x = BS.Network.CloneFunction (old.features, old.z, parameters = $how$) (Input {4})",
        'x = BS.Network.CloneFunction (BS.Network.Load ("b").x, old.z) (Input {4})',
    ],
)
def test_what_only_a_run_knows_stays_unknown(text: str) -> None:
    found = built(f"{{ {OLD} y = Sigmoid (x) ; {text} }}")
    assert found.faults == ()
    assert found.network is not None
    assert found.network.nodes["y"].shape is None
    assert not found.network.troubles


@pytest.mark.costly
def test_long_chains_cost_in_proportion() -> None:
    def prepared(layers: int) -> Callable[[], object]:
        chain = "".join(f"h{n + 1:05} = Sigmoid (h{n:05})\n" for n in range(layers))
        base = network(f"{{ h00000 = Input {{4}}\n{chain} }}")
        text = (
            f"{{ {OLD} f = BS.Network.CloneFunction (old.h00000, old.h{layers:05})\n"
            "a = f (f (Input {4}))\n"
            "e = BS.Network.Editing.ReplaceLinksToNode (old.h00000, Input {4})\n"
            "n = BS.Network.Edit (old, e, {})"
            "\n outputNodes = (a) }"
        )

        def evaluated() -> None:
            near = around()._replace(model={"m": base}.get)
            found = evaluate_builder(text.encode(), SOURCE, near)
            assert found.network is not None
            assert found.faults == ()
            assert len(found.network.nodes) > 2 * layers

        return evaluated

    assert_in_proportion(prepared, 500, 4000, slack=5)


@pytest.mark.parametrize(
    "each",
    [
        "BS.Network.Edit (old, (n => n), {})",
        "BS.Network.CloneFunction (old.features, old.ce) (Input {4})",
    ],
)
@pytest.mark.costly
def test_what_is_repeated_without_end_is_given_up(each: str) -> None:
    rows = "rows[i:0..99] = Row (i).count (999)"
    row = "Row (i) = { s[j:0..999] = if IsArray (all[1000 * i + j]) then 1 else 2 ; "
    row += "count (k) = if k == 0 then s[0] else s[k] + count (k - 1) }"
    total = "total (k) = if k == 0 then rows[0] else rows[k] + total (k - 1)"
    text = f"{{ {OLD} all[i:0..99999] = {each} ; {rows} ; {row} ; {total} ; y = total (99) }}"
    found = within(60, lambda: built(text))
    assert [one.kind for one in found.faults] == ["too-much"]
