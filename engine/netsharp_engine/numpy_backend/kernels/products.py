"""Matrix products whose columns are samples: forward alone, every sample gets the same bits.

Several kernels of OpenBLAS add up the columns at the edge of a product in another order than those
inside, so that a row's answer would depend on its place among others.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call, Site

#: As many columns are all summed in one order by every kernel that was tried.
LANES = 16
#: Shapes [rows, depth] and columns of products by which a library shows how it sums.
_PROBES = ((1, 10), (4, 25), (16, 64), (20, 144), (33, 100), (100, 784))
_COLUMNS = (64, 320)


def of_columns(site: Site, left: Array, right: Array, out: Array) -> Call:
    """The call that writes left @ right [..., rows, columns] to `out`."""
    lanes = site.samples % LANES == 0 and not site.training
    if not lanes or sums_alike(np.dtype(site.dtype).name):
        return partial(np.matmul, left, right, out)
    return partial(np.matmul, left[..., None, :, :], _in_lanes(right), _in_lanes(out))


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
