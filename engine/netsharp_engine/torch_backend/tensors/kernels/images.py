"""Torch's rows for kernels and windows that move over images.

``channels_last``: an image's axes are channels, width and height, and lie in memory as width,
height, channels, weights with their maps after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import torch

from netsharp_engine.geometry import CorneredAxis
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.images import taps_of
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.kernels.windows import (
    CONVOLUTIONS,
    TorchConvolution,
    cell_shares,
    pooled,
)
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, TorchRow, ruled
from netsharp_engine.walks.taps import pairs


def _shown(values: Tensor, sizes: tuple[int, ...], turned: bool) -> Tensor:
    """Return the values of a node as [samples, *sizes]."""
    if not turned:
        return values.reshape(values.shape[0], *sizes)
    return values.reshape(values.shape[0], *sizes[1:], sizes[0]).movedim(-1, 1)


def _as_node_value(found: Tensor, turned: bool, shape: tuple[int, ...]) -> Tensor:
    """Return the inverse, as values of a node."""
    return (found.movedim(1, -1) if turned else found).reshape(-1, *shape)


class _Moves:
    """A convolution of one group: what kernels find in images, and what they give back."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self._convolution, axes = TorchConvolution(attributes), attributes["axes"]
        self._turned: bool = attributes["channels_last"]
        self.sizes = tuple(axis.size for axis in axes)
        self._maps = prod(attributes["maps"])
        self.places = tuple(
            maps * axis.count for maps, axis in zip(attributes["maps"], axes, strict=True)
        )

    def down(self, weights: Tensor, images: Tensor) -> Tensor:
        """Return places [samples, *places] from images [samples, *sizes]."""
        convolution = self._convolution
        strides, pads = ([one[n] for one in convolution.figures] for n in (1, 2))
        apply = CONVOLUTIONS[len(convolution.figures)]
        groups = convolution.count(convolution.groups)
        made = apply(
            convolution.source(images), self._kernels(weights), None, strides, pads, 1, groups
        )
        return convolution.result(made).reshape(-1, *self.places)

    def up(self, weights: Tensor, places: Tensor) -> Tensor:
        """Return images from places: the transposed map, as autograd has it."""
        needed = torch.is_grad_enabled()
        with torch.enable_grad():
            images = places.new_zeros(places.shape[0], *self.sizes, requires_grad=True)
            found = self.down(weights, images)
            (given,) = torch.autograd.grad(found, images, places, create_graph=needed)
        return given

    def shown(self, values: Tensor, *, images: bool) -> Tensor:
        """Return the values of a node as this takes them."""
        return _shown(values, self.sizes if images else self.places, self._turned)

    def handed(self, found: Tensor) -> Tensor:
        """Return the inverse, [samples, elements]."""
        return (found.movedim(1, -1) if self._turned else found).reshape(found.shape[0], -1)

    def _kernels(self, weights: Tensor) -> Tensor:
        if self._turned:
            weights = weights.reshape(-1, self._maps).T
        return self._convolution.kernels(weights)


def _convolved(node: Node, sources: Tensors) -> Tensor:
    """Move kernels over images, or where it is a transposed one back; group by group."""
    attributes, (weights, values) = dict(node.attributes), sources
    groups: int = attributes.get("groups", 1)
    if groups > 1:
        first, *rest = attributes["axes"]
        channels = first.size // groups
        attributes["axes"] = (CorneredAxis(channels, channels, channels), *rest)
        attributes["maps"] = (attributes["maps"][0] // groups, *attributes["maps"][1:])
    moves, up = _Moves(attributes), attributes["transpose"]
    flat = values.reshape(values.shape[0], -1)
    kernels = _spread(weights, attributes).reshape(groups, -1)
    found = []
    for own, part in zip(kernels, flat.chunk(groups, 1), strict=True):
        shown = moves.shown(part, images=not up)
        found.append(moves.handed((moves.up if up else moves.down)(own, shown)))
    return (found[0] if groups == 1 else torch.cat(found, 1)).reshape(-1, *node.shape)


def _spread(weights: Tensor, attributes: Mapping[str, Any]) -> Tensor:
    """Return flat weights, 0 in gaps of kernels that have some."""
    gaps = attributes.get("gaps")
    if gaps is None:
        return weights.reshape(-1)
    narrow = weights.reshape(-1, *taps_of(attributes["axes"], attributes))
    wide = narrow.new_zeros(narrow.shape[0], *(axis.kernel for axis in attributes["axes"]))
    wide[(slice(None), *(slice(None, None, gap) for gap in gaps))] = narrow
    return wide.reshape(-1)


def _pooled(node: Node, sources: Tensors) -> Tensor:
    """Take the largest or the mean of real cells.

    A maximum gives its gradient to the first of equal cells; with channels last to all of them.
    """
    attributes, turned = node.attributes, node.attributes["channels_last"]
    axes = attributes["axes"]
    image = _shown(sources[0], tuple(axis.size for axis in axes), turned)
    if attributes["pool"] != "max":
        found = pooled(axes, most=False)(image.contiguous())
        shares = None
        if not attributes.get("include_pads", False):
            shares = cell_shares(axes, image.device, image.dtype)
        return _as_node_value(found if shares is None else found * shares, turned, node.shape)
    largest = pooled(axes, most=True)
    if not turned:
        return _as_node_value(largest(image), turned, node.shape)

    def to_all(value: Tensor, by: Tensor, cells: Tensor) -> tuple[Tensor]:
        given = torch.zeros_like(cells)
        for places, read in pairs(axes):
            at, seen = (slice(None), *places), (slice(None), *read)
            given[seen] += torch.where(value[at] == cells[seen], by[at], torch.zeros_like(by[at]))
        return (given,)

    return _as_node_value(ruled(largest, to_all, image.contiguous()), turned, node.shape)


IMAGES: dict[str, TorchRow] = {
    "Convolution": _convolved,
    **dict.fromkeys(("Pooling", "MaxPooling", "AveragePooling"), _pooled),
}
