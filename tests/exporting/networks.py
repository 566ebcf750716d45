"""Networks that are exported in several formats: cells, images, steps chosen by their position."""

from __future__ import annotations

from typing import Any

import numpy as np

from netsharp_engine.geometry import CorneredAxis, kernel_count, product
from netsharp_engine.graph import Graph, Node
from tests.cntk.training.test_sequences import held
from tests.conftest import SEED

Array = Any


def drawn_values(graph: Graph, seed: int = SEED) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {one.name: random.normal(size=one.shape) / 2 for one in graph.parameters}


def chosen(graph: Graph, source: Node, flag: Node) -> Node:
    index = graph.apply("PackedIndex", source, graph.apply("Where", flag))
    return graph.apply("GatherPacked", index, source, name="chosen")


def border(graph: Graph, source: Node, op: str, steps: int, initial: float) -> Node:
    """1 at some steps from an end of a sequence, 0 at others, or the reverse."""
    zero = graph.apply("ElementTimes", graph.apply("SumColumnElements", source), none(graph))
    there = graph.delay(op, (1,), timeStep=steps, initial=initial)
    graph.connect(there, graph.apply("Plus", zero, one(graph)) if initial == 0 else zero)
    return there


def none(graph: Graph) -> Node:
    return number(graph, "none")


def one(graph: Graph) -> Node:
    return number(graph, "one")


def number(graph: Graph, name: str) -> Node:
    known = [node for node in graph.nodes if node.name == name]
    return known[0] if known else held(graph, name, 1)


def lstm(graph: Graph, x: Node, size: int, op: str, peepholes: bool, projected: int = 0) -> Node:
    """A cell as the layer library builds it."""
    width = projected or size
    past = graph.delay(op, (width,), timeStep=1, initial=0.1, name=f"past{op}")
    kept = graph.delay(op, (size,), timeStep=1, initial=0.25, name=f"kept{op}")
    bias, weights = held(graph, f"b{op}", 4 * size), held(graph, f"W{op}", x.size, 4 * size)
    sums = graph.apply("Plus", bias, graph.apply("Times", weights, x))
    again = graph.apply("Times", held(graph, f"R{op}", width, 4 * size), past)
    both = graph.apply("Plus", sums, again)

    def part(at: int, peep: str = "", state: Node | None = None) -> Node:
        cut = graph.apply("Slice", both, axis=1, beginIndex=at * size, endIndex=(at + 1) * size)
        if not peep or state is None:
            return cut
        weight = held(graph, f"{peep}{op}", size)
        return graph.apply("Plus", cut, graph.apply("ElementTimes", weight, state))

    def gate(at: int, peep: str, state: Node) -> Node:
        return graph.apply("Sigmoid", part(at, peep if peepholes else "", state))

    new = graph.apply("ElementTimes", gate(0, "pi", kept), graph.apply("Tanh", part(1)))
    state = graph.apply("Plus", graph.apply("ElementTimes", gate(2, "pf", kept), kept), new)
    shown = graph.apply(
        "ElementTimes", gate(3, "po", state), graph.apply("Tanh", state), name=f"h{op}"
    )
    if projected:
        shown = graph.apply("Times", held(graph, f"P{op}", size, projected), shown)
    graph.connect(past, shown)
    graph.connect(kept, state)
    return shown


def axis(random: np.random.Generator, size: int) -> CorneredAxis:
    kernel = int(random.integers(1, size + 1))
    lower, upper = (int(random.integers(kernel)) for _ in range(2))
    return CorneredAxis(size, kernel, int(random.integers(1, 4)), lower=lower, upper=upper)


def convolved(random: np.random.Generator, turned: bool, backwards: bool) -> tuple[Graph, Node]:
    """A convolution over two or three axes; its kernel reads all channels, or some of them."""
    graph = Graph()
    channels = int(random.integers(1, 4))
    sides = [axis(random, int(random.integers(3, 8))) for _ in range(2)]
    whole = turned or backwards or random.integers(2)
    first = CorneredAxis(channels, channels) if whole else axis(random, channels)
    axes = (first, *sides)
    maps, sharing = (int(random.integers(1, 4)), 1, 1), (True,) * 3
    count = kernel_count(axes, sharing, maps) * product(tuple(one.kernel for one in axes))
    sizes = tuple(one.size for one in axes)
    places = tuple(number * one.count for number, one in zip(maps, axes, strict=True))
    read = places if backwards else sizes
    x = graph.input("x", read[::-1] if turned else read)
    return graph, graph.apply(
        "Convolution",
        held(graph, "W", count),
        x,
        name="y",
        axes=axes,
        maps=maps,
        sharing=sharing,
        transpose=backwards,
        channels_last=turned,
    )


def plain_recurrence(graph: Graph, x: Node, size: int, op: str, bound: str) -> Node:
    """f(W x + b + R h)."""
    past = graph.delay(op, (size,), timeStep=1, initial=0.2, name=f"past{op}")
    product = graph.apply("Times", held(graph, f"W{op}", x.size, size), x)
    sums = graph.apply("Plus", product, held(graph, f"b{op}", size))
    again = graph.apply("Times", held(graph, f"R{op}", size, size), past)
    found = graph.apply(bound, graph.apply("Plus", again, sums), name=f"h{op}")
    graph.connect(past, found)
    return found


def gated(graph: Graph, x: Node, size: int, op: str, form: str) -> Node:
    """A gated unit: with parameters for each gate, as BrainScript has it ("apart"), with one matrix
    for two gates, as layers in Python have it ("stacked"), or with cuDNN's reset ("products").
    """
    past = graph.delay(op, (size,), timeStep=1, initial=0.2, name=f"past{op}")

    def times(what: str, source: Node, width: int) -> Node:
        return graph.apply("Times", held(graph, f"{what}{op}", source.size, width), source)

    def cut(whole: Node, at: int) -> Node:
        return graph.apply("Slice", whole, axis=1, beginIndex=at * size, endIndex=(at + 1) * size)

    if form == "apart":
        sums = [
            graph.apply("Plus", held(graph, f"b{one}{op}", size), times(f"W{one}", x, size))
            for one in "zrc"
        ]
        products = [times(f"R{one}", past, size) for one in "zr"]
    else:
        whole = graph.apply("Plus", held(graph, f"b{op}", 3 * size), times("W", x, 3 * size))
        sums = [cut(whole, at) for at in range(3)]
        both = times("R", past, (3 if form == "products" else 2) * size)
        if form == "products":
            both = graph.apply("Plus", both, held(graph, f"B{op}", 3 * size))
        products = [cut(both, at) for at in range(3 if form == "products" else 2)]
    z, r = (
        graph.apply("Sigmoid", graph.apply("Plus", one, other))
        for one, other in zip(sums[:2], products[:2], strict=True)
    )
    if form == "products":
        last = graph.apply("ElementTimes", r, products[2])
    else:
        last = times("Rc", graph.apply("ElementTimes", past, r), size)
    new = graph.apply("Tanh", graph.apply("Plus", sums[2], last))
    if form == "products":
        change = graph.apply("ElementTimes", z, graph.apply("Minus", past, new))
        found = graph.apply("Plus", new, change, name=f"h{op}")
    else:
        rest = graph.apply("ElementTimes", graph.apply("Minus", held(graph, f"1{op}", 1), z), new)
        kept = graph.apply("ElementTimes", z, past)
        found = graph.apply("Plus", rest, kept, name=f"h{op}")
    graph.connect(past, found)
    return found


def recurrent_values(graph: Graph) -> dict[str, Array]:
    """Draw numbers; what a gate is taken from is 1."""
    values = drawn_values(graph)
    return {name: one**0 if name[0] == "1" else one for name, one in values.items()}
