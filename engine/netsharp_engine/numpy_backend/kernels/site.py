"""The arguments of a kernel when it is bound to its buffers, and its result.

A site is one node of one plan; kernels know sites and must not know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array, aligned
from netsharp_engine.numpy_backend.kernels.layout import Layout

if TYPE_CHECKING:
    from netsharp_engine.dropping import Draw
    from netsharp_engine.graph import Node

Call = Callable[[], object]


class Tensor:
    """The values of a node, [nodes, samples] in ``layout``, and their gradient if needed."""

    __slots__ = ("gradient", "layout", "value")

    def __init__(self, value: Array, gradient: Array | None, layout: Layout) -> None:
        self.value = value
        self.gradient = gradient
        self.layout = layout

    def values(self, shape: tuple[int, ...]) -> Array:
        """Return the values as [*shape, samples], canonical order, without a copy."""
        return _shown(self.layout, self.value, shape)

    def gradients(self, shape: tuple[int, ...]) -> Array:
        """Return the gradient as [*shape, samples], canonical order, without a copy."""
        assert self.gradient is not None
        return _shown(self.layout, self.gradient, shape)


def _shown(layout: Layout, array: Array, shape: tuple[int, ...]) -> Array:
    view = layout.view(array, shape)
    assert view is not None, "the plan chose a layout that this kernel cannot view"
    return view


class Slot(NamedTuple):
    """A parameter's slice of the flat vector, in plan order, and where its gradient goes."""

    value: Array
    gradient: Array | None


class Site:
    """One node's buffers.

    A source whose ``gradient`` is None needs none. Kernels overwrite gradients; where several
    consumers add to one, the plan gives each its own buffer. ``scratch`` memory is kept between
    calls and not shared.
    """

    __slots__ = ("attributes", "dtype", "output", "samples", "slots", "sources")

    def __init__(
        self,
        attributes: Mapping[str, Any],
        sources: tuple[Tensor, ...],
        output: Tensor,
        slots: tuple[Slot, ...],
        dtype: Any,
        samples: int,
    ) -> None:
        self.attributes = attributes
        self.sources = sources
        self.output = output
        self.slots = slots
        self.dtype = dtype
        self.samples = samples

    @property
    def training(self) -> bool:
        """Return whether the backward calls will be used."""
        return self.output.gradient is not None

    def scratch(self, *shape: int) -> Array:
        """Return a new array [*shape] of zeros, cache-line aligned, of the plan's dtype."""
        return aligned(shape, self.dtype)


class Draft(NamedTuple):
    """A site before it has memory: what a kernel computes its needs from.

    ``learns``: the output has a gradient; ``down``: the first source wants one.  ``width`` is the
    bytes of a number.
    """

    node: Node
    source: Layout
    output: Layout
    samples: int
    learns: bool
    down: bool
    width: int

    @property
    def values(self) -> int:
        """Return the number of elements of the output."""
        return self.node.size * self.samples

    @property
    def read(self) -> int:
        """Return the number of elements of the first source."""
        return self.node.inputs[0].size * self.samples


class Steps(NamedTuple):
    """Bound calls without arguments, in order of execution.

    A site that drops takes what decides the mask of each batch, or None, and how many samples that
    has, by ``masked``.
    """

    forward: list[Call]
    backward: list[Call]
    masked: Callable[[Draw | None, int], object] | None = None


def ones(site: Site, count: int) -> Array:
    """Return a column of ones, [count], for sums by matrix product."""
    column = site.scratch(count)
    column.fill(1)
    return column


def index(values: Any) -> Array:
    """Return whole numbers as an index array of their shape."""
    return np.asarray(values, dtype=np.intp)
