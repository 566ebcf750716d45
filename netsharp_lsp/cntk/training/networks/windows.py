"""Positions of kernels and windows of nodes in their images, as the engine's axes, slowest
first.
"""

from __future__ import annotations

from netsharp_engine.geometry import CorneredAxis
from netsharp_lsp.cntk.networks.node import written
from netsharp_lsp.cntk.networks.rules.images import arranged, convolving
from netsharp_lsp.cntk.networks.rules.windows import Windows, shrunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Node

_OLD = "HWC"


def convolution(node: Node) -> dict[str, Any]:
    """Return the attributes of a convolution, or of a transposed one."""
    layout, backwards = node.text("imageLayout", "CHW"), node.truth("transpose")
    source = node.inputs[1].shape or ()
    windows = convolving(node, source)
    image = arranged(node.shape or () if backwards else source, layout, "CHW")
    rank = len(image)
    sharing = node.dimensions("dimSharing") or (True,)
    gaps = windows.gaps(node)
    found: dict[str, Any] = {
        "axes": _axes(windows.dilated(node), image, layout, node.truth("padCentred")),
        "maps": _slowest(tuple(windows.map_count(d, rank) for d in range(rank)), layout),
        "sharing": _slowest(
            tuple(bool(sharing[min(d, len(sharing) - 1)]) for d in range(rank)), layout
        ),
        "transpose": backwards,
        "channels_last": layout == _OLD,
    }
    if any(gap != 1 for gap in gaps):
        found["gaps"] = _slowest(gaps, layout)
    if node.integer("groups", 1) > 1:
        found["groups"] = node.integer("groups", 1)
    return found


def pooling(node: Node) -> dict[str, Any]:
    """Return the attributes of a pooling in any number of dimensions."""
    image = node.inputs[0].shape or ()
    windows = Windows.of(node).completed(image, ())
    counts = node.shape if node.truth("ceilOut") else None
    axes = _axes(windows, image, "CHW", node.truth("padCentred"), counts)
    found: dict[str, Any] = {"axes": axes, "pool": node.text("pool"), "channels_last": False}
    return {**found, "include_pads": True} if node.truth("poolIncludePad") else found


def unpooling(node: Node) -> dict[str, Any]:
    """Return the attributes of the pooling whose maxima determine the targets of values."""
    image = node.shape or ()
    windows = Windows.of(node).completed(image, ())
    return {"axes": _axes(windows, image, "CHW", node.truth("padCentred"))}


def regions(node: Node) -> dict[str, Any]:
    """Return the attributes of a pooling of regions: later versions give them by two corners in
    coordinates of an image that is larger by a factor.
    """
    scale = node.attributes.get("featureScale")
    found: dict[str, Any] = {"size": node.dimensions("roiOutputShape")[::-1]}
    return {**found, "scale": float(scale)} if isinstance(scale, (int, float)) else found


def old_pooling(node: Node) -> dict[str, Any]:
    """Return the attributes of a pooling over width and height, without padding."""
    layout = node.text("imageLayout", _OLD)
    image = arranged(node.inputs[0].shape or (), layout, "CHW")
    none = (0,) * 3
    windows = Windows(
        (node.integer("windowWidth"), node.integer("windowHeight"), 1),
        (1,),
        (node.integer("horizontalSubsample"), node.integer("verticalSubsample"), 1),
        *(none, none, none),
    )
    return {
        "axes": _axes(windows, image, layout),
        "pool": "max" if node.operation == "MaxPooling" else "average",
        "channels_last": layout == _OLD,
    }


def why_not(node: Node) -> str:
    """Return why a node's windows are not supported, to follow its name; empty where they are."""
    dilated = any(step != 1 for step in node.dimensions("dimDilation"))
    backwards, groups = node.truth("transpose"), node.integer("groups", 1)
    if backwards and (dilated or groups > 1):
        return "is a transposed convolution with dilation or groups, which CNTK does not do either."
    if groups > 1 and not all(node.dimensions("dimSharing") or (True,)):
        return (
            "has groups, and kernels that differ between positions, which CNTK does not do either."
        )
    if node.operation == "Pooling" and node.truth("ceilOut") and _has_empty_windows(node):
        return "has windows without a cell inside the image: they have no value."
    old = node.text("imageLayout") == _OLD and node.operation == "Convolution"
    if old and (dilated or groups > 1):
        return "has dilation or groups in the older layout of images, for which CNTK ignores both."
    if old and (node.truth("transpose") or not all(node.dimensions("dimSharing"))):
        return "is a convolution that the older layout of images does not have."
    if node.operation == "Convolution" and node.inputs[0].axis is not None:
        return "has weights that change with the samples, which no convolution has."
    return _why_not_back(node) if backwards and node.operation == "Convolution" else ""


def _why_not_back(node: Node) -> str:
    """Return why a convolution does not lead back to the image of the node."""
    layout, source = node.text("imageLayout", "CHW"), node.inputs[1].shape or ()
    wide = convolving(node, source).dilated(node)
    output, image = (arranged(shape, layout, "CHW") for shape in (node.shape or (), source))
    back = shrunk(output, wide)
    if back == image:
        return ""
    return (
        f"makes an image of [{written(output)}], which is convolved to [{written(back)}], and "
        f"[{written(image)}] is to be convolved back."
    )


def _has_empty_windows(node: Node) -> bool:
    """Return whether the last windows along an axis begin after its end."""
    return any(
        axis.first + (axis.count - 1) * axis.stride >= axis.size for axis in pooling(node)["axes"]
    )


def _axes(
    windows: Windows,
    image: tuple[int, ...],
    layout: str,
    centred: bool = False,
    counts: tuple[int, ...] | None = None,
) -> tuple[CorneredAxis, ...]:
    """Return the axes of an image. ``centred``: the cells that strides leave over are on both sides
    of automatic padding, as in CNTK 2 [Math/ConvolveGeometry.h, GetLowerPad]; else the first kernel
    is on the first cell. ``counts``: the numbers of kernels, of which the last may extend past the
    image.
    """
    found = []
    for d, size in enumerate(image):
        kernel, stride = windows.kernel[d], windows.stride[d] or 1
        lower, upper = windows.lower[d], windows.upper[d]
        if windows.padded[d]:
            lower = kernel // 2 if layout == _OLD else (kernel - 1) // 2
            count = (size - 1) // stride + 1 if counts is None else counts[d]
            if centred:
                over = size - 1 - (count - 1) * stride
                lower -= over // 2 if over > 0 else -(-over // 2)
            upper = kernel - 1 - lower
        if counts is not None:
            upper = (counts[d] - 1) * stride + kernel - size - lower
        found.append(CorneredAxis(size, kernel, stride, lower=lower, upper=upper))
    return _slowest(tuple(found), layout)


def _slowest(values: tuple[Any, ...], layout: str) -> tuple[Any, ...]:
    """Return values of width, height, channels in the order of the engine; see its convolution."""
    return (values[2], values[0], values[1]) if layout == _OLD else values[::-1]
