"""Training samples per CPU-second of the engine beside PyTorch eager and scikit-learn.

    python bench/engine_vs_torch.py [--batch 32] [--rounds 9] [--seconds 0.4]

One thread each, in one process, rounds interleaved A B A B so that both sides see the same
machine; medians of CPU time.  A step of ours includes copying the batch in; the peers' batch
is ready.  A peer that is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import peer_torch

from netsharp_engine.geometry import Axis, kernel_count, product
from netsharp_engine.graph import Graph, Node
from netsharp_engine.plan import compile_plan
from netsharp_engine.train.optimizers import bind_optimizer
from netsharp_engine.train.settings import Settings, read_settings

Step = Callable[[], object]
CONV1 = ((Axis(29, 5, 2), Axis(29, 5, 2)), (True, True), (5, 1))
CONV2 = {
    # KernelShape = [5, 5, 5]; MapCount = 50
    "W2a": ((Axis(5, 5), Axis(13, 5, 2), Axis(13, 5, 2)), (True, True, True), (50, 1, 1)),
    # KernelShape = [1, 5, 5]; Sharing = [false, true, true]; MapCount = 10
    "W2b": ((Axis(5, 1), Axis(13, 5, 2), Axis(13, 5, 2)), (False, True, True), (10, 1, 1)),
}
Walk = tuple[tuple[Axis, ...], tuple[bool, ...], tuple[int, ...]]


def full(graph: Graph, source: Node, nodes: int, function: str, name: str) -> Node:
    weights = graph.parameter(f"{name}/weights", (nodes, source.size))
    biases = graph.parameter(f"{name}/biases", (nodes,), kind="biases")
    total = graph.apply("full", source, parameters=(weights,))
    total = graph.apply("bias", total, parameters=(biases,))
    return graph.apply("activation", total, function=function, name=name)


def convolution(graph: Graph, source: Node, walk: Walk, name: str) -> Node:
    axes, sharing, maps = walk
    shape = (kernel_count(axes, sharing, maps), product(tuple(axis.kernel for axis in axes)) + 1)
    kernels = graph.parameter(f"{name}/weights", shape, kind="kernels")
    made = graph.apply(
        "convolve", source, parameters=(kernels,), axes=axes, sharing=sharing, maps=maps
    )
    return graph.apply("activation", made, function="tanh", name=name)


def network(workload: str) -> Graph:
    """The workload as the language's front end would lower it."""
    graph = Graph()
    if workload == "W1":
        hidden = full(graph, graph.input("Image", (28, 28)), 200, "sigmoid", "Hidden")
    else:
        made = convolution(graph, graph.input("Image", (29, 29)), CONV1, "Conv1")
        made = convolution(graph, made, CONV2[workload], "Conv2")
        hidden = full(graph, made, 100, "tanh", "Hid3")
    graph.set_output(full(graph, hidden, 10, "softmax", "Digit"))
    return graph


def engine_step(workload: str, samples: int) -> Step:
    """Ours: feed, forward, loss, backward, update."""
    x, labels = peer_torch.batch_of(workload, samples)
    flat = x.reshape(samples, -1)
    plan = compile_plan(network(workload), samples, "softmax")
    assert len(plan.weights) == peer_torch.PARAMETERS[workload]
    plan.initialise(0, 0.1)
    rule = {"learning_rate": peer_torch.RATE, "momentum": peer_torch.MOMENTUM}
    settings = read_settings({}, rule)
    assert isinstance(settings, Settings)
    optimizer = bind_optimizer(plan, settings)

    def step() -> None:
        plan.feed(flat, labels)
        plan.step()
        optimizer.update()

    return step


def rate(step: Step, samples: int, seconds: float) -> float:
    """Samples per CPU-second over at least ``seconds`` of CPU time."""
    step()
    start = now = time.process_time()
    steps = 0
    while now - start < seconds:
        for _ in range(8):
            step()
        steps += 8
        now = time.process_time()
    return steps * samples / (now - start)


def compare(workload: str, samples: int, rounds: int, seconds: float) -> dict[str, float]:
    """Median samples per CPU-second by side, rounds interleaved."""
    makers = {"engine": engine_step, "torch": peer_torch.torch_step}
    if workload == "W1":
        makers["scikit-learn"] = peer_torch.sklearn_step
    steps: dict[str, Step] = {}
    for side, make in makers.items():
        try:
            steps[side] = make(workload, samples)
        except ImportError as error:
            print(f"{side} is left out: {error}")
    seen: dict[str, list[float]] = {side: [] for side in steps}
    for _ in range(rounds):
        for side, step in steps.items():
            seen[side].append(rate(step, samples, seconds))
    return {side: statistics.median(rates) for side, rates in seen.items()}


def main() -> None:
    """Print one line for each workload and peer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4)
    options = parser.parse_args()
    print(f"training, batch {options.batch}, float32, one thread, samples per CPU-second")
    print(f"{'':4} {'engine':>10} {'peer':>10}  ratio  load")
    for workload in peer_torch.SHAPES:
        found = compare(workload, options.batch, options.rounds, options.seconds)
        ours = found.pop("engine")
        for side, theirs in found.items():
            load = os.getloadavg()[0]
            ratio = ours / theirs
            print(f"{workload:4} {ours:10,.0f} {theirs:10,.0f} {ratio:6.2f} {load:5.2f}  {side}")


if __name__ == "__main__":
    main()
