"""Networks with loops over time and with images say the same in onnxruntime as in the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netsharp_engine.exporting.onnx.exported import OPSETS, OnnxForm, exported
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.geometry import CorneredAxis
from netsharp_engine.graph import Graph
from netsharp_engine.ops.tensors.shaping import DELAYS
from tests.cntk.training.test_random_networks import NETWORKS, Growth
from tests.cntk.training.test_sequences import held
from tests.conftest import SEED
from tests.costs import assert_in_proportion
from tests.exporting.networks import (
    axis,
    border,
    chosen,
    convolved,
    drawn_values,
    gated,
    lstm,
    plain_recurrence,
    recurrent_values,
)
from tests.peers import REASONS

pytest.importorskip("onnxruntime", reason=REASONS["onnxruntime"])
from tests.exporting.runtime import agree

Array = Any


def operators(model: Any) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(NETWORKS))
def test_random_networks(number: int) -> None:
    seed = SEED + number
    print(f"seed {seed}")
    graph = Growth(seed).graph
    end = graph.criteria[0].inputs[0]
    values = drawn_values(graph)
    if any(node.op == "GatherPacked" for node in graph.nodes):
        with pytest.raises(ExportError, match="which steps it chooses depends on the samples"):
            agree(graph, values, [end])
    else:
        agree(graph, values, [end], seed=seed)


@pytest.mark.parametrize(
    ("op", "steps", "initial", "lead"),
    [
        ("PastValue", 1, 1.0, 1),  # the first
        ("FutureValue", 1, 1.0, 1),  # the last
        ("PastValue", 2, 1.0, 2),  # the first two
        ("FutureValue", 3, 1.0, 2),  # the last three
        ("PastValue", 2, 0.0, 2),  # all but the first two
        ("FutureValue", 1, 0.0, 2),  # all but the last
    ],
)
def test_steps_chosen_by_their_position(op: str, steps: int, initial: float, lead: int) -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    hidden = graph.apply("Tanh", graph.apply("Times", held(graph, "W", 4, 3), x))
    flag = border(graph, x, op, steps, initial)
    found = chosen(graph, hidden, flag)
    end = graph.apply("Times", held(graph, "V", 3, 2), found, name="end")
    values = drawn_values(graph) | {"none": np.zeros(1), "one": np.ones(1)}
    values = {
        name: array
        for name, array in values.items()
        if any(name == one.name for one in graph.parameters)
    }
    model = agree(graph, values, [end])
    assert len(model.graph.output[0].type.tensor_type.shape.dim) == lead + 1
    assert not {"PastValue", "FutureValue"} & set(operators(model))


@pytest.mark.parametrize("op", ["PastValue", "FutureValue"])
@pytest.mark.parametrize("peepholes", [False, True])
def test_a_cell_becomes_one_operator(op: str, peepholes: bool) -> None:
    graph = Graph()
    found = lstm(graph, graph.input("x", (4,)), 3, op, peepholes)
    model = agree(graph, drawn_values(graph), [found], dtype="float32", bound=1e-6)
    assert operators(model).count("LSTM") == 1
    assert "Scan" not in operators(model)


def test_a_projected_cell_is_a_scan() -> None:
    graph = Graph()
    found = lstm(graph, graph.input("x", (4,)), 3, "PastValue", False, projected=2)
    assert "Scan" in operators(agree(graph, drawn_values(graph), [found]))


@pytest.mark.parametrize("bound", ["Tanh", "Sigmoid", "RectifiedLinear"])
@pytest.mark.parametrize("ways", [DELAYS[:1], DELAYS[1:], DELAYS])
def test_plain_recurrences(bound: str, ways: tuple[str, ...]) -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    ends = [plain_recurrence(graph, x, 3, op, bound) for op in ways]
    end = ends[0] if len(ends) == 1 else graph.apply("RowStack", *ends, axis=1, name="both")
    model = agree(graph, drawn_values(graph), [end], dtype="float32", bound=2e-6)
    assert operators(model).count("RNN") == len(ways)
    assert "Scan" not in operators(model)


@pytest.mark.parametrize("form", ["apart", "stacked", "products"])
@pytest.mark.parametrize("ways", [DELAYS[:1], DELAYS[1:], DELAYS])
def test_gated_recurrences(form: str, ways: tuple[str, ...]) -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    ends = [gated(graph, x, 3, op, form) for op in ways]
    end = ends[0] if len(ends) == 1 else graph.apply("RowStack", *ends, axis=1, name="both")
    model = agree(graph, recurrent_values(graph), [end], dtype="float32", bound=2e-6)
    assert operators(model).count("GRU") == len(ways)
    assert "Scan" not in operators(model)


def test_what_is_no_recurrence_of_onnx_stays_a_loop() -> None:
    """Its gate is taken from 2, or another node reads a gate."""
    graph = Graph()
    end = gated(graph, graph.input("x", (4,)), 3, "PastValue", "apart")
    values = recurrent_values(graph)
    values["1PastValue"] *= 2
    assert "Scan" in operators(agree(graph, values, [end]))
    gate = next(node for node in graph.nodes if node.op == "Sigmoid")
    values["1PastValue"] /= 2
    assert "Scan" in operators(agree(graph, values, [end, gate]))


def test_both_directions_and_sequences_first() -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    ways = [lstm(graph, x, 3, op, False) for op in ("PastValue", "FutureValue")]
    both = graph.apply("RowStack", *ways, axis=1, name="both")
    for first in (False, True):
        model = agree(
            graph, drawn_values(graph), [both], dtype="float32", bound=1e-6, sequences_first=first
        )
        names = [one.dim_param for one in model.graph.input[0].type.tensor_type.shape.dim][:2]
        assert names == (["batch", "steps"] if first else ["steps", "batch"])


@pytest.mark.drawn
@pytest.mark.parametrize("turned", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("number", range(20))
def test_convolutions(number: int, turned: bool) -> None:
    print(f"seed {SEED + number}")
    graph, node = convolved(np.random.default_rng(SEED + number), turned, False)
    agree(graph, drawn_values(graph), [node], dtype="float32", bound=2e-6)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(20))
def test_convolutions_backwards(number: int) -> None:
    print(f"seed {SEED + number}")
    graph, node = convolved(np.random.default_rng(SEED + number), False, True)
    axes = node.attributes["axes"]
    if any(one.size - one.first - one.covered >= one.stride for one in axes[1:]):
        with pytest.raises(ExportError, match="belong to no kernel"):
            agree(graph, drawn_values(graph), [node])
    else:
        agree(graph, drawn_values(graph), [node], dtype="float32", bound=2e-6)


@pytest.mark.drawn
@pytest.mark.parametrize("pool", ["max", "average"])
@pytest.mark.parametrize("turned", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("number", range(10))
def test_pooling(number: int, turned: bool, pool: str) -> None:
    random = np.random.default_rng(SEED + number)
    print(f"seed {SEED + number}")
    channels = CorneredAxis(3, 1) if random.integers(2) else axis(random, 3)
    axes = (channels, axis(random, 6), axis(random, 7))
    sizes = tuple(one.size for one in axes)
    graph = Graph()
    x = graph.input("x", sizes[::-1] if turned else sizes)
    node = graph.apply("Pooling", x, name="y", axes=axes, pool=pool, channels_last=turned)
    agree(graph, drawn_values(graph), [node], dtype="float32", bound=2e-6)


@pytest.mark.parametrize("spatial", [False, True])
def test_normalization_by_running_statistics(spatial: bool) -> None:
    graph = Graph()
    x, count = graph.input("x", (3, 4, 2)), 3 if spatial else 24
    parts = [held(graph, name, count) for name in ("scale", "bias", "mean", "variance")]
    node = graph.apply(
        "BatchNormalization",
        x,
        *parts,
        parameters=[graph.parameter("y", (1,), trained=False)],
        name="y",
        spatial=spatial,
        normalizationTimeConstant=0.0,
        blendTimeConstant=0.0,
        epsilon=0.01,
    )
    values = {name: np.abs(one) for name, one in drawn_values(graph).items()}
    model = agree(graph, values, [node], dtype="float32", bound=2e-6)
    assert ("BatchNormalization" in operators(model)) == spatial


@pytest.mark.parametrize("op", ["Plus", "Minus", "ElementTimes"])
def test_operands_of_unequal_ranks(op: str) -> None:
    """Samples of fewer axes get theirs after the batch; parameters count for every sample."""
    graph = Graph()
    line, plane = graph.input("line", (3,)), graph.input("plane", (2, 3))
    weights = held(graph, "weights", 2, 1)
    one = graph.apply(op, line, plane, name="one")
    other = graph.apply(op, weights, line, name="other")
    agree(graph, drawn_values(graph), [one, other], dtype="float32", bound=2e-6)


@pytest.mark.parametrize("op", ["Pass", "Dropout"])
def test_what_passes_on_a_tensor_leaves_its_name_to_the_source(op: str) -> None:
    graph = Graph()
    hidden = graph.apply("Tanh", graph.input("x", (3,)), name="h")
    passed = graph.apply(op, hidden, name="d")
    both = graph.apply("Plus", hidden, passed, name="z")
    model = agree(graph, {}, [both, passed, hidden])
    assert [one.name for one in model.graph.output] == ["z", "d", "h"]


@pytest.mark.parametrize("opset", [OPSETS[0], 16, 19, OPSETS[-1]])
def test_every_set_of_operators_that_is_offered(opset: int) -> None:
    graph = Graph()
    cell = lstm(graph, graph.input("x", (4,)), 3, "PastValue", peepholes=True)
    agree(graph, drawn_values(graph), [cell], dtype="float32", bound=1e-6, opset=opset)
    growths = (Growth(SEED + number).graph for number in range(12))
    graphs = [one for one in growths if not any(node.op == "GatherPacked" for node in one.nodes)]
    assert len(graphs) > 3
    for one in graphs:
        agree(one, drawn_values(one), [one.criteria[0].inputs[0]], opset=opset)
    image, node = convolved(np.random.default_rng(SEED), False, False)
    agree(image, drawn_values(image), [node], dtype="float32", bound=2e-6, opset=opset)


def test_the_cost_is_in_proportion_to_the_loops() -> None:
    def prepared(count: int) -> Callable[[], object]:
        graph = Graph()
        node = graph.input("x", (2,))
        for _ in range(count):
            past = graph.delay("PastValue", (2,), timeStep=1, initial=0.0)
            node = graph.apply("Tanh", graph.apply("Plus", node, past))
            graph.connect(past, node)
        portable = Portable(graph, {}, "float32", (node,))
        return lambda: exported(portable, OnnxForm())

    assert_in_proportion(prepared, 150, 1500)
