"""Networks of CNTK's operations against PyTorch in double precision: losses and gradients to 1e-9.

The other side is written independently here, sequence by sequence and step by step, without
packing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netsharp_engine.geometry import CorneredAxis, output_shape
from netsharp_engine.graph import Graph, Node
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training.test_sequences import gradients_of, held, placed
from tests.conftest import SEED
from tests.peers import peer

torch = peer("torch")
torch.set_num_threads(1)
functional = torch.nn.functional
Tensors = dict[str, Any]
#: Their loss, from parameters by name.
Loss = Callable[[Tensors], Any]
LENGTHS = (5, 1, 3, 7, 2)
WORDS, WIDTH, CELLS, OUTPUTS = 6, 4, 5, 3


def program_of(graph: Graph) -> TensorProgram:
    program = TensorDraft(Job(graph, 64, "float64", UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED)
    program.load({one.name: random.normal(size=one.shape) / 2 for one in graph.parameters})
    return program


def agree(program: TensorProgram, batch: Batch, theirs: Loss) -> None:
    """Compare the loss, and the gradient of every parameter."""
    given = program.store()
    tensors = {name: torch.tensor(one, requires_grad=True) for name, one in given.items()}
    expected = theirs(tensors)
    expected.backward()
    found = gradients_of(program, batch)
    assert program.figures().sums[0] == pytest.approx(expected.item(), rel=1e-9)
    for name, gradient in found.items():
        other = tensors[name].grad
        assert other is not None, name
        assert gradient.any(), name
        np.testing.assert_allclose(gradient, other.numpy(), rtol=1e-9, atol=1e-10, err_msg=name)


def test_dense() -> None:
    graph = Graph()
    x, labels = graph.input("x", (4,)), graph.input("y", (3,))
    first = graph.apply("Times", held(graph, "W", 4, 5), x)
    hidden = graph.apply("Sigmoid", graph.apply("Plus", first, held(graph, "b", 5)))
    last = graph.apply("Times", held(graph, "V", 5, 3), hidden)
    z = graph.apply("Plus", last, held(graph, "c", 3))
    graph.criteria = [graph.apply("CrossEntropyWithSoftmax", labels, z, name="loss")]
    random = np.random.default_rng(SEED)
    rows, classes = random.normal(size=(7, 4)), random.integers(3, size=7)

    def theirs(p: Tensors) -> Any:
        hidden = torch.sigmoid(torch.tensor(rows) @ p["W"] + p["b"])
        scores = hidden @ p["V"] + p["c"]
        return functional.cross_entropy(scores, torch.tensor(classes), reduction="sum")

    agree(program_of(graph), Batch({"x": rows, "y": np.eye(3)[classes]}, expected=1.0), theirs)


def axes(channels: int, *given: tuple[int, int, int, int, int]) -> tuple[CorneredAxis, ...]:
    """Channels, then (size, kernel, stride, pad below, pad above) of each axis of an image."""
    rest = (CorneredAxis(n, k, s, lower=low, upper=up) for n, k, s, low, up in given)
    return (CorneredAxis(channels, channels, channels), *rest)


PLAIN = axes(2, (5, 3, 1, 0, 0), (6, 2, 1, 0, 0))
STRIDED = axes(2, (7, 3, 2, 0, 0), (8, 2, 3, 0, 0))
PADDED = axes(2, (6, 3, 1, 1, 1), (7, 5, 2, 2, 2))
ASYMMETRIC = axes(3, (5, 3, 1, 0, 1), (6, 4, 2, 1, 2))
SOLID = axes(2, (4, 2, 1, 0, 1), (3, 2, 1, 1, 0), (5, 3, 2, 1, 1))
IMAGES = {
    "plain": PLAIN,
    "strided": STRIDED,
    "padded": PADDED,
    "asymmetric": ASYMMETRIC,
    "in space": SOLID,
}


def pads(places: tuple[CorneredAxis, ...]) -> list[int]:
    """As torch pads: the last axis first."""
    return [pad for axis in reversed(places) for pad in (axis.lower, axis.upper)]


def image_network(build: Callable[[Graph, Node], Node], shape: tuple[int, ...]) -> Graph:
    """A layer above a tanh above factors of an image, so that gradients pass through it."""
    graph = Graph()
    x = graph.input("x", shape)
    scaled = graph.apply("Tanh", graph.apply("ElementTimes", held(graph, "s", *shape), x))
    end = build(graph, scaled)
    graph.criteria = [graph.apply("SquareError", end, graph.input("y", end.shape), name="loss")]
    return graph


def images_agree(graph: Graph, theirs: Callable[[Tensors, Any], Any]) -> None:
    x, y = graph.inputs
    random = np.random.default_rng(SEED + 1)
    images, wanted = random.normal(size=(3, *x.shape)), random.normal(size=(3, *y.shape))

    def loss(p: Tensors) -> Any:
        found = theirs(p, torch.tanh(p["s"] * torch.tensor(images)))
        return ((found - torch.tensor(wanted)) ** 2).sum()

    agree(program_of(graph), Batch({"x": images, "y": wanted}, expected=1.0), loss)


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("transposed", [False, True])
def test_convolution(name: str, transposed: bool) -> None:
    channels, *places = IMAGES[name]
    whole, maps = (channels, *places), (4, *(1,) * len(places))
    cells = [axis.kernel for axis in whole]
    attributes = {"axes": whole, "sharing": (True,) * len(whole), "maps": maps}
    attributes |= {"transpose": transposed, "channels_last": False}

    def build(graph: Graph, source: Node) -> Node:
        weights = held(graph, "K", 4, int(np.prod(cells)))
        return graph.apply("Convolution", weights, source, name="conv", **attributes)

    def theirs(p: Tensors, image: Any) -> Any:
        kernels, stride = p["K"].reshape(4, *cells), tuple(axis.stride for axis in places)
        if not transposed:
            move = {2: functional.conv2d, 3: functional.conv3d}[len(places)]
            return move(functional.pad(image, pads(tuple(places))), kernels, stride=stride)
        back = {2: functional.conv_transpose2d, 3: functional.conv_transpose3d}[len(places)]
        found = back(image, kernels, stride=stride)
        lacking = [
            (axis.lower + axis.size) - (axis.stride * (axis.count - 1) + axis.kernel)
            for axis in places
        ]
        found = functional.pad(found, [n for one in reversed(lacking) for n in (0, max(one, 0))])
        cut = (slice(axis.lower, axis.lower + axis.size) for axis in places)
        return found[(..., *cut)]

    small, large = output_shape(whole, maps), tuple(axis.size for axis in whole)
    images_agree(image_network(build, small if transposed else large), theirs)


@pytest.mark.parametrize("name", ["plain", "strided", "padded", "asymmetric"])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_pooling(name: str, kind: str) -> None:
    _, *places = IMAGES[name]
    whole = (CorneredAxis(2, 1), *places)
    attributes = {"axes": whole, "pool": kind, "channels_last": False}

    def build(graph: Graph, source: Node) -> Node:
        return graph.apply("Pooling", source, name="pool", **attributes)

    def theirs(p: Tensors, image: Any) -> Any:
        kernel, stride = [axis.kernel for axis in places], [axis.stride for axis in places]
        if kind == "max":
            padded = functional.pad(image, pads(tuple(places)), value=-torch.inf)
            return functional.max_pool2d(padded, kernel, stride)
        both = (functional.pad(one, pads(tuple(places))) for one in (image, torch.ones_like(image)))
        sums, counts = (functional.avg_pool2d(one, kernel, stride) for one in both)
        return sums / counts

    images_agree(image_network(build, tuple(axis.size for axis in whole)), theirs)


@pytest.mark.parametrize("spatial", [True, False])
def test_batch_normalization(spatial: bool) -> None:
    """Three minibatches in training: gradients, and running statistics after each."""
    shape = (3, 2, 2) if spatial else (3,)
    attributes: dict[str, Any] = {"spatial": spatial, "epsilon": 1e-3, "blendTimeConstant": 0.0}
    attributes["normalizationTimeConstant"] = 9.0
    graph = Graph()
    x = graph.input("x", shape)
    scaled = graph.apply("ElementTimes", held(graph, "s", *shape), x)
    sources = [scaled, held(graph, "scale", 1, 3), held(graph, "bias", 1, 3)]
    for name in ("mean", "variance"):
        kept = graph.parameter(name, (1, 3), trained=False)
        sources.append(graph.apply("LearnableParameter", parameters=[kept], name=name))
    counter = graph.parameter("count", (1,), trained=False)
    end = graph.apply("BatchNormalization", *sources, parameters=[counter], name="n", **attributes)
    graph.criteria = [graph.apply("SquareError", end, graph.input("y", shape), name="loss")]
    program = program_of(graph)
    program.load({**program.store(), "count": np.zeros(1), "variance": np.ones((1, 3))})
    mean, variance = torch.zeros(3, dtype=torch.double), torch.ones(3, dtype=torch.double)
    random = np.random.default_rng(SEED)
    for number in range(3):
        images, wanted = random.normal(size=(2, 5, *shape))
        moved = 1.0 if not number else -float(np.expm1(-5 / 9.0))
        program.feed(Batch({"x": images, "y": wanted}, expected=1.0))
        program.count(program.figures()._replace(sums=(0.0,)))
        assert program.step()
        given = program.store()
        tensors = {name: torch.tensor(one, requires_grad=True) for name, one in given.items()}
        found = functional.batch_norm(
            torch.tensor(images) * tensors["s"],
            *(mean, variance, tensors["scale"].reshape(-1), tensors["bias"].reshape(-1)),
            training=True,
            momentum=moved,
            eps=1e-3,
        )
        loss = ((found - torch.tensor(wanted)) ** 2).sum()
        loss.backward()
        assert program.figures().sums[0] == pytest.approx(loss.item(), rel=1e-9)
        np.testing.assert_allclose(given["mean"].ravel(), mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(given["variance"].ravel(), variance, rtol=1e-9)
        assert program.update(UpdateRule("sgd", 1.0))
        after = program.store()
        for name in ("s", "scale", "bias"):
            other = tensors[name].grad
            np.testing.assert_allclose(given[name] - after[name], other, rtol=1e-9, atol=1e-10)
        program.load(given)


def sequence_batch(lengths: tuple[int, ...]) -> tuple[Batch, list[Any], list[Any]]:
    """Words and targets of sequences, and the same one by one."""
    random = np.random.default_rng(SEED + 2)
    packing = packed(np.array(lengths))
    words, wanted = random.integers(WORDS, size=sum(lengths)), random.normal(size=(sum(lengths), 2))
    columns = np.full(packing.columns, -1)
    columns[packing.places] = words
    starts = np.r_[0, np.cumsum(columns >= 0)]
    sparse = Sparse(np.ones(len(words)), columns[columns >= 0], starts)
    inputs = {"x": Packed(sparse, packing), "y": placed(packing, wanted)}
    ends = np.cumsum(lengths)[:-1]
    parts = ([torch.tensor(one) for one in np.split(each, ends)] for each in (words, wanted))
    return Batch(inputs, expected=1.0), *parts


def recurrent(layer: str) -> Graph:
    """An embedding, a layer, and two numbers at each step."""
    text = f"""{{
        x = Input {{{WORDS}, sparse=true}}
        y = Input {{2}}
        e = EmbeddingLayer {{{WIDTH}}} (x)
        h = {layer}
        z = LinearLayer {{2}} (h)
        ce = SquareError (y, z)
        featureNodes = (x)
        labelNodes = (y)
        criterionNodes = (ce)
    }}"""
    built = network(text)
    return lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])


def cells(
    p: Tensors, layer: str, steps: Any, size: int, peepholes: bool = False, state: Any = None
) -> Any:
    """An LSTM by its equations, from what is embedded [steps, width] to its outputs."""
    start = p[f"{layer}.lstm.H"].new_full((1,), 0.1)
    outputs = p[f"{layer}.lstm.H"].shape[0]
    h, c = state or (start.expand(outputs), start.expand(size))
    found = []
    for x in steps:
        sums = p[f"{layer}.lstm.B"] + x @ p[f"{layer}.lstm.W"] + h @ p[f"{layer}.lstm.H"]
        i, b, f, o = sums.split(size)
        if peepholes:
            i, f = i + p[f"{layer}.lstm.Ci"] * c, f + p[f"{layer}.lstm.Cf"] * c
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(b)
        if peepholes:
            o = o + p[f"{layer}.lstm.Co"] * c
        h = torch.sigmoid(o) * torch.tanh(c)
        if f"{layer}.lstm.Wmr" in p:
            h = h @ p[f"{layer}.lstm.Wmr"]
        found.append(h)
    return torch.stack(found)


def sequences_agree(
    graph: Graph, theirs: Callable[[Tensors, Any], Any], lengths: tuple[int, ...] = LENGTHS
) -> None:
    """Compare the squared errors over all real steps; ``theirs`` has the layer's outputs."""
    batch, words, wanted = sequence_batch(lengths)

    def loss(p: Tensors) -> Any:
        (embedding,) = (one for name, one in p.items() if name.endswith(".E"))
        return sum(
            ((theirs(p, embedding[one]) @ p["z.W"] + p["z.b"] - target) ** 2).sum()
            for one, target in zip(words, wanted, strict=True)
        )

    agree(program_of(graph), batch, loss)


@pytest.mark.parametrize("lengths", [LENGTHS, (4, 4, 4), (1,)])
@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize("shape", [OUTPUTS, CELLS])
@pytest.mark.parametrize("backwards", [False, True])
def test_lstm(lengths: tuple[int, ...], peepholes: bool, shape: int, backwards: bool) -> None:
    reported = f"cellShape={shape}, usePeepholes={peepholes}, goBackwards={backwards}".lower()
    reported = reported.replace("cellshape", "cellShape").replace("usepeep", "usePeep")
    reported = reported.replace("gobackwards", "goBackwards")
    graph = recurrent(f"RecurrentLSTMLayer {{{OUTPUTS}, {reported}}} (e)")

    def theirs(p: Tensors, steps: Any) -> Any:
        if not backwards:
            return cells(p, "h", steps, shape, peepholes)
        return cells(p, "h", steps.flip(0), shape, peepholes).flip(0)

    sequences_agree(graph, theirs, lengths)


def test_lstm_with_learned_beginnings() -> None:
    graph = recurrent(f"RecurrentLSTMLayer {{{OUTPUTS}, trainInitialState=true}} (e)")

    def theirs(p: Tensors, steps: Any) -> Any:
        state = p["h.previousHook.initialH"], p["h.previousHook.initialC"]
        return cells(p, "h", steps, OUTPUTS, state=state)

    sequences_agree(graph, theirs)


def test_lstm_both_ways() -> None:
    layers = [f"RecurrentLSTMLayer {{{CELLS}{turn}}} (e)" for turn in ("", ", goBackwards=true")]
    graph = recurrent(f"Splice ({layers[0]} : {layers[1]})")
    names = sorted(one.name[: -len(".lstm.H")] for one in graph.parameters if ".H" in one.name)
    backwards = next(node for node in graph.nodes if node.op == "FutureValue").name
    names.sort(key=backwards.startswith)

    def theirs(p: Tensors, steps: Any) -> Any:
        there = cells(p, names[0], steps, CELLS)
        back = cells(p, names[1], steps.flip(0), CELLS).flip(0)
        return torch.cat([there, back], 1)

    sequences_agree(graph, theirs)


def test_lstm_of_the_library() -> None:
    """Their own module over packed sequences, which begins at 0."""
    graph = recurrent(f"RecurrentLSTMLayer {{{CELLS}}} (e)")
    for delay in (node for node in graph.nodes if node.op == "PastValue"):
        delay.attributes = {**delay.attributes, "initial": 0.0}
    order = [0, 2, 1, 3]  # theirs: input, forget, cell, output

    def turned(weights: Any) -> Any:
        parts = weights.reshape(-1, 4, CELLS)[:, order]
        return parts.reshape(-1, 4 * CELLS).T

    def theirs(p: Tensors, steps: Any) -> Any:
        module = torch.nn.LSTM(WIDTH, CELLS, dtype=torch.double)
        bias = turned(p["h.lstm.B"]).reshape(-1)
        given = {"weight_ih_l0": turned(p["h.lstm.W"]), "weight_hh_l0": turned(p["h.lstm.H"])}
        given |= {"bias_ih_l0": bias, "bias_hh_l0": torch.zeros_like(bias)}
        return torch.func.functional_call(module, given, (steps,))[0]

    sequences_agree(graph, theirs)


def test_gates_with_matrices_of_their_own() -> None:
    graph = recurrent(f"BS.RNNs.RecurrentLSTMP ({OUTPUTS}, e, cellDim={CELLS}).h")

    def theirs(p: Tensors, steps: Any) -> Any:
        def sums(gate: str, x: Any, h: Any) -> Any:
            at = "bit.ElementTimesArgs[1].z" if gate == "bit" else f"{gate}._.PlusArgs[0]"
            at = f"h.lstmState._.{at}.PlusArgs"
            found = p[f"{at}[0].PlusArgs[0]"] + x @ p[f"{at}[0].PlusArgs[1].TimesArgs[0]"]
            return found + h @ p[f"{at}[1].TimesArgs[0]"]

        def peep(gate: str) -> Any:
            return p[f"h.lstmState._.{gate}._.PlusArgs[1].ElementTimesArgs[0]"]

        h, c = (torch.full((size,), 0.1, dtype=torch.double) for size in (OUTPUTS, CELLS))
        found = []
        for x in steps:
            i = torch.sigmoid(sums("it", x, h) + peep("it") * c)
            f = torch.sigmoid(sums("ft", x, h) + peep("ft") * c)
            c = f * c + i * torch.tanh(sums("bit", x, h))
            o = torch.sigmoid(sums("ot", x, h) + peep("ot") * c)
            h = (o * torch.tanh(c)) @ p["h.lstmState.h.Wmr"]
            found.append(h)
        return torch.stack(found)

    sequences_agree(graph, theirs)


@pytest.mark.parametrize("masked", [False, True])
def test_masked_loss_over_unequal_lengths(masked: bool) -> None:
    """Cross-entropies of each step, counted where a mask says so; padded on their side."""
    graph = Graph()
    x, labels = graph.input("x", (3,)), graph.input("labels", (4,))
    z = graph.apply("Times", held(graph, "W", 3, 4), x)
    weight = graph.input("mask", (1,))
    logs = graph.apply("ElementTimes", labels, graph.apply("LogSoftmax", z))
    each = graph.apply("Negate", graph.apply("SumColumnElements", logs))
    loss = graph.apply("ElementTimes", weight, each)
    graph.criteria = [graph.apply("SumElements", loss, name="loss")]
    random = np.random.default_rng(SEED)
    packing, count = packed(np.array(LENGTHS)), sum(LENGTHS)
    rows, classes = random.normal(size=(count, 3)), random.integers(4, size=count)
    mask = random.integers(2, size=count) if masked else np.ones(count)
    batch = {"x": rows, "labels": np.eye(4)[classes], "mask": mask.reshape(-1, 1)}
    inputs = {name: placed(packing, one.astype(float)) for name, one in batch.items()}
    ends = np.cumsum(LENGTHS)[:-1]

    def theirs(p: Tensors) -> Any:
        parts = [torch.tensor(one) for one in np.split(rows, ends)]
        padded = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        wanted = np.where(mask != 0, classes, -100)
        kinds = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(one) for one in np.split(wanted, ends)], True, -100
        )
        scores = (padded @ p["W"]).transpose(1, 2)
        return functional.cross_entropy(scores, kinds, reduction="sum", ignore_index=-100)

    agree(program_of(graph), Batch(inputs, expected=1.0), theirs)
