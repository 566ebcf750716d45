"""One flat gradient of torch's back end makes the weights of DistributedDataParallel."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.distributed.ranks import Ranks
from netsharp_engine.initial import initial_values
from netsharp_engine.program import Batch, Job, UpdateRule, drafted
from tests.engine_training.small_networks import layered
from tests.peers import peer

STEPS, RATE, FEATURES, CLASSES = 20, 0.5, 4, 3
#: Rows of the batches in turn, by two processes: uneven shares, and one without any.
ROWS = (9, 8, 1)


def graph() -> Any:
    return layered(FEATURES, CLASSES, (7,)).judged("cross entropy")


def batches() -> list[tuple[Any, Any, Any]]:
    """Features, classes and weights of the samples of each step."""
    random = np.random.default_rng(3)
    found = []
    for step in range(STEPS):
        rows = ROWS[step % len(ROWS)]
        weights = random.uniform(0.5, 2, rows)
        found.append(
            (random.normal(size=(rows, FEATURES)), random.integers(0, CLASSES, rows), weights)
        )
    return found


def values() -> dict[str, Any]:
    return dict(initial_values(graph().parameters, 5, 1.0, "float64"))


def ours(ranks: Ranks) -> dict[str, Any]:
    """What the back end makes of it, with its gradients added up by ``ranks``."""
    from netsharp_engine.torch_backend import TorchBackend

    rule, made = UpdateRule("sgd", RATE), graph()
    job = Job(made, max(ROWS), "float64", rule)
    program = drafted(TorchBackend("cpu"), job).program()
    program.load(values())
    ranks.join(program)
    for features, classes, weights in batches():
        inputs = {"In": features[ranks.share], made.targets[0].name: classes[ranks.share]}
        program.feed(Batch(inputs, weights[ranks.share], float(weights.sum())))
        assert program.step()
        assert program.update(rule)
    return program.store()


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


def work(rank: int, port: int, folder: str) -> None:
    """Do both in one process of two, and keep what they make."""
    from netsharp_engine.distributed.group import TorchComm

    place = {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": rank, "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in place.items()}
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    ranks = Ranks(TorchComm())
    for name, made in (("ours", ours(ranks)), ("theirs", theirs(ranks))):
        np.savez(Path(folder) / f"{name}{rank}.npz", **plainly(made))


def plainly(found: dict[str, Any]) -> dict[str, Any]:
    """Name arrays as files may be called."""
    return {name.replace("/", "."): value for name, value in found.items()}


@pytest.mark.costly
def test_a_flat_gradient_makes_the_weights_of_data_parallel_modules(tmp_path: Path) -> None:
    torch = peer("torch")
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port = tried.getsockname()[1]
    torch.multiprocessing.spawn(work, args=(port, str(tmp_path)), nprocs=2)
    names = [f"{name}{rank}.npz" for name in ("ours", "theirs") for rank in (0, 1)]
    kept = [np.load(tmp_path / name) for name in names]
    alone, first = plainly(ours(Ranks())), plainly(values())
    for name, value in alone.items():
        assert np.abs(value - first[name]).max() > 0.01
        for each in kept:
            np.testing.assert_allclose(each[name], value, rtol=1e-11, atol=1e-13, err_msg=name)
        # Both processes have the same bits.
        np.testing.assert_array_equal(kept[0][name], kept[1][name])
