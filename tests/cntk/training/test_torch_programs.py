"""Whole networks of CNTK on torch against the processor: sequences, updates, draws, what is kept.

In double precision losses, values, parameters and what a rule remembers are equal to 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.descent.schedules import Noise
from netsharp_engine.distributed.comm import Exchange
from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Shaping, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_engine.tensor_backend.updates import RULES
from tests.cntk.training import (
    test_drawing,
    test_dropping_loops,
    test_random_networks,
    test_sequences,
    test_sparse_updates,
    test_truncated,
)
from tests.cntk.training.test_sequences import held, placed
from tests.conftest import SEED

pytest.importorskip("torch", reason="PyTorch is in the dependency group 'peers'")
import torch

from netsharp_engine.torch_backend.tensors import TorchTensorDraft

torch.set_num_threads(1)
Array = Any
CLOSE = {"rtol": 1e-9, "atol": 1e-10}
#: Losses and numbers in float32 after some updates, beside those of the processor.
NEAR = {"rtol": 2e-4, "atol": 2e-5}
PLAIN = UpdateRule("sgd", 1.0)
CONSTANTS = test_sparse_updates.CONSTANTS
Build = Callable[[Graph, Node], Node]


def on_torch(job: Job) -> TorchTensorDraft:
    return TorchTensorDraft(job, "cpu")


def both(graph: Graph, rule: UpdateRule = PLAIN, dtype: str = "float64") -> list[Any]:
    """A program of each back end, with the same numbers."""
    random = np.random.default_rng(SEED)
    values = {one.name: random.normal(size=one.shape) / 2 for one in graph.parameters}
    programs = [draft(Job(graph, 64, dtype, rule)).program() for draft in (TensorDraft, on_torch)]
    for program in programs:
        program.load(values)
    return programs


def agree(programs: list[Any], close: dict[str, float] | None = None) -> None:
    """Compare figures, all nodes, parameters and what the rule remembers."""
    ours, theirs = programs
    close = close or CLOSE
    assert ours.figures()[1:] == theirs.figures()[1:]
    np.testing.assert_allclose(theirs.figures().sums, ours.figures().sums, **close)
    memory = [program.store_memory() for program in programs]
    assert memory[0].updates == memory[1].updates
    pairs = [
        (ours.store(), theirs.store()),
        *((memory[0].arrays[kind], memory[1].arrays[kind]) for kind in memory[0].arrays),
    ]
    for first, second in pairs:
        assert first.keys() == second.keys()
        for name, array in first.items():
            assert array.dtype == second[name].dtype
            np.testing.assert_allclose(second[name], array, err_msg=name, **close)


def trained(programs: list[Any], batches: list[Batch], rule: UpdateRule, close: Any = None) -> None:
    for batch in batches:
        for program in programs:
            program.feed(batch)
            assert program.step()
            assert program.update(rule)
        agree(programs, close)


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(test_random_networks.NETWORKS))
def test_random_networks_of_sequences(number: int) -> None:
    print(f"seed {SEED + number}")
    graph, sequences, random = test_random_networks.drawn(SEED + number)
    end = graph.criteria[0].inputs[0]
    length = np.array([len(one) for one in sequences])
    for _, order, packing in test_random_networks.packings(length, random):
        for sparse in (False, True):
            batch = test_random_networks.batch_of(sequences, order, packing, sparse)
            programs = both(graph)
            trained(programs, [batch], PLAIN)
            values = [program.read(end) for program in programs]
            np.testing.assert_allclose(values[1], values[0], **CLOSE)
            first, second = (program.lengths(end) for program in programs)
            assert first is not None
            assert first.tolist() == second.tolist()


@pytest.mark.parametrize("build", test_sequences.BUILDS)
def test_sequences_of_unequal_length(build: Build) -> None:
    graph = test_sequences.network(build)
    trained(both(graph), [test_sequences.batch_of(graph, (5, 3, 2, 4))] * 2, PLAIN)


@pytest.mark.parametrize("build", test_truncated.BUILDS)
def test_pieces_of_sequences_go_on(build: Build) -> None:
    graph = test_truncated.network(build)
    _, parts = test_truncated.whole_and_pieces(graph, test_truncated.LENGTHS)
    trained(both(graph), parts, PLAIN)


def test_pieces_whose_beginning_is_not_known_are_refused() -> None:
    graph = test_truncated.network(test_truncated.forward)
    _, (_, second, *_) = test_truncated.whole_and_pieces(graph, test_truncated.LENGTHS)
    for program in both(graph):
        program.feed(second)
        with pytest.raises(GraphError, match="whose beginning is not known"):
            program.step()


def dense() -> tuple[Graph, list[Batch]]:
    graph = Graph()
    x, labels = graph.input("x", (4,)), graph.input("y", (3,))
    hidden = graph.apply("Times", held(graph, "W", 4, 5), x)
    hidden = graph.apply("Sigmoid", graph.apply("Plus", hidden, held(graph, "b", 5)))
    end = graph.apply("Times", held(graph, "V", 5, 3), hidden)
    loss = graph.apply("CrossEntropyWithSoftmax", labels, end, name="loss")
    graph.criteria = [loss, graph.apply("ClassificationError", labels, end, name="errors")]
    random = np.random.default_rng(SEED)
    batches = [
        Batch({"x": random.normal(size=(7, 4)), "y": np.eye(3)[random.integers(3, size=7)]})
        for _ in range(4)
    ]
    return graph, [one._replace(expected=1.0) for one in batches]


SHAPINGS = {
    "as it is": Shaping(),
    "cut": Shaping(limit=0.3),
    "cut by its norm": Shaping(limit=0.3, truncates=False),
    "all shortened": Shaping(total=0.5),
    "L2 and a multiplier": Shaping(l2=0.1, unregular=frozenset("b"), multipliers={"W": 0.5}),
    "L1": Shaping(l1=0.05, unregular=frozenset("b")),
    "noise": Shaping(noise=0.02, seed=(3, 4)),
}


def rules() -> Iterator[UpdateRule]:
    for kind in RULES:
        yield UpdateRule(kind, 0.05, 0.9, constants=CONSTANTS)
    yield UpdateRule("smoothed", 0.05, 0.9, nesterov=True)
    for kind in ("adagrad", "rmsprop"):
        yield UpdateRule(kind, 0.05, constants={**CONSTANTS, "normalized": 1.0})


@pytest.mark.drawn
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("rule", [*rules()], ids=lambda one: f"{one.kind} {one.nesterov}")
def test_updates(rule: UpdateRule, shaping: str, dtype: str) -> None:
    rule = rule._replace(shaping=SHAPINGS[shaping])
    graph, batches = dense()
    trained(both(graph, rule, dtype), batches, rule, CLOSE if dtype == "float64" else NEAR)


@pytest.mark.drawn
@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("rule", [*rules()], ids=lambda one: f"{one.kind} {one.nesterov}")
def test_updates_of_the_rows_that_sparse_samples_read(rule: UpdateRule, shaping: str) -> None:
    rule = rule._replace(shaping=SHAPINGS[shaping])
    rows, columns = test_sparse_updates.ROWS, test_sparse_updates.COLUMNS
    graph, random = Graph(), np.random.default_rng(SEED)
    product = graph.apply("Times", held(graph, "E", rows, columns), graph.input("x", (rows,)))
    scaled = graph.apply("ElementTimes", product, held(graph, "s", columns))
    graph.criteria = [graph.apply("SquareError", scaled, graph.input("y", (columns,)))]
    batches = [
        Batch(
            {
                "x": test_sparse_updates.sparse(samples),
                "y": random.normal(size=(len(samples), columns)),
            },
            expected=1.0,
        )
        for samples in test_sparse_updates.BATCHES
    ]
    trained(both(graph, rule), batches, rule)


@pytest.mark.parametrize("dense", [False, True])
def test_parts_of_a_batch_add_up(dense: bool) -> None:
    """Of sparse samples the rows of both; what one of them has whole is whole."""
    graph = Graph()
    product = graph.apply("Times", held(graph, "E", 7, 3), graph.input("x", (7,)))
    graph.criteria = [graph.apply("SquareError", product, graph.input("y", (3,)))]
    rule = UpdateRule("smoothed", 0.1, 0.5)
    programs, random = both(graph, rule), np.random.default_rng(SEED)
    for part, samples in enumerate(test_sparse_updates.BATCHES[:2]):
        x: Any = test_sparse_updates.sparse(samples)
        if dense and part:
            x = random.normal(size=(3, 7))
        inputs = {"x": x, "y": random.normal(size=(len(samples), 3))}
        for program in programs:
            program.feed(Batch(inputs, expected=1.0, adds=bool(part), part=part))
            assert program.step()
    for program in programs:
        assert program.update(rule)
    agree(programs)


def test_words_beside_each_other() -> None:
    graph, random = Graph(), np.random.default_rng(SEED)
    words = graph.input("x", (12,))
    looked = graph.apply("LookupTable", held(graph, "E", 4, 3), words)
    graph.criteria = [graph.apply("SquareError", looked, graph.input("y", (9,)))]
    starts = np.array([0, 3, 5])
    x = Sparse(random.normal(size=5), np.array([1, 6, 11, 0, 5]), starts)
    batch = Batch({"x": x, "y": random.normal(size=(2, 9))}, expected=1.0)
    trained(both(graph), [batch] * 2, PLAIN)


@pytest.mark.parametrize("op", ["PastValue", "FutureValue"])
def test_what_is_dropped_in_a_loop(op: str) -> None:
    graph = test_dropping_loops.dropping(op)
    programs = both(graph)
    batches = [test_dropping_loops.fed(graph, program) for program in programs]
    trained(programs, batches, PLAIN)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_dropped_is_drawn_as_on_the_processor(dtype: str) -> None:
    graph, random = Graph(), np.random.default_rng(SEED)
    scaled = graph.apply("ElementTimes", held(graph, "s", 40), graph.input("x", (40,)))
    dropped = graph.apply("Dropout", graph.apply("Dropout", scaled), name="end")
    graph.criteria = [graph.apply("SquareError", dropped, graph.input("y", (40,)))]
    programs = both(graph, PLAIN, dtype)
    batch = Batch({name: random.normal(size=(9, 40)) for name in ("x", "y")}, expected=100.0)
    for epoch in range(2):
        for program in programs:
            program.begin(Noise((0.0, 0.4)).phase(epoch, dtype))
        trained(programs, [batch] * 2, PLAIN, CLOSE if dtype == "float64" else NEAR)
        values = [program.read(dropped) for program in programs]
        assert ((values[0] == 0) == (values[1] == 0)).all()
        assert (values[1] == 0).any() == bool(epoch)


@pytest.mark.parametrize("blend", [0.0, 4.0, math.inf])
@pytest.mark.parametrize(("shape", "spatial"), [((3, 2, 4), True), ((5,), False)])
def test_batch_normalisation(shape: tuple[int, ...], spatial: bool, blend: float) -> None:
    """Of sequences with gaps; statistics, gradients, and what is computed without training."""
    graph, channels = Graph(), shape[0] if spatial else math.prod(shape)
    scaled = graph.apply("ElementTimes", held(graph, "s", *shape), graph.input("x", shape))
    sources = [scaled, *(held(graph, name, 1, channels) for name in ("scale", "bias"))]
    for name in ("mean", "variance"):
        kept = graph.parameter(name, (1, channels), trained=False)
        sources.append(graph.apply("LearnableParameter", parameters=[kept], name=name))
    attributes = {"spatial": spatial, "epsilon": 1e-3, "normalizationTimeConstant": 7.0}
    counter = graph.parameter("count", (1,), trained=False)
    attributes |= {"blendTimeConstant": blend}
    end = graph.apply("BatchNormalization", *sources, parameters=[counter], name="y", **attributes)
    graph.criteria = [graph.apply("SquareError", end, graph.input("wanted", shape))]
    programs, random = both(graph), np.random.default_rng(SEED)
    start = {
        "count": np.zeros(1),
        "mean": np.zeros((1, channels)),
        "variance": np.ones((1, channels)),
    }
    for program in programs:
        program.load({**program.store(), **start})
    batches = []
    for lengths in ((5, 3, 2), (1, 1, 4), (2, 2)):
        packing, size = packed(np.array(lengths)), math.prod(shape)
        named = {name: random.normal(size=(sum(lengths), size)) for name in ("x", "wanted")}
        inputs = {name: placed(packing, one) for name, one in named.items()}
        batches.append(Batch(inputs, expected=20.0))
    trained(programs, batches, PLAIN)
    evaluation = [draft(Job(graph, 64, "float64")).program() for draft in (TensorDraft, on_torch)]
    for program in evaluation:
        program.load(programs[0].store())
        program.feed(batches[0])
        assert program.step()
    agree(evaluation)


def test_means_over_an_epoch() -> None:
    graph, random = test_drawing.accumulating(), np.random.default_rng(SEED)
    programs = both(graph)
    for epoch in range(2):
        for program in programs:
            program.begin(Noise().phase(epoch, "float64"))
        for lengths in ([3, 1, 2], [4], [1, 5]):
            packing = packed(np.array(lengths))
            named = {name: random.normal(size=(sum(lengths), 2)) for name in ("x", "y")}
            inputs = {name: placed(packing, one) for name, one in named.items()}
            trained(programs, [Batch(inputs, expected=9.0)], PLAIN)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("operation", ["RandomSample", "RandomSampleInclusionFrequency"])
def test_classes_are_drawn_as_on_the_processor(operation: str, twice: bool) -> None:
    graph = Graph()
    weights = graph.parameter("weights", (1, 6), trained=False)
    node = graph.apply("LearnableParameter", parameters=[weights], name="weights")
    attributes = {"sizeOfSampledSet": 3, "allowDuplicates": twice}
    drawn = graph.apply(operation, node, name="drawn", **attributes)
    mixed = graph.apply("ElementTimes", held(graph, "w", 1, 6), drawn)
    reported_sums = graph.apply("SumColumnElements", mixed)
    graph.criteria = [graph.apply("SquareError", reported_sums, graph.input("y", (1,)))]
    programs = both(graph)
    for program in programs:
        program.load({**program.store(), "weights": test_drawing.WEIGHTS.reshape(1, 6)})
        program.begin(Noise().phase(2, "float64"))
    batch = Batch({"y": np.ones((2, 1))}, expected=10.0)
    trained(programs, [batch] * 3, PLAIN)


@pytest.mark.parametrize("program", [0, 1])
def test_what_is_remembered_crosses(program: int) -> None:
    """Updates on one back end go on on the other."""
    rule = UpdateRule("fsadagrad", 0.05, 0.9, constants=CONSTANTS)
    graph, batches = dense()
    programs = both(graph, rule)
    trained(programs, batches[:2], rule)
    programs[1 - program].load(programs[program].store())
    programs[1 - program].load_memory(programs[program].store_memory())
    trained(programs, batches[2:], rule)


def test_gradients_are_exchanged_alike() -> None:
    """With a process that read other rows, and with one that was fed nothing."""

    def exchange(arrays: Any) -> None:
        for array in arrays:
            array[...] *= 2

    doubled: Exchange = exchange  # type: ignore[assignment]
    rule = UpdateRule("smoothed", 0.1, 0.5)
    graph = Graph()
    product = graph.apply("Times", held(graph, "E", 7, 3), graph.input("x", (7,)))
    shifted = graph.apply("Plus", product, held(graph, "b", 3))
    graph.criteria = [graph.apply("SquareError", shifted, graph.input("y", (3,)))]
    programs = both(graph, rule)
    x, y = test_sparse_updates.sparse(test_sparse_updates.BATCHES[0]), np.ones((2, 3))
    for fresh in (True, False):
        for program in programs:
            program.feed(Batch({"x": x, "y": y}, expected=1.0))
            assert program.step()
            program.exchange_gradient(doubled, fresh=fresh)
            assert program.update(rule)
        agree(programs)


def test_a_number_that_is_none_is_named_and_nothing_is_changed() -> None:
    graph, (batch, *_) = dense()
    for program in both(graph):
        before = program.store()
        program.feed(batch)
        assert program.step()
        assert not program.update(UpdateRule("sgd", math.inf))
        fault = program.figures().fault
        assert (fault.what, fault.place.name) == ("weight", "W")
        for name, array in program.store().items():
            np.testing.assert_array_equal(array, before[name])
        program.load({**before, "V": np.full((5, 3), math.nan)})
        program.count(program.figures()._replace(sums=()))
        program.feed(batch)
        assert not program.step()
        assert program.figures().fault.what == "loss"


def test_what_cannot_be_computed_is_named() -> None:
    graph, _ = dense()
    (refusal,) = on_torch(Job(graph, 4, rule=UpdateRule("adam", 0.1))).unsupported()
    assert refusal.reason == "torch has no update rule 'adam' here."
    program = on_torch(Job(graph, 4)).program()
    with pytest.raises(GraphError, match="there are no values for parameter W"):
        program.load({})
    with pytest.raises(GraphError, match=r"parameter W: values of shape \[2\] given, \[4, 5\]"):
        program.load({"W": np.ones(2)})


def test_a_program_beside_another_has_its_numbers() -> None:
    graph, (batch, *_) = dense()
    draft = on_torch(Job(graph, 4, "float64", PLAIN))
    first = draft.program()
    second = on_torch(Job(graph, 4, "float64")).program(beside=first)
    first.load({one.name: np.ones(one.shape) for one in graph.parameters})
    first.feed(batch)
    assert first.step()
    assert first.update(PLAIN)
    for name, array in second.store().items():
        np.testing.assert_array_equal(array, first.store()[name])
    with pytest.raises(GraphError, match="with a program of its own alone"):
        draft.program(beside=TensorDraft(Job(graph, 4)).program())


def test_products_of_half_the_digits() -> None:
    """On request matrices are multiplied in bfloat16; numbers stay what they are."""
    graph, (batch, *_) = dense()
    plain, halved = (
        TorchTensorDraft(Job(graph, 7, "float32", PLAIN), "cpu", halved=one).program()
        for one in (False, True)
    )
    random = np.random.default_rng(SEED)
    values = {one.name: random.normal(size=one.shape) for one in graph.parameters}
    sums = []
    for program in (plain, halved):
        program.load(values)
        program.feed(batch)
        assert program.step()
        assert program.update(PLAIN)
        assert all(one.dtype == np.float32 for one in program.store().values())
        sums.append(program.figures().sums[0])
    assert sums[0] != sums[1]
    assert sums[1] == pytest.approx(sums[0], rel=0.02)
