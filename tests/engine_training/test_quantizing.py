"""Training with transfer tables in the loop: what they are, what passes through, what is kept."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from netsharp_compile.training import training_table
from netsharp_engine.activations import ACTIVATIONS
from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.initial import initial_values
from netsharp_engine.model import ModelError, load_model, save_model
from netsharp_engine.numpy_backend import Design, NumpyDraft
from netsharp_engine.numpy_backend.design import NODE_BYTES
from netsharp_engine.numpy_backend.kernels.transfers import TRACKED
from netsharp_engine.program import Batch, Job, UpdateRule, drafted
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.train import TrainingError, prepare, read_settings, train, train_further
from netsharp_engine.train.settings.values import codes_of
from netsharp_engine.train.steps.quantizing import quantized_graph
from netsharp_lsp.netsharp.lower import build_graph
from tests.engine.test_room import taken
from tests.engine_training.small_networks import build, layered
from tests.engine_training.tables import blobs
from tests.engine_training.test_dropping import PICTURES

FUNCTIONS = sorted(set(ACTIVATIONS) - {"softmax"})
NET = "8,5|rlinear|softmax|3"


def settings_of(**flags):
    found = read_settings({}, {"batch_size": 16, "epochs": 4, "quantize": "uint4", **flags})
    assert not isinstance(found, list), found
    return found


def trained(**flags):
    settings = settings_of(**flags)
    data = prepare(blobs(), settings)
    graph = build(NET, data.context())
    return train(graph, data, settings, specification=NET, tables=training_table)


def program_of(graph, dtype="float64", rows=6):
    return drafted(NumpyDraft, Job(graph, rows, dtype, UpdateRule("sgd", 1.0))).program()


def fed(program, graph, values):
    codes = np.arange(len(values)) % graph.output.size
    program.feed(Batch({graph.inputs[0].name: values, graph.targets[0].name: codes}))


def with_tables(graph, values, operands, range):
    """The parameters with a table of this range for each transfer."""
    made = dict(values)
    for node in graph.nodes:
        if node.op == "transfer":
            seen, table = node.parameters
            made[seen.name] = np.array(range)
            made[table.name] = training_table(node.attributes["function"], operands, range)
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_a_table_it_is_the_activation_to_the_last_bit(function, dtype):
    """Until the first epoch has ended nothing is quantised."""
    plain = layered(3, 2, (7,), function=function)
    graphs = [
        plain.with_criteria("cross entropy"),
        quantized_graph(plain, "uint8").with_criteria("cross entropy"),
    ]
    random, found = np.random.default_rng(1), []
    rows = random.normal(size=(5, 3)).astype(dtype)
    for graph in graphs:
        program = program_of(graph, dtype)
        program.load(initial_values(graph.parameters, 3, 1.0, dtype))
        fed(program, graph, rows)
        assert program.step()
        assert program.update(UpdateRule("sgd", 1.0))
        found.append((program.plan.loss, program.store()))
    assert found[0][0] == found[1][0]
    for name, values in found[0][1].items():
        np.testing.assert_array_equal(found[1][1][name], values)


@pytest.mark.parametrize("operands", ["uint4", "int8", "symmetric5"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_those_of_the_nearest_code_and_slopes_those_of_the_function(function, operands):
    """Compared with a search for the nearest step, and with differences of the plain function."""
    plain = layered(1, 1, (9,), function=function, last="linear")
    graph = quantized_graph(plain, operands).with_criteria("squared error")
    weights = with_tables(
        graph, initial_values(graph.parameters, 5, 3.0, "float64"), operands, (-1.5, 2)
    )
    weights["H1/biases"] = np.linspace(-2.5, 2.6, 9)
    program = program_of(graph)
    program.load(weights)
    row = np.array([[0.37]])
    program.feed(Batch({"In": row, graph.targets[0].name: np.array([[0.2]])}))
    assert program.step()
    node = next(node for node in graph.nodes if node.op == "transfer")
    step, lowest, *values = weights[node.parameters[1].name]
    assert len(values) == codes_of(operands)
    steps = (lowest + np.arange(len(values))) * step
    sums = weights["H1/In/weights"] @ row[0] + weights["H1/biases"]
    nearest = np.abs(sums[:, None] - steps).argmin(axis=1)
    np.testing.assert_allclose(program.read(node)[0], np.array(values)[nearest], rtol=1e-12)
    before = program.store()
    assert program.update(UpdateRule("sgd", 1.0))
    moved = before["H1/biases"] - program.store()["H1/biases"]
    out = 2 * (program.read(graph.output)[0] - 0.2) * before["Out/H1/weights"][0]
    within = (sums >= steps[0] - step / 2) & (sums <= steps[-1] + step / 2)
    # Shared tables of bounded functions cover all sums at which these move.
    assert within.any()
    assert not within.all() or function in ("sigmoid", "tanh")
    slopes = np.array([slope_of(function, one) for one in sums])
    np.testing.assert_allclose(moved, out * slopes * within, rtol=1e-6, atol=1e-9)


def slope_of(function, at):
    """The slope of the plain function by central differences of a graph without tables."""
    graph = Graph()
    node = graph.apply("activation", graph.input("In", [1]), function=function, name="f")
    graph.set_output(node)
    program = drafted(NumpyDraft, Job(graph, 2, "float64")).program()
    program.feed(Batch({"In": np.array([[at - 1e-6], [at + 1e-6]])}))
    program.forward()
    low, high = program.read(node)[:, 0]
    return (high - low) / 2e-6


def test_what_is_no_number_stays_so():
    graph = quantized_graph(layered(1, 1, (3,), last="linear"), "uint8")
    program = drafted(NumpyDraft, Job(graph, 2, "float64")).program()
    weights = with_tables(
        graph, initial_values(graph.parameters, 5, 3.0, "float64"), "uint8", (-1, 1)
    )
    program.load(weights)
    program.feed(Batch({"In": np.array([[np.nan], [np.inf]])}))
    program.forward()
    assert np.isnan(program.read(graph.output)[0]).all()
    assert np.isfinite(program.read(graph.output)[1]).all()


def test_the_range_follows_the_sums_of_batches():
    graph = quantized_graph(layered(1, 1, (2,), last="linear"), "uint8").with_criteria(
        "squared error"
    )
    program = program_of(graph, rows=4)
    weights = initial_values(graph.parameters, 5, 0.0, "float64")
    weights["H1/In/weights"][:] = 1
    program.load(weights)
    expected = None
    for low, high in ((-1, 3), (-5, 1), (0, 0.5)):
        # The last batch is not full: what fills it counts for nothing of its own.
        program.feed(
            Batch({"In": np.array([[low], [high]], float), graph.targets[0].name: np.zeros(2)})
        )
        assert program.step()
        found = np.array([low, high], float)
        expected = found if expected is None else expected + TRACKED * (found - expected)
        np.testing.assert_allclose(program.store()["H1/range"], expected, rtol=1e-12)
    program.forward()
    np.testing.assert_allclose(program.store()["H1/range"], expected + TRACKED * (found - expected))


@pytest.mark.parametrize("operands", ["uint4", "int8", "symmetric6"])
def test_a_model_holds_the_tables_of_its_ranges(tmp_path, operands):
    model = trained(quantize=operands).model
    for layer in ("H1", "H2"):
        low, high = model.tensors[f"{layer}/range"].tolist()
        assert low < high
        made = training_table("rlinear", operands, (low, high)).astype(np.float32)
        np.testing.assert_array_equal(model.tensors[f"{layer}/table"], made)
    path = str(tmp_path / "m.safetensors")
    save_model(model, path)
    rows = blobs().numbers
    answers = model.compute(rows)
    for other in (load_model(path, build), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.compute(rows), answers)
    floating = replace(model, settings=replace(model.settings, quantize=None))
    with pytest.raises(ModelError, match="H1/range"):
        floating.bind(build(NET, model.context))


def test_values_of_a_trained_layer_are_few():
    """Rows of four bits: at most 16 values of each hidden layer reach the next one."""
    model = trained().model
    node = next(node for node in model.graph.nodes if node.name == "H2")
    program = drafted(NumpyDraft, Job(model.graph, 300)).program()
    program.load(model.tensors)
    rows = blobs().numbers[:300].astype(np.float32)
    model.normalizer.apply(rows)
    program.feed(Batch({"In": rows}))
    program.forward()
    values = np.unique(program.read(node))
    assert 3 < len(values) <= 16
    assert set(values.tolist()) <= set(model.tensors["H2/table"][2:].tolist())


def test_more_rows_train_a_model_on_with_its_tables():
    result = trained()
    more = prepare(blobs(seed=3), result.model.settings, fitted=result.model)
    further = train_further(result.model, more, tables=training_table).model
    assert (further.tensors["H1/range"] != result.model.tensors["H1/range"]).all()
    with pytest.raises(TrainingError, match="needs what makes transfer tables"):
        train_further(result.model, more)


def test_layers_that_only_pool_have_no_table_and_layouts_may_be_any():
    graph = quantized_graph(build_graph(PICTURES, {}), "uint4")
    named = {
        node.name: node.op for node in graph.nodes if node.name in ("Maps", "Pool", "Thick", "Out")
    }
    assert named == {
        "Maps": "transfer",
        "Pool": "activation",
        "Thick": "transfer",
        "Out": "activation",
    }
    assert quantized_graph(graph, "uint4") is graph
    program = drafted(NumpyDraft, Job(graph, 4, "float64")).program()
    weights = with_tables(
        graph, initial_values(graph.parameters, 5, 1.0, "float64"), "uint4", (-1, 1)
    )
    program.load(weights)
    program.feed(Batch({"Picture": np.random.default_rng(1).normal(size=(4, 36))}))
    program.forward()
    maps = next(node for node in graph.nodes if node.name == "Maps")
    assert set(np.unique(program.read(maps))) <= set(weights["Maps/table"][2:])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_estimate_counts_what_tables_take(dtype):
    graph = quantized_graph(build_graph(PICTURES, {}), "uint12").with_criteria("cross entropy")
    design = Design(Analysis(graph, True), 400, dtype)
    reported, real = design.needs().total(), taken(design)
    assert real <= reported <= 1.2 * real + 3 * NODE_BYTES * len(design.nodes)


def test_other_back_ends_refuse_it_by_name():
    graph = quantized_graph(layered(3, 2), "uint8")
    found = TensorDraft(Job(graph, 4)).unsupported()
    (refused,) = (one for one in found if one.node.op == "transfer")
    assert refused.node.name == "H1"
    assert "'transfer'" in refused.reason


def test_what_cannot_be_trained_so():
    with pytest.raises(TrainingError, match="the network has none"):
        quantized_graph(layered(3, 2, ()), "uint8")
    for wrong in ("uint3", "uint13", "8", "int", "bits", 8):
        found = read_settings({"train": {"quantize": wrong}})
        assert isinstance(found, list)
        assert "codes of 4 to 12 bits" in found[0]
    for host in ("studio", "rx", "tlc"):
        assert isinstance(read_settings({}, {"host": host, "quantize": "uint8"}), list)
    for given, meant in (("true", "uint8"), (True, "uint8"), (False, None), ("UINT6", "uint6")):
        settings = read_settings({"train": {"quantize": given}})
        assert not isinstance(settings, list)
        assert settings.quantize == meant


def test_threads_do_not_share_the_rows_of_a_step():
    """The range that is tracked is that of all of them."""
    with pytest.raises(GraphError, match=r"'H1' looks at all rows of a step at once"):
        trained(threads=2)
    assert trained(threads="auto", epochs=1).model.settings.shards == 1


def test_a_step_with_tables_allocates_no_array():
    """The smallest array of the network, one number per sample, would be 16,384 bytes."""
    rows = 2048
    graph = quantized_graph(layered(3, 2, (40,), function="tanh"), "uint8").with_criteria(
        "cross entropy"
    )
    program = program_of(graph, rows=rows)
    weights = initial_values(graph.parameters, 3, 1.0, "float64")
    program.load(with_tables(graph, weights, "uint8", (-1, 1)))
    values = np.random.default_rng(1).normal(size=(rows, 3))
    usual = np.setbufsize(16)
    try:
        fed(program, graph, values)
        assert program.step()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        assert program.step()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        np.setbufsize(usual)
    assert peak < rows * 8
