"""The compiled twins of pools, response normalisation and slopes: the bits of the numpy kernels.

They take rows of samples in any order of a node's dimensions, and must not know the table of
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from netsharp_engine.geometry import Axis
from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: Three whole numbers of a dimension or a place.
SPAN_BYTES = 24
#: The activations whose slope follows from their output, in the order of twins/plans.c.
SLOPES = ("rlinear", "sigmoid", "tanh")
#: The exponents that a square root or two give, in quarters.
QUARTERS = {0.5: 2, 0.75: 3}


def bind_pool(site: Site, means: bool) -> Steps | None:
    """Bind a max or mean pool; None where there is no twin."""
    if twins is None:
        return None
    axes = site.attributes["axes"]
    source, out = site.sources[0], site.output
    windows = _windows(site, axes, False)
    forward: list[Call] = [partial(twins.plan_pooled, *windows, means, source.value, out.value)]
    if source.gradient is None:
        return Steps(forward, [])
    seen = (None, None) if means else (source.value, out.value)
    back = (means, *seen, out.gradient, source.gradient)
    return Steps(forward, [partial(twins.plan_pooled_back, *windows, *back)])


def takes_norm(beta: float) -> bool:
    """Return whether there is a twin of response normalisation with this exponent."""
    return twins is not None and beta in QUARTERS


def bind_norm(site: Site) -> Steps:
    """Bind a response normalisation that ``takes_norm`` approves of."""
    attributes = site.attributes
    axes = attributes["axes"]
    source, out = site.sources[0], site.output
    whole = prod(axis.kernel for axis in axes) if attributes["over_full_kernel"] else 0
    words = (float(attributes["alpha"]), float(attributes["offset"]), whole)
    windows = (*_windows(site, axes, True), *words, QUARTERS[float(attributes["beta"])])
    bases, powers = site.scratch(*out.value.shape), site.scratch(*out.value.shape)
    kept = (source.value, bases, powers, out.value)
    forward: list[Call] = [partial(twins.plan_normed, *windows, *kept)]
    if source.gradient is None:
        return Steps(forward, [])
    back = (*kept, out.gradient, source.gradient)
    return Steps(forward, [partial(twins.plan_normed_back, *windows, *back)])


def pool_bytes(draft: Draft) -> int | None:
    """Return the bytes of the tables of a pool's twin; None where there is no twin."""
    return None if twins is None else _table_bytes(draft)


def norm_bytes(draft: Draft) -> int:
    """Return the bytes of the buffers of response normalisation's twin."""
    return 2 * draft.values * draft.width + _table_bytes(draft)


def _table_bytes(draft: Draft) -> int:
    axes: Sequence[Axis] = draft.node.attributes["axes"]
    return SPAN_BYTES * (sum(axis.count for axis in axes) + len(axes))


def slope(function: str, dtype: Any) -> Callable[..., object] | None:
    """Return the call (output, gradient, out) that passes a gradient on; None without a twin."""
    if twins is None or function not in SLOPES:
        return None
    return partial(twins.plan_sloped, np.dtype(dtype).itemsize, SLOPES.index(function))


def _windows(site: Site, axes: Sequence[Axis], centred: bool) -> tuple[object, ...]:
    """Return the bytes of a number, samples, dimensions and spans, as plans.c reads them."""
    values = site.sources[0].values(tuple(axis.size for axis in axes))
    places = site.output.values(tuple(axis.count for axis in axes))
    order = _walked(axes, places)
    table = [(axes[number].count, _step(places, number), _step(values, number)) for number in order]
    spans = [
        _span(axes[number], position, centred)
        for number in order
        for position in range(axes[number].count)
    ]
    return (
        values.itemsize,
        site.samples,
        np.array(table, dtype=np.int64),
        np.array(spans, dtype=np.int64),
    )


def _walked(axes: Sequence[Axis], places: Array) -> list[int]:
    """Return in which order to walk dimensions: as they lie in memory, where that keeps the bits.

    A cell gets its parts from windows that differ in dimensions of several cells: these stay in
    their order among each other.
    """
    memory = sorted(range(len(axes)), key=lambda number: -_step(places, number))
    wide = [number for number in memory if axes[number].kernel > 1]
    return memory if wide == sorted(wide) else list(range(len(axes)))


def _step(array: Array, dimension: int) -> int:
    """Return the stride of a dimension in elements, 0 for a dimension of length 1."""
    return int(array.strides[dimension] // array.itemsize) if array.shape[dimension] > 1 else 0


def _span(axis: Axis, position: int, centred: bool) -> tuple[int, int, int]:
    """Return the first real cell of a window, the one after its last, and its centre."""
    cells = axis.cells(position)
    centre = axis.centre(position) if centred else 0
    return (cells.start, cells.stop, centre) if cells else (0, 0, centre)
