"""Bundles into a layer: which values each node reads, and what is made of them with weights.

The same for weights and values of any kind of numbers.  Knows no schemes, no operators and no
device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_engine.geometry import Axis

    Numbers = npt.NDArray[Any]
    Places = npt.NDArray[np.int64]

#: The most numbers of windows that are laid out at once: 32 MiB of float64.
_AT_ONCE = 1 << 22


class ReadValues(NamedTuple):
    """Values that a bundle reads: the number of the operand (0 the features, then the layers in
    order), the first of its values, and how many.
    """

    operand: int
    first: int
    size: int


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """One dimension of a window's way: cells of the source, cells of the window, how far it moves,
    its first cell at the first position (negative in a pad), and how many positions there are.
    """

    size: int
    kernel: int
    stride: int
    first: int
    count: int

    @property
    def covered(self) -> int:
        """Return the number of cells from the start of the first window to the end of the last."""
        return (self.count - 1) * self.stride + self.kernel

    @property
    def padded(self) -> bool:
        """Return whether a window reaches beyond the source."""
        return self.first < 0 or self.first + self.covered > self.size

    @property
    def steady(self) -> bool:
        """Return whether each window is the one cell of its own position."""
        return (self.kernel, self.stride, self.first, self.count) == (1, 1, 0, self.size)

    def taps(self, position: int) -> tuple[int, int]:
        """Return the first cell of the window at a position that is inside the source, and the end
        (exclusive) of those cells.
        """
        start = self.first + position * self.stride
        return max(0, -start), min(self.kernel, self.size - start)


def window_axes(axes: Sequence[Axis]) -> tuple[WindowAxis, ...]:
    """Return the figures of the engine's axes."""
    return tuple(WindowAxis(one.size, one.kernel, one.stride, one.first, one.count) for one in axes)


@dataclass(frozen=True, slots=True, eq=False)
class FullBundle:
    """A bundle in which each node reads all values; weights are [nodes, values]."""

    source: ReadValues
    nodes: int
    kind: ClassVar[str] = "full"
    #: Whether all values must be codes of one scheme.
    alike: ClassVar[bool] = False

    @property
    def edges(self) -> int:
        """Return the number of pairs of a node and a value."""
        return self.nodes * self.source.size

    @property
    def owners(self) -> Places:
        """Return the node of each weight [nodes, 1], which broadcasts to the weights."""
        return np.arange(self.nodes)[:, None]

    @property
    def places(self) -> Places:
        """Return the value of each weight [1, values], which broadcasts to the weights."""
        return np.arange(self.source.size)[None]

    @property
    def groups(self) -> Places:
        """Return for each node the number of the group that shares its weights [nodes]."""
        return np.arange(self.nodes)

    def sums(self, values: Numbers, weights: Numbers) -> Numbers:
        """Return the sums of products [rows, nodes] of values [rows, values]."""
        found: Numbers = values @ weights.T
        return found


@dataclass(frozen=True, slots=True, eq=False)
class FilteredBundle:
    """Pairs of a node and a value, by node, each with a weight: weights are [pairs]."""

    source: ReadValues
    nodes: int
    owners: Places
    places: Places
    kind: ClassVar[str] = "filtered"
    alike: ClassVar[bool] = False

    @property
    def edges(self) -> int:
        """Return the number of pairs of a node and a value."""
        return len(self.owners)

    @property
    def groups(self) -> Places:
        """Return for each node the number of the group that shares its weights [nodes]."""
        return np.arange(self.nodes)

    @property
    def ends(self) -> Places:
        """Return for each node the number of pairs up to and including its last [nodes]."""
        return np.cumsum(np.bincount(self.owners, minlength=self.nodes))

    def sums(self, values: Numbers, weights: Numbers) -> Numbers:
        """Return the sums of products [rows, nodes] of values [rows, values]."""
        found = np.zeros((len(values), self.nodes), np.result_type(values, weights))
        read = np.unique(self.owners)
        starts = np.searchsorted(self.owners, read)
        if len(starts):
            for rows in _parts(len(values), self.edges):
                products = values[rows][:, self.places] * weights
                found[rows, read] = np.add.reduceat(products, starts, axis=1)
        return found

    def without(self, dropped: npt.NDArray[np.bool_]) -> FilteredBundle:
        """Return the bundle without some of its pairs [pairs]."""
        kept = ~dropped
        return FilteredBundle(self.source, self.nodes, self.owners[kept], self.places[kept])


@dataclass(frozen=True, slots=True, eq=False)
class ConvolvedBundle:
    """Windows of values with the weights of a kernel, over all maps; what lies beyond the source is
    0.  Weights are [kernels, cells of a window], the kernels by map and, where positions share
    none, by position, dimension after dimension.
    """

    source: ReadValues
    axes: tuple[WindowAxis, ...]
    sharing: tuple[bool, ...]
    maps: tuple[int, ...]
    kind: ClassVar[str] = "convolved"
    alike: ClassVar[bool] = True

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return prod(self.maps) * prod(one.count for one in self.axes)

    @property
    def kernels(self) -> int:
        """Return the number of kernels."""
        return prod(prod(one) for one in self.radix)

    @property
    def taps(self) -> int:
        """Return the number of cells of a window."""
        return prod(one.kernel for one in self.axes)

    @property
    def edges(self) -> int:
        """Return the number of pairs of a node and a value."""
        return prod(self.maps) * prod(int(_real(one).sum()) for one in self.axes)

    @property
    def padded(self) -> bool:
        """Return whether a window reaches beyond the source."""
        return any(one.padded for one in self.axes)

    @property
    def radix(self) -> list[tuple[int, int]]:
        """Return for each dimension its maps, and its positions if these have kernels of their own,
        else 1.
        """
        return [
            (maps, 1 if shared else one.count)
            for one, shared, maps in zip(self.axes, self.sharing, self.maps, strict=True)
        ]

    @property
    def owners(self) -> Places:
        """Return the first node of each kernel [kernels, 1], which broadcasts to the weights."""
        _, first = np.unique(self.groups, return_index=True)
        return first[:, None]

    @property
    def places(self) -> Places:
        """Return a value of each weight [1, 1]: the codes of all values have the same scheme."""
        return np.zeros((1, 1), np.int64)

    def reads_one_cell(self, axis: int) -> bool:
        """Return whether each weight reads a single cell of an axis, at all positions of its
        window.
        """
        return self.axes[axis].count == 1 or not self.sharing[axis]

    @property
    def cells_of_weights(self) -> Places:
        """Return a value that each weight reads [kernels, cells of a window]: the first along an
        axis of which it reads several, any value where it reads none.
        """
        rank = len(self.axes)
        found = np.zeros([1] * 2 * rank, np.int64)
        for d, (axis, (maps, positions)) in enumerate(zip(self.axes, self.radix, strict=True)):
            cells = np.zeros((positions, axis.kernel), np.int64)
            if self.reads_one_cell(d):
                starts = axis.first + np.arange(positions) * axis.stride
                cells += np.clip(starts[:, None] + np.arange(axis.kernel), 0, axis.size - 1)
            shape = [1] * 2 * rank
            shape[d], shape[rank + d] = maps * positions, axis.kernel
            found = found * axis.size + np.tile(cells, (maps, 1)).reshape(shape)
        return found.reshape(self.kernels, self.taps)

    @property
    def groups(self) -> Places:
        """Return for each node the number of its kernel [nodes]."""
        return _kernel_of_node(self.axes, self.sharing, self.maps)

    def sums(self, values: Numbers, weights: Numbers) -> Numbers:
        """Return the sums of products [rows, nodes] of values [rows, values]."""
        apart, shared, nodes, order = self._arranged()
        grouped = weights[order]  # [groups, 1, maps, taps]
        found = np.empty((self.nodes, len(values)), np.result_type(values, weights))
        rank = len(self.axes)
        turn = [*apart, *shared, *range(rank, 2 * rank), 2 * rank]
        counts = [len(grouped), prod(self.axes[d].count for d in shared), self.taps]
        for rows in _parts(len(values), prod(counts)):
            seen = _windows(values[rows], self.axes, 0).transpose(turn).reshape(*counts, -1)
            found[nodes.reshape(-1), rows] = np.matmul(grouped, seen).reshape(self.nodes, -1)
        return found.T

    def _arranged(self) -> tuple[list[int], list[int], Places, Places]:
        """Return the dimensions whose positions have kernels of their own, the other dimensions,
        the node of each [positions of the former, positions of the latter, maps], and the kernel of
        each [positions of the former, 1, maps].
        """
        rank = range(len(self.axes))
        apart = [d for d in rank if not self.sharing[d]]
        shared = [d for d in rank if self.sharing[d]]
        grid = [one for d in rank for one in (self.maps[d], self.axes[d].count)]
        turn = [2 * d + 1 for d in (*apart, *shared)] + [2 * d for d in rank]
        groups = prod(self.axes[d].count for d in apart)
        nodes = np.arange(self.nodes).reshape(grid).transpose(turn)
        kernels = np.arange(self.kernels).reshape([one for two in self.radix for one in two])
        order = kernels.transpose(turn).reshape(groups, 1, prod(self.maps))
        return apart, shared, nodes.reshape(groups, -1, prod(self.maps)), order


@dataclass(frozen=True, slots=True, eq=False)
class PooledBundle:
    """The largest value of each window, or the sum of its values; what lies beyond the source does
    not count.  It has no weights.
    """

    source: ReadValues
    axes: tuple[WindowAxis, ...]
    largest: bool
    alike: ClassVar[bool] = True

    @property
    def kind(self) -> str:
        """Return its name in a manifest."""
        return "largest" if self.largest else "mean"

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return prod(one.count for one in self.axes)

    @property
    def taps(self) -> int:
        """Return the number of cells of a window."""
        return prod(one.kernel for one in self.axes)

    @property
    def edges(self) -> int:
        """Return the number of pairs of a node and a value."""
        return prod(int(_real(one).sum()) for one in self.axes)

    @property
    def padded(self) -> bool:
        """Return whether a window reaches beyond the source."""
        return any(one.padded for one in self.axes)

    @property
    def owners(self) -> Places:
        """Return the node of each weight: a pool has no weights, so the array has the shape [0]."""
        return np.zeros(0, np.int64)

    @property
    def places(self) -> Places:
        """Return the value of each weight: a pool has no weights, so the array has the shape
        [0].
        """
        return np.zeros(0, np.int64)

    @property
    def counts(self) -> Places:
        """Return the number of values that each node reads [nodes]."""
        found = np.ones(1, np.int64)
        for one in self.axes:
            found = np.multiply.outer(found, _real(one))
        return found.reshape(-1)

    @property
    def groups(self) -> Places:
        """Return for each node the number of values that it reads, less 1 [nodes]; 0 where all
        nodes read equally many, and for the largest values.
        """
        return self.counts - 1 if self.padded and not self.largest else self.counts * 0

    def sums(self, values: Numbers, weights: Numbers) -> Numbers:
        """Return the largest values or the sums [rows, nodes] of values [rows, values]."""
        rank = len(self.axes)
        inner = tuple(range(rank, 2 * rank))
        found = np.empty((self.nodes, len(values)), values.dtype)
        least = values.min(initial=0) if self.largest else 0
        for rows in _parts(len(values), self.nodes * self.taps):
            seen = _windows(values[rows], self.axes, least)
            made = seen.max(axis=inner) if self.largest else seen.sum(axis=inner, dtype=seen.dtype)
            found[:, rows] = made.reshape(self.nodes, -1)
        return found.T


Bundle: TypeAlias = FullBundle | FilteredBundle | ConvolvedBundle | PooledBundle


def united(bundles: Sequence[Bundle]) -> Places:
    """Return for each node of a layer the number of its channel [nodes]: nodes of a channel have
    one multiplier.  Where bundles share weights in different ways each node is one.
    """
    first, *others = (one.groups for one in bundles)
    if all(np.array_equal(first, one) for one in others):
        return first
    return np.arange(len(first))


def have_one_grid(bundle: Bundle, other: Bundle) -> bool:
    """Return whether two bundles are convolutions of the same maps, positions and kernels."""
    if not isinstance(bundle, ConvolvedBundle) or not isinstance(other, ConvolvedBundle):
        return False
    counts = [[axis.count for axis in one.axes] for one in (bundle, other)]
    return counts[0] == counts[1] and (bundle.maps, bundle.sharing) == (other.maps, other.sharing)


def _parts(rows: int, numbers: int) -> Iterator[slice]:
    """Yield slices of rows, each of at most ``_AT_ONCE`` numbers where a row has ``numbers`` of
    them.
    """
    step = max(_AT_ONCE // max(numbers, 1), 1)
    for start, end in pairwise([*range(0, rows, step), rows]):
        yield slice(start, end)


def _real(axis: WindowAxis) -> Places:
    """Return the number of cells of the window inside the source at each position [positions]."""
    taps = [axis.taps(position) for position in range(axis.count)]
    return np.array([max(end - start, 0) for start, end in taps])


def _windows(values: Numbers, axes: Sequence[WindowAxis], beyond: Any) -> Numbers:
    """Return a view [positions of each dimension, cells of each dimension, rows] of values [rows,
    values]; cells outside the source are ``beyond``.
    """
    rows = len(values)
    before = [max(0, -one.first) for one in axes]
    last = [one.first + (one.count - 1) * one.stride + one.kernel for one in axes]
    after = [max(0, end - one.size) for end, one in zip(last, axes, strict=True)]
    pads = zip(before, axes, after, strict=True)
    grid = np.full([*(a + one.size + b for a, one, b in pads), rows], beyond, values.dtype)
    inside = tuple(slice(a, a + one.size) for a, one in zip(before, axes, strict=True))
    grid[inside] = values.T.reshape([*(one.size for one in axes), rows])
    starts = tuple(slice(a + one.first, None) for a, one in zip(before, axes, strict=True))
    started = grid[starts]
    steps = started.strides[:-1]
    return np.lib.stride_tricks.as_strided(
        started,
        [*(one.count for one in axes), *(one.kernel for one in axes), rows],
        [*(s * one.stride for s, one in zip(steps, axes, strict=True)), *started.strides],
        writeable=False,
    )


@lru_cache(maxsize=64)
def _kernel_of_node(
    axes: tuple[WindowAxis, ...], sharing: tuple[bool, ...], maps: tuple[int, ...]
) -> Places:
    found = np.zeros(1, np.int64)
    for one, shared, count in zip(axes, sharing, maps, strict=True):
        own = np.repeat(np.arange(count), one.count)
        if not shared:
            own = own * one.count + np.tile(np.arange(one.count), count)
        radix = count * (1 if shared else one.count)
        found = np.add.outer(found * radix, own).reshape(-1)
    found.flags.writeable = False
    return found
