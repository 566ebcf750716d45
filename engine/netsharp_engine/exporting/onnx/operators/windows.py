"""CNTK's kernels and windows over images as ONNX operators, in both of its layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netsharp_engine.exporting.onnx.operators import taken
from netsharp_engine.exporting.onnx.operators.rows import Row, whole
from netsharp_engine.exporting.onnx.operators.walking import (
    MOST_AXES,
    has_empty_windows,
    is_cut,
    walk_of,
)
from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.images import taps_of

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis


#: Why regions in shares of their image are not written.
_OTHER_BORDERS = "ONNX's pooling of regions rounds their borders otherwise."


def _flat(out: OnnxWriting, value: OnnxValue, shape: Sequence[int]) -> str:
    """Return samples [n, *shape], also where they are steps of sequences."""
    if value.lead == 1 and value.shape == tuple(shape):
        return value.name
    return out.add("Reshape", value.name, out.integers(-1, *shape))


def _back(out: OnnxWriting, name: str, value: OnnxValue, node: Node) -> str:
    """Return the inverse of ``_flat``, with the shape of a node."""
    if value.lead == 1:
        return out.shaped(name, 1, node.shape)
    shape = out.add("Concat", out.leading(value), out.integers(*node.shape), axis=0)
    return out.add("Reshape", name, shape)


def _sizes(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(axis.size for axis in axes)


def _turned(out: OnnxWriting, name: str, sizes: Sequence[int], last: bool) -> str:
    """Return an image [n, channels, ...] of one whose channels run fastest."""
    if not last:
        return name
    return out.add("Transpose", name, perm=(0, len(sizes), *range(1, len(sizes))))


def _taken(out: OnnxWriting, node: Node, value: OnnxValue) -> str:
    """Return the image of a node, [n, *sizes of its axes]."""
    axes, last = node.attributes["axes"], node.attributes["channels_last"]
    sizes = _sizes(axes)
    given = _flat(out, value, (*sizes[1:], sizes[0]) if last else sizes)
    return _turned(out, given, sizes, last)


def _as_node_value(out: OnnxWriting, node: Node, name: str, value: OnnxValue) -> str:
    """Return an operator's result, [n, channels, ...], as the value of a node."""
    if node.attributes["channels_last"]:
        rank = len(node.attributes["axes"])
        name = out.add("Transpose", name, perm=(0, *range(2, rank + 1), 1))
    return _back(out, name, value, node)


def _inside(out: OnnxWriting, image: str, axes: Sequence[Axis]) -> str:
    """Return an image [n, channels, *axes] without the cells that ONNX would begin or end with and
    no window reads.
    """
    cut = [(2 + place, axis) for place, axis in enumerate(axes) if is_cut(axis)]
    if not cut:
        return image
    starts = out.integers(*(max(axis.first, 0) for _, axis in cut))
    ends = out.integers(*(min(axis.first + axis.covered, axis.size) for _, axis in cut))
    return out.add("Slice", image, starts, ends, out.integers(*(place for place, _ in cut)))


def _is_all_channels(axis: Axis) -> bool:
    return axis.count == 1 and axis.first == 0 and axis.kernel == axis.size


def _convolved(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    weights, value = sources
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    maps = product(attributes["maps"])
    shared = all(
        flag or axis.count == 1 for flag, axis in zip(attributes["sharing"], axes, strict=True)
    )
    if len(axes) > MOST_AXES + 1 and not is_plain(attributes):
        raise refused(node, "its kernel has gaps or groups, and ONNX takes those along three axes.")
    if is_plain(attributes) and (
        not shared or product(attributes["maps"][1:]) != 1 or len(axes) > MOST_AXES
    ):
        return _by_cells(out, node, value, whole(node, weights))
    kernels = _kernels(node, whole(node, weights), maps)
    if attributes["transpose"]:
        return _convolved_back(out, node, value, kernels)
    if not is_plain(attributes):
        return _spread(out, node, value, kernels)
    image = _taken(out, node, value)
    walked, kernels = (axes[1:], kernels) if _is_all_channels(axes[0]) else (axes, kernels[:, None])
    if len(walked) == len(axes):
        image = out.add("Unsqueeze", image, out.integers(1))
    if not walked:
        walked, kernels = (_POINT,), kernels[..., None]
        image = out.add("Unsqueeze", image, out.integers(2))
    image = _inside(out, image, walked)
    found = out.add(
        "Conv",
        image,
        out.numbers(kernels, out.fresh(f"{weights.name}/kernels")),
        **walk_of(walked),
    )
    if attributes["channels_last"]:
        found = out.shaped(found, 1, (maps * axes[0].count, *(axis.count for axis in axes[1:])))
    return _as_node_value(out, node, found, value)


def is_plain(attributes: Mapping[str, Any]) -> bool:
    """Return whether a convolution has one group and no gaps."""
    return attributes.get("groups", 1) == 1 and "gaps" not in attributes


def _spread(out: OnnxWriting, node: Node, value: OnnxValue, kernels: Array) -> str:
    """Return a convolution of groups of channels, or with gaps between the cells of its kernels."""
    attributes = node.attributes
    axes, gaps = attributes["axes"], attributes.get("gaps", (1,) * len(attributes["axes"]))
    whole_depth = _is_all_channels(axes[0]) and product(attributes["maps"][1:]) == 1
    if not whole_depth or not all(attributes["sharing"]) or gaps[0] != 1:
        raise refused(node, "its kernels with gaps have to read all channels, at every place.")
    walked = axes[1:]
    walk = walk_of(walked)
    walk["kernel_shape"] = list(kernels.shape[2:])
    found = out.add(
        "Conv",
        _inside(out, _taken(out, node, value), walked),
        out.numbers(kernels, out.fresh(f"{node.inputs[0].name}/kernels")),
        **walk,
        dilations=list(gaps[1:]),
        group=attributes.get("groups", 1),
    )
    return _as_node_value(out, node, found, value)


def _by_cells(out: OnnxWriting, node: Node, value: OnnxValue, weights: Array) -> str:
    """Return a convolution whose places have kernels of their own, or one along many axes."""
    attributes, axes = node.attributes, node.attributes["axes"]
    if attributes["transpose"]:
        raise refused(node, "backwards, its kernels have to be the same at all places.")
    cells = product(_sizes(axes))
    flat = out.add("Reshape", _taken(out, node, value), out.integers(-1, cells))
    kernels = _kernels(node, weights, -1).reshape(-1, product(tuple(one.kernel for one in axes)))
    found = taken.kernels(out, flat, axes, attributes["sharing"], attributes["maps"], kernels)
    return _as_node_value(out, node, found, value)


class _Point:
    """The one place of an image that has none."""

    size = kernel = stride = count = covered = 1
    first = 0


_POINT: Axis = _Point()  # type: ignore[assignment]


def _kernels(node: Node, weights: Array, maps: int) -> Array:
    """Return weights as [maps, *kernel]."""
    flat: Array = weights.reshape(-1)
    attributes = node.attributes
    if attributes["channels_last"]:
        flat = flat.reshape(-1, maps).T
    channels, *rest = taps_of(attributes["axes"], attributes)
    return flat.reshape(maps, channels // attributes.get("groups", 1), *rest)


def _convolved_back(out: OnnxWriting, node: Node, value: OnnxValue, kernels: Array) -> str:
    """Return the image that such places are computed from (ConvTranspose)."""
    axes: tuple[Axis, ...] = node.attributes["axes"]
    if not _is_all_channels(axes[0]):
        raise refused(node, "backwards, its kernel has to read all channels.")
    walked = axes[1:]
    places = _flat(out, value, (kernels.shape[0], *(axis.count for axis in walked)))
    beyond = [max(axis.size - axis.first - axis.covered, 0) for axis in walked]
    if any(axis.first > 0 for axis in walked) or any(
        more >= axis.stride and more for more, axis in zip(beyond, walked, strict=True)
    ):
        raise refused(node, "cells at the border of its image belong to no kernel.")
    found = out.add(
        "ConvTranspose",
        places,
        out.numbers(kernels, out.fresh(f"{node.inputs[0].name}/kernels")),
        **walk_of(walked),
        output_padding=beyond,
    )
    return _back(out, found, value, node)


def _pooled(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return a pooling; cells outside of the image do not count in a mean."""
    (value,), is_most = sources, node.attributes["pool"] == "max"
    axes: tuple[Axis, ...] = node.attributes["axes"]
    image = _taken(out, node, value)
    is_each = axes[0].kernel == axes[0].stride == 1 and axes[0].count == axes[0].size
    walked = axes[1:] if is_each and len(axes) > 1 else axes
    padded = node.attributes.get("include_pads", False) and not is_most
    if padded and (has_empty_windows(walked) or len(walked) > MOST_AXES):
        raise refused(node, "it counts cells outside of its image that ONNX does not see.")
    if has_empty_windows(walked) or len(walked) > MOST_AXES:
        flat = out.add("Reshape", image, out.integers(-1, product(_sizes(axes))))
        found = (taken.most if is_most else taken.mean)(out, flat, axes)
        found = out.shaped(found, 1, tuple(axis.count for axis in axes))
        return _as_node_value(out, node, found, value)
    if len(walked) == len(axes):
        image = out.add("Unsqueeze", image, out.integers(1))
    found = out.add(
        "MaxPool" if is_most else "AveragePool",
        _inside(out, image, walked),
        **walk_of(walked),
        **({"count_include_pad": 1} if padded else {}),
    )
    if node.attributes["channels_last"] and len(walked) == len(axes):
        found = out.shaped(found, 1, tuple(axis.count for axis in axes))
    return _as_node_value(out, node, found, value)


def _regions(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return the pooling of regions given by their corners, each with the number of its image in
    front.
    """
    image, regions = sources
    if "scale" not in node.attributes:
        raise refused(node, _OTHER_BORDERS)
    if image.lead != 1 or regions.lead != 1:
        raise refused(node, "its regions have to come with the image of each sample.")
    count = node.shape[0]
    from onnx import TensorProto

    kind = TensorProto.DOUBLE if out.floats == "float64" else TensorProto.FLOAT
    samples = out.add("Gather", out.add("Shape", image.name), out.place(0), axis=0)
    numbers = out.add("Range", out.place(0), samples, out.place(1))
    numbers = out.add("Unsqueeze", out.add("Cast", numbers, to=kind), out.integers(1))
    each = out.add("Expand", numbers, out.integers(1, count))
    each = out.add("Reshape", each, out.integers(-1, 1))
    boxes = out.add("Reshape", regions.name, out.integers(-1, 4))
    found = out.add(
        "MaxRoiPool",
        image.name,
        out.add("Concat", each, boxes, axis=1),
        pooled_shape=list(node.attributes["size"]),
        spatial_scale=float(node.attributes["scale"]),
    )
    return out.add("Reshape", found, out.integers(-1, *node.shape))


WINDOWS: dict[str, Row] = {
    "ROIPooling": _regions,
    "Convolution": _convolved,
    "Pooling": _pooled,
    "MaxPooling": _pooled,
    "AveragePooling": _pooled,
}
