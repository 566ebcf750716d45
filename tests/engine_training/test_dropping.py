"""Dropout: masks that follow from the seed, gradients through them, predictions without any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netsharp_engine.analysis import Analysis
from netsharp_engine.dropping import masks_of
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.initial import initial_values
from netsharp_engine.model import load_model, save_model
from netsharp_engine.numpy_backend import Design, NumpyDraft
from netsharp_engine.numpy_backend.design import NODE_BYTES
from netsharp_engine.program import Batch, Job, UpdateRule, drafted
from netsharp_engine.train import TrainingError, prepare, read_settings, train
from netsharp_engine.train.steps.dropping import draw_of, dropping_graph, layer_shares
from netsharp_lsp.netsharp.lower import build_graph
from tests.engine.plain_program import LoopsDraft
from tests.engine.test_room import taken
from tests.engine_training.small_networks import build, layered
from tests.engine_training.tables import blobs

PICTURES = """
input Picture [1, 6, 6];
hidden Maps [3, 4, 4] rlinear from Picture convolve {
  InputShape = [1, 6, 6]; KernelShape = [1, 3, 3]; MapCount = 3;
}
hidden Pool [3, 2, 2] linear from Maps max pool {
  InputShape = [3, 4, 4]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden Thick [7] tanh from Pool all;
output Out [3] softmax { from Thick all; from Maps all; }
"""
SHARES = {"Picture": 0.2, "Maps": 0.3, "Pool": 0.25, "Thick": 0.5}


def settings_of(**flags):
    found = read_settings(
        {}, {"optimizer": "sgd", "batch_size": 8, "epochs": 4, "dtype": "float64", **flags}
    )
    assert not isinstance(found, list), found
    return found


def checked(graph, shares, loss="cross entropy"):
    return dropping_graph(graph, shares).with_criteria(loss)


def batch_of(graph, rows, seed=0, dtype="float64"):
    """Random rows of a graph with one input, with a draw for layers that drop."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, graph.inputs[0].size)).astype(dtype)
    codes = random.integers(0, graph.output.size, rows)
    return Batch(
        {graph.inputs[0].name: values, graph.targets[0].name: codes}, draw=draw_of(seed, 0, 0)
    )


def test_gradients_with_a_fixed_mask_are_those_of_differences():
    graph = checked(build_graph(PICTURES, {}), SHARES)
    batch = batch_of(graph, 5)
    program = drafted(NumpyDraft, Job(graph, 5, "float64", UpdateRule("sgd", 1.0))).program()
    weights = initial_values(graph.parameters, 3, 1.0, "float64")

    def loss_at(values):
        program.load(values)
        program.feed(batch)
        assert program.step()
        return program.plan.loss

    loss_at(weights)
    assert program.update(UpdateRule("sgd", 1.0))
    moved = program.store()
    for name, values in weights.items():
        flat = values.reshape(-1)
        for place in range(0, flat.size, max(flat.size // 9, 1)):
            kept, ends = flat[place], []
            for change in (1e-6, -1e-6):
                flat[place] = kept + change
                ends.append(loss_at(weights))
            flat[place] = kept
            gradient = kept - moved[name].reshape(-1)[place]
            assert gradient == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-8), name


@pytest.mark.parametrize("rows", [8, 5])
def test_naive_loops_agree_in_every_layout_and_number_of_rows(rows):
    """Convolutions lie in another order than masks do; a last batch has fewer rows."""
    graph = checked(build_graph(PICTURES, {}), SHARES)
    batch, weights = batch_of(graph, rows), initial_values(graph.parameters, 3, 1.0, "float64")
    rule, found = UpdateRule("sgd", 0.5), []
    for backend in (NumpyDraft, LoopsDraft):
        program = drafted(backend, Job(graph, 8, "float64", rule)).program()
        program.load(weights)
        for _ in range(2):
            program.feed(batch)
            assert program.step()
            assert program.update(rule)
        found.append(program.store())
    for name, values in found[0].items():
        np.testing.assert_allclose(found[1][name], values, rtol=1e-10, atol=1e-12, err_msg=name)


def test_the_expectation_of_what_is_kept_is_the_value_itself():
    graph = checked(layered(3, 2, (400,)), {"In": 0.2, "H1": 0.75})
    masks = masks_of(graph.nodes, draw_of(5, 0, 0), 100, "float32")
    for name, share in {"In": 0.2, "H1": 0.75}.items():
        mask = masks[name]
        assert set(np.unique(mask).tolist()) == {0.0, float(np.float32(1 / (1 - share)))}
        # Four standard deviations of the mean of `mask.size` independent numbers.
        deviation = np.sqrt(share / (1 - share) / mask.size)
        assert abs(mask.mean() - 1) < 4 * deviation


def test_masks_follow_from_seed_epoch_and_place_alone():
    graph = checked(layered(3, 2, (9, 4)), {"H1": 0.5, "H2": 0.5})

    def mask(*draw, rows=None):
        found = masks_of(graph.nodes, draw_of(*draw)._replace(rows=rows), 6, "float64")
        return np.concatenate([found["H1"], found["H2"]], axis=1)

    here = mask(1, 2, 7)
    np.testing.assert_array_equal(here, mask(1, 2, 7))
    # A row's mask depends on its number, not on the order of computation.
    np.testing.assert_array_equal(here[::-1], mask(1, 2, 7, rows=np.arange(6)[::-1]))
    for other in ((2, 2, 7), (1, 3, 7), (1, 2, 8)):
        assert not np.array_equal(here, mask(*other))
    assert not np.array_equal(here[:, :4], here[:, 9:])


def test_a_number_holds_for_hidden_layers_with_weights_of_their_own():
    graph = build_graph(PICTURES, {})
    assert layer_shares(graph, 0.5) == {"Maps": 0.5, "Thick": 0.5}
    assert layer_shares(graph, {"Thick": 0.1, "Picture": 0.2}) == {"Picture": 0.2, "Thick": 0.1}
    assert layer_shares(graph, None) == {}
    assert dropping_graph(graph, {}) is graph
    made = dropping_graph(graph, {"Thick": 0.1})
    assert [each.name for each in made.parameters] == [each.name for each in graph.parameters]
    assert [node.op for node in graph.nodes].count("Dropout") == 0
    with pytest.raises(TrainingError, match="'Out', the output layer"):
        layer_shares(graph, {"Out": 0.1})
    with pytest.raises(TrainingError, match=r"layer 'Thik' .* Did you mean 'Thick'\?"):
        layer_shares(graph, {"Thik": 0.1})


def test_a_prediction_drops_nothing(tmp_path):
    """Whatever was dropped in training, a model computes the graph of its specification."""
    settings = settings_of(dropout=0.5, learning_rate=0.3)
    data = prepare(blobs(), settings)
    net = "8|sigmoid|softmax|3"
    model = train(build(net, data.context()), data, settings, specification=net).model
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    loaded = load_model(path, build)
    assert loaded.settings.dropout == 0.5
    rows, given = data.train.matrix, blobs().numbers
    weights = model.tensors
    hidden = 1 / (1 + np.exp(-(rows @ weights["H1/In/weights"].T + weights["H1/biases"])))
    out = hidden @ weights["Out/H1/weights"].T + weights["Out/biases"]
    expected = np.exp(out) / np.exp(out).sum(axis=1, keepdims=True)
    for each in (model, loaded, model):
        np.testing.assert_allclose(each.compute(given), expected, rtol=1e-9)
    plain = train(build(net, data.context()), data, replace(settings, dropout=None)).model
    assert any((plain.tensors[name] != weights[name]).any() for name in weights)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_seed_gives_the_same_bits_and_another_one_others(dtype):
    data = prepare(blobs(), settings_of(dtype=dtype))

    def weights(**flags):
        settings = settings_of(dtype=dtype, dropout={"H1": 0.5, "In": 0.1}, **flags)
        return train(layered(3, 3), data, settings).model.tensors

    first, again, other = weights(seed=4), weights(seed=4), weights(seed=5)
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_dropout_without_a_mask_passes_values_on():
    graph = checked(layered(3, 2), {"H1": 0.5})
    batch = batch_of(graph, 4)
    program = drafted(NumpyDraft, Job(graph, 4, "float64", UpdateRule("sgd", 1.0))).program()
    plain = drafted(
        NumpyDraft, Job(layered(3, 2).with_criteria("cross entropy"), 4, "float64")
    ).program()
    weights = initial_values(graph.parameters, 3, 1.0, "float64")
    for each in (program, plain):
        each.load(weights)
        each.feed(batch._replace(draw=None))
        each.forward()
    np.testing.assert_array_equal(program.read(graph.output), plain.read(plain._graph.output))


def test_a_graph_without_hidden_layers_has_nothing_to_drop():
    graph = Graph()
    weights = graph.parameter("Out/In/weights", (2, 3))
    node = graph.apply("full", graph.input("In", (3,)), parameters=[weights])
    graph.set_output(graph.apply("activation", node, function="softmax", name="Out"))
    assert layer_shares(graph, 0.5) == {}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_estimate_counts_masks(dtype):
    graph = checked(build_graph(PICTURES, {}), SHARES)
    design = Design(Analysis(graph, True), 400, dtype)
    reported, real = design.needs().total(), taken(design)
    assert real <= reported <= 1.2 * real + 3 * NODE_BYTES * len(design.nodes)


def test_dropout_that_draws_for_itself_is_another_back_ends():
    graph = Graph()
    weights = graph.parameter("Out/In/weights", (2, 3))
    node = graph.apply("Dropout", graph.input("In", (3,)))
    node = graph.apply("full", node, parameters=[weights])
    graph.set_output(graph.apply("activation", node, function="softmax", name="Out"))
    with pytest.raises(GraphError, match="numpy does not compute 'Dropout'"):
        drafted(NumpyDraft, Job(graph, 4))
