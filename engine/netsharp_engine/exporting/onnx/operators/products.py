"""Products of matrices, of all pairs of elements, and angles of vectors as ONNX operators.

A matrix of CNTK's [rows x columns] is stored as (columns, rows), which is the right side of MatMul.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.exporting.onnx.operators.rows import Row
from netsharp_engine.exporting.onnx.writing import OnnxValue, OnnxWriting
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node

#: The least length of a vector that is divided by, as in the engine (EPS_IN_INVERSE of CNTK).
_SMALLEST = 1e-30


def _reshaped(out: OnnxWriting, value: OnnxValue, shape: tuple[int, ...]) -> str:
    if value.shape == shape:
        return value.name
    if value.constant is not None:
        return out.numbers(value.constant.reshape(shape), out.fresh(f"{value.name}/matrix"))
    return out.shaped(value.name, value.lead, shape)


def _times(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    left, right = sources
    rank = int(node.attributes.get("outputRank", 1))
    kept = product(node.inputs[0].shape[len(node.inputs[0].shape) - rank :])
    inner = node.inputs[0].size // kept
    return _multiplied(out, node, sources, (inner, kept), right.shape, left)


def _multiplied(
    out: OnnxWriting,
    node: Node,
    sources: Sequence[OnnxValue],
    matrix: tuple[int, int],
    shape: tuple[int, ...],
    left: OnnxValue,
) -> str:
    """Return the product of rows of the second source with a matrix of the first one (MatMul)."""
    right, (inner, _) = sources[1], matrix
    rest, lead = product(shape) // inner, max(one.lead for one in sources)
    rows = (inner,) if rest == 1 and left.lead == 0 else (rest, inner)
    found = out.add("MatMul", _reshaped(out, right, rows), _reshaped(out, left, matrix))
    made = (*rows[:-1], matrix[1])
    return found if made == node.shape else out.shaped(found, lead, node.shape)


def _transpose_times(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    left, right = sources
    inner = right.shape[-1]
    rows = product(left.shape) // inner
    if left.constant is not None:
        turned = left.constant.reshape(rows, inner).T
        name = out.numbers(turned, out.fresh(f"{left.name}/transposed"))
        return _multiplied(
            out, node, sources, (inner, rows), right.shape, OnnxValue(name, 0, turned.shape, turned)
        )
    matrix = _reshaped(out, left, (rows, inner))
    order = (*range(left.lead), left.lead + 1, left.lead)
    turned_name = out.add("Transpose", matrix, perm=order)
    given = OnnxValue(turned_name, left.lead, (inner, rows))
    return _multiplied(out, node, sources, (inner, rows), right.shape, given)


def _scaled_rows(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    column, matrix = sources
    count = product(column.shape)
    rows = _reshaped(out, matrix, (product(matrix.shape) // count, count))
    scale = _reshaped(out, column, (1, count))
    lead = max(one.lead for one in sources)
    return out.shaped(out.add("Mul", rows, scale), lead, node.shape)


def _pairs(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    first, second = sources
    row = _reshaped(out, first, (1, product(first.shape)))
    column = _reshaped(out, second, (product(second.shape), 1))
    lead = max(one.lead for one in sources)
    return out.shaped(out.add("Mul", column, row), lead, node.shape)


def _cosine(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    flat = [_reshaped(out, one, (product(one.shape),)) for one in sources]
    least = out.numbers(_SMALLEST)
    scale = None
    for one in flat:
        squares = out.reduced("ReduceSum", out.add("Mul", one, one), -1)
        length = out.add("Max", out.add("Sqrt", squares), least)
        scale = length if scale is None else out.add("Mul", scale, length)
    dot = out.reduced("ReduceSum", out.add("Mul", *flat), -1)
    assert scale is not None
    return out.add("Div", dot, scale)


PRODUCTS: dict[str, Row] = {
    "Times": _times,
    "LookupTable": _times,
    "TransposeTimes": _transpose_times,
    "DiagTimes": _scaled_rows,
    "KhatriRaoProduct": _pairs,
    "CosDistance": _cosine,
}
