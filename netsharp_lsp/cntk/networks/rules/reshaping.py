"""Shapes of nodes that only arrange elements anew, or reduce along an axis."""

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

REDUCTIONS = ("Sum", "Plus", "Mean", "LogSum", "Min", "Max")


#: Shapes are filled up to an axis that is named; beyond so many nobody means one.
MOST_AXES = 1000
#: The attribute of nodes some of whose axes count from the end, as those of CNTK's Python library.
FROM_END = "axesFromEnd"


def _count_from_front(node: Node, rank: int, *keys: str) -> None:
    """Count axes from 1 that were counted from the end, once the rank is known."""
    if rank and node.truth(FROM_END):
        for key in keys:
            axis = node.integer(key)
            if axis < 0:
                node.attributes[key] = axis + rank + 1


def reshape(node: Node, final: bool) -> None:
    """The dimensions from `beginAxis` up to `endAxis` replaced; one may be inferred."""
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
            f"[{written(shape)}] has {elements(shape)} elements, and the new shape"
            f" [{written(node.shape)}] has {elements(node.shape)}."
        )


def legacy_reshape(node: Node, final: bool) -> None:
    """A number of rows, and the rest of the elements as further columns."""
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
    """One dimension, or with axis 0 the whole sample, reduced to 1."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape), "axis")
    axis = node.integer("axis")
    if node.text("reductionOp") not in REDUCTIONS:
        raise Misfit(f"'{node.text('reductionOp')}' is no reduction; they are Sum, Max and Min.")
    if axis == 0:
        node.shape = (1,)
    elif 1 <= axis <= len(shape):
        node.shape = (*shape[: axis - 1], 1, *shape[axis:])
    elif final:
        raise Misfit(f"[{written(shape)}] has no axis {axis}.")


def slice_axis(node: Node, final: bool) -> None:
    """A range along one axis; what is negative, and an end of 0, counts from the end."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    _count_from_front(node, len(shape), "axis")
    axis = node.integer("axis")
    if axis < 1 or (final and axis > len(shape)):
        raise Misfit(f"[{written(shape)}] has no axis {axis} to slice.")
    if axis > len(shape):
        node.shape = shape
        return
    size = shape[axis - 1]
    begin, end = node.integer("beginIndex"), node.integer("endIndex")
    first = begin if begin >= 0 else begin + size
    last = end if end > 0 else end + size
    fits = 0 <= first <= last <= size
    if final and not fits:
        raise Misfit(f"the range {begin} to {end} is not within the {size} of axis {axis}.")
    node.shape = (*shape[: axis - 1], last - first, *shape[axis:]) if fits else shape


def row_stack(node: Node, final: bool) -> None:
    """Inputs on top of one another along an axis, mostly the first; others are repeated."""
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
    """The last dimension repeated."""
    inherit_axis(node)
    shape = shape_of(node, 0)
    node.shape = (*shape[:-1], shape[-1] * node.integer("numRepeats")) if shape else ()


def transpose_dimensions(node: Node, final: bool) -> None:
    """Two axes exchanged; the shape is padded with 1 where one of them is beyond it."""
    inherit_axis(node)
    shape = shape_of(node, 0)
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
    """The diagonal of a square matrix as a row."""
    node.axis = None
    shape = shape_of(node, 0)
    if final and (node.inputs[0].axis is not None or rows(shape) != columns(shape)):
        raise Misfit(f"a diagonal is taken of a square matrix, and this is [{written(shape)}].")
    node.shape = (1, columns(shape))
