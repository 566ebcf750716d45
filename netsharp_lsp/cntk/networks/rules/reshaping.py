"""Shapes of nodes that rearrange elements, or reduce along an axis.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import Axis, elements, written
from netsharp_lsp.cntk.networks.rules.common import (
    Misfit,
    columns,
    differ,
    inherit_axis,
    rows,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node

REDUCTIONS = ("Sum", "Plus", "Mean", "LogSum", "Min", "Max", "Prod", "Argmax", "Argmin")


#: Shapes are extended to a named axis, up to this one: a larger number is a mistake.
MOST_AXES = 1000
#: The attribute of nodes some of whose axes count from the end, as those of CNTK's Python library.
FROM_END = "axesFromEnd"


def _count_from_front(node: Node, rank: int, *keys: str) -> None:
    """Count axes from 1 that were counted from the end, once the rank is known."""
    if rank and node.truth(FROM_END):
        for key in keys:
            found = tuple(axis + rank + 1 if axis < 0 else axis for axis in each(node, key))
            node.attributes[key] = found if len(found) > 1 else found[0]


def each(node: Node, key: str, otherwise: int = 0) -> tuple[int, ...]:
    """Return the integers of an attribute that is one, or one for each of several axes."""
    several = tuple(one for one in node.dimensions(key) if isinstance(one, int))
    return several or (node.integer(key, otherwise),)


def reshape(node: Node, final: bool) -> None:
    """Replace the dimensions from `beginAxis` up to `endAxis`; one may be inferred."""
    inherit_axis(node)
    shape, replacement = shape_of(node, 0), list(node.dimensions("shape"))
    begin = max(node.integer("beginAxis") - 1, 0)
    end = node.integer("endAxis") - 1 if node.integer("endAxis") > 0 else len(shape)
    if not final:
        end = min(end, len(shape))
        begin = min(begin, end)
    replaced = elements(shape[begin:end]) if end > begin else 1
    if replacement.count(0) > 1:
        raise Misfit("a new shape may leave one dimension to infer, not several.")
    if 0 in replacement:
        known = elements(tuple(size for size in replacement if size)) or 1
        replacement[replacement.index(0)] = replaced // known
    node.shape = (*shape[:begin], *replacement, *shape[end:])
    if final and elements(node.shape) != elements(shape):
        raise Misfit(
            f"[{written(shape)}] has {elements(shape)} elements, but the new shape"
            f" [{written(node.shape)}] has {elements(node.shape)}."
        )


def legacy_reshape(node: Node, final: bool) -> None:
    """Set a number of rows, and the rest of the elements as further columns."""
    source, target = node.inputs[0], node.integer("numRows")
    shape = shape_of(node, 0)
    count = elements(shape)
    along = source.axis is not None
    if target <= 0:
        raise Misfit("a reshaped node needs at least one row.")
    if along and count == target:
        node.axis = source.axis
    elif along and (node.axis is None or node.axis is source.axis):
        node.axis = Axis(node.name)
    image = tuple(node.integer(f"image{side}") for side in ("Width", "Height", "Channels"))
    if elements(image):
        node.shape = image if node.text("imageLayout", "HWC") == "CHW" else (image[2], *image[:2])
    elif along or source.axis is not None:
        node.shape = (target,)
    else:
        height, width = rows(shape), columns(shape)
        node.shape = (target, height * width // target)
        if final and (max(target, height) % (min(target, height) or 1)):
            raise Misfit(f"{height} rows cannot be grouped or split into {target}.")


def reduce_elements(node: Node, final: bool) -> None:
    """Reduce some dimensions, or with axis 0 the whole sample, to 1; they are dropped if the
    attribute `keepDimensions` is false.
    """
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape), "axis")
    axes = each(node, "axis")
    if node.text("reductionOp") not in REDUCTIONS:
        raise Misfit(
            f"'{node.text('reductionOp')}' is not a reduction: there are {', '.join(REDUCTIONS)}."
        )
    if 0 in axes:
        node.shape = (1,)
        return
    beyond = [axis for axis in axes if not 1 <= axis <= len(shape)]
    if beyond and final:
        raise Misfit(f"[{written(shape)}] has no axis {beyond[0]}.")
    if not beyond:
        kept = node.truth("keepDimensions", True)
        sizes = [
            1 if axis in axes else size
            for axis, size in enumerate(shape, 1)
            if kept or axis not in axes
        ]
        node.shape = tuple(sizes) or (1,)


def slice_axis(node: Node, final: bool) -> None:
    """Take a range along one or several axes; a negative number, and an end of 0, counts from the
    end.  With a stride every stride-th element is taken; a negative one begins at the last of them.
    """
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape), "axis")
    found = shape
    for axis, begin, end, stride in ranges(node):
        if axis < 1 or (final and axis > len(shape)):
            raise Misfit(f"[{written(shape)}] has no axis {axis} to slice.")
        if stride == 0:
            raise Misfit("the stride of a slice is 0.")
        if axis > len(shape):
            continue
        size = found[axis - 1]
        first = begin if begin >= 0 else begin + size
        last = end if end > 0 else end + size
        fits = 0 <= first <= last <= size
        if final and not fits:
            raise Misfit(f"the range {begin} to {end} is not within axis {axis} of size {size}.")
        if fits:
            found = (*found[: axis - 1], -(-(last - first) // abs(stride)), *found[axis:])
    node.shape = found


def ranges(node: Node) -> list[tuple[int, int, int, int]]:
    """Return the ranges of a slice in the order of its axes: axis, begin, end and stride of
    each.
    """
    axes, begins, ends = (each(node, key) for key in ("axis", "beginIndex", "endIndex"))
    strides = each(node, "stride", 1)
    strides += strides[-1:] * (len(axes) - len(strides))
    return list(zip(axes, begins, ends, strides, strict=False))


def row_stack(node: Node, final: bool) -> None:
    """Stack inputs along an axis, usually the first; the other dimensions are broadcast."""
    inherit_axis(node)
    deepest = max((len(one.shape or ()) for one in node.inputs), default=0)
    _count_from_front(node, deepest, "alongAxis")
    along = max(node.integer("alongAxis", 1), 1) - 1
    if along >= MOST_AXES:
        raise Misfit(f"no tensor has an axis {along + 1}.")
    rank = max(along + 1, *(len(shape_of(node, number)) for number in range(len(node.inputs))))
    stacked = [1] * rank
    stacked[along] = 0
    for number, one in enumerate(node.inputs):
        shape = (one.shape or ()) + (1,) * (rank - len(one.shape or ()))
        stacked[along] += shape[along]
        for axis in range(rank):
            if axis == along:
                continue
            if final and 1 not in (shape[axis], stacked[axis]) and shape[axis] != stacked[axis]:
                raise differ(node, 0, number)
            if stacked[axis] == 1:
                stacked[axis] = shape[axis]
    node.shape = tuple(stacked)


def row_repeat(node: Node, final: bool) -> None:
    """Repeat the last dimension."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    node.shape = (*shape[:-1], shape[-1] * node.integer("numRepeats")) if shape else ()


def transpose_dimensions(node: Node, final: bool) -> None:
    """Exchange two axes; the shape is padded with 1 if one of them is beyond it.  With the
    attribute `order`, reorder all axes.
    """
    inherit_axis(node)
    shape = shape_of(node, 0)
    order = node.dimensions("order")
    if order:
        if sorted(order) != list(range(1, len(order) + 1)) or (final and len(order) != len(shape)):
            raise Misfit(f"[{written(order)}] is not an order of the axes of [{written(shape)}].")
        if len(order) == len(shape):
            node.shape = tuple(shape[axis - 1] for axis in order)
        return
    _count_from_front(node, len(shape), "axis1", "axis2")
    one, other = node.integer("axis1") - 1, node.integer("axis2") - 1
    if min(one, other) < 0:
        raise Misfit("axes are counted from 1.")
    if max(one, other) >= MOST_AXES:
        raise Misfit(f"no tensor has an axis {max(one, other) + 1}.")
    if min(one, other) >= len(shape):
        raise Misfit(f"[{written(shape)}] has neither axis {one + 1} nor axis {other + 1}.")
    padded = list(shape) + [1] * (max(one, other) + 1 - len(shape))
    padded[one], padded[other] = padded[other], padded[one]
    node.shape = tuple(padded)


def diagonal(node: Node, final: bool) -> None:
    """Set the shape of the diagonal of a square matrix as a row."""
    node.axis = None
    shape = shape_of(node, 0)
    if final and (node.inputs[0].axis is not None or rows(shape) != columns(shape)):
        raise Misfit(f"a diagonal needs a square matrix, but this is [{written(shape)}].")
    node.shape = (1, columns(shape))


def one_hot(node: Node, final: bool) -> None:
    """Insert an axis with one element per class, for the number of a class."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape) + 1, "axis")
    axis, classes = node.integer("axis", 1), node.integer("numClass")
    if not 1 <= axis <= len(shape) + 1:
        raise Misfit(f"axis {axis} cannot be inserted into [{written(shape)}].")
    if final and classes < 1:
        raise Misfit(f"the number of classes is {classes}; it has to be at least 1.")
    node.shape = (*shape[: axis - 1], classes, *shape[axis - 1 :])


def padded(node: Node, final: bool) -> None:
    """Extend each dimension by its `head` and its `foot`."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    head, foot = node.dimensions("head"), node.dimensions("foot")
    if len(head) != len(foot) or min((*head, *foot), default=0) < 0:
        raise Misfit(
            f"[{written(head)}] before and [{written(foot)}] after are not a valid padding."
        )
    if len(head) != len(shape):
        if final:
            raise Misfit(
                f"[{written(shape)}] cannot be padded by [{written(head)}]: the ranks differ."
            )
        return
    node.shape = tuple(a + size + b for a, size, b in zip(head, shape, foot, strict=True))
    mode = node.integer("mode")
    room = [size - (mode == MIRRORED) for size in shape]
    widest = (max(pair) for pair in zip(head, foot, strict=True))
    if final and mode and any(pad > most for pad, most in zip(widest, room, strict=True)):
        raise Misfit(f"[{written(shape)}] is too small to be padded by a mirror image of itself.")


#: The mode of padding with a mirror image without the border.
MIRRORED = 1


def largest(node: Node, final: bool) -> None:
    """Take the `numItems` largest elements along the first dimension, and their indices."""
    inherit_axis(node)
    shape, count = shape_of(node, 0), node.integer("numItems", 1)
    if final and not 1 <= count <= shape[0]:
        raise Misfit(f"[{written(shape)}] has no {count} largest elements in its first dimension.")
    node.shape = (count, *shape[1:])


def gathered(node: Node, final: bool) -> None:
    """Look up each number of the first input along the last dimension of the second."""
    inherit_axis(node)
    node.shape = (*shape_of(node, 1)[:-1], *shape_of(node, 0))


def squeezed(node: Node, final: bool) -> None:
    """Drop dimensions of 1: all of them, or those of `axis`."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape), "axis")
    axes = each(node, "axis") if "axis" in node.attributes else ()
    wrong = [axis for axis in axes if not 1 <= axis <= len(shape) or shape[axis - 1] != 1]
    if wrong and final:
        raise Misfit(f"axis {wrong[0]} of [{written(shape)}] is not 1 and cannot be dropped.")
    sizes = (
        size for axis, size in enumerate(shape, 1) if (axis not in axes if axes else size != 1)
    )
    node.shape = tuple(sizes) or (1,)


def second(node: Node, final: bool) -> None:
    """Take the shape of the second input, which is assigned to the first."""
    inherit_axis(node)
    node.shape = shape_of(node, 1)


def identity(node: Node, final: bool) -> None:
    """Take the shape of the input, which is a matrix."""
    inherit_axis(node)
    node.shape = shape_of(node, 0)
    if final and (len(shape_of(node, 0)) != 2 or node.axis is not None):
        raise Misfit("an identity has the two dimensions of an input without a dynamic axis.")
