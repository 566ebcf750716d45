"""Networks as plain loops, forwards and backwards, from the words of the guide and its reading.

Independent of the engine: no import of it, float64, dictionaries of index tuples. A value is a
number, or an array with one for each sample. Slow and obvious on purpose.
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


def grid(x, sizes):
    """The values of a layer by their index tuples."""
    values = np.asarray(x, dtype=float)
    return values.reshape([*sizes, *values.shape[1:]])


def flat(values, dimensions):
    """The list of a grid's values, last index fastest."""
    return list(values.reshape(-1, *values.shape[len(dimensions) :]))


def tap_number(dimensions, tap):
    """The index of a tap's weight in its kernel: row-major."""
    number = 0
    for d, t in zip(dimensions, tap, strict=True):
        number = number * d.kernel + t
    return number


def destination(dimensions, maps, position):
    """Per dimension, maps follow each other in blocks of positions."""
    return tuple(m * d.node_count() + p for d, m, p in zip(dimensions, maps, position, strict=True))


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
    source = grid(x, [d.size for d in dimensions])
    shape = [d.maps * d.node_count() for d in dimensions]
    result = np.zeros([*shape, *source.shape[len(shape) :]])
    for maps in indices([d.maps for d in dimensions]):
        for position in positions(dimensions):
            row = kernels[kernel_number(dimensions, maps, position)]
            total = row[-1]
            for tap, cell in neighbourhood(dimensions, position):
                total = total + row[tap_number(dimensions, tap)] * source[cell]
            result[destination(dimensions, maps, position)] = total
    return flat(result, dimensions)


def pool(x, dimensions, kind):
    """The maximum or the mean of the real cells; cells in the padding are left out."""
    source = grid(x, [d.size for d in dimensions])
    result = []
    for position in positions(dimensions):
        values = [source[cell] for _, cell in neighbourhood(dimensions, position)]
        result.append(np.max(values, axis=0) if kind == "max" else sum(values) / len(values))
    return result


def response_norm(x, dimensions, alpha, beta, offset, over_full_kernel):
    """x at the centre times (offset + alpha / N * sum of squares) ^ -beta."""
    source = grid(x, [d.size for d in dimensions])
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
        top = np.max(values, axis=0)
        parts = [np.exp(value - top) for value in values]
        return [part / sum(parts) for part in parts]
    single = {
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "linear": lambda x: x,
        "rlinear": lambda x: np.maximum(0.0, x),
        "square": lambda x: x * x,
        "sqrt": lambda x: np.sqrt(np.maximum(0.0, x)),
        "srlinear": lambda x: np.log(1 + np.exp(x)),
        "abs": np.abs,
        "tanh": np.tanh,
        "brlinear": lambda x: np.minimum(1.0, np.maximum(0.0, x)),
    }[name]
    return [single(value) for value in values]


# The same backwards: given the gradient by the outputs of a function, those by its arguments.
# Gradients by values are as many as the values; those by weights are sums over the samples.


def over_samples(left, right):
    return float(np.sum(left * right))


def full_back(x, weights, given):
    by_x = [sum(row[j] * g for row, g in zip(weights, given, strict=True)) for j in range(len(x))]
    return by_x, [[over_samples(g, v) for v in x] for g in given]


def filtered_back(x, edges, weights, given):
    by_x = [0.0 * v for v in x]
    by_weights = []
    for (destination, source), weight in zip(edges, weights, strict=True):
        by_x[source] = by_x[source] + weight * given[destination]
        by_weights.append(over_samples(given[destination], x[source]))
    return by_x, by_weights


def convolve_back(x, dimensions, kernels, given):
    source = grid(x, [d.size for d in dimensions])
    above = grid(given, [d.maps * d.node_count() for d in dimensions])
    by_x, by_kernels = np.zeros_like(source), np.zeros_like(kernels)
    for maps in indices([d.maps for d in dimensions]):
        for position in positions(dimensions):
            number = kernel_number(dimensions, maps, position)
            g = above[destination(dimensions, maps, position)]
            by_kernels[number, -1] += np.sum(g)
            for tap, cell in neighbourhood(dimensions, position):
                place = tap_number(dimensions, tap)
                by_kernels[number, place] += over_samples(g, source[cell])
                by_x[cell] += kernels[number][place] * g
    return flat(by_x, dimensions), by_kernels


def pool_back(x, dimensions, kind, given):
    """The first of equal largest cells takes the gradient of a maximum."""
    source = grid(x, [d.size for d in dimensions])
    by_x = np.zeros_like(source)
    for position, g in zip(positions(dimensions), given, strict=True):
        cells = [cell for _, cell in neighbourhood(dimensions, position)]
        values = np.array([source[cell] for cell in cells])
        for number, cell in enumerate(cells):
            share = values.argmax(axis=0) == number if kind == "max" else 1 / len(cells)
            by_x[cell] += g * share
    return flat(by_x, dimensions)


def response_norm_back(x, dimensions, alpha, beta, offset, over_full_kernel, given):
    """y = x b^-beta: the centre through x, every cell near it through b."""
    source = grid(x, [d.size for d in dimensions])
    by_x = np.zeros_like(source)
    for position, g in zip(positions(dimensions), given, strict=True):
        cells = [cell for _, cell in neighbourhood(dimensions, position)]
        count = math.prod(d.kernel for d in dimensions) if over_full_kernel else len(cells)
        base = offset + alpha / count * sum(source[cell] ** 2 for cell in cells)
        centre = tuple(d.centre(p) for d, p in zip(dimensions, position, strict=True))
        by_base = -beta * g * source[centre] * base ** (-beta - 1)
        by_x[centre] += g * base**-beta
        for cell in cells:
            by_x[cell] += by_base * 2 * alpha / count * source[cell]
    return flat(by_x, dimensions)


def activation_back(name, x, y, given):
    if name == "softmax":
        total = sum(g * value for g, value in zip(given, y, strict=True))
        return [(g - total) * value for g, value in zip(given, y, strict=True)]
    slope = {
        "sigmoid": lambda x, y: y * (1 - y),
        "linear": lambda x, y: 1.0,
        "rlinear": lambda x, y: x > 0,
        "square": lambda x, y: 2 * x,
        "sqrt": lambda x, y: np.where(x > 0, 0.5 / np.maximum(y, 1e-10), 0.0),
        "srlinear": lambda x, y: 1 / (1 + np.exp(-x)),
        "abs": lambda x, y: np.sign(x),
        "tanh": lambda x, y: 1 - y * y,
        "brlinear": lambda x, y: (x > 0) & (x < 1),
    }[name]
    return [g * slope(a, b) for g, a, b in zip(given, x, y, strict=True)]
