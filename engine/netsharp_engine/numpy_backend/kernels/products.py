"""Matrix products of plans, by a compiled twin or by numpy's library, whichever is faster.

The twin sums every number from its first term to its last, however many columns there are; of n
terms it is off by at most n + 2 halves of the last place of the sum of their sizes.  Several
kernels of OpenBLAS add up the columns at the edge of a product in another order than those inside,
so that a row's answer would depend on its place among others: forward alone, it must not.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.functions import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.site import Call, Site

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: Bytes of a vector from which the twin is faster than the libraries that were tried.
WIDE = 64
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
    alike = not site.training and site.samples % LANES == 0
    if takes(right.shape[-1]) or (alike and twins is not None):
        return [compiled(left, right, out, biases)]
    added = [] if biases is None else [partial(np.add, out, biases, out)]
    if not alike or sums_alike(np.dtype(site.dtype).name):
        return [partial(np.matmul, left, right, out), *added]
    call = partial(np.matmul, left[..., None, :, :], _in_lanes(right), _in_lanes(out))
    return [call, *added]


def has_twin() -> bool:
    """Return whether a compiler took the twin when this was installed."""
    return twins is not None


def takes(columns: int) -> bool:
    """Return whether the twin multiplies ``columns`` columns; for one, a library is faster."""
    return twins is not None and twins.VECTOR >= WIDE and columns > 1


def product(left: Array, right: Array, out: Array) -> Call:
    """Return the call that writes left [m, k] @ right [k, n], in any order of memory and of one
    dtype, to ``out`` [m, n].
    """
    if takes(right.shape[-1]):
        return compiled(left, right, out)
    return partial(np.multiply if right.shape[-2] == 1 else np.matmul, left, right, out)


class Product(partial[None]):
    """A call of the twin; ``out`` is where it writes."""

    out: Array
    adds: bool

    def touches(self) -> list[Array]:
        """Return all arrays that it reads or writes."""
        return [one for one in self.args[-4:] if one is not None]

    def ended(self, biases: Array | None, function: str = "") -> Product | None:
        """Return the call that then adds biases [rows, 1] and applies an activation.

        None where it does so already, or cannot.
        """
        *sizes, kind, lanes, width, left, right, known, out = self.args
        groups, places = sizes[:2]
        if self.adds or kind or (biases is not None and (known is not None or groups * places > 1)):
            return None
        if function == "softmax":  # It is one of columns, not of all numbers.
            return None
        found = Product(
            self.func,
            *sizes,
            FUNCTIONS.index(function) + 1 if function else 0,
            lanes,
            width,
            left,
            right,
            known if biases is None else _touched(biases),
            out,
        )
        found.out, found.adds = self.out, False
        return found


def compiled(
    left: Array,
    right: Array,
    out: Array,
    biases: Array | None = None,
    *,
    adds: bool = False,
    lanes: bool = False,
) -> Product:
    """Return the call of the twin that writes left @ right + biases to ``out``, or adds it to that.

    Arrays are [rows, columns], [groups, rows, columns] or [groups, places, rows, columns]; the
    columns of ``out`` lie side by side.  Places that lie on one another there are summed up;
    ``lanes``: they do, terms lie side by side on both sides, and sums may be of each lane first.
    """
    groups, places = (1, 1, *right.shape[:-2])[-2:] if right.ndim != 3 else (right.shape[0], 1)
    *_, rows, depth = left.shape
    sizes = (groups, places, rows, depth, right.shape[-1])
    steps = (*_steps(left), *_steps(right), *_steps(out)[:3])
    offsets = None if biases is None else _touched(biases)
    arrays = (_touched(left), _touched(right), offsets, _touched(out))
    found = Product(twins.product, *sizes, *steps, adds, 0, lanes, left.itemsize, *arrays)
    found.out = out
    found.adds = adds or lanes or out.shape[:-2] != right.shape[:-2]
    return found


def _steps(array: Array) -> tuple[int, int, int, int]:
    """Return the strides of groups, places, rows and columns, in elements."""
    size = array.itemsize
    steps = zip(array.shape, array.strides, strict=True)
    *outer, row, column = [0 if count == 1 else step // size for count, step in steps]
    group, place = (*outer, 0, 0)[:2]
    return group, place, row, column or 1


def _touched(array: Array) -> Array:
    """Return the numbers from an array's first to its last as one vector, without a copy."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array.ravel("K")
    sizes = zip(array.shape, array.strides, strict=True)
    last = sum((count - 1) * step for count, step in sizes)
    return np.lib.stride_tricks.as_strided(array, (last // array.itemsize + 1,), (array.itemsize,))


@lru_cache(maxsize=2)
def sums_alike(dtype: str) -> bool:
    """Return whether products of this machine's library give equal columns equal results."""
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
    """Return a view [..., columns / LANES, rows, LANES] of an array [..., rows, columns]."""
    *outer, rows, columns = array.shape
    *steps, row, item = array.strides
    shape = (*outer, columns // LANES, rows, LANES)
    return np.lib.stride_tricks.as_strided(array, shape, (*steps, LANES * item, row, item))
