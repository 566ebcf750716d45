"""Products of matrices, of all pairs of elements, and angles of vectors in PyTorch.

A matrix of CNTK's [rows x columns] is stored as (columns, rows); the weights of nn.Linear are its
transpose.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.exporting.torch.operators.rows import BiasedRow, Row, owner
from netsharp_engine.exporting.torch.source import Expression, call
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import Array, ExportedValue
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node

#: The least length of a vector that is divided by, as in the engine (EPS_IN_INVERSE of CNTK).
_SMALLEST = "1e-30"


def _reshaped(out: TorchWriting, value: ExportedValue, shape: tuple[int, ...]) -> str:
    if value.constant is not None:
        return out.tensor(value.constant.reshape(shape), value.name)
    # A statement of its own: expressions of two would not fit on a line.
    return out.let(out.shaped(value.name, value.shape, shape))


def linear(
    out: TorchWriting,
    key: tuple[object, ...],
    origin: str,
    matrix: Array,
    bias: Array | None,
) -> str:
    """Return a layer that multiplies rows with a matrix [inputs, outputs]."""
    inputs, outputs = matrix.shape
    state: dict[str, Array] = {"weight": matrix.T}
    words = {}
    if bias is None:
        words["bias"] = "False"
    else:
        state["bias"] = bias.reshape(outputs)
    return out.layer(key, origin, call("nn.Linear", str(inputs), str(outputs), **words), state)


def _times(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None = None
) -> Expression:
    left, right = sources
    rank = int(node.attributes.get("outputRank", 1))
    kept = product(node.inputs[0].shape[len(node.inputs[0].shape) - rank :])
    inner = node.inputs[0].size // kept
    return _multiplied(out, node, sources, (inner, kept), right.shape, left.constant, bias)


def _transpose_times(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue], bias: Array | None = None
) -> Expression:
    left, right = sources
    inner = right.shape[-1]
    rows = product(left.shape) // inner
    if left.constant is not None:
        turned = left.constant.reshape(rows, inner).T
        return _multiplied(out, node, sources, (inner, rows), right.shape, turned, bias)
    matrix = out.let(f"{_reshaped(out, left, (rows, inner))}.transpose(-1, -2)")
    given = ExportedValue(matrix, left.lead, (inner, rows))
    return _multiplied(out, node, (given, right), (inner, rows), right.shape, None, bias)


def _multiplied(
    out: TorchWriting,
    node: Node,
    sources: Sequence[ExportedValue],
    matrix: tuple[int, int],
    shape: tuple[int, ...],
    weights: Array | None,
    bias: Array | None,
) -> Expression:
    """Return the product of rows of the second source with a matrix of the first one."""
    left, right = sources
    inner, kept = matrix
    rest = product(shape) // inner
    rows = (inner,) if rest == 1 and left.lead == 0 else (rest, inner)
    given = _reshaped(out, right, rows)
    made = (*rows[:-1], kept)
    if weights is None:
        found: Expression = call("torch.matmul", given, _reshaped(out, left, matrix))
    else:
        layer = linear(
            out,
            ("linear", node.op, node.inputs[0], matrix, None if bias is None else bias.tobytes()),
            owner(node, left.name),
            weights.reshape(matrix),
            bias,
        )
        found = call(layer, given)
    return found if made == node.shape else out.shaped(out.let(found), made, node.shape)


def _scaled_rows(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    column, matrix = sources
    count = product(column.shape)
    shape = (product(matrix.shape) // count, count)
    scale, rows = _reshaped(out, column, (1, count)), _reshaped(out, matrix, shape)
    return out.shaped(out.let(f"{rows} * {scale}"), shape, node.shape)


def _pairs(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    first, second = sources
    shape = product(second.shape), product(first.shape)
    row, column = _reshaped(out, first, (1, shape[1])), _reshaped(out, second, (shape[0], 1))
    return out.shaped(out.let(f"{column} * {row}"), shape, node.shape)


def _cosine(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    first, second = (out.let(out.flattened(one)) for one in sources)
    lengths = [out.let(call(f"{one}.norm", dim="-1", keepdim="True")) for one in (first, second)]
    scale = " * ".join(f"{one}.clamp(min={_SMALLEST})" for one in lengths)
    dot = out.let(call(f"({first} * {second}).sum", "-1", keepdim="True"))
    return f"{dot} / ({scale})"


#: Those that a bias may join, which the next node adds.
BIASED: dict[str, BiasedRow] = {
    "Times": _times,
    "LookupTable": _times,
    "TransposeTimes": _transpose_times,
}
PRODUCTS: dict[str, Row] = {
    "Times": _times,
    "LookupTable": _times,
    "TransposeTimes": _transpose_times,
    "DiagTimes": _scaled_rows,
    "KhatriRaoProduct": _pairs,
    "CosDistance": _cosine,
}
