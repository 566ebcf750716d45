"""Torch's rows that look for the largest cells of images: in regions, or to put values back there.

Regions are looked at on the host; images are channels, height, width.
"""

from __future__ import annotations

import torch

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.regions import windows
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, TorchRow, flat
from netsharp_engine.walks.taps import pairs


def _pooled(node: Node, sources: Tensors) -> Tensor:
    """Return the largest cell of each window of each channel, 0 where a window has none.

    The gradient goes to the first of equal cells.
    """
    images, regions = sources
    count = max(images.shape[0], regions.shape[0])
    boxes = regions.detach().cpu().numpy()
    rows = list(windows(node, images.shape[0], boxes))
    empty = images.new_zeros(images.shape[1])
    found = {_place(window.place): _first(images[window.cells]) for window in rows}
    down, across = node.shape[2:]
    each = [
        found.get((sample, region, y, x), empty)
        for sample in range(count)
        for region in range(node.shape[0])
        for y in range(down)
        for x in range(across)
    ]
    stacked = torch.stack(each).reshape(count, node.shape[0], down, across, -1)
    return stacked.movedim(-1, 2)


def _place(place: tuple[int, int, slice, int, int]) -> tuple[int, int, int, int]:
    sample, region, _, y, x = place
    return sample, region, y, x


def _first(cells: Tensor) -> Tensor:
    return cells.reshape(cells.shape[0], -1).max(1).values


def _unpooled(node: Node, sources: Tensors) -> Tensor:
    """Put values at the places of the maxima; of several at one place the last stays."""
    values, images = flat(sources)
    places = _most(node, sources[1]).expand(values.shape)
    numbers = torch.arange(values.shape[1], device=values.device).expand(places.shape)
    stays = torch.full((values.shape[0], node.size), -1, device=values.device)
    stays = stays.scatter_reduce(1, places, numbers, "amax")
    found = torch.where(stays < 0, torch.zeros_like(images), values.gather(1, stays.clamp(min=0)))
    return found.reshape(-1, *node.shape)


def _most(node: Node, images: Tensor) -> Tensor:
    """Return which cell is the first of the largest ones of each window, [samples, places]."""
    axes = node.attributes["axes"]
    image = images.detach().reshape(-1, *(axis.size for axis in axes))
    numbers = torch.arange(image[0].numel(), device=image.device).reshape(image.shape[1:])
    best = image.new_full((image.shape[0], *(axis.count for axis in axes)), -torch.inf)
    found = torch.zeros(best.shape, dtype=torch.int64, device=image.device)
    for places, cells in pairs(axes):
        at, seen = (slice(None), *places), (slice(None), *cells)
        larger = image[seen] > best[at]
        best[at] = torch.where(larger, image[seen], best[at])
        found[at] = torch.where(larger, numbers[cells].expand(larger.shape), found[at])
    return found.reshape(found.shape[0], -1)


REGIONS: dict[str, TorchRow] = {"ROIPooling": _pooled, "MaxUnpooling": _unpooled}
