"""Shapes of matrix and tensor products.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import elements, written
from netsharp_lsp.cntk.networks.rules.common import (
    Misfit,
    columns,
    differ,
    fill,
    inherit_axis,
    need_axis,
    rows,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def times(node: Node, final: bool) -> None:
    """Set the shape of a matrix product over all except `outputRank` dimensions of the
    first input.
    """
    inherit_axis(node)
    left, right = list(shape_of(node, 0)), shape_of(node, 1)
    if final or (left and right):
        left = _reconciled(node, left, right)
        _multiply(node, left, right, final)
        fill(node.inputs[0], tuple(left))


def transpose_times(node: Node, final: bool) -> None:
    """Set the shape of a matrix product with the first input transposed."""
    inherit_axis(node)
    left, right = list(shape_of(node, 0)), shape_of(node, 1)
    if not final and not (left and right):
        return
    if len(left) == 1:
        left.append(1)
    elif len(left) != 2:
        raise Misfit(
            f"only a matrix or a column can be transposed, but '{node.inputs[0].name}'"
            f" is [{written(node.inputs[0].shape)}]."
        )
    left.reverse()
    _multiply(node, left, right, final)
    fill(node.inputs[0], tuple(reversed(left)))


def _reconciled(node: Node, left: list[int], right: tuple[int, ...]) -> list[int]:
    """Return a matrix as a tensor if its columns span several dimensions of the second factor."""
    rank = node.integer("outputRank", 1)
    if len(left) != 2 or rank != 1 or not right or right[0] in (0, left[1]):
        return left
    for count in range(1, len(right) + 1):
        if elements(right[:count]) == left[1]:
            left = [left[0], *right[:count]]
            node.inputs[0].shape = tuple(left)
            break
    return left


def _multiply(node: Node, left: list[int], right: tuple[int, ...], final: bool) -> None:
    """Infer missing dimensions in ``left``, in place, and set the shape of the product."""
    rank = node.integer("outputRank", 1)
    if rank > len(left) or len(left) - rank > len(right):
        raise differ(node, 0, 1)
    if 0 in left[:rank]:
        raise Misfit(
            f"the output dimensions of '{node.inputs[0].name}' ([{written(node.inputs[0].shape)}])"
            " cannot be inferred: give them a size.",
            "size",
        )
    mapped = node.integer("inferInputRankToMap", -1)
    if mapped >= 0 and left[-1] == 0:
        if mapped >= len(right) and final:
            raise differ(node, 0, 1)
        left += [0] * (len(right) - mapped - (len(left) - rank))
    for axis in range(rank, len(left)):
        size = right[axis - rank]
        left[axis] = left[axis] or size
        if final and (size == 0 or left[axis] != size):
            raise differ(node, 0, 1)
    node.shape = (*left[:rank], *right[len(left) - rank :])


def diagonal_times(node: Node, final: bool) -> None:
    """Set the shape of the second input's rows, each times an element of the first."""
    inherit_axis(node)
    column, matrix = node.inputs
    along = matrix.axis is not None
    height = elements(matrix.shape or ()) if along else rows(matrix.shape or ())
    fill(column, (height,))
    width = () if along else (columns(matrix.shape or ()),)
    fill(matrix, (rows(column.shape or ()), *width))
    height = elements(matrix.shape or ()) if along else rows(matrix.shape or ())
    if final and (rows(column.shape or ()) != height or columns(column.shape or ()) != 1):
        raise differ(node, 0, 1)
    node.shape = matrix.shape


def khatri_rao(node: Node, final: bool) -> None:
    """Set the shape of the products of all pairs of elements."""
    inherit_axis(node)
    node.shape = (elements(shape_of(node, 0)) * elements(shape_of(node, 1)),)


def lookup(node: Node, final: bool) -> None:
    """Set the shape of a column of the table for each word in a sample."""
    inherit_axis(node)
    table, words = shape_of(node, 0), shape_of(node, 1)
    if final:
        need_axis(node, 1)
    if not columns(table) or (final and elements(words) % columns(table)):
        raise differ(node, 0, 1)
    node.shape = (rows(table) * (elements(words) // columns(table)),)
