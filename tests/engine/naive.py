"""Forward passes as plain loops, written from the words of the guide and its reading.

Independent of the engine: no import of it, one sample at a time, float64, dictionaries
of index tuples. Slow and obvious on purpose.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def indices(shape):
    """Every index tuple of a layer, last index fastest."""
    return list(itertools.product(*(range(extent) for extent in shape)))


class Dimension:
    """One dimension of a kernel walk, as its attributes say it."""

    def __init__(self, size, kernel, stride, padding, lower, upper, sharing=True, maps=1):
        self.size, self.kernel, self.stride = size, kernel, stride
        self.padding, self.lower, self.upper = padding, lower, upper
        self.sharing, self.maps = sharing, maps

    def node_count(self):
        """D = (I - K) / S + 1, (I - 1) / S + 1 with padding, (I + l + u - K) / S + 1."""
        if self.padding:
            return (self.size - 1) // self.stride + 1
        return (self.size + self.lower + self.upper - self.kernel) // self.stride + 1

    def centre_tap(self):
        """The centre of an even kernel is its lower middle: the extra cell is above."""
        return (self.kernel - 1) // 2

    def first_centre(self):
        """Explicit pads say where the first kernel starts; otherwise the walk is centred."""
        if self.lower or self.upper:
            return self.centre_tap() - self.lower
        cells = (self.node_count() - 1) * self.stride + 1
        return (self.size - cells) // 2

    def centre(self, position):
        return self.first_centre() + position * self.stride

    def cell(self, position, tap):
        """The source coordinate under a tap, or None in the padding."""
        cell = self.centre(position) - self.centre_tap() + tap
        return cell if 0 <= cell < self.size else None


def neighbourhood(dimensions, position):
    """(tap, source index) of every real cell under the kernel at a position."""
    found = []
    for tap in indices([d.kernel for d in dimensions]):
        cell = tuple(d.cell(p, t) for d, p, t in zip(dimensions, position, tap, strict=True))
        if None not in cell:
            found.append((tap, cell))
    return found


def positions(dimensions):
    return indices([d.node_count() for d in dimensions])


def full(x, weights):
    """Every destination node sums weight times value over every source node."""
    return [sum(w * v for w, v in zip(row, x, strict=True)) for row in weights]


def filtered(x, edges, weights, nodes):
    """Only the pairs whose predicate is true have a weight."""
    result = [0.0] * nodes
    for (destination, source), weight in zip(edges, weights, strict=True):
        result[destination] += weight * x[source]
    return result


def kernel_number(dimensions, maps, position):
    """Mixed radix over dimensions: the map, then the position where nothing is shared."""
    number = 0
    for d, m, p in zip(dimensions, maps, position, strict=True):
        number = number * d.maps + m
        if not d.sharing:
            number = number * d.node_count() + p
    return number


def convolve(x, dimensions, kernels):
    """Each row of ``kernels`` is the weights in row-major order, then the bias."""
    source = np.asarray(x, dtype=float).reshape([d.size for d in dimensions])
    shape = [d.maps * d.node_count() for d in dimensions]
    result = np.zeros(shape)
    strides = np.cumprod([1, *[d.kernel for d in dimensions][:0:-1]])[::-1]
    for maps in indices([d.maps for d in dimensions]):
        for position in positions(dimensions):
            row = kernels[kernel_number(dimensions, maps, position)]
            total = row[-1]
            for tap, cell in neighbourhood(dimensions, position):
                total += row[sum(t * s for t, s in zip(tap, strides, strict=True))] * source[cell]
            place = tuple(
                m * d.node_count() + p for d, m, p in zip(dimensions, maps, position, strict=True)
            )
            result[place] = total
    return result.ravel().tolist()


def pool(x, dimensions, kind):
    """The maximum or the mean of the real cells; cells in the padding are left out."""
    source = np.asarray(x, dtype=float).reshape([d.size for d in dimensions])
    result = []
    for position in positions(dimensions):
        values = [source[cell] for _, cell in neighbourhood(dimensions, position)]
        result.append(max(values) if kind == "max" else sum(values) / len(values))
    return result


def response_norm(x, dimensions, alpha, beta, offset, over_full_kernel):
    """x at the centre times (offset + alpha / N * sum of squares) ^ -beta."""
    source = np.asarray(x, dtype=float).reshape([d.size for d in dimensions])
    result = []
    for position in positions(dimensions):
        near = [source[cell] for _, cell in neighbourhood(dimensions, position)]
        count = math.prod(d.kernel for d in dimensions) if over_full_kernel else len(near)
        base = offset + alpha / count * sum(value**2 for value in near)
        centre = tuple(d.centre(p) for d, p in zip(dimensions, position, strict=True))
        result.append(source[centre] * base**-beta)
    return result


def activation(name, values):
    """The ten functions of the guide, applied to all nodes of a layer."""
    if name == "softmax":
        top = max(values)
        parts = [math.exp(value - top) for value in values]
        return [part / sum(parts) for part in parts]
    single = {
        "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "linear": lambda x: x,
        "rlinear": lambda x: max(0.0, x),
        "square": lambda x: x * x,
        "sqrt": lambda x: math.sqrt(max(0.0, x)),
        "srlinear": lambda x: math.log(1 + math.exp(x)),
        "abs": abs,
        "tanh": math.tanh,
        "brlinear": lambda x: min(1.0, max(0.0, x)),
    }[name]
    return [single(value) for value in values]
