"""Stacks of recurrent layers in one node against loops by hand, differences and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.model_file import read_model
from netsharp_engine.graph import Graph
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_engine.tensor_backend.lstm import recognised
from netsharp_engine.tensor_backend.walk import read_outside
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training import test_truncated_runs
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_fused import loops_of
from tests.cntk.training.test_restart import figures
from tests.cntk.training.test_sequences import gradients_of, placed
from tests.conftest import SEED
from tests.peers import peer

Array = Any
LENGTHS, WIDTH, HIDDEN = (4, 1, 3), 3, 2
KINDS = ("lstm", "gru", "rnnReLU", "rnnTanh")
GATES = {"lstm": 4, "gru": 3}
STACKS = [(kind, layers, both) for kind in KINDS for layers, both in ((1, False), (2, True))]


def graph_of(kind: str, layers: int, both: bool) -> Graph:
    """The squared distance of a stack's values to a target."""
    built = network(f"""{{
        x = Input {{{WIDTH}}}
        W = ParameterTensor {{(0:0), initOutputRank=-1}}
        h = OptimizedRNNStack (W, x, {HIDDEN}, numLayers={layers}, recurrentOp="{kind}",
            bidirectional={str(both).lower()})
        y = Input {{{HIDDEN * (1 + both)}}}
        ce = SquareError (y, h)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce)
    }}""")
    graph = lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])
    graph.set_output(next(node for node in graph.nodes if node.name == "h"))
    return graph


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 20, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED)
    program.load({one.name: random.normal(size=one.shape) / 2 for one in graph.parameters})
    return program


def samples() -> Array:
    return np.random.default_rng(SEED + 1).normal(size=(sum(LENGTHS), WIDTH))


def batch_of(size: int) -> Batch:
    packing = packed(np.array(LENGTHS))
    target = np.random.default_rng(SEED + 2).normal(size=(sum(LENGTHS), size))
    return Batch({"x": placed(packing, samples()), "y": placed(packing, target)}, expected=1.0)


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def lstm(a: Array, b: Array, h: Array, c: Array) -> tuple[Array, Array]:
    i, f, m, o = np.split(a + b, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(m)
    return sigmoid(o) * np.tanh(c), c


def gru(a: Array, b: Array, h: Array, c: Array) -> tuple[Array, Array]:
    r, z, n = zip(np.split(a, 3), np.split(b, 3), strict=True)
    keep = sigmoid(z[0] + z[1])
    return (1 - keep) * np.tanh(n[0] + sigmoid(r[0] + r[1]) * n[1]) + keep * h, c


STEPS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "lstm": lstm,
    "gru": gru,
    "rnnReLU": lambda a, b, h, c: (np.maximum(a + b, 0), c),
    "rnnTanh": lambda a, b, h, c: (np.tanh(a + b), c),
}


def by_hand(kind: str, layers: int, both: bool, weights: Array, steps: Array) -> Array:
    """The values of one sequence: every number is taken from the front of what is left."""
    buffer, rows, ways = list(weights.reshape(-1)), GATES.get(kind, 1) * HIDDEN, 1 + both

    def taken(*shape: int) -> Array:
        count = int(np.prod(shape))
        found = np.array(buffer[:count]).reshape(shape)
        del buffer[:count]
        return found

    width, matrices = WIDTH, []
    for _ in range(layers):
        matrices.append([(taken(rows, width), taken(rows, HIDDEN)) for _ in range(ways)])
        width = ways * HIDDEN
    biases = [[(taken(rows), taken(rows)) for _ in range(ways)] for _ in range(layers)]
    assert not buffer
    for of_layer, of_biases in zip(matrices, biases, strict=True):
        found = []
        for way, ((w, r), (first, second)) in enumerate(zip(of_layer, of_biases, strict=True)):
            h, c, outputs = np.zeros(HIDDEN), np.zeros(HIDDEN), []
            for x in steps[:: -1 if way else 1]:
                h, c = STEPS[kind](w @ x + first, r @ h + second, h, c)
                outputs.append(h)
            found.append(np.array(outputs)[:: -1 if way else 1])
        steps = np.concatenate(found, axis=1)
    return steps


@pytest.mark.parametrize(("kind", "layers", "both"), STACKS)
def test_values_are_those_of_the_layout_worked_by_hand(kind: str, layers: int, both: bool) -> None:
    graph = graph_of(kind, layers, both)
    program = program_of(graph)
    assert graph.output is not None
    program.feed(batch_of(graph.output.size))
    program.forward()
    ends = np.cumsum(LENGTHS)
    expected = [
        by_hand(kind, layers, both, program.store()["W"], part)
        for part in np.split(samples(), ends[:-1])
    ]
    np.testing.assert_allclose(
        program.read(graph.output), np.concatenate(expected), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize(("kind", "layers", "both"), STACKS)
def test_gradients_against_differences(kind: str, layers: int, both: bool) -> None:
    graph = graph_of(kind, layers, both)
    program = program_of(graph)
    assert graph.output is not None
    batch = batch_of(graph.output.size)
    given = program.store()["W"]
    found = gradients_of(program, batch)["W"]
    random = np.random.default_rng(SEED + 3)
    for number in random.choice(given.size, size=min(40, given.size), replace=False):
        place = np.unravel_index(number, given.shape)
        ends = []
        for step in (1e-6, -1e-6):
            moved = given.copy()
            moved[place] += step
            fresh = program_of(graph)
            fresh.load({"W": moved})
            fresh.feed(batch)
            assert fresh.step()
            ends.append(fresh.figures().sums[0])
        slope = (ends[0] - ends[1]) / 2e-6
        assert found[place] == pytest.approx(slope, rel=1e-6, abs=1e-6), place


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_against_pytorch(kind: str, both: bool) -> None:
    """Its modules have the same gates, one parameter for each part of the buffer."""
    torch = peer("torch")
    graph = graph_of(kind, 2, both)
    program = program_of(graph)
    assert graph.output is not None
    batch = batch_of(graph.output.size)
    weights = program.store()["W"]
    made = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(kind, torch.nn.RNN)
    more = {"nonlinearity": kind[3:].lower()} if made is torch.nn.RNN else {}
    module = made(
        WIDTH, HIDDEN, 2, bidirectional=both, batch_first=True, dtype=torch.double, **more
    )
    words = [name for name, _ in module.named_parameters()]
    words.sort(key=lambda name: name.startswith("bias"))
    buffer, at = torch.tensor(weights.reshape(-1)), 0
    parameters = dict(module.named_parameters())
    for name in words:
        one = parameters[name]
        one.data = buffer[at : at + one.numel()].reshape(one.shape).clone()
        at += one.numel()
    assert at == weights.size
    target = batch.inputs["y"]
    packing = target.packing
    wanted = np.split(target.values[packing.places], np.cumsum(LENGTHS)[:-1])
    loss = 0.0
    for steps, label in zip(np.split(samples(), np.cumsum(LENGTHS)[:-1]), wanted, strict=True):
        loss = loss + ((module(torch.tensor(steps)[None])[0][0] - torch.tensor(label)) ** 2).sum()
    loss.backward()
    found = gradients_of(program, batch)["W"].reshape(-1)
    assert program.figures().sums[0] == pytest.approx(loss.item(), rel=1e-9)
    expected = np.concatenate([parameters[name].grad.numpy().reshape(-1) for name in words])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_cells_of_a_stack_are_computed_as_one() -> None:
    graph = graph_of("lstm", 2, True)
    loops = loops_of(graph)
    assert len(loops) == 4
    assert all(recognised(loop, read_outside(graph, loop)) is not None for loop in loops)


TAGGER = """OptimizedRNNStack (ParameterTensor {(0:0), initOutputRank=-1}, x, 4, numLayers=2,
            bidirectional=true, recurrentOp="gru")"""


def made(folder: Path, layer: str = TAGGER) -> Path:
    """The experiment of sequences, with such a layer."""
    path = test_truncated_runs.made(folder) / "net.cntk"
    before = "RecurrentLSTMLayer {6} (Dropout (x))"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, layer).replace("truncated = true", ""))
    return folder


@pytest.mark.costly
def test_an_experiment_stopped_and_resumed_is_run_through(tmp_path: Path) -> None:
    items = ("learn=[SGD=[maxEpochs=3 ; dropoutRate=0]]",)
    whole, follower = run(made(tmp_path / "whole"), *items)
    assert (whole.code, whole.complaints) == (0, ())
    folder = made(tmp_path / "stopped")
    first = run(folder, "command=learn", *items, follower=Follower(ends=1))[1]
    second = run(folder, "command=learn", *items)[1]
    assert figures(first) + figures(second) == figures(follower)
    ours = (folder / "out" / "net.dnn").read_bytes()
    assert ours == (tmp_path / "whole" / "out" / "net.dnn").read_bytes()
    stored = next(one for one in read_model(ours).nodes if one.operation == "OptimizedRNNStack")
    attributes = {"bidirectional": True, "numLayers": 2, "hiddenDims": 4, "axis": -1}
    assert stored.attributes == {**attributes, "recurrentOp": "gru"}


@pytest.mark.costly
def test_the_optimised_engine_of_the_library_is_a_stack(tmp_path: Path) -> None:
    layer = "RecurrentLSTMLayerStack {(4:4), allowOptimizedEngine=true} (x)"
    items = ("command=learn", "learn=[SGD=[maxEpochs=12 ; learningRatesPerSample=0.01]]")
    answer, follower = run(made(tmp_path, layer), *items)
    assert (answer.code, len(follower.epochs)) == (0, 12)
    print(follower.epochs[-1]["loss"])
    assert follower.epochs[-1]["loss"] < 0.8 * follower.epochs[0]["loss"]


@pytest.mark.parametrize(
    ("layer", "items", "words"),
    [
        (
            TAGGER.replace('recurrentOp="gru"', "axis=2").replace(
                "x,", "SplitDimension (x, 1, 3),"
            ),
            (),
            "recurs along an axis of each sample",
        ),
        (TAGGER, ("truncated=true",), "needs whole sequences: truncated cuts sequences."),
    ],
)
def test_what_is_not_done_is_refused(
    layer: str, items: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    answer, _ = run(made(tmp_path, layer), "command=learn", *items)
    assert answer.code == 2
    assert any(words in one for one in answer.complaints), answer.complaints
