"""The look at the start of a training, each kind of observation on a network that has it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.initial import initial_values
from netsharp_engine.train import TrainingError, examine, prepare, read_settings
from netsharp_engine.train.examining.start import KINDS
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.lower import build_graph
from netsharp_lsp.netsharp.rules import RULES
from netsharp_lsp.netsharp.rules.start.start import SIGNS
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import BY_HAND, blobs, line
from tests.peers import peer

NUMBERS = {"task": "regression", "learning_rate": 0.05}


def look(table, graph, **flags):
    settings = read_settings({}, {**BY_HAND, "batch_size": 16, "seed": 1, **flags})
    assert not isinstance(settings, list), settings
    return examine(graph, prepare(table, settings), settings)


def kinds(start):
    return [(one.kind, one.layer) for one in start.observations]


def huge():
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 2)) * 1e200
    return Table.from_arrays(x, x[:, 0] * 1e-200, task="regression", dtype="float64")


def contradictory():
    x = np.ones((64, 3))
    return Table.from_arrays(x, np.array(["a", "b", "c", "d"] * 16))


SEEN = {
    "small gradient": lambda: look(blobs(), layered(3, 3, (30,) * 5)),
    "high loss": lambda: look(blobs(), layered(3, 3, (50,), function="linear"), init_diameter=60),
    "saturated": lambda: look(blobs(), layered(3, 3, (20,), function="tanh"), init_diameter=200),
    "not learned": lambda: look(contradictory(), layered(3, 4)),
    "large rate": lambda: look(
        line(), layered(2, 1, last="linear"), **{**NUMBERS, "learning_rate": 50}
    ),
    "small rate": lambda: look(
        line(), layered(2, 1, last="linear"), **{**NUMBERS, "learning_rate": 1e-6}
    ),
    "no number": lambda: look(
        huge(),
        layered(2, 1, function="square", last="linear"),
        normalizer="none",
        dtype="float64",
        **NUMBERS,
    ),
}


@pytest.mark.parametrize("kind", SEEN)
def test_each_kind_is_seen_where_it_is(kind):
    start = SEEN[kind]()
    assert kind in [one.kind for one in start.observations], start


def test_dead_nodes_are_those_that_answer_nothing():
    graph = layered(3, 3, (20,), function="rlinear")
    biases = next(each for each in graph.parameters if each.name == "H1/biases")
    biases.initial = [-9.0] * 12 + [0.5] * 8
    start = look(blobs(), graph)
    assert ("dead", "H1") in kinds(start)
    (seen,) = [one for one in start.observations if one.kind == "dead"]
    assert seen.figures == (12, 20)


def test_a_usual_network_gives_no_finding():
    assert kinds(look(blobs(), layered(3, 3))) == []
    assert kinds(look(blobs(), layered(3, 3), optimizer="adam")) == []
    assert kinds(look(line(), layered(2, 1, last="linear"), **NUMBERS)) == []


def test_the_loss_of_the_best_constant_answer():
    """ln K for K classes of one size, the spread of the label, entropies of sigmoids."""
    start = look(blobs(), layered(3, 3))
    assert start.trivial == pytest.approx(math.log(3))
    assert start.loss == pytest.approx(math.log(3), rel=0.01)
    both = look(blobs(classes=2), layered(3, 1, last="sigmoid"))
    assert both.trivial == pytest.approx(math.log(2))
    each = look(blobs(), layered(3, 3, last="sigmoid"))
    assert each.trivial == pytest.approx(3 * (math.log(3) - 2 / 3 * math.log(2)))
    squares = look(blobs(), layered(3, 3), loss="squared")
    assert squares.trivial == pytest.approx(3 * (1 / 3) * (2 / 3))
    numbers = look(line(), layered(2, 1, last="linear"), **NUMBERS)
    assert numbers.trivial == pytest.approx(np.var(line().targets))
    scaled = look(line(), layered(2, 1, last="linear"), **NUMBERS, scale_label=True)
    assert scaled.trivial == pytest.approx(1)
    by_edges = look(blobs(), layered(3, 3), init="glorot")
    assert kinds(by_edges) == []
    assert by_edges.layers[0].gradient > 10 * start.layers[0].gradient


def test_gradients_are_those_of_pytorch():
    torch = peer("torch")
    settings = read_settings({}, {"seed": 3, "dtype": "float64", "init_diameter": 1})
    data = prepare(blobs(), settings)
    start = examine(layered(3, 3), data, settings)
    names = ("H1/In/weights", "H1/biases", "Out/H1/weights", "Out/biases")
    values = initial_values(layered(3, 3).parameters, 3, 1.0, "float64")
    w, b, v, c = (torch.from_numpy(values[name]).requires_grad_() for name in names)
    rows = torch.from_numpy(data.train.matrix[data.train.index].astype(float))
    codes = torch.from_numpy(data.train.targets[data.train.index].astype(np.int64))
    out = torch.sigmoid(rows @ w.T + b) @ v.T + c
    loss = torch.nn.functional.cross_entropy(out, codes)
    loss.backward()
    assert start.loss == pytest.approx(loss.item(), rel=1e-12)
    norms = {"H1": (w, b), "Out": (v, c)}
    for layer in start.layers:
        expected = math.sqrt(sum(float(one.grad.square().sum()) for one in norms[layer.name]))
        assert layer.gradient == pytest.approx(expected, rel=1e-9)


def test_it_is_the_same_each_time_and_changes_nothing():
    settings = read_settings({}, {"batch_size": 16})
    data = prepare(blobs(), settings)
    before = data.train.matrix.copy()
    first, again = (examine(layered(3, 3), data, settings) for _ in range(2))
    assert first == again
    np.testing.assert_array_equal(data.train.matrix, before)


def test_the_rate_that_is_named_is_stable_and_its_double_is_not():
    stable = look(line(), layered(2, 1, last="linear"), **NUMBERS).stable
    for rate, expected in ((stable, False), (2 * stable, True)):
        flags = {**NUMBERS, "learning_rate": rate}
        found = kinds(look(line(), layered(2, 1, last="linear"), **flags))
        assert (("large rate", "Out") in found) is expected


def test_a_request_to_stop_leaves_out_what_is_left():
    settings = read_settings({}, {"batch_size": 16})
    data = prepare(blobs(), settings)
    start = examine(layered(3, 3), data, settings, should_stop=lambda: True)
    assert start.layers
    assert start.memorised is None
    assert start.stable is None


def test_a_network_of_another_number_of_features_is_refused():
    settings = read_settings({}, {})
    data = prepare(blobs(), settings)
    with pytest.raises(TrainingError, match="has 3 features after encoding"):
        examine(layered(5, 3), data, settings)


def test_every_kind_has_a_rule_with_its_code():
    assert set(SIGNS) == set(KINDS)
    RULES.load()
    for code, severity, _ in SIGNS.values():
        assert RULES.severities[code] == severity
    assert sorted(code for code, _, _ in SIGNS.values()) == list(LANGUAGE.asked_codes)


def test_layers_without_parameters_of_their_own_have_no_gradient():
    """A pool has none, and hides nothing of the layers that do."""
    text = """
    input In [4, 4];
    hidden Maps [8, 4] rlinear from In convolve {
      InputShape = [4, 4]; KernelShape = [3, 3]; Padding = true; MapCount = 2;
    }
    hidden Pool [2, 2, 2] linear from Maps max pool {
      InputShape = [2, 4, 4]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
    }
    output Out [2] softmax from Pool all;
    """
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 16))
    table = Table.from_arrays(rows, np.where(rows[:, 5] > 0, "up", "down"))
    start = look(table, build_graph(text, {}))
    gradients = {one.name: one.gradient for one in start.layers}
    assert math.isnan(gradients["Pool"])
    assert gradients["Maps"] > 0
    assert gradients["Out"] > 0
    assert "small gradient" not in [kind for kind, _ in kinds(start)]
