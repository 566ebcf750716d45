"""Numpy kernel of response normalisation in any number of dimensions."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from netsharp_engine.kernels.arrays import Array
from netsharp_engine.kernels.pooling import share_per_cell
from netsharp_engine.kernels.site import Call, Site, Steps
from netsharp_engine.kernels.taps import centres, pairs


def bind_norm(site: Site) -> Steps:
    """y = x (offset + alpha / N * sum of squares)^-beta, x at the kernel's centre."""
    axes = site.attributes["axes"]
    alpha, beta = float(site.attributes["alpha"]), float(site.attributes["beta"])
    shape = tuple(axis.size for axis in axes)
    counts = tuple(axis.count for axis in axes)
    source, out = site.sources[0], site.output
    values, made = source.values(shape), out.values(counts)
    taps, middle = list(pairs(axes)), centres(axes)
    squares = site.scratch(*shape, site.samples)
    base, power = site.scratch(*counts, site.samples), site.scratch(*counts, site.samples)
    factors = _factors(site, alpha)
    forward: list[Call] = [partial(np.multiply, values, values, squares), partial(base.fill, 0)]
    for places, cells in taps:
        forward.append(partial(np.add, base[places], squares[cells], base[places]))
    forward += [
        partial(np.multiply, base, factors, base),
        partial(np.add, base, site.dtype(site.attributes["offset"]), base),
        *_power(base, beta, power, made),
        partial(np.multiply, values[middle], power, made),
    ]
    if source.gradient is None:
        return Steps(forward, [])
    error, down = out.gradients(counts), source.gradients(shape)
    part, pull = site.scratch(*counts, site.samples), site.scratch(*shape, site.samples)
    backward: list[Call] = [
        partial(np.multiply, error, made, part),
        partial(np.divide, part, base, part),
        partial(np.multiply, part, factors * site.dtype(-2 * beta), part),
        partial(pull.fill, 0),
    ]
    for places, cells in taps:
        backward.append(partial(np.add, pull[cells], part[places], pull[cells]))
    backward += [
        partial(np.multiply, pull, values, down),
        partial(np.multiply, error, power, part),
        partial(np.add, down[middle], part, down[middle]),
    ]
    return Steps(forward, backward)


def _factors(site: Site, alpha: float) -> Array:
    """Alpha over N: the real cells of each position, or the whole kernel."""
    if not site.attributes["over_full_kernel"]:
        return np.asarray(share_per_cell(site) * site.dtype(alpha))
    kernel = prod(axis.kernel for axis in site.attributes["axes"])
    return np.asarray(site.dtype(alpha / kernel))


def _power(base: Array, beta: float, power: Array, spare: Array) -> list[Call]:
    """power = base^-beta; quarters by square roots, which are far cheaper than power."""
    if beta == 0.5:
        return [partial(np.sqrt, base, power), partial(np.reciprocal, power, power)]
    if beta == 0.75:
        return [
            partial(np.sqrt, base, spare),
            partial(np.sqrt, spare, power),
            partial(np.multiply, power, spare, power),
            partial(np.reciprocal, power, power),
        ]
    return [partial(np.power, base, base.dtype.type(-beta), power)]
