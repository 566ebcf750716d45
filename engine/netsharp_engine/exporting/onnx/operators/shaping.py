"""Operations that arrange, choose or sum up elements of samples as ONNX operators.

CNTK counts axes from 1, the fastest first: its axis a is ONNX's -a.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.exporting.onnx.operators.rows import Row
from netsharp_engine.exporting.onnx.writing import OnnxValue, OnnxWriting
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.shaping import sliced_cells

_REDUCTIONS = {
    "Sum": "ReduceSum",
    "Plus": "ReduceSum",
    "Mean": "ReduceMean",
    "Max": "ReduceMax",
    "Min": "ReduceMin",
    "LogSum": "ReduceLogSumExp",
    "Prod": "ReduceProd",
}
_PLACES = {"Argmax": "ArgMax", "Argmin": "ArgMin"}


def _reshaped(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    return out.shaped(sources[0].name, sources[0].lead, node.shape)


def _sliced(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    axis, cells = node.attributes["axis"], sliced_cells(node)
    # Backwards up to the first element the end lies before it, wherever that is counted from.
    last = -sources[0].shape[-axis] - 1 if cells.stop is None else cells.stop
    bounds = [out.integers(cells.start), out.integers(last), out.integers(-axis)]
    if cells.step != 1:
        bounds.append(out.integers(cells.step))
    return out.add("Slice", sources[0].name, *bounds)


def _stacked(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    axis, rank = node.attributes["axis"], len(node.shape)
    like = max(sources, key=lambda one: one.lead)
    parts = []
    for one in sources:
        stretched = (1,) * (rank - len(one.shape)) + one.shape
        name = one.name
        if stretched != one.shape:
            name = out.shaped(name, one.lead, stretched)
        name = out.expanded(OnnxValue(name, one.lead, stretched), like)
        wanted = list(node.shape)
        wanted[-axis] = stretched[-axis]
        if tuple(wanted) != stretched:
            shape = out.integers(*(1,) * like.lead, *wanted)
            name = out.add("Expand", name, shape)
        parts.append(name)
    return out.add("Concat", *parts, axis=-axis)


def _transposed(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    (source,), rank = sources, len(node.shape)
    stretched = (1,) * (rank - len(source.shape)) + source.shape
    name = source.name
    if stretched != source.shape:
        name = out.shaped(name, source.lead, stretched)
    order = list(range(source.lead + rank))
    first, second = node.attributes["axis1"], node.attributes["axis2"]
    order[-first], order[-second] = order[-second], order[-first]
    return out.add("Transpose", name, perm=order)


def _reduced(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    (source,), kind = sources, node.attributes["reductionOp"]
    if kind in _PLACES:
        return _place(out, node, source, _PLACES[kind])
    if kind not in _REDUCTIONS:
        raise refused(node, f"no operator of ONNX is written for the reduction '{kind}' yet.")
    axis = int(node.attributes["axis"])
    if axis:
        return out.reduced(_REDUCTIONS[kind], source.name, -axis)
    flat = out.shaped(source.name, source.lead, (node.inputs[0].size,))
    return out.reduced(_REDUCTIONS[kind], flat, -1)


def _place(out: OnnxWriting, node: Node, source: OnnxValue, operator: str) -> str:
    """Return the place of the first of the largest, or of the smallest, elements."""
    from onnx import TensorProto

    axis, name = int(node.attributes["axis"]), source.name
    if not axis:
        name = out.shaped(name, source.lead, (node.inputs[0].size,))
    found = out.add(operator, name, axis=-axis or -1, keepdims=1)
    kind = TensorProto.DOUBLE if out.floats == "float64" else TensorProto.FLOAT
    return out.add("Cast", found, to=kind)


def _column(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    flat = out.shaped(sources[0].name, sources[0].lead, (node.inputs[0].size,))
    return out.reduced("ReduceSum", flat, -1)


def _repeated(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    flat = out.shaped(sources[0].name, sources[0].lead, (node.inputs[0].size,))
    copies = out.add("Concat", *[flat] * int(node.attributes["numRepeats"]), axis=-1)
    return out.shaped(copies, sources[0].lead, node.shape)


def _diagonal(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    count = node.shape[0]
    flat = out.shaped(sources[0].name, sources[0].lead, (count * count,))
    places = out.integers(*(number * (count + 1) for number in range(count)))
    return out.shaped(out.add("Gather", flat, places, axis=-1), sources[0].lead, node.shape)


SHAPING: dict[str, Row] = {
    "Reshape": _reshaped,
    "LegacyReshape": _reshaped,
    "Slice": _sliced,
    "RowStack": _stacked,
    "TransposeDimensions": _transposed,
    "ReduceElements": _reduced,
    "SumColumnElements": _column,
    "RowRepeat": _repeated,
    "Diagonal": _diagonal,
}
