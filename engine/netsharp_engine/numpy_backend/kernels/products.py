"""Matrix products whose columns are samples: forward alone, every sample gets the same bits.

Several kernels of OpenBLAS add up the columns at the edge of a product in another order than those
inside, so that a row's answer would depend on its place among others.  The compiled twin sums every
column from its first term to its last, however many there are.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call, Site

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: As many columns are all summed in one order by every kernel that was tried.
LANES = 16
#: The bytes of a panel's column: rows of a matrix whose numbers lie side by side in the twin.
PANEL_BYTES = 64
#: From so many rows on, a matrix is put into panels for products with few columns.
LEAST_PANEL_ROWS = 4
#: Shapes [rows, depth] and columns of products by which a library shows how it sums.
_PROBES = ((1, 10), (4, 25), (16, 64), (20, 144), (33, 100), (100, 784))
_COLUMNS = (64, 320)


class Product(NamedTuple):
    """The calls of a product: those of each pass, and those for each time weights are loaded."""

    forward: list[Call]
    loaded: list[Call]


def of_columns(
    site: Site, left: Array, right: Array, out: Array, biases: Array | None = None
) -> Product:
    """Return the calls that write left @ right + biases to ``out`` [..., rows, columns].

    ``left`` [..., rows, depth] is contiguous; ``biases`` [..., rows, 1] go with it.
    """
    forward_alone = not site.training
    if twins is not None and forward_alone and (site.fixed or site.samples % LANES == 0):
        return _compiled(site, left, right, out, biases)
    added = [] if biases is None else [partial(np.add, out, biases, out)]
    if not forward_alone or site.samples % LANES or sums_alike(np.dtype(site.dtype).name):
        return Product([partial(np.matmul, left, right, out), *added], [])
    call = partial(np.matmul, left[..., None, :, :], _in_lanes(right), _in_lanes(out))
    return Product([call, *added], [])


def row_counts(most: int) -> tuple[int, ...]:
    """Return for how many rows plans are made, up to ``most``, so that a row's bits stay the same.

    Without the compiled twin there is one: the library sums products of other widths otherwise.
    """
    # Not 1: numpy sums the nodes of a single sample in pairs, those of more one after the other.
    counts = (2, 4, 16, 32) if twins is not None else ()
    return (*(count for count in counts if count < most), most)


def panels(rows: int, depth: int, columns: int, width: int) -> int:
    """Return how many numbers of ``width`` bytes a matrix takes in panels; 0: it stays as it is."""
    lanes = PANEL_BYTES // width
    if twins is None or rows < LEAST_PANEL_ROWS or columns >= lanes:
        return 0
    return -(-rows // lanes) * lanes * depth


def _compiled(site: Site, left: Array, right: Array, out: Array, biases: Array | None) -> Product:
    """Return the calls of the compiled twin."""
    *outer, rows, depth = left.shape
    groups, width = outer[0] if outer else 1, left.itemsize
    columns = right.shape[-1]
    seen, made = _steps(right), _steps(out)
    loaded: list[Call] = []
    in_panels = site.fixed and panels(rows, depth, columns, width) > 0
    given = left
    if in_panels:
        given, loaded = _into_panels(site, left.reshape(groups, rows, depth))
    places = right.shape[-3] if right.ndim > 3 else 1
    sizes = (groups, places, rows, depth, columns, *seen, *made[:3], width, in_panels)
    offsets = None if biases is None else _touched(biases)
    return Product(
        [partial(twins.product, *sizes, given, _touched(right), offsets, _touched(out))], loaded
    )


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


def _into_panels(site: Site, left: Array) -> tuple[Array, list[Call]]:
    """Return matrices [groups, panel, depth, lanes] and the calls that fill them."""
    groups, rows, depth = left.shape
    lanes = PANEL_BYTES // left.itemsize
    whole, rest = divmod(rows, lanes)
    panels = site.scratch(groups, whole + (rest > 0), depth, lanes)
    turned = panels.transpose(0, 1, 3, 2)
    calls: list[Call] = []
    if whole:
        full = left[:, : whole * lanes].reshape(groups, whole, lanes, depth)
        calls.append(partial(np.copyto, turned[:, :whole], full))
    if rest:
        calls.append(partial(np.copyto, turned[:, whole, :rest], left[:, whole * lanes :]))
    return panels, calls


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
