"""Networks with loops over time and with images say the same in PyTorch as in the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.torch.exported import TorchForm, exported
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

pytest.importorskip("torch", reason=REASONS["torch"])
from tests.exporting.modules import agree, formatted, ruff


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
        module = agree(graph, values, [end], seed=seed, sequences_first=bool(number % 2))
        assert formatted(module.text) == module.text


@pytest.mark.parametrize(
    ("op", "steps", "initial", "lead"),
    [
        ("PastValue", 1, 1.0, 1),  # the first
        ("FutureValue", 1, 1.0, 1),  # the last
        ("FutureValue", 3, 1.0, 2),  # the last three
        ("PastValue", 2, 0.0, 2),  # all but the first two
    ],
)
def test_steps_chosen_by_their_position(op: str, steps: int, initial: float, lead: int) -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    hidden = graph.apply("Tanh", graph.apply("Times", held(graph, "W", 4, 3), x))
    found = chosen(graph, hidden, border(graph, x, op, steps, initial))
    end = graph.apply("Times", held(graph, "V", 3, 2), found, name="end")
    values = drawn_values(graph) | {"none": np.zeros(1), "one": np.ones(1)}
    known = {one.name for one in graph.parameters}
    module = agree(graph, {name: one for name, one in values.items() if name in known}, [end])
    assert module.outputs[0].lead == lead


@pytest.mark.parametrize("op", ["PastValue", "FutureValue"])
@pytest.mark.parametrize(("peepholes", "projected"), [(False, 0), (True, 0), (False, 2)])
def test_a_cell_becomes_a_layer_where_pytorch_has_it(
    op: str, peepholes: bool, projected: int
) -> None:
    graph = Graph()
    found = lstm(graph, graph.input("x", (4,)), 3, op, peepholes, projected)
    module = agree(graph, drawn_values(graph), [found], dtype="float32", bound=1e-6)
    assert ("nn.LSTM(" in module.text) == (not peepholes and not projected)


@pytest.mark.parametrize("bound", ["Tanh", "RectifiedLinear", "Sigmoid"])
@pytest.mark.parametrize("op", DELAYS)
def test_plain_recurrences(bound: str, op: str) -> None:
    graph = Graph()
    end = plain_recurrence(graph, graph.input("x", (4,)), 3, op, bound)
    module = agree(graph, drawn_values(graph), [end])
    assert ("nn.RNN(" in module.text) == (bound != "Sigmoid")


@pytest.mark.parametrize("form", ["apart", "stacked", "products"])
@pytest.mark.parametrize("op", DELAYS)
def test_gated_recurrences(form: str, op: str) -> None:
    """PyTorch's gate is after the product: with the other form a loop is written."""
    graph = Graph()
    end = gated(graph, graph.input("x", (4,)), 3, op, form)
    module = agree(graph, recurrent_values(graph), [end])
    assert ("nn.GRU(" in module.text) == (form == "products")
    assert formatted(module.text) == module.text


@pytest.mark.drawn
@pytest.mark.parametrize("turned", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("number", range(20))
def test_convolutions(number: int, turned: bool) -> None:
    print(f"seed {SEED + number}")
    graph, node = convolved(np.random.default_rng(SEED + number), turned, False)
    module = agree(graph, drawn_values(graph), [node])
    assert formatted(module.text) == module.text


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(20))
def test_convolutions_backwards(number: int) -> None:
    print(f"seed {SEED + number}")
    graph, node = convolved(np.random.default_rng(SEED + number), False, True)
    agree(graph, drawn_values(graph), [node])


@pytest.mark.drawn
@pytest.mark.parametrize("pool", ["max", "average"])
@pytest.mark.parametrize("turned", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("number", range(10))
def test_pooling(number: int, turned: bool, pool: str) -> None:
    """Windows that reach over the end of an image are those of pooling with a ceiling."""
    random = np.random.default_rng(SEED + number)
    print(f"seed {SEED + number}")
    channels = CorneredAxis(3, 1) if random.integers(2) else axis(random, 3)
    axes = (channels, axis(random, 6), axis(random, 7))
    sizes = tuple(one.size for one in axes)
    graph = Graph()
    x = graph.input("x", sizes[::-1] if turned else sizes)
    node = graph.apply("Pooling", x, name="y", axes=axes, pool=pool, channels_last=turned)
    agree(graph, drawn_values(graph), [node])


def test_a_convolution_and_its_bias_are_one_layer() -> None:
    graph = Graph()
    x = graph.input("x", (3, 8, 8))
    # Padding of CNTK with a stride of 2: one cell before, none behind.
    axes = (CorneredAxis(3, 3), *(CorneredAxis(8, 3, 2, lower=1) for _ in range(2)))
    weights = held(graph, "conv/W", 4 * 27)
    attributes: dict[str, Any] = {"maps": (4, 1, 1), "sharing": (True,) * 3}
    node = graph.apply(
        "Convolution", weights, x, axes=axes, transpose=False, channels_last=False, **attributes
    )
    node = graph.apply("Plus", node, held(graph, "conv/b", 4, 1, 1), name="y")
    module = agree(graph, drawn_values(graph), [node])
    assert "self.conv = nn.Conv2d(3, 4, (3, 3), stride=(2, 2), padding=(1, 1))" in module.text
    assert sorted(module.state) == ["conv.bias", "conv.weight"]


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 2), (3, 2, 2, 2), (2, 2, 1, 2, 2)])
@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("steps", [False, True])
def test_normalization_by_running_statistics(
    shape: tuple[int, ...], spatial: bool, steps: bool
) -> None:
    graph = Graph()
    x = graph.input("x", shape)
    count = shape[0] if spatial else int(np.prod(shape))
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
    if steps:
        past = graph.delay("PastValue", shape, timeStep=1, initial=0.5)
        graph.connect(past, node)
        node = past
    values = {name: np.abs(one) for name, one in drawn_values(graph).items()}
    module = agree(graph, values, [node])
    assert "nn.BatchNorm" in module.text


def test_what_nothing_needs_is_left_out() -> None:
    graph = Graph()
    x = graph.input("x", (4,))
    graph.apply("Times", held(graph, "unused", 4, 2), x, name="unused")
    node = graph.apply("Times", held(graph, "W", 4, 3), x, name="y")
    module = agree(graph, drawn_values(graph), [node])
    assert list(module.state) == ["y.weight"]


def test_weights_that_are_shared_are_one_layer() -> None:
    graph = Graph()
    weights = held(graph, "W", 4, 4)
    node = graph.input("x", (4,))
    for number in range(3):
        node = graph.apply("Tanh", graph.apply("Times", weights, node, name=f"t{number}"))
    module = agree(graph, drawn_values(graph), [node])
    assert len(module.state) == 1


def test_several_outputs_and_a_constant_one() -> None:
    graph = Graph()
    x = graph.input("x", (2,))
    fixed = held(graph, "fixed", 2)
    ends = [graph.apply("Plus", x, fixed, name="sum"), x, fixed]
    module = agree(graph, drawn_values(graph), ends)
    assert "-> tuple[Tensor, Tensor, Tensor]:" in module.text
    assert formatted(module.text) == module.text


HOSTILE = [
    '"""\nimport os\nos.system("touch owned")\n"""',
    "x'); __import__('os').system('id') #",
    "\\",
    "a\rb\x00\x0c\u2028import os",
    "class",
    "self",
    "torch",
    "F",
    "forward",
    "__init__",
    "load_state_dict",
    "training",
    "type: ignore",
    "fmt: off",
    "# coding: utf-7",
    "x" * 100_000,
    "9",
    "",
    "\u540d\u524d",
    "a.b" * 2_000,
    "{0}",
    "%s",
]


def test_hostile_names_are_names_and_nothing_else() -> None:
    graph = Graph()
    node = graph.input(HOSTILE[0], (3,))
    for number, name in enumerate(HOSTILE):
        weights = held(graph, f"{name}/{number}", 3, 3)
        node = graph.apply("Times", weights, node, name=name)
        past = graph.delay("PastValue", (3,), name=name, timeStep=2, initial=0.5)
        node = graph.apply("Tanh", graph.apply("Plus", node, past, name=name), name=name)
        graph.connect(past, node)
    module = agree(graph, drawn_values(graph), [node])
    assert formatted(module.text) == module.text
    ruff("check", "--select", "E4,E7,E9,F,B", "-", text=module.text)
    # What was said in quotes is said in a docstring, where no quote is left of it.
    assert 'system("' not in module.text
    assert "\\" not in module.text


def test_names_of_modules_are_known() -> None:
    from torch import nn

    from netsharp_engine.exporting.torch.naming import MODULE_ATTRIBUTES

    public = {name for name in dir(nn.Module()) if not name.startswith("_")}
    assert public <= MODULE_ATTRIBUTES


def test_the_cost_is_in_proportion_to_the_loops() -> None:
    def prepared(count: int) -> Any:
        graph = Graph()
        node = graph.input("x", (2,))
        for _ in range(count):
            past = graph.delay("PastValue", (2,), timeStep=1, initial=0.0)
            node = graph.apply("Tanh", graph.apply("Plus", node, past))
            graph.connect(past, node)
        portable = Portable(graph, {}, "float32", (node,))
        return lambda: exported(portable, TorchForm())

    assert_in_proportion(prepared, 150, 1500)


def test_choices_of_steps_stay_with_their_steps() -> None:
    """Classes, look-ups, largest elements and pads of sequences, each step from its own values."""
    graph = Graph()
    end = plain_recurrence(graph, graph.input("x", (4,)), 4, "PastValue", "Sigmoid")
    rows = graph.apply("Reshape", end, shape=(4, 1), name="rows")
    places = graph.apply("TopK", end, count=2, places=True, name="places")
    table = graph.apply("Reshape", held(graph, "table", 4, 3), shape=(4, 3), name="known")
    few = graph.apply("Reshape", end, shape=(2, 2), name="few")
    attributes = {"head": (1, 0), "foot": (1, 2), "value": -0.5}
    outputs = [
        graph.apply("TopK", end, count=3, places=False, name="largest"),
        graph.apply("Gather", places, rows, name="own"),
        graph.apply("Gather", places, table, name="shared"),
        graph.apply("OneHot", places, classes=4, axis=1, name="marks"),
        *(graph.apply("Pad", few, mode=mode, name=f"p{mode}", **attributes) for mode in (0, 2)),
        graph.apply("EyeLike", few, name="eye"),
        graph.apply("ConstantOp", few, value=1.5, name="filled"),
        graph.apply("StraightThrough", graph.apply("Minus", few, few), name="signs"),
        graph.apply("Pow", few, few, name="powers"),
    ]
    agree(graph, drawn_values(graph), outputs)
