"""Classes drawn at random, means over an epoch, noise beside words, and images cut to others."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.descent.schedules import Noise as Set
from netsharp_engine.cntk.generators import MinimalStandard
from netsharp_engine.cntk.samples.vocabulary import NoiseWords
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.packing import packed
from netsharp_engine.phases import gathered
from netsharp_engine.program import Batch, Job, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.tensor_backend.kernels import drawing as kernels
from netsharp_engine.tensor_backend.kernels.acting import Acting
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_lsp.cntk.training.networks.cropping import Uncropped, offsets
from tests.cntk.brainscript.building import network
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.operations import node_of
from tests.cntk.training.test_sequences import held, placed
from tests.conftest import SEED

Array = Any
WEIGHTS = np.array([0.5, 3.0, 0.0, 1.0, 2.5, 0.25])


def drawing(operation: str, size: int, twice: bool, *, rate: int = 1) -> tuple[Acting, Any]:
    graph = Graph()
    node = graph.apply(
        operation,
        held(graph, "weights", 1, len(WEIGHTS)),
        name="drawn",
        sizeOfSampledSet=size,
        allowDuplicates=twice,
    )
    graph.criteria = [graph.apply("SumElements", node, name="sum")]
    acting = Acting(graph, {}, training=True)
    acting.begin(Set().phase(rate, "float32"))
    return acting, node


def sets(size: int, twice: bool, seed: int, count: int) -> tuple[list[list[int]], list[int]]:
    """CNTK's rule, a draw after the other: sets, and how many draws each took."""
    generator, ends = MinimalStandard(seed), np.cumsum(WEIGHTS).tolist()
    found, tries = [], []
    for _ in range(count):
        one: list[int] = []
        taken = 0
        while len(one) < size:
            low, high = (int(draw) - 1 for draw in generator.draws(2))
            unit = (low + high * 2147483646) / 2147483646.0**2
            place = next(at for at, end in enumerate(ends) if end >= unit * ends[-1])
            taken += 1
            if twice or place not in one:
                one.append(place)
        found.append(one)
        tries.append(taken)
    return found, tries


@pytest.mark.parametrize("twice", [False, True])
def test_a_set_is_drawn_for_each_minibatch_and_begins_with_the_epoch(twice: bool) -> None:
    acting, node = drawing("RandomSample", 3, twice)
    expected, _ = sets(3, twice, 1, 20)
    source = WEIGHTS.reshape(1, 1, -1)
    for one in expected:
        value = acting.kernels[node].forward(node, [source])
        assert value.shape == (1, 3, len(WEIGHTS))
        assert value.sum() == 3
        assert value[0].argmax(axis=1).tolist() == one
    acting.begin(Set().phase(1, "float32"))
    assert acting.kernels[node].forward(node, [source])[0].argmax(axis=1).tolist() == expected[0]
    assert 2 not in [place for one in expected for place in one]


def test_how_often_classes_are_drawn() -> None:
    share = WEIGHTS / WEIGHTS.sum()
    acting, node = drawing("RandomSampleInclusionFrequency", 4, True)
    source = WEIGHTS.reshape(1, 1, -1)
    found = acting.kernels[node].forward(node, [source])
    np.testing.assert_allclose(found.ravel(), 4 * share, rtol=1e-14)
    acting, node = drawing("RandomSampleInclusionFrequency", 3, False)
    _, tries = sets(3, False, 1, 10)
    expected = [1 - (1 - one) ** (sum(tries) / 10) for one in share]
    found = acting.kernels[node].forward(node, [source])
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-12)
    assert acting.kernels[node].forward(node, [source]) is found  # of the same weights
    changed = acting.kernels[node].forward(node, [source + 1])
    assert (changed != found).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1, 1, 1], "that of class 1 is -1"),
        ([1, math.nan, 1, 1, 1, 1], "that of class 1 is nan"),
        ([1, 0, 0, 0, 0, 2], "draws 3 classes, and 2 of 6 have a weight above 0"),
        ([1, 0, 1e-300, 0, 0, 2], "others are too rare"),
    ],
)
def test_weights_by_which_no_set_is_drawn(weights: list[float], message: str) -> None:
    acting, node = drawing("RandomSample", 3, False)
    with pytest.raises(GraphError, match=message):
        acting.kernels[node].forward(node, [np.array(weights).reshape(1, 1, -1)])


def test_a_class_that_does_not_come_up_is_waited_for_no_longer_than_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "_MOST_DRAWS", 1000)
    acting, node = drawing("RandomSample", 3, False)
    weights = np.array([1, 0, 1e-7, 0, 0, 2.0]).reshape(1, 1, -1)
    with pytest.raises(GraphError, match="found 2 of 3 classes in"):
        acting.kernels[node].forward(node, [weights])


def accumulating() -> Graph:
    """The mean of a sum, how far it is from a number, and beside it an ordinary criterion."""
    graph = Graph()
    x = graph.input("x", (2,))
    h = graph.apply("Plus", x, held(graph, "b", 2))
    mean = graph.apply("EpochAccumulator", h, name="mean")
    loss = graph.apply("SquareError", h, graph.input("y", (2,)), name="loss")
    gap = graph.apply("SumElements", graph.apply("ElementTimes", mean, mean), name="gap")
    mixed = graph.apply("SumElements", graph.apply("ElementTimes", mean, h), name="mixed")
    graph.criteria = [loss, gap, mixed]
    return graph


def test_a_mean_over_an_epoch_leaves_gaps_out_and_is_not_averaged_again() -> None:
    graph, random = accumulating(), np.random.default_rng(SEED)
    assert [node.name for node in gathered(graph)] == ["gap"]
    program = TensorDraft(Job(graph, 20, "float64", UpdateRule("sgd", 0.0))).program()
    program.load({"b": np.array([0.5, -1.0])})
    for epoch in range(2):
        program.begin(Set().phase(epoch, "float64"))
        seen = []
        for lengths in ([3, 1, 2], [4], [1, 5]):
            packing = packed(np.array(lengths))
            x = random.normal(size=(sum(lengths), 2))
            seen.append(x + np.array([0.5, -1.0]))
            inputs = {"x": placed(packing, x), "y": placed(packing, x)}
            program.feed(Batch(inputs, expected=1))
            assert program.step()
            mean = np.concatenate(seen).mean(axis=0)
            reported = dict(zip(("loss", "gap", "mixed"), program.figures().sums, strict=True))
            assert reported["gap"] == pytest.approx((mean**2).sum(), rel=1e-13)


def test_no_criterion_is_trained_through_a_mean_over_an_epoch() -> None:
    graph = accumulating()
    graph.criteria = graph.criteria[::-1]
    rule = UpdateRule("sgd", 0.0)
    assert not TensorDraft(Job(graph, 20)).unsupported()
    (refusal,) = TensorDraft(Job(graph, 20, "float64", rule)).unsupported()
    assert "mean: 'EpochAccumulator' has no gradient" in refusal.reason


def noise_by_hand(counts: list[int], seed: int, count: int) -> list[int]:
    """The two distributions of the library, a draw after the other."""
    generator = np.random.RandomState(seed)
    ends = (np.cumsum(counts) / sum(counts)).tolist()
    past = len(counts) * ((2**32 - 1) // len(counts))
    found = []
    while len(found) < count:
        while int(generator.randint(0, 2**32, dtype=np.uint32)) >= past:
            pass
        low, high = (int(generator.randint(0, 2**32, dtype=np.uint32)) for _ in range(2))
        unit = (low + high * 2**32) / 2**64
        found.append(next(at for at, end in enumerate(ends) if end >= unit))
    return found


@pytest.mark.parametrize("count", [3, 7])
def test_noise_is_drawn_as_often_as_words_come(count: int) -> None:
    counts = [5, 1, 0, 10, 2, 8, 4][:count]
    noise, words = NoiseWords(counts, 4), np.array([0, 1, 0, 1, 1])
    for epoch in (0, 3):
        noise.begin(epoch)
        found = np.concatenate([noise.labels(words[:2], "float64"), noise.labels(words, "float64")])
        expected = noise_by_hand(counts, 1234 + epoch, 28)
        assert found[:, 2::2].ravel().tolist() == expected
        logs = np.log(np.array(counts)[found[:, 2::2].astype(int)] / sum(counts))
        np.testing.assert_allclose(found[:, 3::2], -logs, rtol=1e-14)
        assert found[:, 0].tolist() == [0, 1, *words.tolist()]
        own = np.log(np.array(counts)[found[:, 0].astype(int)] / sum(counts))
        np.testing.assert_allclose(found[:, 1], own, rtol=1e-14)


def test_numbers_beyond_the_last_whole_range_are_drawn_again() -> None:
    """With 3 * 2 ** 30 words one number of four is, where the memory for them would do."""
    noise = NoiseWords([1, 1, 1], 1)

    class Fixed:
        def __init__(self) -> None:
            self.rest = [2**32 - 1, 7, 0, 2**31, 9, 0, 0, 1, 2**32 - 1, 0]

        def randint(self, low: int, high: int, count: int, kind: type) -> Array:
            taken, self.rest = self.rest[:count], self.rest[count:]
            return np.array([*taken, *[0] * (count - len(taken))], kind)

    noise._generator = Fixed()  # type: ignore[assignment]
    # 2 ** 32 - 1 is none; then 7 with (0, 2 ** 31), 9 with (0, 0), 1 with what follows.
    assert noise._samples(3).tolist() == [1, 0, 0]


def test_labels_of_one_number_are_checked_among_all_words() -> None:
    random = np.random.default_rng(SEED)
    hidden, weights, biases = (random.normal(size=one) for one in ((4, 3), (7, 3), (7,)))
    node = node_of("NoiseContrastiveEstimation", ((1,), (3,), (7, 3), (7,)))
    words = np.array([2, 0, 6, 2])
    scores = hidden @ weights.T + biases
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    rest = [hidden, weights[None], biases[None]]
    kernel = TABLE[node.op]
    labels = np.where(words == 0, 1e-6, words)[:, None].astype(float)
    found = kernel.forward(node, [labels, *rest])
    assert found.item() == pytest.approx(-logs[range(4), words].sum(), rel=1e-12)
    plain = kernel.forward(node, [-labels, *rest])
    assert plain.item() == pytest.approx(-scores[range(4), words].sum(), rel=1e-12)
    back = kernel.backward[1]
    assert back is not None
    with pytest.raises(GraphError, match="evaluated and not trained by"):
        back(node, [labels, *rest], found, np.ones((1, 1)))
    with pytest.raises(GraphError, match="word 7, and there are 7"):
        kernel.forward(node, [labels + 5, *rest])


NETWORK = """\
command = learn:score
modelPath = "out/net.dnn"
precision = "double"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = ImageInput (6, 6, 1) ; y = Input (16)
        K = ParameterTensor {(3:3:1:2), init='uniform'}
        %s
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; evaluationNodes = (told)
        outputNodes = (ce)
    }
    SGD = { maxEpochs = 3 ; minibatchSize = 10 ; learningRatesPerSample = 0.002 }
    reader = { file = "data.ctf" ; input = {
        x = { dim = 36 ; format = "dense" } ; y = { dim = 16 ; format = "dense" } } }
}
score = { action = "test" ; reader = { file = "data.ctf" ; input = {
    x = { dim = 36 ; format = "dense" } ; y = { dim = 16 ; format = "dense" } } } }
"""
CONVOLVED = "Convolution (K, x, (3:3:1), mapDims=2, stride=1, autoPadding=false)"
CROPPED = """told = ce
        maps = RectifiedLinear ({convolved})
        cut = new ComputationNode {{ operation = 'Crop' ; inputs = {inputs} {more} ; tag = '' }}
        ce = SquareError (ReduceSum (cut) + ReduceSum (x), ReduceSum (y))"""
GATHERED = """W = ParameterTensor {(16:6:6:1)} ; z = W * x
        wrong = ClassificationError (y, z) ; ce = CrossEntropyWithSoftmax (y, z)
        right = new ComputationNode {
            operation = 'EpochAccumulator' ; inputs = z .* y ; tag = '' }
        told = SumElements (right .* right)"""
SAMPLED = """W = ParameterTensor {(16:6:6:1)} ; z = W * x ; weights = ConstantTensor (1, (16:1))
        chosen = new ComputationNode { operation = 'RandomSample' ; inputs = weights
            sizeOfSampledSet = 5 ; allowDuplicates = false ; tag = '' }
        often = new ComputationNode { operation = 'RandomSampleInclusionFrequency'
            inputs = weights ; sizeOfSampledSet = 5 ; allowDuplicates = false ; tag = '' }
        told = ClassificationError (y, z)
        ce = CrossEntropyWithSoftmax (
            TransposeTimes (chosen, y), TransposeTimes (chosen, z - Log (often)))"""


def pictures(folder: Path, network: str) -> None:
    random = np.random.default_rng(SEED)
    lines = []
    for _ in range(40):
        pixels = random.normal(size=36).round(3)
        kind = int(pixels[:16].argmax())
        lines.append(
            "|x " + " ".join(map(str, pixels)) + " |y " + " ".join(map(str, np.eye(16)[kind]))
        )
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    (folder / "net.cntk").write_text(NETWORK % network)


@pytest.mark.parametrize("network", [GATHERED, SAMPLED])
def test_networks_that_draw_and_gather_are_trained_and_resumed(
    network: str, tmp_path: Path
) -> None:
    pictures(tmp_path, network)
    answer, follower = run(tmp_path)
    assert answer.code == 0, (answer.complaints, answer.reports, answer.printed)
    losses = [epoch["loss"] for epoch in follower.epochs]
    assert len(set(losses)) == 3
    (tmp_path / "again").mkdir()
    pictures(tmp_path / "again", network)
    run(tmp_path / "again", follower=Follower(ends=1))
    again, resumed = run(tmp_path / "again")
    assert again.code == 0
    assert [epoch["loss"] for epoch in resumed.epochs] == losses[1:]
    assert resumed.epochs[-1]["evaluation"] == follower.epochs[-1]["evaluation"]
    one, other = (folder / "out" / "net.dnn" for folder in (tmp_path, tmp_path / "again"))
    assert one.read_bytes() == other.read_bytes()


def test_what_was_gathered_counts_as_one_sample(tmp_path: Path) -> None:
    pictures(tmp_path, GATHERED)
    answer, follower = run(tmp_path)
    assert answer.code == 0
    final = next(line for line in follower.lines if line.startswith("Final Results"))
    assert " * 1;" in final
    assert "ce = " in final
    assert " * 40" in final


@pytest.mark.parametrize(
    ("convolved", "inputs", "more"),
    [
        ("x", f"maps : {CONVOLVED}", ""),
        ("x", f"maps : {CONVOLVED}", "; xOffset = 2 ; yOffset = 0"),
        ("x", f"maps : Sigmoid ({CONVOLVED}) : x : x", ""),
    ],
)
def test_images_are_cut_where_the_network_moved_them(
    convolved: str, inputs: str, more: str, tmp_path: Path
) -> None:
    pictures(tmp_path, CROPPED.format(convolved=convolved, inputs=inputs, more=more))
    answer, follower = run(tmp_path)
    assert answer.code == 0, (answer.complaints, answer.reports, answer.printed)
    assert len(follower.epochs) == 3


WAYS = [
    ("Convolution (K, x, (3:3:1), mapDims=2, stride=1, autoPadding=false)", (1, 1)),
    ("Convolution (K, x, (3:3:1), mapDims=2, stride=1, autoPadding=true)", (0, 0)),
    ("Pool (Pool (x, (3:2)), (3:4))", (2, 1)),
    ("Sigmoid (Pool (x, (2:5))) + b", (0, 2)),
    ("Pooling (x, 'max', (2:2), stride=2, autoPadding=false)", "a different scale"),
    ("Dropout (x)", "what 'frame' (Dropout) does to its positions is unknown"),
    ("ImageInput (4, 4, 1)", "has no node in common"),
]


@pytest.mark.parametrize(("way", "expected"), WAYS)
def test_offsets_follow_what_the_network_did(way: str, expected: tuple[int, int] | str) -> None:
    built = network(f"""{{
        x = ImageInput (8, 8, 1) ; K = ParameterTensor {{(3:3:1:2)}} ; b = ParameterTensor {{(1:1)}}
        Pool (x, kernel) = Pooling (x, 'max', kernel, stride=1, autoPadding=false)
        frame = {way}
        cut = new ComputationNode {{ operation = 'Crop' ; inputs = Tanh (x) : frame ; tag = '' }}
        featureNodes = (x) ; outputNodes = (cut)
    }}""")
    if isinstance(expected, str):
        with pytest.raises(Uncropped, match=re.escape(expected)):
            offsets(built.nodes["cut"])
    else:
        assert offsets(built.nodes["cut"]) == expected
