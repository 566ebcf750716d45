"""The order in memory of a node's values: its elements permuted, samples innermost.

A layout factors the row-major node index into dimensions and permutes these; it must not know
operations.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import numpy as np

from netsharp_engine.geometry import product
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray


class Layout:
    """``shape`` factors the canonical index; memory axis j holds factor ``order[j]``."""

    __slots__ = ("order", "shape")

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> None:
        self.shape = shape
        self.order = tuple(range(len(shape))) if order is None else order

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """Return extent and canonical step of each memory axis, outermost first, as few as
        possible.

        Two layouts put every element on the same row exactly when these agree.
        """
        steps = [product(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return _joined([(self.shape[axis], steps[axis]) for axis in self.order])

    @property
    def canonical(self) -> bool:
        """Return whether every element is on the row of its canonical index."""
        return len(self.runs) < 2

    @property
    def rows(self) -> IntArray | None:
        """Return the canonical index of each memory row, [nodes]; None when they are the same."""
        if self.canonical:
            return None
        index = np.arange(product(self.shape), dtype=np.intp)
        return index.reshape(self.shape).transpose(self.order).ravel()

    def view(self, array: Array, shape: tuple[int, ...]) -> Array | None:
        """Return ``array`` [nodes, samples] in this layout as [*shape, samples], canonical.

        None where no view without a copy exists.
        """
        memory = tuple(self.shape[axis] for axis in self.order)
        samples = array.shape[-1]
        spread = array.reshape((*memory, samples))
        back = tuple(int(axis) for axis in np.argsort(self.order))
        seen = spread.transpose((*back, len(back))).reshape((*shape, samples))
        return seen if np.may_share_memory(seen, array) else None

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Return whether ``view`` can show this layout as ``shape``: no dimension spans two
        runs.
        """
        steps = {}
        step = 1
        for axis in reversed(self.order):
            steps[axis] = step
            step *= self.shape[axis]
        runs = _joined([(self.shape[axis], steps[axis]) for axis in range(len(self.shape))])
        ends = set(accumulate((extent for extent, _ in runs), mul, initial=1))
        return ends <= set(accumulate(shape, mul, initial=1))

    def same(self, other: Layout) -> bool:
        """Return whether both put every element on the same row."""
        return self.runs == other.runs


def _joined(axes: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return axes of (extent, step), outermost first, with neighbours joined that one step can
    walk.
    """
    found: list[tuple[int, int]] = []
    for extent, step in axes:
        if extent == 1:
            continue
        if found and found[-1][1] == extent * step:
            found[-1] = (found[-1][0] * extent, step)
        else:
            found.append((extent, step))
    return tuple(found)
