"""Numpy kernel of response normalisation in any number of dimensions."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from netsharp_engine.numpy_backend.kernels import compiled
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.pooling import share_per_cell
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps
from netsharp_engine.walks.taps import centres, pairs


def bind_norm(site: Site) -> Steps:
    """Bind y = x (offset + alpha / N * sum of squares)^-beta, x at the kernel's centre, [*counts,
    samples]. Source: the Net# guide, response normalisation bundles.
    """
    if compiled.takes_norm(float(site.attributes["beta"])):
        return compiled.bind_norm(site)
    norm = _Norm(site)
    return Steps(norm.forward(), norm.backward() if site.sources[0].gradient is not None else [])


def norm_bytes(draft: Draft) -> int:
    """Return the bytes of a bound response norm's buffers."""
    if compiled.takes_norm(float(draft.node.attributes["beta"])):
        return compiled.norm_bytes(draft)
    over_all = draft.node.attributes["over_full_kernel"]
    factors = 1 if over_all else draft.node.size
    count = 2 * draft.values + draft.read + factors
    count += draft.values + draft.read + factors if draft.down else 0
    return count * draft.width


class _Norm:
    """The buffers of one bound response norm: ``base`` and ``power`` outlive the forward."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.axes = site.attributes["axes"]
        self.shape = tuple(axis.size for axis in self.axes)
        self.counts = tuple(axis.count for axis in self.axes)
        self.values = site.sources[0].values(self.shape)
        self.made = site.output.values(self.counts)
        self.base = site.scratch(*self.counts, site.samples)
        self.power = site.scratch(*self.counts, site.samples)
        self.factors = _factors(site, float(site.attributes["alpha"]))
        self.beta = float(site.attributes["beta"])

    def forward(self) -> list[Call]:
        base, squares = self.base, self.site.scratch(*self.shape, self.site.samples)
        offset = self.site.dtype(self.site.attributes["offset"])
        calls: list[Call] = [
            partial(np.multiply, self.values, self.values, squares),
            partial(base.fill, 0),
        ]
        for places, cells in pairs(self.axes):
            calls.append(partial(np.add, base[places], squares[cells], base[places]))
        return [
            *calls,
            partial(np.multiply, base, self.factors, base),
            partial(np.add, base, offset, base),
            *_power(base, self.beta, self.power, self.made),
            partial(np.multiply, self.values[centres(self.axes)], self.power, self.made),
        ]

    def backward(self) -> list[Call]:
        """Return the calls of the gradient: of every cell through the sums that it is part of, and
        of the centre itself.
        """
        site = self.site
        error = site.output.gradients(self.counts)
        down = site.sources[0].gradients(self.shape)
        part = site.scratch(*self.counts, site.samples)
        pull = site.scratch(*self.shape, site.samples)
        middle = down[centres(self.axes)]
        calls: list[Call] = [
            partial(np.multiply, error, self.made, part),
            partial(np.divide, part, self.base, part),
            partial(np.multiply, part, self.factors * site.dtype(-2 * self.beta), part),
            partial(pull.fill, 0),
        ]
        for places, cells in pairs(self.axes):
            calls.append(partial(np.add, pull[cells], part[places], pull[cells]))
        return [
            *calls,
            partial(np.multiply, pull, self.values, down),
            partial(np.multiply, error, self.power, part),
            partial(np.add, middle, part, middle),
        ]


def _factors(site: Site, alpha: float) -> Array:
    """Return alpha over N: the number of real cells of each position, or of the whole kernel."""
    if not site.attributes["over_full_kernel"]:
        return np.asarray(share_per_cell(site) * site.dtype(alpha))
    kernel = prod(axis.kernel for axis in site.attributes["axes"])
    return np.asarray(site.dtype(alpha / kernel))


def _power(base: Array, beta: float, power: Array, spare: Array) -> list[Call]:
    """Compute power = base^-beta; quarters by square roots, which are far cheaper than power."""
    if beta == 0.5:
        return [partial(np.sqrt, base, power), partial(np.reciprocal, power, power)]
    if beta == 0.75:  # the usual one, as in Krizhevsky et al. (2012)
        return [
            partial(np.sqrt, base, spare),
            partial(np.sqrt, spare, power),
            partial(np.multiply, power, spare, power),
            partial(np.reciprocal, power, power),
        ]
    return [partial(np.power, base, base.dtype.type(-beta), power)]
