"""Kernels that look for the largest cells of images: in given regions, or to put values back there.

Regions and images are row-major: channels, height, width, of CNTK's [width x height x channels].
Source: CNTK, ComputationNetworkLib/ConvolutionalNodes.h; regions by Girshick (2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel
from netsharp_engine.walks.taps import pairs

#: A coordinate beyond every image, whose number of cells is limited to far less.
_FAR = 1e9


class _Window(NamedTuple):
    """A window of a region: the place of its result, and its cells in the image of a sample."""

    place: tuple[int, int, slice, int, int]
    cells: tuple[int, slice, slice, slice]


def windows(node: Node, images: int, regions: Array) -> Iterator[_Window]:
    """Yield every window with cells, for ``images`` images.

    Regions are left, top, width and height as shares of the image, or, where ``scale`` is given,
    the columns and rows of two corners, which it multiplies. ``regions`` is [images, regions * 4].
    Source: CNTK, ComputationNetworkLib/ConvolutionalNodes.h, ROIPoolingNode; Girshick, Fast R-CNN
    (2015).
    """
    *_, height, width = node.inputs[0].shape
    count = max(images, len(regions))
    boxes = np.broadcast_to(regions.reshape(len(regions), -1, 4), (count, node.shape[0], 4))
    scale = node.attributes.get("scale")
    by = [width, height] * 2 if scale is None else [scale] * 4
    sides = boxes * np.array(by, boxes.dtype)
    rounded = np.nan_to_num(np.floor(np.abs(sides) + 0.5) * np.sign(sides)).clip(-_FAR, _FAR)
    if scale is not None:
        # Both corners are inside.
        rounded[..., 2:] -= rounded[..., :2] - 1
    down, across = node.shape[2:]
    every = slice(None)
    for sample, region in np.ndindex(count, node.shape[0]):
        left, top, wide, high = rounded[sample, region]
        columns = list(_parts(left, max(wide, rounded.dtype.type(1)), across, width))
        rows = list(_parts(top, max(high, rounded.dtype.type(1)), down, height))
        image = sample if images > 1 else 0
        for (y, ys), (x, xs) in ((one, other) for one in rows for other in columns):
            yield _Window((sample, region, every, y, x), (image, every, ys, xs))


def _parts(begin: float, size: Array, count: int, most: int) -> Iterator[tuple[int, slice]]:
    """Yield the cells of each part of a side that are in the image, where there are any."""
    step = size / size.dtype.type(count)
    for number in range(count):
        first = min(max(int(begin + np.floor(number * step)), 0), most)
        last = min(max(int(begin + np.ceil((number + 1) * step)), 0), most)
        if first < last:
            yield number, slice(first, last)


def _pooled(node: Node, sources: Sources) -> Array:
    """Return the largest cell of each window of each channel; 0 where a window has none."""
    found = np.zeros((max(map(len, sources)), *node.shape), sources[0].dtype)
    for window in windows(node, len(sources[0]), sources[1]):
        found[window.place] = sources[0][window.cells].max((1, 2))
    return found


def _pooled_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient, at the first of equal cells."""
    found = np.zeros_like(sources[0])
    channels = np.arange(node.inputs[0].shape[0])
    for window in windows(node, len(sources[0]), sources[1]):
        cells = sources[0][window.cells]
        first = cells.reshape(len(cells), -1).argmax(1)
        part = found[window.cells]
        part[channels, first // part.shape[2], first % part.shape[2]] += gradient[window.place]
    return found


def _most(node: Node, sources: Sources) -> Array:
    """Return the number of the first of the largest cells of each window, [places, samples]."""
    axes = node.attributes["axes"]
    image = np.moveaxis(sources[1].reshape(-1, *(axis.size for axis in axes)), 0, -1)
    numbers = np.arange(image[..., 0].size).reshape(image.shape[:-1])
    best = np.full((*(axis.count for axis in axes), image.shape[-1]), -np.inf, image.dtype)
    found = np.zeros(best.shape, np.intp)
    for places, cells in pairs(axes):
        larger = image[cells] > best[places]
        best[places] = np.where(larger, image[cells], best[places])
        found[places] = np.where(larger, numbers[cells][..., None], found[places])
    return found.reshape(-1, found.shape[-1])


def _unpooled(node: Node, sources: Sources) -> Array:
    """Return values at the places of the maxima; of several at one the last stays."""
    count, most = max(map(len, sources)), _most(node, sources)
    found = np.zeros((count, node.size), sources[0].dtype)
    values = np.broadcast_to(sources[0].reshape(len(sources[0]), -1), (count, len(most)))
    for sample in range(count):
        found[sample, most[:, min(sample, most.shape[1] - 1)]] = values[sample]
    return found.reshape(-1, *node.shape)


def _unpooled_back(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient by the values that stayed."""
    most, by = _most(node, sources), gradient.reshape(len(gradient), -1)
    found = np.zeros((len(by), len(most)), gradient.dtype)
    for sample in range(len(by)):
        cells = most[:, min(sample, most.shape[1] - 1)]
        stays = np.empty(node.size, np.intp)
        stays[cells] = np.arange(len(cells))
        kept = stays[cells] == np.arange(len(cells))
        found[sample, kept] = by[sample, cells[kept]]
    return found.reshape(-1, *node.inputs[0].shape)


REGIONS = {
    "ROIPooling": TensorKernel(_pooled, (_pooled_back, None)),
    "MaxUnpooling": TensorKernel(_unpooled, (_unpooled_back, None)),
}
