"""Matrix products whose columns are samples: forward alone, every sample gets the same bits.

Several kernels of OpenBLAS add up the columns at the edge of a product in another order than those
inside, so that a row's answer would depend on its place among others.  The compiled twin sums every
column from its first term to its last, however many there are.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call, Site

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: As many columns are all summed in one order by every kernel that was tried.
LANES = 16
#: Shapes [rows, depth] and columns of products by which a library shows how it sums.
_PROBES = ((1, 10), (4, 25), (16, 64), (20, 144), (33, 100), (100, 784))
_COLUMNS = (64, 320)


def of_columns(
    site: Site, left: Array, right: Array, out: Array, biases: Array | None = None
) -> list[Call]:
    """Return the calls that write left @ right + biases to ``out`` [..., rows, columns].

    ``left`` [..., rows, depth] is contiguous; ``biases`` [..., rows, 1] go with it.
    """
    forward_alone = not site.training
    if twins is not None and forward_alone and site.samples % LANES == 0:
        return [_compiled(left, right, out, biases)]
    added = [] if biases is None else [partial(np.add, out, biases, out)]
    if not forward_alone or site.samples % LANES or sums_alike(np.dtype(site.dtype).name):
        return [partial(np.matmul, left, right, out), *added]
    call = partial(np.matmul, left[..., None, :, :], _in_lanes(right), _in_lanes(out))
    return [call, *added]


def _compiled(left: Array, right: Array, out: Array, biases: Array | None) -> Call:
    """Return the call of the compiled twin."""
    *outer, rows, depth = left.shape
    groups, columns = outer[0] if outer else 1, right.shape[-1]
    places = right.shape[-3] if right.ndim > 3 else 1
    sizes = (groups, places, rows, depth, columns, *_steps(right), *_steps(out)[:3], left.itemsize)
    offsets = None if biases is None else _touched(biases)
    return partial(twins.product, *sizes, left, _touched(right), offsets, _touched(out))


def _steps(array: Array) -> tuple[int, int, int, int]:
    """Return how many numbers on the next group, place, row and column are."""
    *outer, row, column = (step // array.itemsize for step in array.strides)
    group, place = (*outer, 0, 0)[:2]
    return group, place, row, column


def _touched(array: Array) -> Array:
    """Return the numbers from an array's first to its last as one vector, without a copy."""
    sizes = zip(array.shape, array.strides, strict=True)
    last = sum((count - 1) * step for count, step in sizes)
    return np.lib.stride_tricks.as_strided(array, (last // array.itemsize + 1,), (array.itemsize,))


@lru_cache(maxsize=2)
def sums_alike(dtype: str) -> bool:
    """Whether products of this machine's library give equal columns equal results."""
    random = np.random.default_rng(1)
    for rows, depth in _PROBES:
        left = random.standard_normal((rows, depth)).astype(dtype)
        column = random.standard_normal((depth, 1)).astype(dtype)
        for columns in _COLUMNS:
            found = left @ np.repeat(column, columns, axis=1)
            if (found != found[:, :1]).any():
                return False
    return True


def _in_lanes(array: Array) -> Array:
    """A view [..., columns / LANES, rows, LANES] of an array [..., rows, columns]."""
    *outer, rows, columns = array.shape
    *steps, row, item = array.strides
    shape = (*outer, columns // LANES, rows, LANES)
    return np.lib.stride_tricks.as_strided(array, shape, (*steps, LANES * item, row, item))
