"""Shapes of convolution, pooling and normalization.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import UNCOUNTED, elements, written
from netsharp_lsp.cntk.networks.rules.common import (
    Misfit,
    fill,
    inherit_axis,
    need_axis,
    shape_of,
)
from netsharp_lsp.cntk.networks.rules.windows import Windows, shrunk, spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def convolution(node: Node, final: bool) -> None:
    """Set the shape of a convolution of the last input with a kernel per map, or of its
    transpose.
    """
    inherit_axis(node)
    weights, shape = node.inputs[0], shape_of(node, 1)
    if not elements(shape) and not final:
        return
    windows = convolving(node, shape)
    layout = node.text("imageLayout", "CHW")
    output = node.dimensions("dimOutputShape")
    wide, image = windows.dilated(node), arranged(shape, layout, "CHW")
    if not elements(output):
        output = (spread if node.truth("transpose") else shrunk)(image, wide)
    node.shape = arranged(output, "CHW", layout)
    if not elements(weights.shape or ()):
        inferred = (*windows.kernel, *windows.maps)
        if len(weights.shape or ()) == 2:
            inferred = (elements(windows.maps), elements(windows.kernel))
        fill(weights, inferred)
    groups = max(node.integer("groups", 1), 1)
    expected = elements(windows.kernel) * elements(windows.maps) // groups
    if final and windows.maps[-1] % groups:
        raise Misfit(f"{windows.maps[-1]} maps cannot be divided into {groups} equal groups.")
    if final and elements(weights.shape or ()) != expected and all(node.dimensions("dimSharing")):
        raise Misfit(
            f"the weights '{weights.name}' are [{written(weights.shape)}], and kernels of"
            f" [{written(windows.kernel)}] for {written(windows.maps)} maps have {expected}."
        )


def convolving(node: Node, shape: tuple[int, ...]) -> Windows:
    """Return kernel, strides and padding of a convolution, completed to the rank of its input."""
    windows = Windows.of(node)
    if node.text("form") == "2D":
        depth = shape[0] if node.text("imageLayout") == "HWC" else shape[-1]
        kernel, stride = (*windows.kernel[:2], depth), (*windows.stride[:2], depth)
        weights = node.inputs[0]
        fill(weights, (elements(windows.maps), elements(kernel)))
        return windows._replace(kernel=kernel, stride=stride).completed(shape, ())
    groups = node.integer("groups", 1)
    if groups > 1 and len(windows.kernel) == len(shape):
        # A kernel reads the channels of its group: together they read all of them.
        windows = windows._replace(
            kernel=(*windows.kernel[:-1], min(windows.kernel[-1] * groups, UNCOUNTED))
        )
    return windows.completed(shape, shape)


def pooling(node: Node, final: bool) -> None:
    """Set the shape of the maximum or the mean of each window."""
    inherit_axis(node)
    _cudnn_only(node)
    shape = shape_of(node, 0)
    if elements(shape) or final:
        windows = Windows.of(node).completed(shape, ())
        node.shape = shrunk(shape, windows, partly=node.truth("ceilOut"))


def max_unpooling(node: Node, final: bool) -> None:
    """Set the shape of the image before a pooling."""
    inherit_axis(node)
    _cudnn_only(node)
    shape = shape_of(node, 0)
    if elements(shape) or final:
        node.shape = spread(shape, Windows.of(node).completed(shape, ()))


def old_pooling(node: Node, final: bool) -> None:
    """Set the shape of a pooling over width and height only, without padding."""
    inherit_axis(node)
    shape, layout = shape_of(node, 0), node.text("imageLayout", "HWC")
    if len(shape) != 3 or not elements(shape):
        if final:
            raise Misfit(f"pooling needs width, height and channels, but this is {_boxed(shape)}.")
        return
    width, height, channels = arranged(shape, layout, "CHW")
    window = node.integer("windowWidth"), node.integer("windowHeight")
    steps = node.integer("horizontalSubsample"), node.integer("verticalSubsample")
    if final and (width < window[0] or height < window[1]):
        raise Misfit(f"a window of {window[0]} x {window[1]} does not fit into {_boxed(shape)}.")
    across = max(width - window[0], 0) // (steps[0] or 1) + 1
    down = max(height - window[1], 0) // (steps[1] or 1) + 1
    node.shape = arranged((across, down, channels), "CHW", layout)


def roi_pooling(node: Node, final: bool) -> None:
    """Set the shape of regions of interest, each pooled to one size."""
    inherit_axis(node)
    shape, regions, size = shape_of(node, 0), shape_of(node, 1), node.dimensions("roiOutputShape")
    if len(shape) < 3 or len(regions) < 2 or len(size) != 2:
        if final:
            raise Misfit("regions are pooled from width x height x channels to width x height.")
        return
    if final and (shape[0] < size[0] or shape[1] < size[1] or regions[0] != 4 or regions[1] < 1):
        raise Misfit(f"regions {_boxed(regions)} of {_boxed(shape)} cannot be {_boxed(size)}.")
    node.shape = (size[0], size[1], shape[2], regions[1])


def batch_normalization(node: Node, final: bool) -> None:
    """Take the shape of the first input; parameters of [0 x 1] have one row per element, or per map
    if spatial.
    """
    inherit_axis(node)
    node.shape = shape = shape_of(node, 0)
    statistics = node.inputs[1:5]
    for one in statistics:
        if one.shape == (0, 1) and elements(shape):
            fill(one, (shape[-1] if node.truth("spatial") else elements(shape), 1))
    if not final:
        return
    for one in statistics:
        if one.axis is not None or one.shape != node.inputs[1].shape:
            raise Misfit(
                "scale, bias, mean and variance need one shape and no dynamic axis:"
                f" '{one.name}' is {_boxed(one.shape or ())}."
            )
    if node.truth("spatial"):
        _cudnn_only(node)


def crop(node: Node, final: bool) -> None:
    """Cut the first input to the width and height of the second."""
    inherit_axis(node)
    shape, other = shape_of(node, 0), shape_of(node, 1)
    if min(len(shape), len(other)) < 2:
        raise Misfit("cropping needs inputs of at least two dimensions.")
    node.shape = (*other[:2], *shape[2:])
    offsets = node.integer("xOffset"), node.integer("yOffset")
    if final and any(shape[side] < other[side] + offsets[side] for side in (0, 1)):
        raise Misfit(f"{_boxed(shape)} is too small to be cropped to {_boxed(other)}.")


def recurrent_stack(node: Node, final: bool) -> None:
    """Set the shape of a stack of recurrent layers in one node, and infer its weights as one
    matrix.
    """
    inherit_axis(node)
    weights, shape = node.inputs[0], shape_of(node, 1)
    if final:
        need_axis(node, 1)
        if len(shape) != (2 if node.integer("axis", -1) == 2 else 1):
            raise Misfit(f"a recurrent stack cannot run over {_boxed(shape)}.")
    if not shape:
        return
    hidden = node.integer("hiddenDims")
    node.shape = (hidden * (2 if node.truth("bidirectional") else 1), *shape[1:])
    if len(weights.shape or ()) == 2 and hidden:
        fill(weights, (hidden, recurrent_weights(node) // hidden))


#: The number of gates of a cell, by its kind.
GATES = {"lstm": 4, "gru": 3}


def recurrent_weights(node: Node, biases: int = 2) -> int:
    """Return the number of weights of a recurrent stack; with 0 biases, its multiply-adds."""
    hidden, width = node.integer("hiddenDims"), elements(shape_of(node, 1))
    directions = 2 if node.truth("bidirectional") else 1
    total = 0
    for _ in range(node.integer("numLayers", 1)):
        gates = GATES.get(node.text("recurrentOp", "lstm"), 1)
        total += gates * hidden * (width + hidden + biases) * directions
        width = directions * hidden
    return total


def arranged(shape: tuple[int, ...], source: str, target: str) -> tuple[int, ...]:
    """Convert an image's shape from one layout to another: in CNTK's order, CHW is [W x H x C], HWC
    is [C x W x H].
    """
    if source == target or len(shape) != 3:
        return shape
    return (*shape[1:], shape[0]) if source == "HWC" else (shape[2], *shape[:2])


def _cudnn_only(node: Node) -> None:
    if node.text("imageLayout", "CHW") != "CHW":
        raise Misfit(f"{node.operation} works with imageLayout='CHW' only.")


def _boxed(shape: tuple[int, ...]) -> str:
    return f"[{written(shape)}]"
