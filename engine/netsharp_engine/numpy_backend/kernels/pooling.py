"""Numpy kernels of max and mean pools in any number of dimensions; pads are left out."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

from netsharp_engine.numpy_backend.kernels import compiled
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps
from netsharp_engine.walks.taps import pairs, real_cells


def bind_max_pool(site: Site) -> Steps:
    """Bind the largest real cell of each window, [*counts, samples]; its gradient goes to the first
    of equal cells. Source: the Net# guide, pooling bundles.
    """
    if (twin := compiled.bind_pool(site, means=False)) is not None:
        return twin
    axes = site.attributes["axes"]
    shape = tuple(axis.size for axis in axes)
    counts = tuple(axis.count for axis in axes)
    source, out = site.sources[0], site.output
    values, best = source.values(shape), out.values(counts)
    forward: list[Call] = [partial(out.value.fill, -np.inf)]
    for places, cells in pairs(axes):
        forward.append(partial(np.maximum, best[places], values[cells], out=best[places]))
    if source.gradient is None:
        return Steps(forward, [])
    rest, share = site.scratch(*counts, site.samples), site.scratch(*counts, site.samples)
    hit = np.empty(rest.shape, dtype=bool)
    backward: list[Call] = [
        partial(source.gradient.fill, 0),
        partial(np.copyto, rest, out.gradients(counts)),
    ]
    down = source.gradients(shape)
    for places, cells in pairs(axes):
        backward += [
            partial(np.equal, best[places], values[cells], hit[places]),
            partial(np.multiply, rest[places], hit[places], share[places]),
            partial(np.add, down[cells], share[places], down[cells]),
            partial(np.subtract, rest[places], share[places], rest[places]),
        ]
    return Steps(forward, backward)


def max_pool_bytes(draft: Draft) -> int:
    """Return the bytes of a bound max pool's buffers."""
    if (twin := compiled.pool_bytes(draft)) is not None:
        return twin
    return draft.values * (2 * draft.width + 1) if draft.down else 0


def mean_pool_bytes(draft: Draft) -> int:
    """Return the bytes of a bound mean pool's buffers."""
    if (twin := compiled.pool_bytes(draft)) is not None:
        return twin
    return (draft.node.size + (draft.values if draft.down else 0)) * draft.width


def bind_mean_pool(site: Site) -> Steps:
    """Bind the mean of the real cells of each window, [*counts, samples], and its transpose.
    Source: the Net# guide, pooling bundles.
    """
    if (twin := compiled.bind_pool(site, means=True)) is not None:
        return twin
    axes = site.attributes["axes"]
    shape = tuple(axis.size for axis in axes)
    counts = tuple(axis.count for axis in axes)
    source, out = site.sources[0], site.output
    values, mean = source.values(shape), out.values(counts)
    shares = share_per_cell(site)
    forward: list[Call] = [partial(out.value.fill, 0)]
    for places, cells in pairs(axes):
        forward.append(partial(np.add, mean[places], values[cells], mean[places]))
    forward.append(partial(np.multiply, mean, shares, mean))
    if source.gradient is None:
        return Steps(forward, [])
    part = site.scratch(*counts, site.samples)
    backward: list[Call] = [
        partial(np.multiply, out.gradients(counts), shares, part),
        partial(source.gradient.fill, 0),
    ]
    down = source.gradients(shape)
    for places, cells in pairs(axes):
        backward.append(partial(np.add, down[cells], part[places], down[cells]))
    return Steps(forward, backward)


def share_per_cell(site: Site) -> Array:
    """Return one over the number of real cells of each position, [*positions, 1]."""
    lengths = [np.asarray(cells, dtype=np.float64) for cells in real_cells(site.attributes["axes"])]
    counts = reduce(np.multiply.outer, lengths)
    return np.asarray(1.0 / counts, dtype=site.dtype)[..., None]
