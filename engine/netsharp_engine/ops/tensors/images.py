"""Operations of CNTK that move a kernel or a window over an image.

Source: CNTK, ComputationNetworkLib/ConvolutionalNodes.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.geometry import kernel_count, output_shape, product
from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, free

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from netsharp_engine.geometry import Axis
    from netsharp_engine.nodes import Node

#: Those that take one number from each window.
POOLING = ("Pooling", "MaxPooling", "AveragePooling")


def _convolution(node: Node) -> tuple[int, ...]:
    """Return the shape: maps times positions; `transpose`: the image that such places come from.

    ``axes`` are the image's, the channels first where ``channels_last`` says that they run fastest;
    ``maps`` and ``sharing`` have an entry for each. ``gaps``, where it is given, is the distance of
    the cells of a kernel along each axis (its extents include the cells between), ``groups`` the
    number of parts of the channels with maps of their own; both only where channels come first.
    """
    expect_inputs(node, 2)
    attributes = node.attributes
    axes, maps, sharing = attributes["axes"], attributes["maps"], attributes["sharing"]
    places, sizes = output_shape(axes, maps), tuple(axis.size for axis in axes)
    groups = attributes.get("groups", 1)
    if attributes["channels_last"] and (groups > 1 or "gaps" in attributes):
        raise ValueError("kernels with gaps or groups read images whose channels come first")
    if groups > 1 and (axes[0].size % groups or maps[0] % groups or attributes["transpose"]):
        raise ValueError(f"{axes[0].size} channels and {maps[0]} maps are not of {groups} groups")
    count = kernel_count(axes, sharing, maps) * product(taps_of(axes, attributes)) // groups
    weights, source = node.inputs
    if count != weights.size:
        raise ValueError(f"{weights.size} weights given, {count} needed")
    read, made = (places, sizes) if attributes["transpose"] else (sizes, places)
    if product(read) != source.size:
        raise ValueError(f"{list(source.shape)} is not an image of {list(read)}")
    return _outer(made, attributes["channels_last"])


def taps_of(axes: tuple[Axis, ...], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the number of cells of a kernel along each axis, without the gaps between them."""
    gaps = attributes.get("gaps", (1,) * len(axes))
    return tuple((axis.kernel - 1) // gap + 1 for axis, gap in zip(axes, gaps, strict=True))


def _pooling(node: Node) -> tuple[int, ...]:
    expect_inputs(node, 1)
    axes = node.attributes["axes"]
    sizes = tuple(axis.size for axis in axes)
    if product(sizes) != node.inputs[0].size:
        raise ValueError(f"{list(node.inputs[0].shape)} is not an image of {list(sizes)}")
    return _outer(output_shape(axes), node.attributes["channels_last"])


def _regions(node: Node) -> tuple[int, ...]:
    """Return the shape of the regions, of four numbers each: attribute ``size``, height and width,
    for each channel.
    """
    expect_inputs(node, 2)
    image, regions = (one.shape for one in node.inputs)
    if len(image) != 3 or regions[-1] != 4:
        raise ValueError(f"{list(regions)} are not regions of {list(image)}")
    return (product(regions[:-1]), image[0], *node.attributes["size"])


def _unpooling(node: Node) -> tuple[int, ...]:
    """Return the shape of the image, the second source, from whose places the first one has
    values.
    """
    expect_inputs(node, 2)
    axes, (values, image) = node.attributes["axes"], node.inputs
    sizes, places = tuple(axis.size for axis in axes), output_shape(axes)
    if product(places) != values.size or product(sizes) != image.size:
        raise ValueError(f"{list(image.shape)} was not pooled to {list(values.shape)}")
    return sizes


def _outer(shape: tuple[int, ...], channels_last: bool) -> tuple[int, ...]:
    """Return the shape of a node by that of its axes: channels, width and height where they run
    last.
    """
    return shape[::-1] if channels_last else shape


def _convolution_cost(node: Node) -> Cost:
    axes = node.attributes["axes"]
    taps = product(tuple(axis.real_taps() for axis in axes))
    wide = product(tuple(axis.kernel for axis in axes))
    narrow = product(taps_of(axes, node.attributes)) // node.attributes.get("groups", 1)
    pairs = taps * product(node.attributes["maps"]) * narrow // wide
    return Cost(pairs, pairs)


def _pooling_cost(node: Node) -> Cost:
    return Cost(product(tuple(axis.real_taps() for axis in node.attributes["axes"])), 0)


IMAGES = (
    Operation("Convolution", _convolution, _convolution_cost),
    *(Operation(name, _pooling, _pooling_cost) for name in POOLING),
    Operation("ROIPooling", _regions, free),
    Operation("MaxUnpooling", _unpooling, free),
)
