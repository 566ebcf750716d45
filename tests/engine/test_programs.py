"""Other back ends train every example through the ordinary trainer, and agree with numpy's."""

from __future__ import annotations

import csv
import gzip
import math
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.data import Table
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.model import load_model, save_model
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.numpy_backend.kernels import KERNELS
from netsharp_engine.numpy_backend.kernels.site import Steps
from netsharp_engine.packing import single
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule, drafted
from netsharp_engine.train import load_data, prepare, read_settings, resume, train
from netsharp_lsp.netsharp.lower import build_graph
from tests.engine.plain_program import LoopsDraft
from tests.engine_training.small_networks import layered
from tests.engine_training.tables import blobs, line
from tests.peers import needs_torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS, TOLERANCE = 24, 1e-9
SMALL = {"epochs": 1, "batch_size": 8, "dtype": "float64", "validation": 0, "patience": 0}
NAMES = ("diabetes", "digits", "digits29", "iris", "puri", "siamese", "vision")
RULES = (
    {"optimizer": "sgd", "learning_rate": 0.3, "max_norm": 0.8},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    {"optimizer": "adadelta"},
    {"optimizer": "adam", "weight_decay": 0.1, "loss": "squared"},
    {"optimizer": "sgd", "dropout": 0.4, "clip_norm": 0.05, "learning_rate": 0.3},
    {"clip_value": 0.002, "momentum": 0.5},
)


def autograd():
    from tests.engine.torch_program import AutogradDraft

    return AutogradDraft


def pytorch():
    from netsharp_engine.torch_backend import TorchBackend

    return TorchBackend("cpu")


BACKENDS = pytest.mark.parametrize(
    "backend",
    [
        pytest.param(lambda: LoopsDraft, id="loops"),
        pytest.param(autograd, marks=needs_torch, id="torch"),
        pytest.param(pytorch, marks=needs_torch, id="pytorch"),
    ],
)


def some(path, label, folder):
    """A table with enough rows of another that every class is among them."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    head, *rows = csv.reader(text.splitlines())
    column = head.index(label)
    turn, seen = {}, {}
    for row in rows:
        seen[row[column]] = turn[tuple(row)] = seen.get(row[column], 0) + 1
    few = sorted(rows, key=lambda row: turn[tuple(row)])[:ROWS]
    target = folder / "some.csv"
    with target.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *few])
    return str(target)


def enlarged():
    """Rows of the digits at 29 x 29 pixels, as the example makes them."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from make_tables import enlarge, read_digits
    finally:
        sys.path.remove(str(EXAMPLES))
    pictures, digits = read_digits()
    matrix = enlarge(pictures[:ROWS], 29, 29).reshape(ROWS, -1)
    return Table.from_arrays(matrix, digits[:ROWS].astype(str))


def example(name, folder, rule=None):
    """An example's graph, rows and settings, with its own rule or another."""
    text = (EXAMPLES / name / f"{name}.nn").read_text(encoding="utf-8")
    run = EXAMPLES / name / f"{name}.toml"
    if run.exists():
        tables = tomllib.loads(run.read_text(encoding="utf-8"))
        data = tables.pop("data")
        data["train"] = some(EXAMPLES / name / data["train"], data["label"], folder)
        kept = {key: tables["train"][key] for key in ("task", "init_diameter", "seed")}
        chosen = tables["train"] if rule is None else {**kept, **rule}
        settings = read_settings({"data": data, "train": {**chosen, **SMALL}}, {})
        rows = load_data(settings)
    else:
        rate = {"digits29": 0.2, "puri": 0.02}[name]
        figures = {"learning_rate": rate, "momentum": 0.5, "init_diameter": 0.5, "seed": 1}
        settings = read_settings({}, {**figures, **SMALL})
        rows = prepare(enlarged(), settings)
    return build_graph(text, rows.context()), rows, settings


def outcome(graph, data, settings, backend, **options):
    """All numbers that a run leaves."""
    reported = []
    result = train(graph, data, settings, backend=backend, on_event=reported.append, **options)
    return result, numbers(result, reported)


def numbers(result, reported):
    found = dict(result.model.tensors)
    if result.model.state is not None:
        for vector, values in result.model.state.vectors.items():
            found |= {f"{vector}/{name}": array for name, array in values.items()}
        found["sums"] = np.array([result.model.state.loss_sum, result.model.state.right])
    for event in reported:
        if event["event"] == "epoch":
            found[f"epoch {event['epoch']}"] = np.array(
                [event["loss"], event["rate"], *event["metrics"].values(), event["samples"]]
            )
    for report in result.reports:
        found[report.part] = np.array([report.loss, *report.metrics.values()])
    return found


def agree(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_allclose(
            theirs[name], values, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name
        )


@pytest.mark.costly
# What 'puri' has, the others have, and naive loops over it take half a minute; see tests/wgpu.
@BACKENDS
@pytest.mark.parametrize("name", [name for name in NAMES if name != "puri"])
def test_every_example_is_trained_alike(name, backend, tmp_path):
    graph, data, settings = example(name, tmp_path)
    assert data.train.rows == ROWS
    ours, figures = outcome(graph, data, settings, NumpyDraft)
    theirs, others = outcome(graph, data, settings, backend())
    assert ours.model.state.step == theirs.model.state.step == 3
    agree(figures, others)
    features = np.random.default_rng(1).uniform(0, 1, (5, graph.features))
    agree({"out": ours.model.compute(features)}, {"out": theirs.model.compute(features)})


@pytest.mark.parametrize("module", ["plain_program", "torch_program"])
def test_a_back_end_knows_the_seam_alone(module):
    text = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    named = set(re.findall(r"^from (netsharp\S+) import", text, re.MULTILINE))
    parts = ("analysis", "dropping", "program")
    assert named <= {f"netsharp_engine.{part}" for part in parts}
    assert not re.search(r"^import netsharp", text, re.MULTILINE)


def test_a_compiled_twin_joins_by_the_row_of_its_operation(tmp_path, monkeypatch):
    """The C library's function in the place of numpy's: another `bind`, and nothing else."""
    row, calls = KERNELS["activation"], []
    compiled = np.frompyfunc(math.tanh, 1, 1)

    def bind(site):
        source, out = site.sources[0], site.output
        if site.attributes["function"] != "tanh":
            return row.bind(site)

        def forward():
            calls.append("forward")
            out.value[...] = compiled(source.value)

        def backward():
            calls.append("backward")
            source.gradient[...] = out.gradient * (1 - out.value * out.value)

        return Steps([forward], [] if source.gradient is None else [backward])

    graph, data, settings = example("iris", tmp_path)
    _, ours = outcome(graph, data, settings, NumpyDraft)
    monkeypatch.setitem(KERNELS, "activation", row._replace(bind=bind))
    _, theirs = outcome(graph, data, settings, NumpyDraft)
    assert {*calls} == {"forward", "backward"}
    agree(ours, theirs)


def test_no_example_is_left_out():
    found = {path.parent.name for path in EXAMPLES.glob("*/*.nn")}
    # Every form of these, plain networks of one layer, is trained in tests/public.
    assert found == {*NAMES, "microsoftml"}


@BACKENDS
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", ["vision", "iris"])
def test_every_rule_makes_the_same_steps(name, rule, backend, tmp_path):
    graph, data, settings = example(name, tmp_path, rule)
    _, ours = outcome(graph, data, settings, NumpyDraft)
    _, theirs = outcome(graph, data, settings, backend())
    agree(ours, theirs)


@BACKENDS
def test_weights_of_samples_count_alike(backend):
    weights = np.random.default_rng(2).uniform(0, 2, ROWS)
    weights[8:16] = 0  # a batch without weight, where rows are not shuffled
    table = blobs(ROWS, weights=weights)
    chosen = {"optimizer": "sgd", "epochs": 3, "batch_size": 4, "shuffle": False}
    settings = read_settings({}, {**SMALL, **chosen})
    data = prepare(table, settings)
    graph = layered(3, 3)
    _, ours = outcome(graph, data, settings, NumpyDraft)
    _, theirs = outcome(graph, data, settings, backend())
    agree(ours, theirs)


@BACKENDS
def test_a_run_continues_where_another_back_end_stopped(backend, tmp_path):
    settings = read_settings({}, {**SMALL, "epochs": 3, "optimizer": "adam"})
    data = prepare(blobs(ROWS), settings)
    whole, figures = outcome(layered(3, 3), data, settings, NumpyDraft)
    asked = iter(range(100))
    part = train(
        layered(3, 3), data, settings, backend=backend(), should_stop=lambda: next(asked) == 3
    )
    assert part.status == "interrupted"
    save_model(part.model, str(tmp_path / "part.safetensors"))
    model = load_model(str(tmp_path / "part.safetensors"))
    model.bind(layered(3, 3))
    result = resume(model, data)
    assert result.model.state.samples == whole.model.state.samples
    agree({name: figures[name] for name in model.tensors}, dict(result.model.tensors))


@BACKENDS
@pytest.mark.parametrize("rate", [1e30, 1e200])
def test_a_fault_that_is_reported_late_ends_at_the_same_step(rate, backend):
    """Numpy knows of it at once, the others when they are asked: what follows was nothing."""
    flags = {**SMALL, "task": "regression", "epochs": 30, "learning_rate": rate, "optimizer": "sgd"}
    settings = read_settings({}, flags)
    data = prepare(line(ROWS), settings)
    ends = []
    for each in (NumpyDraft, backend()):
        reported = []
        graph = layered(2, 1, last="linear")
        ended = train(graph, data, settings, backend=each, on_event=reported.append)
        assert ended.status == "diverged"
        figures = {key: reported[-1][key] for key in ("event", "epoch", "step", "samples")}
        ends.append((ended.message, figures, dict(ended.model.tensors)))
    (message, figures, ours), (others, theirs, tensors) = ends
    assert (message, figures) == (others, theirs)
    agree(ours, tensors)


@pytest.mark.parametrize("backend", [NumpyDraft, LoopsDraft])
def test_what_is_not_trained_stays(backend):
    graph = Graph()
    hidden = graph.parameter("H/weights", (4, 3), trained=False)
    shift = graph.parameter("H/biases", (4,), kind="biases")
    node = graph.apply("full", graph.input("In", (3,)), parameters=[hidden])
    node = graph.apply("bias", node, parameters=[shift])
    node = graph.apply("activation", node, function="tanh", name="H")
    weights = graph.parameter("O/weights", (3, 4))
    node = graph.apply("full", node, parameters=[weights])
    graph.set_output(graph.apply("activation", node, function="softmax", name="O"))
    settings = read_settings({}, {**SMALL, "momentum": 0.5, "max_norm": 0.3, "weight_decay": 0.1})
    data = prepare(blobs(ROWS), settings)
    _, before = outcome(graph, data, read_settings({}, {**SMALL, "learning_rate": 1e-300}), backend)
    result, after = outcome(graph, data, settings, backend)
    assert np.array_equal(before["H/weights"], after["H/weights"])
    assert not np.array_equal(before["O/weights"], after["O/weights"])
    assert "delta/H/weights" not in after
    assert resume(result.model, data, read_settings({}, {"epochs": 2})).status == "finished"
    agree(outcome(graph, data, settings, NumpyDraft)[1], after)


def test_a_back_end_names_what_it_cannot_do():
    class Narrow(LoopsDraft):
        operations = LoopsDraft.operations - {"activation"}

    graph = layered(3, 3)
    found = Narrow(Job(graph, 4)).unsupported()
    assert [each.node.name for each in found] == ["H1", "Out"]
    settings = read_settings({}, SMALL)
    with pytest.raises(GraphError, match=r"'activation' is not computed here\.$"):
        train(graph, prepare(blobs(ROWS), settings), settings, backend=Narrow)
    text = "input A [3];\nhidden H [4] from A all;\noutput B [3] softmax from H all;"
    with pytest.raises(GraphError, match=r"not computed here\. See layer 'H', line 2\.$"):
        drafted(Narrow, Job(build_graph(text, {}), 4))


def test_every_node_and_parameter_of_a_specification_says_where_it_is():
    for name in NAMES:
        text = (EXAMPLES / name / f"{name}.nn").read_text(encoding="utf-8")
        known = {"features": 4, "outputs": 3, "hidden_nodes": 5} if "auto" in text else {}
        graph = build_graph(text, known)
        for each in (*graph.nodes, *graph.parameters):
            origin = each.origin
            reported = text.encode()[origin.start : origin.end].decode()
            assert reported.splitlines()[0] in text.splitlines()[origin.line - 1]
            assert f"'{origin.layer}', line {origin.line}" in str(origin)
        bundles = {node.origin.start for node in graph.nodes if node.op in ("full", "filtered")}
        assert len(bundles) == sum(node.op in ("full", "filtered") for node in graph.nodes)


def test_numpy_names_criteria_and_values_that_it_does_not_take():
    two = layered(3, 3).with_criteria("cross entropy", "squared error")
    with pytest.raises(GraphError, match="one loss of the output"):
        drafted(NumpyDraft, Job(two, 4, rule=UpdateRule("sgd", 0.1)))
    program = drafted(NumpyDraft, Job(layered(3, 3), 4)).program()
    values = np.ones((2, 3))
    for given in (Sparse(values, values, values), Packed(values, single(2))):
        with pytest.raises(GraphError, match="dense values alone; those of 'In' are not"):
            program.feed(Batch({"In": given}))


def test_programs_of_several_shapes_share_parameters():
    graph = layered(3, 3)
    large = drafted(NumpyDraft, Job(graph, 16)).program()
    small = drafted(NumpyDraft, Job(graph.with_criteria("cross entropy"), 2)).program(1, large)
    random = np.random.default_rng(3)
    values = {each.name: random.standard_normal(each.shape) for each in graph.parameters}
    large.load(values)
    rows = random.standard_normal((2, 3)).astype("float32")
    for program in (large, small):
        program.feed(Batch({"In": rows}))
        program.forward()
    np.testing.assert_allclose(
        large.read(graph.output), small.read(graph.output), rtol=1e-5, atol=1e-6
    )
