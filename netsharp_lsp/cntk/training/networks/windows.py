"""How kernels and windows of nodes lie in their images, as the engine's axes, slowest first."""

from __future__ import annotations

from netsharp_engine.geometry import CorneredAxis
from netsharp_lsp.cntk.networks.rules.images import arranged, convolving
from netsharp_lsp.cntk.networks.rules.windows import Windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Node

_OLD = "HWC"


def convolution(node: Node) -> dict[str, Any]:
    """The attributes of a convolution, or of one backwards."""
    layout, backwards = node.text("imageLayout", "CHW"), node.truth("transpose")
    source = node.inputs[1].shape or ()
    windows = convolving(node, source)
    image = arranged(node.shape or () if backwards else source, layout, "CHW")
    rank = len(image)
    sharing = node.dimensions("dimSharing") or (True,)
    return {
        "axes": _axes(windows, image, layout),
        "maps": _slowest(tuple(windows.map_count(d, rank) for d in range(rank)), layout),
        "sharing": _slowest(
            tuple(bool(sharing[min(d, len(sharing) - 1)]) for d in range(rank)), layout
        ),
        "transpose": backwards,
        "channels_last": layout == _OLD,
    }


def pooling(node: Node) -> dict[str, Any]:
    """The attributes of a pooling in any number of dimensions."""
    image = node.inputs[0].shape or ()
    windows = Windows.of(node).completed(image, ())
    return {
        "axes": _axes(windows, image, "CHW"),
        "pool": node.text("pool"),
        "channels_last": False,
    }


def unpooling(node: Node) -> dict[str, Any]:
    """The attributes of the pooling whose maxima tell where values go."""
    image = node.shape or ()
    return {"axes": _axes(Windows.of(node).completed(image, ()), image, "CHW")}


def old_pooling(node: Node) -> dict[str, Any]:
    """The attributes of a pooling over width and height, without padding."""
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
    """Why windows are not moved as a node says, behind its name; empty where they are."""
    if any(step != 1 for step in node.dimensions("dimDilation")):
        return "has a kernel with gaps (dilation), which is not trained or evaluated yet."
    if node.dimensions("dimOutputShape"):
        return "has an output shape by number, which is not trained or evaluated yet."
    if node.truth("ceilOut") or node.truth("poolIncludePad"):
        return "pools over what lies outside of its image, which is not done yet."
    if "featureScale" in node.attributes:
        return (
            "has regions in cells of its input, as later releases of CNTK, which is not done yet."
        )
    old = node.text("imageLayout") == _OLD and node.operation == "Convolution"
    if old and (node.truth("transpose") or not all(node.dimensions("dimSharing"))):
        return "is a convolution that the older layout of images does not have."
    if node.operation == "Convolution" and node.inputs[0].axis is not None:
        return "has weights that change with the samples, which no convolution has."
    return ""


def _axes(windows: Windows, image: tuple[int, ...], layout: str) -> tuple[CorneredAxis, ...]:
    found = []
    for d, size in enumerate(image):
        kernel, stride = windows.kernel[d], windows.stride[d] or 1
        if not windows.padded[d]:
            lower, upper = windows.lower[d], windows.upper[d]
            found.append(CorneredAxis(size, kernel, stride, lower=lower, upper=upper))
        else:
            before = kernel // 2 if layout == _OLD else (kernel - 1) // 2
            found.append(
                CorneredAxis(size, kernel, stride, lower=before, upper=kernel - 1 - before)
            )
    return _slowest(tuple(found), layout)


def _slowest(values: tuple[Any, ...], layout: str) -> tuple[Any, ...]:
    """What belongs to width, height, channels in the order of the engine; see its convolution."""
    return (values[2], values[0], values[1]) if layout == _OLD else values[::-1]
