"""What a row of the table of kernels is, and the sum that all of them use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.nodes import Node

Array = npt.NDArray[Any]
Sources = Sequence[Array]
Forward = Callable[[Node, Sources], Array]
#: From a node, its sources, its value and the gradient by that to the gradient by one source.
Backward = Callable[[Node, Sources, Array, Array], Array]


class TensorKernel(NamedTuple):
    """One row: ``forward``, and for each source that has a gradient how it comes back.

    What ``backward`` gives may be larger than the source where that was broadcast; whoever asks
    sums it up.
    """

    forward: Forward
    backward: tuple[Backward | None, ...]


class Room:
    """Memory for one array that is kept from one call to the next, and grows; 0 at first."""

    __slots__ = ("_all",)

    def __init__(self) -> None:
        self._all: Array = np.zeros(0)

    def of(self, shape: tuple[int, ...], kind: Any) -> Array:
        """An array of this shape: whatever stood there before."""
        count = 1
        for one in shape:
            count *= one
        if self._all.size < count or self._all.dtype != kind:
            self._all = np.zeros(count, kind)
        return self._all[:count].reshape(shape)


def total(values: Array, axes: tuple[int, ...] | None = None, keep: bool = False) -> Array:
    """Sums in float64, rounded to the type of the numbers."""
    found: Array = np.asarray(np.sum(values, axes, np.float64, keepdims=keep))
    return found.astype(values.dtype)
