"""Random geometries, and the small networks that put one operation under test."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from netsharp_engine.geometry import Axis, kernel_count
from netsharp_engine.numpy_backend import compile_plan
from tests.engine.naive import Dimension, indices

# Hypothesis repeats some: 320 examples hold more than 200 different geometries
GEOMETRIES = settings(max_examples=320, derandomize=True, deadline=None)
LARGEST = {1: 14, 2: 7, 3: 4, 4: 3}


@st.composite
def dimensions(draw, ranks=(1, 2, 3, 4), sharing=False):
    """One to four dimensions with legal kernels, strides and all three ways of padding."""
    rank = draw(st.sampled_from(ranks))
    found = []
    for number in range(rank):
        size = draw(st.integers(1, LARGEST[rank]))
        kernel = draw(st.integers(1, size))
        stride = draw(st.integers(1, kernel))
        way = draw(st.sampled_from(("none", "padding", "pads")))
        lower, upper = draw(st.sampled_from(filling_pads(size, kernel, stride)))
        if way != "pads":
            lower = upper = 0
        shared = draw(st.booleans()) if sharing else True
        maps = draw(st.integers(1, 3 if number == 0 else 2)) if sharing else 1
        found.append(Dimension(size, kernel, stride, way == "padding", lower, upper, shared, maps))
    return found


def filling_pads(size, kernel, stride):
    """Pads below K/2 and up to K/2 (real division) with which the kernels fill the input."""
    pairs = [
        (lower, upper)
        for lower in range(math.ceil(kernel / 2))
        for upper in range(kernel // 2 + 1)
        if (size + lower + upper - kernel) % stride == 0
    ]
    return pairs or [(0, 0)]


def axes_of(found):
    return tuple(
        Axis(d.size, d.kernel, d.stride, padding=d.padding, lower=d.lower, upper=d.upper)
        for d in found
    )


def convolution(graph, source, found, name="C"):
    """A convolution of a source by the attributes of its dimensions."""
    axes = axes_of(found)
    sharing, maps = tuple(d.sharing for d in found), tuple(d.maps for d in found)
    weights = math.prod(d.kernel for d in found) + 1
    shape = (kernel_count(axes, sharing, maps), weights)
    kernels = graph.parameter(f"{name}/weights", shape, kind="kernels")
    return graph.apply(
        "convolve", source, parameters=(kernels,), name=name, axes=axes, sharing=sharing, maps=maps
    )


def dense(graph, source, nodes, function="tanh", name="H"):
    """A full bundle with biases and an activation."""
    weights = graph.parameter(f"{name}/weights", (nodes, source.size))
    biases = graph.parameter(f"{name}/biases", (nodes,), kind="biases")
    total = graph.apply("full", source, parameters=(weights,))
    total = graph.apply("bias", total, parameters=(biases,))
    return graph.apply("activation", total, function=function, name=name)


@st.composite
def filters(draw):
    """Two shapes of one to four dimensions and a random choice of their pairs."""
    rank = draw(st.integers(1, 4))
    extents = st.integers(1, {1: 8, 2: 3, 3: 2, 4: 2}[rank])
    source = draw(st.lists(extents, min_size=rank, max_size=rank))
    destination = draw(st.lists(extents, min_size=rank, max_size=rank))
    pairs = [(d, s) for d in range(len(indices(destination))) for s in range(len(indices(source)))]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return source, destination, sorted(chosen)


def filtered(graph, source, shape, edges):
    weights = graph.parameter("W", (len(edges),))
    lists = ([d for d, _ in edges], [s for _, s in edges])
    return graph.apply("filtered", source, parameters=(weights,), edges=lists, shape=shape)


def shifted(graph, size):
    """An input plus a trainable number per node: its gradient is the source's gradient."""
    source = graph.input("X", (size,))
    shift = graph.parameter("shift", (size,), kind="biases")
    return graph.apply("bias", source, parameters=(shift,), name="shifted")


def spaced(random, samples, nodes):
    """Values no two of which are close, so that no maximum changes under a small step."""
    rows = [(random.permutation(nodes) - nodes / 2 + 0.25) * (4 / nodes) for _ in range(samples)]
    return np.array(rows)


#: The losses by the words of their formulas.
LOSSES = {
    "softmax": "cross entropy",
    "logistic": "binary cross entropy",
    "squared": "squared error",
}


def plan_of(graph, output, batch, loss="squared", dtype="float64", **options):
    graph.set_output(output)
    return compile_plan(graph, batch, LOSSES.get(loss, loss), dtype, **options)


def randomise(plan, random, scale=0.5):
    """Random weights in canonical order; returns them."""
    values = {
        name: random.uniform(-scale, scale, value.shape) for name, value in plan.store().items()
    }
    plan.load(values)
    return values


def forward(plan, x):
    plan.feed(x)
    plan.forward()
    return plan.output.copy()


def differences(plan, step=1e-3):
    """The gradient by weights from four-point central differences of the loss."""
    found = np.empty_like(plan.weights)
    for place in range(len(found)):
        kept = plan.weights[place]
        losses = []
        for move in (-2, -1, 1, 2):
            plan.weights[place] = kept + move * step
            plan.step()
            losses.append(plan.loss)
        plan.weights[place] = kept
        found[place] = (losses[0] - 8 * losses[1] + 8 * losses[2] - losses[3]) / (12 * step)
    return found


def gradient_error(plan, step=1e-3):
    """The largest difference between both gradients, relative to the largest entry."""
    plan.step()
    ours = plan.gradient.copy()
    theirs = differences(plan, step)
    return np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-3)
