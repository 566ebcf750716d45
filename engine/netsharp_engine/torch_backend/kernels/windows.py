"""Torch's kernels of what walks over its source in any number of dimensions.

Torch walks over three at most, padded alike on both sides: the others become channels, groups or
rows, or are walked one after the other; other pads are added before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from netsharp_engine.geometry import Axis
from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Call, IntArray, Tensor, TorchPlace, shaped
from netsharp_engine.walks.taps import centres, real_cells

#: The most dimensions over which torch convolves.
MOST_WALKED = 3
#: By how many dimensions torch walks over.
CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_MOST = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_MEANS = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


class KernelParts(NamedTuple):
    """Kernels as torch takes them: their shape, and which canonical weights and biases they are."""

    shape: tuple[int, ...]
    weights: IntArray | None
    biases: IntArray | None


class TorchConvolution:
    """The dimensions of one convolution for torch.

    ``walked`` torch walks over itself; along ``groups`` each position has kernels of its own;
    ``extra`` ones are shared beyond those, their positions become rows.  The taps of all but the
    walked ones become channels.
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.axes: Sequence[Axis] = attributes["axes"]
        self.sharing, self.maps = attributes["sharing"], attributes["maps"]
        several = [d for d, axis in enumerate(self.axes) if axis.count > 1]
        self.groups = [d for d in several if not self.sharing[d]]
        shared = [d for d in several if self.sharing[d]]
        self.walked, self.extra = shared[-MOST_WALKED:], shared[:-MOST_WALKED]
        self.others = [d for d in range(len(self.axes)) if d not in self.walked]
        if not self.walked:
            # Torch walks over one dimension at least: one of a single cell.
            self.figures: list[tuple[int, int, int]] = [(1, 1, 0)]
        else:
            self.figures = [_figures(self.axes[d]) for d in self.walked]
        self.padded = {d for d in self.walked if not _pads_alike(self.axes[d])}
        self.padded |= {d for d in self.others if not _whole(self.axes[d])}
        self.plain_source = self._plain_source()
        self.plain_result = not self.extra and not self.groups and self._maps_lead()

    def count(self, dimensions: Sequence[int]) -> int:
        """Return the number of positions of these dimensions together."""
        return prod(self.axes[d].count for d in dimensions)

    def kernels(self, weights: Tensor) -> Tensor:
        """Return kernels as [groups * maps, channels, *walked taps]."""
        taps = [axis.kernel for axis in self.axes]
        turned = _turned(weights.reshape(*self.radix(), *taps), self.kernel_order())
        return turned.reshape(self.kernel_shape())

    def kernel_order(self) -> list[int]:
        """Return the dimensions of canonical kernels, radix and taps, as torch wants them."""
        rank = len(self.axes)
        order = [2 * d + 1 for d in self.groups] + [2 * d for d in range(rank)]
        order += [2 * d + 1 for d in range(rank) if d not in self.groups]
        return order + [2 * rank + d for d in (*self.others, *self.walked)]

    def kernel_shape(self) -> tuple[int, ...]:
        """Return the shape of kernels: groups * maps, channels, and the walked taps."""
        channels = prod(self.axes[d].kernel for d in self.others)
        walked = [self.axes[d].kernel for d in self.walked] or [1]
        return (self.count(self.groups) * prod(self.maps), channels, *walked)

    def places(self) -> tuple[IntArray | None, IntArray | None]:
        """Return the indices of weights and biases [parameters] in torch's order.

        None where that is the canonical one.
        """
        radix = self.radix()
        extents = [*radix, *(axis.kernel for axis in self.axes)]
        order = self.kernel_order()
        weights = _places(extents, order)
        return weights, _places(radix, order[: len(radix)])

    def _plain_source(self) -> tuple[int, ...] | None:
        """Return the shape in which values lie as torch wants them; None where they do not."""
        apart = [d for d in self.others if self.axes[d].kernel != self.axes[d].stride]
        if self.padded or any(self.axes[d].count > 1 for d in apart) or self.extra:
            return None
        extents: list[int] = []
        for d, axis in enumerate(self.axes):
            extents += [axis.count, axis.kernel] if d in self.others else [1, axis.size]
        order = [2 * d for d in self.groups] + [2 * d + 1 for d in (*self.others, *self.walked)]
        if not _in_order(order, extents):
            return None
        channels = self.count(self.groups) * prod(self.axes[d].kernel for d in self.others)
        return (channels, *([self.axes[d].size for d in self.walked] or [1]))

    def biases(self, biases: Tensor) -> Tensor:
        """Return biases [kernels] as [groups * maps]."""
        rank = len(self.axes)
        order = [2 * d + 1 for d in self.groups] + [2 * d for d in range(rank)]
        order += [2 * d + 1 for d in range(rank) if d not in self.groups]
        return _turned(biases.reshape(self.radix()), order).reshape(-1)

    def radix(self) -> list[int]:
        """Of each dimension its maps, and its positions where these share no kernel."""
        found: list[int] = []
        for d, axis in enumerate(self.axes):
            found += [self.maps[d], 1 if self.sharing[d] else axis.count]
        return found

    def source(self, values: Tensor) -> Tensor:
        """Return values [rows, nodes] as [rows * extra, groups * channels, *walked cells]."""
        if self.plain_source is not None:
            return shaped(values, self.plain_source)
        image = values.reshape(-1, *(axis.size for axis in self.axes))
        rows = image.shape[0]
        if self.padded:
            image = _padded(image, self.axes, self.padded, 0.0)
        taps: dict[int, int] = {}
        for d in self.others:
            axis = self.axes[d]
            if axis.count == 1:
                # The taps are the cells: one position before them.
                image = image.unsqueeze(d + 1 + len(taps))
            elif axis.kernel == axis.stride:
                image = image.unflatten(d + 1 + len(taps), (axis.count, axis.kernel))
            else:
                image = image.unfold(d + 1 + len(taps), axis.kernel, axis.stride)
                image = image.movedim(-1, d + 2 + len(taps))
            taps[d] = d + 2 + len(taps)
        at = {d: d + 1 + sum(other < d for other in taps) for d in range(len(self.axes))}
        singles = [d for d in self.others if self.axes[d].count == 1]
        order = [0, *(at[d] for d in (*self.extra, *self.groups, *singles))]
        order += [taps[d] for d in self.others] + [at[d] for d in self.walked]
        walked = [image.shape[at[d]] for d in self.walked] or [1]
        made = _turned(image, order)
        channels = self.count(self.groups) * prod(self.axes[d].kernel for d in self.others)
        return made.reshape(rows * self.count(self.extra), channels, *walked)

    def result(self, made: Tensor) -> Tensor:
        """Return [rows * extra, groups * maps, *walked positions] in canonical order."""
        if self.plain_result:
            return made
        rank = len(self.axes)
        extents = [made.shape[0] // self.count(self.extra)]
        extents += [self.axes[d].count for d in (*self.extra, *self.groups)]
        extents += [*self.maps, *(self.axes[d].count for d in self.walked)]
        at = {d: 1 + n for n, d in enumerate((*self.extra, *self.groups))}
        first = 1 + len(at)
        at |= {d: first + rank + n for n, d in enumerate(self.walked)}
        order = [0]
        for d in range(rank):
            order += [first + d, *([at[d]] if d in at else [])]
        return _turned(made.reshape(extents), order)

    def _maps_lead(self) -> bool:
        """Return whether the maps of all dimensions come before the dimensions walked over."""
        first = min(self.walked, default=len(self.axes))
        return all(self.maps[d] == 1 for d in range(first + 1, len(self.axes)))


def convolve(node: Node, place: TorchPlace) -> Call:
    """Bind a convolution with the bias of each kernel."""
    convolution = TorchConvolution(node.attributes)
    ((weights, biases),) = place.parts
    apply = CONVOLUTIONS[len(convolution.figures)]
    strides, pads = [one[1] for one in convolution.figures], [one[2] for one in convolution.figures]
    groups = convolution.count(convolution.groups)

    def convolved(values: Tensor) -> Tensor:
        kernels, added = convolution.kernels(weights), convolution.biases(biases)
        return convolution.result(
            apply(convolution.source(values), kernels, added, strides, pads, 1, groups)
        )

    def straight(values: Tensor) -> Tensor:
        return convolution.result(
            apply(convolution.source(values), weights, biases, strides, pads, 1, groups)
        )

    # Torch's own shape has a dimension more than [kernels, taps].
    return convolved if weights.dim() == 2 else straight


def kernel_parts(node: Node) -> KernelParts:
    """Return the kernels of a convolution in torch's layout."""
    convolution = TorchConvolution(node.attributes)
    return KernelParts(convolution.kernel_shape(), *convolution.places())


def max_pool(node: Node, place: TorchPlace) -> Call:
    """Bind the largest real cell; its gradient goes to the first of equal cells."""
    axes: Sequence[Axis] = node.attributes["axes"]
    return pooled(axes, most=True)


def mean_pool(node: Node, place: TorchPlace) -> Call:
    """Bind the mean of the real cells."""
    axes: Sequence[Axis] = node.attributes["axes"]
    sums, shares = pooled(axes, most=False), cell_shares(axes, place.device, place.dtype)
    return sums if shares is None else lambda values: sums(values) * shares


def response_norm(node: Node, place: TorchPlace) -> Call:
    """Bind y = x (offset + alpha / N * sum of squares)^-beta, x at the kernel's centre."""
    attributes = node.attributes
    axes: Sequence[Axis] = attributes["axes"]
    means, shares = pooled(axes, most=False), None
    alpha, beta, offset = (float(attributes[key]) for key in ("alpha", "beta", "offset"))
    if not attributes["over_full_kernel"]:
        shares = cell_shares(axes, place.device, place.dtype)
    sizes, middles = [axis.size for axis in axes], centres(axes)
    each = all(
        len(range(axis.size)[cut]) == axis.size for axis, cut in zip(axes, middles, strict=True)
    )
    cells = (slice(None), *middles)

    def normed(values: Tensor) -> Tensor:
        image = values.reshape(-1, *sizes)
        mean = means(image * image)
        if shares is not None:
            mean = mean * shares
        base = mean.mul(alpha).add_(offset)
        return (image if each else image[cells]) * _power(base, beta)

    return normed


def _power(base: Tensor, beta: float) -> Tensor:
    """base^-beta; quarters by roots, which are far cheaper than a power."""
    if beta == 0.5:
        return base.rsqrt()
    if beta == 0.75:
        root = base.rsqrt()
        return root * root.sqrt()
    return base.pow(-beta)


def pooled(axes: Sequence[Axis], *, most: bool) -> Call:
    """Return a function for the largest cell, or the mean over all taps with pads as 0.

    Of several passes that over the last dimensions comes first, so that the first of equal cells
    wins.
    """
    sizes = [axis.size for axis in axes]
    pooled = [d for d, axis in enumerate(axes) if _moves(axis)]
    apart = {d for d in pooled if not _pads_alike(axes[d], axes[d].kernel // 2)}
    table, shape, shape_before = _MOST if most else _MEANS, list(sizes), tuple(sizes)
    for d in apart:
        shape[d] = axes[d].covered
    passes = []
    for dimensions in _passes(pooled):
        passes.append(_Pass(axes, dimensions, apart, tuple(shape)))
        for d in dimensions:
            shape[d] = axes[d].count

    def made(values: Tensor) -> Tensor:
        image = shaped(values, shape_before)
        if apart:
            image = _padded(image, axes, apart, float("-inf") if most else 0.0)
        for one in passes:
            image = one.made(image, table)
        return image

    return made


class _Pass:
    """Some dimensions of an image [rows, *shape] that torch walks over at once.

    Those after the first of them stay where they are as long as torch can walk over all of these,
    with kernels of one cell; else they are moved before it.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        dimensions: Sequence[int],
        apart: set[int],
        shape: tuple[int, ...],
    ) -> None:
        figures = {d: _figures(axes[d], apart=d in apart) for d in dimensions}
        rank, first = len(shape), dimensions[0]
        runs: list[list[int]] = []
        for d in range(first, rank):
            if d in figures or not runs or runs[-1][-1] in figures:
                runs.append([d])
            else:
                runs[-1].append(d)
        self.order: list[int] | None = None
        if len(runs) > MOST_WALKED:
            rest = [d for d in range(rank) if d not in figures]
            self.order = [0, *(d + 1 for d in rest), *(d + 1 for d in dimensions)]
            shape = tuple(shape[d - 1] for d in self.order[1:])
            self.back = [self.order.index(d) for d in range(rank + 1)]
            runs, first = [[d] for d in dimensions], len(rest)
        self.seen = (prod(shape[:first]), *_extents(shape[first:], [len(run) for run in runs]))
        walks = [figures.get(run[0], (1, 1, 0)) for run in runs]
        self.kernel, self.stride, self.pad = ([one[n] for one in walks] for n in range(3))
        counts = [axes[run[0]].count if run[0] in figures else 0 for run in runs]
        left = list(shape[first:])
        made: list[int] = []
        for run, count in zip(runs, counts, strict=True):
            part, left = left[: len(run)], left[len(run) :]
            made += [count] if count else part
        self.shape = (*shape[:first], *made)

    def made(self, image: Tensor, table: Mapping[int, Call]) -> Tensor:
        """Return the image after the walk [rows, *shape]."""
        if self.order is not None:
            image = image.permute(self.order)
        walked = shaped(image, self.seen)
        found = table[len(self.kernel)](walked, self.kernel, self.stride, self.pad)
        found = shaped(found, self.shape)
        return found if self.order is None else found.permute(self.back)


def _extents(shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Return the products of the sizes of runs of neighbouring dimensions."""
    found, start = [], 0
    for length in lengths:
        found.append(prod(shape[start : start + length]))
        start += length
    return found


def _moves(axis: Axis) -> bool:
    """Return whether a kernel does more along a dimension than to read each cell by itself."""
    return (axis.kernel, axis.stride, axis.first, axis.count) != (1, 1, 0, axis.size)


def _passes(pooled: Sequence[int]) -> list[list[int]]:
    """Dimensions that are walked over together, the last ones first."""
    found = []
    left = list(pooled)
    while left:
        found.append(left[-MOST_WALKED:])
        left = left[:-MOST_WALKED]
    return found


def cell_shares(axes: Sequence[Axis], device: torch.device, dtype: torch.dtype) -> Tensor | None:
    """Taps over real cells of each position [1, *positions]; None where all cells are real."""
    factors = torch.ones(1, dtype=torch.float64)
    for axis, counts in zip(axes, real_cells(axes), strict=True):
        along = torch.tensor([axis.kernel / count for count in counts], dtype=torch.float64)
        factors = factors.unsqueeze(-1) * along
    return None if bool((factors == 1).all()) else factors.to(device, dtype)


def _figures(axis: Axis, *, apart: bool | None = None) -> tuple[int, int, int]:
    """Kernel, stride and pad of a dimension for torch; ``apart``: it is padded before."""
    before = not _pads_alike(axis) if apart is None else apart
    return axis.kernel, axis.stride, 0 if before else -axis.first


def _pads_alike(axis: Axis, most: int | None = None) -> bool:
    """Return whether torch's walk with one pad on both sides reads the same cells."""
    pad = -axis.first
    if pad < 0 or (most is not None and pad > most):
        return False
    return (axis.size + 2 * pad - axis.kernel) // axis.stride + 1 == axis.count


def _whole(axis: Axis) -> bool:
    """Return whether the kernels read each cell and nothing else, from the first to the last."""
    return axis.first == 0 and axis.covered == axis.size


def _padded(image: Tensor, axes: Sequence[Axis], which: set[int], value: float) -> Tensor:
    """Exactly the cells that kernels reach, of these dimensions of [rows, *cells]."""
    sides: list[int] = []
    for d in reversed(range(len(axes))):
        axis = axes[d]
        if d in which:
            sides += [-axis.first, axis.first + axis.covered - axis.size]
        else:
            sides += [0, 0]
    return functional.pad(image, sides, value=value)


def _places(extents: Sequence[int], order: Sequence[int]) -> IntArray | None:
    """Return the indices [elements] of an array in another order of dimensions; None: the same."""
    if _in_order(order, extents):
        return None
    real = [d for d, extent in enumerate(extents) if extent > 1]
    turned = [real.index(d) for d in order if extents[d] > 1]
    count = prod(extents)
    return np.arange(count).reshape([extents[d] for d in real]).transpose(turned).ravel()


def _in_order(order: Sequence[int], extents: Sequence[int]) -> bool:
    """Return whether the dimensions with more than one cell stay as they are."""
    real = [d for d in order if extents[d] > 1]
    return real == sorted(real)


def _turned(values: Tensor, order: Sequence[int]) -> Tensor:
    """Return the dimensions in another order."""
    return values if list(order) == sorted(order) else values.permute(tuple(order))
