"""How the values of a node lie in memory: an order of its nodes, samples innermost.

A layout factors the row-major node index into dimensions and permutes these; it knows
no operation.
"""

from __future__ import annotations

import numpy as np

from netsharp_engine.kernels.arrays import Array, IntArray


class Layout:
    """``shape`` factors the canonical index; memory axis j holds factor ``order[j]``."""

    __slots__ = ("order", "shape")

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> None:
        self.shape = shape
        self.order = tuple(range(len(shape))) if order is None else order

    @property
    def rows(self) -> IntArray | None:
        """The canonical index of each memory row; None when they are the same."""
        index = np.arange(int(np.prod(self.shape)), dtype=np.intp)
        rows = index.reshape(self.shape).transpose(self.order).ravel()
        return None if np.array_equal(rows, index) else rows

    def view(self, array: Array, shape: tuple[int, ...]) -> Array | None:
        """``array`` [nodes, samples] in this layout as [*shape, samples], canonical.

        None where no view without a copy exists.
        """
        memory = tuple(self.shape[axis] for axis in self.order)
        samples = array.shape[-1]
        spread = array.reshape((*memory, samples))
        back = tuple(int(axis) for axis in np.argsort(self.order))
        seen = spread.transpose((*back, len(back))).reshape((*shape, samples))
        return seen if np.may_share_memory(seen, array) else None

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Whether ``view`` can show this layout as ``shape``."""
        count = int(np.prod(self.shape))
        return self.view(np.empty((count, 2), dtype=np.int8), shape) is not None

    def same(self, other: Layout) -> bool:
        """Whether both put every node on the same row."""
        mine, theirs = self.rows, other.rows
        if mine is None or theirs is None:
            return mine is theirs
        return np.array_equal(mine, theirs)
