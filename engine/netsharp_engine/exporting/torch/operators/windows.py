"""CNTK's kernels and windows over images in PyTorch, in both of its layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch.operators import walking
from netsharp_engine.exporting.torch.operators.rows import BiasedRow, Row, owner, whole
from netsharp_engine.exporting.torch.source import Expression, call, flat, numbers
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import Array, ExportedValue
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.images import taps_of

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis


#: A coordinate beyond every image, whose number of cells is limited to far less.
_FAR = 1e9
_LEAST = 'float("-inf")'


def _samples(out: TorchWriting, value: ExportedValue, shape: Sequence[int]) -> str:
    """Return samples [n, *shape], also where they are steps of sequences."""
    name = out.read(value)
    if value.lead == 1 and value.shape == tuple(shape):
        return name
    return out.let(f"{name}.reshape({flat(numbers((-1, *shape)))})")


def _back(
    out: TorchWriting, found: Expression, made: tuple[int, ...], node: Node, value: ExportedValue
) -> Expression:
    """Return samples [n, *made] with the leading axes of a value, in the shape of a node."""
    if value.lead == 1:
        return found if made == node.shape else out.shaped(out.let(found), made, node.shape)
    leading = f"*{out.read(value)}.shape[:{value.lead}]"
    return call(
        f"{out.let(found)}.reshape", *([leading] if value.lead else []), *map(str, node.shape)
    )


def _sizes(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(axis.size for axis in axes)


def _counts(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(axis.count for axis in axes)


def _taken(out: TorchWriting, node: Node, value: ExportedValue) -> str:
    """Return the image of a node, [n, *sizes of its axes]."""
    axes, last = node.attributes["axes"], node.attributes["channels_last"]
    sizes = _sizes(axes)
    if not last:
        return _samples(out, value, sizes)
    given = _samples(out, value, (*sizes[1:], sizes[0]))
    return out.let(f"{given}.movedim(-1, 1)")


def _as_node_value(
    out: TorchWriting,
    node: Node,
    found: Expression,
    made: tuple[int, ...],
    value: ExportedValue,
) -> Expression:
    """Return a result [n, channels, ...] as the value of a node."""
    if node.attributes["channels_last"]:
        found, made = f"{out.let(found)}.movedim(1, -1)", (*made[1:], made[0])
    return _back(out, found, made, node, value)


def _convolved(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None = None
) -> Expression:
    weights, value = sources
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    maps = product(attributes["maps"])
    if _is_spread(attributes) and _walks(attributes):
        return _spread(out, node, sources, bias)
    shared = all(
        flag or axis.count == 1 for flag, axis in zip(attributes["sharing"], axes, strict=True)
    )
    if not shared or product(attributes["maps"][1:]) != 1 or len(axes) > walking.MOST_AXES:
        return _by_cells(out, node, value, whole(node, weights), weights.name)
    kernels = _kernels(node, whole(node, weights), maps)
    if attributes["transpose"]:
        return _convolved_back(out, node, value, kernels, weights.name)
    image = _taken(out, node, value)
    first = axes[0]
    reads_all = first.count == 1 and first.first == 0 and first.kernel == first.size
    walked = axes[1:] if reads_all and len(axes) > 1 else axes
    if len(walked) == len(axes):
        image, kernels = out.let(f"{image}.unsqueeze(1)"), kernels[:, None]
    name = owner(node, weights.name)
    key = ("convolution", node.inputs[0], bias if bias is None else bias.tobytes())
    found = walking.convolution(out, key, name, image, walked, kernels, bias)
    made = (maps * first.count, *_counts(axes[1:]))
    if len(walked) == len(axes):
        found = out.shaped(out.let(found), (maps, *_counts(axes)), made)
    return _as_node_value(out, node, found, made, value)


def _is_spread(attributes: Mapping[str, Any]) -> bool:
    """Return whether kernels read a group of the channels, or have gaps between their cells."""
    return attributes.get("groups", 1) != 1 or "gaps" in attributes


def _walks(attributes: Mapping[str, Any]) -> bool:
    """Return whether kernels read all channels and walk as a layer does: one for all places."""
    first, *walked = attributes["axes"]
    return (
        not attributes["transpose"]
        and all(attributes["sharing"])
        and product(attributes["maps"][1:]) == 1
        and 1 <= len(walked) <= walking.MOST_AXES
        and (first.count, first.first, first.kernel) == (1, 0, first.size)
        and attributes.get("gaps", (1,))[0] == 1
    )


def _spread(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None
) -> Expression:
    """Return a convolution of groups of channels, or with gaps between the cells of its kernels."""
    weights, value = sources
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    kernels = _taps(node, whole(node, weights), product(attributes["maps"]))
    spread = walking.Spread(
        attributes.get("groups", 1), attributes.get("gaps", (1,) * len(axes))[1:]
    )
    key = ("convolution", node.inputs[0], bias if bias is None else bias.tobytes())
    image, name = _taken(out, node, value), owner(node, weights.name)
    found = walking.convolution(out, key, name, image, axes[1:], kernels, bias, spread)
    return _as_node_value(out, node, found, (len(kernels), *_counts(axes[1:])), value)


def takes_bias(node: Node) -> bool:
    """Return whether a layer of a convolution can add a number for each of its maps."""
    attributes = node.attributes
    axes: tuple[Axis, ...] = attributes["axes"]
    return (
        1 < len(axes) <= walking.MOST_AXES
        and all(attributes["sharing"])
        and product(attributes["maps"][1:]) == 1
        and not attributes["transpose"]
        and not attributes["channels_last"]
        and axes[0].count == 1
    )


def _by_cells(
    out: TorchWriting, node: Node, value: ExportedValue, weights: Array, origin: str
) -> Expression:
    """Return a convolution whose places have kernels of their own, or one along many axes."""
    attributes, axes = node.attributes, node.attributes["axes"]
    if attributes["transpose"]:
        raise refused(node, "backwards, its kernels have to be the same at all places.")
    image = out.let(f"{_taken(out, node, value)}.flatten(1)")
    kernels = _kernels(node, weights, -1).reshape(-1, product(tuple(one.kernel for one in axes)))
    found = walking.by_cells(
        out, owner(node, origin), image, axes, attributes["sharing"], attributes["maps"], kernels
    )
    made = tuple(one * axis.count for one, axis in zip(attributes["maps"], axes, strict=True))
    return _as_node_value(out, node, found, made, value)


def _taps(node: Node, weights: Array, maps: int) -> Array:
    """Return weights as [maps, channels of a group, *taps]."""
    attributes = node.attributes
    flat_weights: Array = weights.reshape(-1)
    channels, *rest = taps_of(attributes["axes"], attributes)
    if attributes["channels_last"]:
        flat_weights = flat_weights.reshape(-1, maps).T
    return flat_weights.reshape(maps, channels // attributes.get("groups", 1), *rest)


def _kernels(node: Node, weights: Array, maps: int) -> Array:
    """Return weights as [maps, *kernel], with 0 in gaps and for the channels of other groups."""
    attributes = node.attributes
    found = _taps(node, weights, maps)
    if not _is_spread(attributes):
        return found
    axes, groups = attributes["axes"], attributes.get("groups", 1)
    gaps = attributes.get("gaps", (1,) * len(axes))
    wide = np.zeros((len(found), *(axis.kernel for axis in axes)), found.dtype)
    share, depth = len(found) // groups, axes[0].kernel // groups
    for group in range(groups):
        maps_of = slice(group * share, (group + 1) * share)
        cells = [slice(None, None, gap) for gap in gaps]
        if groups > 1:
            cells[0] = slice(group * depth, (group + 1) * depth)
        wide[(maps_of, *cells)] = found[maps_of]
    return wide


def _convolved_back(
    out: TorchWriting, node: Node, value: ExportedValue, kernels: Array, origin: str
) -> Expression:
    """Return the image that such places are computed from; cells under no kernel are 0."""
    axes: tuple[Axis, ...] = node.attributes["axes"]
    first, walked = axes[0], axes[1:]
    if not (first.count == 1 and first.first == 0 and first.kernel == first.size and walked):
        raise refused(node, "backwards, its kernel has to read all channels.")
    places = _samples(out, value, (kernels.shape[0], *_counts(walked)))
    maps, channels, *kernel = kernels.shape
    made = call(
        f"nn.ConvTranspose{len(walked)}d",
        str(maps),
        str(channels),
        numbers(kernel),
        stride=numbers([axis.stride for axis in walked]),
        bias="False",
    )
    key = ("back", node.inputs[0], made)
    layer = out.layer(key, owner(node, origin), made, {"weight": kernels})
    # The places cover some cells; what lies outside is cut, what none covers is added.
    cut = [
        side
        for axis in reversed(walked)
        for side in (axis.first, axis.size - axis.first - axis.covered)
    ]
    found: Expression = call(layer, places)
    if any(cut):
        found = call("F.pad", out.let(found), numbers(cut))
    return _back(out, found, _sizes(axes), node, value)


def _pooled(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    (value,), most = sources, node.attributes["pool"] == "max"
    axes: tuple[Axis, ...] = node.attributes["axes"]
    pads: bool = node.attributes.get("include_pads", False)
    image = _taken(out, node, value)
    is_each = axes[0].kernel == axes[0].stride == 1 and axes[0].count == axes[0].size
    walked = axes[1:] if is_each and len(axes) > 1 else axes
    if len(walked) > walking.MOST_AXES:
        flat_image = out.let(f"{image}.flatten(1)")
        found = walking.pooled_by_cells(out, flat_image, axes, most=most, counts_pads=pads)
        made: tuple[int, ...] = (product(_counts(axes)),)
        found, made = out.shaped(out.let(found), made, _counts(axes)), _counts(axes)
        return _as_node_value(out, node, found, made, value)
    if len(walked) == len(axes):
        image = out.let(f"{image}.unsqueeze(1)")
    found = walking.pooled(out, node.name, image, walked, most=most, counts_pads=pads)
    if len(walked) == len(axes):
        found = f"{out.let(found)}.squeeze(1)"
    return _as_node_value(out, node, found, _counts(axes), value)


def _regions(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return the largest cell of each part of each region of an image; 0 where a part has none.

    Regions are rounded as the engine rounds them: half a cell away from 0.
    """
    images, regions = sources
    height, width = node.inputs[0].shape[1:]
    down, across = node.shape[2:]
    scale = node.attributes.get("scale")
    image = _samples(out, images, node.inputs[0].shape)
    boxes = _samples(out, regions, (node.shape[0], 4))
    by = out.tensor(np.array([width, height] * 2 if scale is None else [scale] * 4), "sides")
    sides = out.let(f"{boxes} * {by}", "sides")
    rounded = out.let(f"(({sides}.abs() + 0.5).floor() * {sides}.sign()).nan_to_num()")
    rounded = out.let(f"{rounded}.clamp({-_FAR}, {_FAR})")
    far = out.let(f"{rounded}[..., 2:]")
    if scale is not None:
        far = out.let(f"{far} - {rounded}[..., :2] + 1")
    size = out.let(f"{far}.clamp(min=1)")
    masks = [
        _parts(out, rounded, size, axis, (count, most))
        for axis, (count, most) in enumerate(((across, width), (down, height)))
    ]
    # [n, regions, channels, height, across], then [n, regions, channels, down, across].
    column = out.let(f"{masks[0]}[:, :, None, None]")
    cells = out.let(f"{image}[:, None, :, :, None]")
    least = out.let(call("torch.where", column, cells, _LEAST))
    best = out.let(f"{least}.amax(-1)")
    row = out.let(f"{masks[1]}[:, :, None, :, :, None]")
    cells = out.let(f"{best}[:, :, :, None]")
    least = out.let(call("torch.where", row, cells, _LEAST))
    best = out.let(f"{least}.amax(-2)")
    found = call("torch.where", f"{best}.isinf()", "0.0", best)
    return _back(out, found, node.shape, node, max(sources, key=lambda one: one.lead))


def _parts(out: TorchWriting, regions: str, size: str, axis: int, counts: tuple[int, int]) -> str:
    """Return which cells of a side are in each of its parts, [n, regions, parts, cells]."""
    count, most = counts
    step = out.let(f"{size}[..., {axis}, None] / {count}")
    begin = out.let(f"{regions}[..., {axis}, None]")
    part = out.tensor(np.arange(count), "parts", whole=True)
    first = out.let(f"({begin} + ({part} * {step}).floor()).clamp(0, {most})")
    last = out.let(f"({begin} + (({part} + 1) * {step}).ceil()).clamp(0, {most})")
    cell = out.tensor(np.arange(most), "cells", whole=True)
    from_first = out.let(f"{cell} >= {first}[..., None]")
    return out.let(f"{from_first} & ({cell} < {last}[..., None])")


#: Those that a bias may join, which the next node adds.
BIASED: dict[str, BiasedRow] = {"Convolution": _convolved}
WINDOWS: dict[str, Row] = {
    "Convolution": _convolved,
    "Pooling": _pooled,
    "MaxPooling": _pooled,
    "AveragePooling": _pooled,
    "ROIPooling": _regions,
}
