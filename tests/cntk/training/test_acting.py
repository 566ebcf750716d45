"""Dropout and batch normalisation: draws, statistics and gradients, and what a program keeps."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from netsharp_engine.cntk.descent.schedules import Noise
from netsharp_engine.cntk.stored.model_file import read_model, written_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.tensor_backend.kernels.acting import Acting, Draws, Phase
from tests.cntk.training.experiments import made, run
from tests.conftest import SEED
from tests.peers import peer

Array = npt.NDArray[Any]


def dropping(*sizes: int) -> tuple[Graph, list[Node]]:
    """A graph that adds up dropped inputs, the last one first in the order of evaluation."""
    graph = Graph()
    nodes = [graph.apply("Dropout", graph.input(f"x{n}", (s,))) for n, s in enumerate(sizes)]
    one = nodes[-1]
    for other in nodes[-2::-1]:
        one = graph.apply("Plus", one, other)
    graph.criteria = [graph.apply("SumElements", one, name="sum")]
    return graph, nodes


def test_the_worked_mask() -> None:
    graph, (node,) = dropping(12)
    acting = Acting(graph, {}, training=True)
    acting.begin(Noise((0.0, 0.5)).phase(1, "float32"))
    ones = np.ones((1, 12), np.float32)
    kernel = acting.kernels[node]
    value = kernel.forward(node, [ones])
    assert value.tolist() == [[0, 0, 2, 0, 2, 0, 0, 2, 2, 2, 0, 2]]
    (back,) = kernel.backward
    assert back is not None
    assert back(node, [ones], value, 3 * ones).tolist() == (3 * value).tolist()
    assert not np.array_equal(kernel.forward(node, [ones]), value)  # it runs on
    acting.begin(Noise((0.0, 0.5)).phase(1, "float32"))
    assert np.array_equal(kernel.forward(node, [ones]), value)


def test_seeds_count_epochs_and_nodes_in_the_order_of_evaluation() -> None:
    graph, nodes = dropping(40, 40, 40)
    acting = Acting(graph, {}, training=True)
    acting.begin(Noise((0.5,)).phase(2, "float32"))
    ones = np.ones((1, 40), np.float32)
    found = [acting.kernels[node].forward(node, [ones]) for node in nodes]
    for node, seed in zip((2, 1, 0), (6, 7, 8), strict=True):
        alone, (one,) = dropping(40)
        other = Acting(alone, {}, training=True)
        other.begin(Noise((0.5,)).phase(seed, "float32"))
        assert np.array_equal(other.kernels[one].forward(one, [ones]), found[node]), node


@pytest.mark.parametrize(("training", "rate"), [(False, 0.5), (True, 0.0)])
def test_nothing_is_dropped(training: bool, rate: float) -> None:
    graph, (node,) = dropping(4)
    acting = Acting(graph, {}, training=training)
    acting.begin(Noise((rate,)).phase(0, "float64"))
    values = np.arange(8.0).reshape(2, 4)
    assert acting.kernels[node].forward(node, [values]) is values


def test_constants_change_nodes_where_they_change() -> None:
    phases = [
        Noise((0.0,), (0.0, 5.0, 5.0, 0.0), (math.inf,)).phase(n, "float32") for n in range(5)
    ]
    assert [one.normalization for one in phases] == [None, 5.0, 5.0, 0.0, 0.0]
    assert [one.blend for one in phases] == [math.inf] * 5


class Normalizing:
    """A batch normalisation of its own, with what it keeps."""

    def __init__(self, shape: tuple[int, ...], spatial: bool, *, training: bool = True) -> None:
        graph = Graph()
        channels = shape[0] if spatial else math.prod(shape)
        self.values: dict[str, Array] = {"count": np.zeros(1)}
        sources = [graph.input("x", shape)]
        sources += [graph.input(name, (1, channels)) for name in ("scale", "bias")]
        for name in ("mean", "variance"):
            held = graph.parameter(name, (1, channels), trained=False)
            sources.append(graph.apply("LearnableParameter", parameters=[held], name=name))
            self.values[name] = np.full((1, channels), 0.5)
        attributes: dict[str, Any] = {"spatial": spatial, "epsilon": 1e-3}
        attributes |= {"normalizationTimeConstant": 7.0, "blendTimeConstant": 0.0}
        counter = graph.parameter("count", (1,), trained=False)
        self.node = graph.apply(
            "BatchNormalization", *sources, parameters=[counter], name="y", **attributes
        )
        self.acting = Acting(graph, self.values, training)
        self.kernel = self.acting.kernels[self.node]
        self.channels, self.spatial = channels, spatial

    def sources(self, *given: Array) -> list[Array]:
        return [*given, self.values["mean"][None], self.values["variance"][None]]

    def expected(self, x: Array, norm: float, blend: float) -> tuple[Array, Array, Array]:
        """Normalised values and both running statistics, channel by channel."""
        columns = x.reshape(len(x), self.channels, -1)
        found = np.empty_like(columns)
        seen = float(self.values["count"][0])
        mean, variance = (self.values[name].ravel().copy() for name in ("mean", "variance"))
        e = 1.0 if seen == 0 or norm == 0 else 1 - math.exp(-len(x) / norm)
        e = len(x) / (len(x) + seen) if seen and norm < 0 else e
        b = 0.0 if seen == 0 or blend == 0 else blend / (blend + len(x))
        b = 1.0 if seen and math.isinf(blend) else b
        for channel in range(self.channels):
            own = columns[:, channel]
            mean[channel] = e * own.mean() + (1 - e) * mean[channel]
            variance[channel] = e * own.var(ddof=1) + (1 - e) * variance[channel]
            inverse = (1 - b) / math.sqrt(own.var() + 1e-3)
            inverse += b / math.sqrt(variance[channel] + 1e-3)
            found[:, channel] = (own - (1 - b) * own.mean() - b * mean[channel]) * inverse
        return found.reshape(x.shape), mean, variance


@pytest.mark.parametrize("blend", [0.0, 4.0, math.inf])
@pytest.mark.parametrize("norm", [0.0, 7.0, -1.0, math.inf])
@pytest.mark.parametrize(("shape", "spatial"), [((3, 2, 4), True), ((5,), False), ((2, 2), False)])
def test_statistics(shape: tuple[int, ...], spatial: bool, norm: float, blend: float) -> None:
    random = np.random.default_rng(SEED)
    one = Normalizing(shape, spatial)
    one.acting.begin(Phase(normalization=norm, blend=blend))
    scale, bias = random.normal(size=(2, 1, 1, one.channels))
    seen = 0
    for samples in (4, 6, 3):
        x = random.normal(size=(samples, *shape)) * 3 + 1
        # An infinite constant moves nothing once samples were seen.
        expected = one.expected(x, 1e300 if math.isinf(norm) else norm, blend)
        found = one.kernel.forward(one.node, one.sources(x, scale, bias))
        form = (1, one.channels, *((1,) * (len(shape) - 1))) if spatial else (1, *shape)
        np.testing.assert_allclose(
            found, expected[0] * scale.reshape(form) + bias.reshape(form), rtol=1e-10, atol=1e-12
        )
        np.testing.assert_allclose(one.values["mean"].ravel(), expected[1], rtol=1e-12)
        np.testing.assert_allclose(one.values["variance"].ravel(), expected[2], rtol=1e-12)
        frozen = seen and math.isinf(norm) and math.isinf(blend)
        seen += 0 if frozen else samples
        assert one.values["count"] == [seen]


def test_inference_takes_running_values_and_changes_nothing() -> None:
    one = Normalizing((3,), False, training=False)
    before = {name: kept.copy() for name, kept in one.values.items()}
    x = np.random.default_rng(SEED).normal(size=(4, 3))
    ones = np.ones((1, 1, 3))
    found = one.kernel.forward(one.node, one.sources(x, 2 * ones, ones))
    np.testing.assert_allclose(found, 2 * (x - 0.5) / math.sqrt(0.501) + 1, rtol=1e-14)
    assert all(np.array_equal(one.values[name], kept) for name, kept in before.items())


@pytest.mark.parametrize(("shape", "spatial"), [((3, 2, 4), True), ((5,), False)])
def test_gradients_of_all_that_have_one(shape: tuple[int, ...], spatial: bool) -> None:
    random = np.random.default_rng(SEED)
    one = Normalizing(shape, spatial)
    given = [random.normal(size=(4, *shape)), *random.normal(size=(2, 1, 1, one.channels))]
    value = one.kernel.forward(one.node, one.sources(*given))
    by = random.normal(size=value.shape)
    backs = one.kernel.backward
    assert backs[3:] == (None, None)
    gradients = [back(one.node, one.sources(*given), value, by) for back in backs[:3] if back]
    for number, place in product(range(3), range(given[1].size)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [each.copy() for each in given]
            moved[number].ravel()[place] += step
            ends.append(float((one.kernel.forward(one.node, one.sources(*moved)) * by).sum()))
        slope = (ends[0] - ends[1]) / 2e-6
        assert gradients[number].ravel()[place] == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("shape", "spatial"), [((3, 2, 4), True), ((5,), False)])
def test_torch_normalizes_alike(shape: tuple[int, ...], spatial: bool) -> None:
    torch = peer("torch")
    random = np.random.default_rng(SEED)
    one = Normalizing(shape, spatial)
    x, by = random.normal(size=(2, 6, *shape))
    scale, bias = random.normal(size=(2, 1, 1, one.channels))
    theirs = [torch.tensor(each, requires_grad=True) for each in (x, scale.ravel(), bias.ravel())]
    expected = torch.nn.functional.batch_norm(
        theirs[0], None, None, theirs[1], theirs[2], training=True, eps=1e-3
    )
    expected.backward(torch.tensor(by))
    sources = one.sources(x, scale, bias)
    value = one.kernel.forward(one.node, sources)
    np.testing.assert_allclose(value, expected.detach().numpy(), rtol=1e-9, atol=1e-11)
    for back, other in zip(one.kernel.backward[:3], theirs, strict=True):
        assert back is not None
        gradient = back(one.node, sources, value, by)
        np.testing.assert_allclose(gradient.ravel(), other.grad.ravel(), rtol=1e-9, atol=1e-10)


def test_gaps_between_sequences_are_not_counted() -> None:
    graph = Graph()
    x = graph.input("x", (2,))
    scale = graph.parameter("scale", (1, 2))
    held = [graph.parameter(name, (1, 2), trained=False) for name in ("bias", "mean", "variance")]
    others = [
        graph.apply("LearnableParameter", parameters=[one], name=one.name) for one in (scale, *held)
    ]
    counter = graph.parameter("y", (1,), trained=False)
    attributes: dict[str, Any] = {"spatial": False, "epsilon": 1e-3, "blendTimeConstant": 0.0}
    attributes["normalizationTimeConstant"] = 0.0
    y = graph.apply("BatchNormalization", x, *others, parameters=[counter], name="y", **attributes)
    graph.criteria = [graph.apply("SumElements", y, name="sum")]
    program = TensorDraft(Job(graph, 9, "float64", UpdateRule("smoothed", 0.0))).program()
    start = {one.name: np.ones(one.shape) for one in graph.parameters} | {"y": np.zeros(1)}
    program.load(start)
    packing = packed(np.array([4, 2]))
    assert len(packing.gaps) == 2
    values = np.random.default_rng(SEED).normal(size=(packing.columns, 2))
    program.feed(Batch({"x": Packed(values, packing)}, expected=1.0))
    assert program.step()
    stored, real = program.store(), values[packing.places]
    assert stored["y"] == [6]
    np.testing.assert_allclose(stored["mean"].ravel(), real.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(stored["variance"].ravel(), real.var(axis=0, ddof=1), rtol=1e-12)


def test_what_does_not_fit_is_reported() -> None:
    graph = Graph()
    sources = [graph.input("x", (2,)), *(graph.input(name, (3,)) for name in "sbmv")]
    counter = graph.parameter("y", (1,), trained=False)
    attributes: dict[str, Any] = {"spatial": False}
    with pytest.raises(GraphError, match=r"\[3\] does not fit 2 channels"):
        graph.apply("BatchNormalization", *sources, parameters=[counter], name="y", **attributes)


NODE = StoredNode(
    "BatchNormalization",
    "n",
    (),
    (),
    {
        "spatial": True,
        "normalizationTimeConstant": math.inf,
        "blendTimeConstant": 3.0,
        "imageLayout": "CHW",
        "epsilon": 1e-5,
        "useCntkEngine": False,
    },
    np.array([1234.0]),
)


def test_a_file_holds_all_of_it() -> None:
    data = written_model(StoredModel([NODE], {}, "float32"))
    (found,) = read_model(data).nodes
    assert found.attributes == NODE.attributes
    assert found.values is not None
    assert found.values.tolist() == [1234.0]


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    item = "learn=[SGD=[batchNormalizationTimeConstant=nan]]"
    answer, _ = run(made(tmp_path / "run"), item)
    assert answer.code == 2
    assert "'batchNormalizationTimeConstant' is 'nan'" in str(answer.complaints)


def test_a_simple_network_drops(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    text = (folder / "net.cntk").read_text()
    for old, new in (
        ("layerSizes = 2:8:3", "layerSizes = 2:8:3 ; addDropoutNodes = true"),
        ("maxEpochs = 4", "maxEpochs = 4 ; dropoutRate = 0.5"),
    ):
        text = text.replace(old, new)
    (folder / "net.cntk").write_text(text)
    dropped, follower = run(folder, "command=learn")
    assert (dropped.code, dropped.complaints) == (0, ())
    _, whole = run(folder, "command=learn", "makeMode=false", "learn=[SGD=[dropoutRate=0]]")
    assert follower.epochs[0]["loss"] > whole.epochs[0]["loss"]


def test_nodes_that_draw_are_numbered_from_the_criterion_on_around_a_loop() -> None:
    """Where the traversal meets a loop again it continues: once it did not end."""
    graph = Graph()
    x = graph.input("x", (2,))
    before = graph.delay("PastValue", (2,), name="h'", timeStep=1, initial=0.0)
    state = graph.apply("Tanh", graph.apply("Plus", before, graph.apply("Dropout", x, name="in")))
    graph.connect(before, state)
    end = graph.apply("Dropout", state, name="end")
    graph.criteria = [graph.apply("SquareError", end, graph.input("y", (2,)))]
    acting = Acting(graph, {}, training=True)
    made: list[tuple[int, int]] = []

    def draws(at: int, count: int, wide: bool) -> Draws:
        assert not wide
        made.append((at, count))
        return np.zeros

    acting.begin(Phase(dropout=0.5, draws=draws))
    assert [node.name for node in acting.draws] == ["in", "end"]
    assert made == [(0, 2), (1, 2)]
