"""A row of the table of kernels, the sum that all of them use, and images as some take them: with
samples innermost. It must not know any operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.nodes import Node

Array = npt.NDArray[Any]
Sources = Sequence[Array]
#: The function below np.sum, without its overhead; its overloads accept no variable flag.
_SUMMED: Any = np.add.reduce
Forward = Callable[[Node, Sources], Array]
#: From a node, its sources, its value and the gradient by that to the gradient by one source.
Backward = Callable[[Node, Sources, Array, Array], Array]


class TensorKernel(NamedTuple):
    """One row: ``forward``, and for each source with a gradient the function that computes it.

    The gradient may be larger than the source where that was broadcast; the caller sums it up.
    """

    forward: Forward
    backward: tuple[Backward | None, ...]


class Room:
    """Memory for one array that is kept from one call to the next, and grows; 0 at first."""

    __slots__ = ("_all",)

    def __init__(self) -> None:
        self._all: Array = np.zeros(0)

    def of(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of this shape, uninitialised."""
        count = prod(shape)
        if self._all.size < count or self._all.dtype != kind:
            self._all = np.zeros(count, kind)
        return self._all[:count].reshape(shape)


def total(values: Array, axes: tuple[int, ...] | None = None, keep: bool = False) -> Array:
    """Return sums over ``axes``, in the shape of the others, computed in float64 and rounded to the
    type of the numbers.
    """
    found: Array = np.asarray(_SUMMED(values, axes, np.float64, keepdims=keep))
    return found.astype(values.dtype)


def shown(values: Array, sizes: tuple[int, ...], turned: bool) -> Array:
    """Return the values of a node as [samples, *sizes]."""
    if not turned:
        return values.reshape(len(values), *sizes)
    return np.moveaxis(values.reshape(len(values), *sizes[1:], sizes[0]), -1, 1)


def innermost(values: Array) -> Array:
    """Return [samples, ...] as [..., samples], contiguous along samples."""
    found = np.moveaxis(values, 0, -1)
    beside = found.strides[-1] == found.itemsize
    return found if beside else np.ascontiguousarray(found)


def handed(found: Array, turned: bool) -> Array:
    """Return [..., samples] as the values of a node, one row a sample."""
    values = np.moveaxis(found, -1, 0)
    return np.moveaxis(values, 1, -1) if turned else values
