"""Torch's back end takes part through DistributedDataParallel: its weights are those of a module
made by hand, of uneven shares as well, and a run that resumes has the bits of one without a break.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from netsharp_engine.distributed.comm import AveragingComm, CommError
from netsharp_engine.distributed.ranks import Ranks
from netsharp_engine.initial import initial_values
from netsharp_engine.nodes import Node
from netsharp_engine.program import Batch, Job, UpdateRule, drafted
from netsharp_engine.train import prepare, train
from tests.distributed.spawned import spawned
from tests.distributed.test_course import CASES, GRAPH, assert_same_course, settings_of
from tests.engine_training.small_networks import layered
from tests.peers import peer

pytestmark = pytest.mark.costly

STEPS, RATE, FEATURES, CLASSES = 20, 0.5, 4, 3
#: Rows of the batches in turn: uneven shares, and one without any.
ROWS = (9, 8, 1)
TRAINED = ("adam", "rows without weight", "dropout in layers and inputs")
#: Nodes of two layers whose weights take more than a bucket.
WIDE = (420, 420)


def graph(widths: tuple[int, ...] = (7,)) -> Any:
    return layered(FEATURES, CLASSES, widths).with_criteria("cross entropy")


def batches(steps: int = STEPS) -> list[tuple[Any, Any, Any]]:
    """Features, classes and weights of the samples of each step."""
    random = np.random.default_rng(3)
    found = []
    for step in range(steps):
        rows = ROWS[step % len(ROWS)]
        weights = random.uniform(0.5, 2, rows)
        found.append(
            (random.normal(size=(rows, FEATURES)), random.integers(0, CLASSES, rows), weights)
        )
    return found


def values() -> dict[str, Any]:
    return dict(initial_values(graph().parameters, 5, 1.0, "float64"))


class Running:
    """A network of this back end that trains with others."""

    def __init__(self, made: Any, start: Any, ranks: Ranks) -> None:
        from netsharp_engine.torch_backend import TorchBackend

        self._ranks, self._target = ranks, made.targets[0].name
        self._rule = UpdateRule("sgd", RATE)
        job = Job(made, max(ROWS), "float64", self._rule)
        self.program = drafted(TorchBackend("cpu"), job).program()
        self.program.load(start)
        ranks.join(self.program)

    def step(self, features: Any, classes: Any, weights: Any) -> bool:
        """Train on one batch; false for a fault."""
        share = self._ranks.share
        inputs = {"In": features[share], self._target: classes[share]}
        self.program.feed(Batch(inputs, weights[share], float(weights.sum())))
        return self.program.step() and self.program.update(self._rule)


def ours(ranks: Ranks) -> dict[str, Any]:
    """What the back end makes of it."""
    running = Running(graph(), values(), ranks)
    assert all(running.step(*batch) for batch in batches())
    return dict(running.program.store())


def theirs(ranks: Ranks) -> dict[str, Any]:
    """What a module by hand makes of it in DistributedDataParallel.

    That divides sums of gradients by the number of processes, and waits for each of them in every
    step: losses are made as much larger, and who has no rows takes one without weight.
    """
    import torch
    from torch import nn

    first, second = nn.Linear(FEATURES, 7), nn.Linear(7, CLASSES)
    module = nn.Sequential(first, nn.Sigmoid(), second).double()
    parts = zip((first, second), (("H1", "In"), ("Out", "H1")), strict=True)
    named = {f"{layer}/biases": each.bias for each, (layer, _) in parts}
    named |= {"H1/In/weights": first.weight, "Out/H1/weights": second.weight}
    for name, value in values().items():
        named[name].data.copy_(torch.from_numpy(value))
    parallel = nn.parallel.DistributedDataParallel(module)
    descent = torch.optim.SGD(parallel.parameters(), RATE)
    for features, classes, weights in batches():
        mine = [torch.from_numpy(each[ranks.share]) for each in (features, classes, weights)]
        if not len(mine[0]):
            mine = [torch.from_numpy(each[:1]) for each in (features, classes, 0 * weights)]
        losses = nn.functional.cross_entropy(parallel(mine[0]), mine[1], reduction="none")
        descent.zero_grad()
        (losses @ mine[2] * ranks.comm.size / weights.sum()).backward()
        descent.step()
    return {name: each.detach().numpy() for name, each in named.items()}


def stopped_and_not(ranks: Ranks) -> list[dict[str, Any]]:
    """The weights after nine steps, and after a stop in between; each of uneven layers."""
    made = graph(WIDE)
    start = dict(initial_values(made.parameters, 5, 0.1, "float64"))
    whole, half = Running(made, start, ranks), Running(made, start, ranks)
    steps = batches(9)
    assert all(whole.step(*batch) for batch in steps)
    assert all(half.step(*batch) for batch in steps[:4])
    rest = Running(made, half.program.store(), ranks)
    assert all(rest.step(*batch) for batch in steps[4:])
    return [dict(one.program.store()) for one in (whole, rest)]


def diverged(ranks: Ranks) -> list[Any]:
    """The faults of a step in which one process has numbers that are not finite, and what is
    trained after these were loaded again.
    """
    running = Running(graph(), values(), ranks)
    places = []
    for features, classes, weights in batches(4):
        kept, broken = running.program.store(), features.copy()
        broken[1 % len(broken)] = np.nan
        assert not running.step(broken, classes, weights)
        fault = running.program.figures().fault
        assert fault is not None
        assert fault.what == "loss"
        places.append(fault.place.name if isinstance(fault.place, Node) else None)
        running.program.load(kept)
        running.program.count(running.program.figures())
        assert running.step(features, classes, weights)
    return [places, running.program.store()]


def trained(ranks: Ranks) -> list[Any]:
    """The results of training the cases."""
    from netsharp_engine.torch_backend.devices import TorchBackend

    found = []
    for case in TRAINED:
        table, flags = CASES[case]
        data = prepare(table, settings_of(**flags))
        found.append(train(GRAPH, data, data.settings, ranks=ranks, backend=TorchBackend("cpu")))
    return found


def refused(ranks: Ranks) -> str:
    """The message about a device on which torch connects nothing."""
    import torch

    with pytest.raises(CommError) as caught:
        cast("AveragingComm", ranks.comm).averaged(torch.nn.Linear(1, 1, device="meta"))
    return str(caught.value)


def of_two(ranks: Ranks) -> tuple[Any, ...]:
    return ours(ranks), theirs(ranks), diverged(ranks), refused(ranks)


def of_three(ranks: Ranks) -> tuple[Any, ...]:
    return stopped_and_not(ranks), trained(ranks)


@pytest.fixture(scope="module")
def pair() -> list[Any]:
    """What each of two processes makes; starting them takes most of the time."""
    peer("torch")
    return spawned(2, of_two)


@pytest.fixture(scope="module")
def three() -> list[Any]:
    """What each of three processes makes."""
    peer("torch")
    return spawned(3, of_three)


def test_weights_are_those_of_a_module_made_by_hand(pair: list[Any]) -> None:
    found = [(each[0], each[1]) for each in pair]
    alone, first = ours(Ranks()), values()
    for name, value in alone.items():
        assert np.abs(value - first[name]).max() > 0.01
        for each in (found[0][0], *(rank[1] for rank in found)):
            np.testing.assert_allclose(each[name], value, rtol=1e-11, atol=1e-13, err_msg=name)
        # Both processes have the same bits.
        np.testing.assert_array_equal(found[0][0][name], found[1][0][name])


def test_a_run_that_resumes_has_the_bits_of_one_that_goes_on(three: list[Any]) -> None:
    """Of three processes, whose order of adding matters, with several buckets."""
    for (whole, rest), _ in three:
        for name, value in whole.items():
            np.testing.assert_array_equal(rest[name], value, err_msg=name)


def test_all_processes_see_the_fault_of_one_and_can_go_on(pair: list[Any]) -> None:
    first, second = (each[2] for each in pair)
    # Each names its own first node, or the output: a single row is of the first process.
    assert (first[0], second[0]) == (["Out", "Out", "In", "Out"], ["In", "In", "Out", "In"])
    expected = Running(graph(), values(), Ranks())
    assert all(expected.step(*batch) for batch in batches(4))
    for name, value in expected.program.store().items():
        np.testing.assert_array_equal(first[1][name], second[1][name])
        np.testing.assert_allclose(first[1][name], value, rtol=1e-11, atol=1e-13)


def test_trainings_follow_the_course_of_one(three: list[Any]) -> None:
    for place, case in enumerate(TRAINED):
        table, flags = CASES[case]
        data = prepare(table, settings_of(**flags))
        first, *others = [each[1][place] for each in three]
        assert_same_course(train(GRAPH, data, data.settings), first, 1e-8)
        for other in others:
            for name, numbers in first.model.tensors.items():
                np.testing.assert_array_equal(numbers, other.model.tensors[name])


def test_devices_that_torch_does_not_connect_are_refused(pair: list[Any]) -> None:
    sentence = (
        "PyTorch connects no processes on 'meta' devices here. Leave --procs and --nodes out, or "
        "train on the processor: --device torch:cpu."
    )
    assert [each[3] for each in pair] == [sentence] * 2
