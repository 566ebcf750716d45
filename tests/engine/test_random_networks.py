"""Random networks of all operations: whatever memory a plan reuses, values and gradients hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph
from tests.engine import naive
from tests.engine.naive import Dimension
from tests.engine.networks import axes_of, convolution, forward, gradient_error, plan_of, randomise

SMOOTH = ("sigmoid", "linear", "softmax", "srlinear", "tanh", "square")
NORM = {"alpha": 0.4, "beta": 0.75, "offset": 1.0, "over_full_kernel": False}
BATCH = 2


def factored(draw, nodes):
    """A way to read a number of nodes as one to three dimensions."""
    first = draw(st.sampled_from([n for n in range(1, nodes + 1) if nodes % n == 0]))
    rest = nodes // first
    second = draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
    return draw(st.sampled_from([(nodes,), (first, rest), (first, second, rest // second)]))


def window(draw, nodes, maps=False):
    """Dimensions of a small kernel that moves over a number of nodes."""
    found = []
    for size in factored(draw, nodes):
        kernel = draw(st.integers(1, min(size, 3)))
        stride = draw(st.integers(1, kernel))
        padding = draw(st.booleans())
        sharing = draw(st.booleans()) if maps else True
        count = draw(st.integers(1, 2)) if maps and not found else 1
        found.append(Dimension(size, kernel, stride, padding, 0, 0, sharing, count))
    return found


class Growth:
    """A graph that grows by random operations."""

    def __init__(self, draw):
        self.draw = draw
        self.graph = Graph()
        self.nodes = [self.graph.input(f"X{n}", (size,)) for n, size in enumerate((12, 8))]
        self.biases = {}

    def name(self):
        return f"N{len(self.nodes)}"

    def parameter(self, shape, kind="weights"):
        return self.graph.parameter(f"P{len(self.graph.parameters)}", shape, kind=kind)

    def grow(self):
        made = getattr(self, self.draw(st.sampled_from(STEPS)))(
            self.draw(st.sampled_from(self.nodes))
        )
        self.nodes.append(made)

    def full(self, source):
        weights = self.parameter((self.draw(st.sampled_from((6, 8, 12))), source.size))
        return self.graph.apply("full", source, parameters=(weights,), name=self.name())

    def filtered(self, source):
        pairs = [(d, s) for d in range(6) for s in range(source.size) if (d + s) % 3 == 0]
        lists = ([d for d, _ in pairs], [s for _, s in pairs])
        weights = self.parameter((len(pairs),))
        return self.graph.apply(
            "filtered", source, parameters=(weights,), edges=lists, shape=(6,), name=self.name()
        )

    def bias(self, source):
        """A layer bias, shared with an earlier one of equal length half of the time."""
        shared = self.biases.get(source.size) if self.draw(st.booleans()) else None
        biases = shared or self.parameter((source.size,), "biases")
        self.biases[source.size] = biases
        return self.graph.apply("bias", source, parameters=(biases,), name=self.name())

    def activation(self, source):
        function = self.draw(st.sampled_from(SMOOTH))
        return self.graph.apply("activation", source, function=function, name=self.name())

    def add(self, source):
        equal = [node for node in self.nodes if node.size == source.size]
        others = self.draw(st.lists(st.sampled_from(equal), min_size=1, max_size=2))
        return self.graph.apply("add", source, *others, name=self.name())

    def convolve(self, source):
        found = window(self.draw, source.size, maps=True)
        made = convolution(self.graph, source, found, self.name())
        made.attributes["dimensions"] = found
        return made

    def pool(self, source):
        kind = self.draw(st.sampled_from(("max pool", "mean pool")))
        found = window(self.draw, source.size)
        return self.graph.apply(
            kind, source, axes=axes_of(found), dimensions=found, name=self.name()
        )

    def norm(self, source):
        found = window(self.draw, source.size)
        return self.graph.apply(
            "response norm",
            source,
            axes=axes_of(found),
            dimensions=found,
            name=self.name(),
            **NORM,
        )


STEPS = ("full", "filtered", "bias", "activation", "add", "convolve", "pool", "norm")


def expected(graph, values, x):
    """The value of every node for one sample, by the naive loops."""
    found, start = {}, 0
    for node in graph.nodes:
        if node.op == "input":
            found[node] = x[start : start + node.size].tolist()
            start += node.size
        else:
            found[node] = one(node, [found[source] for source in node.inputs], values)
    return found


def one(node, sources, values):
    weights = [values[parameter.name] for parameter in node.parameters]
    walk = node.attributes.get("dimensions")
    match node.op:
        case "full":
            return naive.full(sources[0], weights[0])
        case "filtered":
            pairs = list(zip(*node.attributes["edges"], strict=True))
            return naive.filtered(sources[0], pairs, weights[0], node.size)
        case "bias":
            return [a + b for a, b in zip(sources[0], weights[0], strict=True)]
        case "add":
            return [sum(parts) for parts in zip(*sources, strict=True)]
        case "activation":
            return naive.activation(node.attributes["function"], sources[0])
        case "convolve":
            return naive.convolve(sources[0], walk, weights[0])
        case "response norm":
            return naive.response_norm(sources[0], walk, **NORM)
    return naive.pool(sources[0], walk, node.op.removesuffix(" pool"))


@pytest.mark.costly
@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.data(), st.integers(2, 9), st.integers(0, 2**31))
def test_random_network(data, steps, seed):
    growth = Growth(data.draw)
    for _ in range(steps):
        growth.grow()
    graph = growth.graph
    weights = growth.parameter((2, growth.nodes[-1].size))
    output = graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    random = np.random.default_rng(seed)
    plan = plan_of(graph, output, BATCH)
    values = randomise(plan, random, 0.4)
    x = random.uniform(-1, 1, (BATCH, graph.features))
    plan.feed(x, random.uniform(-1, 1, (BATCH, 2)))
    plan.step()
    for sample in range(BATCH):
        found = expected(graph, values, x[sample])
        np.testing.assert_allclose(plan.output[sample], found[output], rtol=1e-8, atol=1e-10)
    alone = plan_of(graph, output, BATCH, None)
    alone.load(values)
    np.testing.assert_allclose(forward(alone, x), plan.output, rtol=1e-12, atol=1e-14)
    # a maximum may change under one step; it hardly does so under two of different length
    assert min(gradient_error(plan, step) for step in (1e-3, 1e-5)) <= 1e-6


def test_the_walk_of_the_loops_is_that_of_the_engine():
    """Every legal dimension up to eight cells: counts, centres and real cells."""
    checked = 0
    for size in range(1, 9):
        for kernel in range(1, size + 1):
            for stride in range(1, kernel + 1):
                for padding in (False, True):
                    ours = Axis(size, kernel, stride, padding=padding)
                    theirs = Dimension(size, kernel, stride, padding, 0, 0)
                    assert ours.count == theirs.node_count()
                    for position in range(ours.count):
                        cells = [theirs.cell(position, tap) for tap in range(kernel)]
                        real = [cell for cell in cells if cell is not None]
                        assert list(ours.cells(position)) == real
                        assert ours.centre(position) == theirs.centre(position)
                        checked += 1
    assert checked > math.comb(8, 3)
