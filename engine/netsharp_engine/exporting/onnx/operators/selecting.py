"""Operations of later releases as ONNX operators: classes, padding, largest elements, look-ups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netsharp_engine.exporting.onnx.operators.rows import Row
from netsharp_engine.exporting.onnx.writing import OnnxValue, OnnxWriting
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.choosing import FILLED, REFLECTED


def _whole(out: OnnxWriting, name: str) -> str:
    """Return numbers truncated to whole ones."""
    from onnx import TensorProto

    return out.add("Cast", name, to=TensorProto.INT64)


def _as_floats(out: OnnxWriting, name: str) -> str:
    from onnx import TensorProto

    kind = TensorProto.DOUBLE if out.floats == "float64" else TensorProto.FLOAT
    return out.add("Cast", name, to=kind)


def _classes(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return one-hot rows; ONNX's OneHot counts negative classes from the end, CNTK has no such
    ones.
    """
    (source,), axis = sources, node.attributes["axis"]
    at = source.lead + len(node.shape) - axis
    given = out.add("Unsqueeze", _whole(out, source.name), out.integers(at))
    shape = [1] * len(node.shape)
    shape[-axis] = node.attributes["classes"]
    numbers = out.whole(np.arange(node.attributes["classes"]).reshape(shape))
    return _as_floats(out, out.add("Equal", given, numbers))


def _padded(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return padding that repeats the border symmetrically, axis by axis: ONNX's Pad has no such
    mode.
    """
    (source,), mode = sources, node.attributes["mode"]
    pairs = [*zip(node.attributes["head"], node.attributes["foot"], strict=True)][::-1]
    if mode in (FILLED, REFLECTED):
        heads, foots = ([pair[end] for pair in pairs] for end in (0, 1))
        lead = [0] * source.lead
        pads = out.integers(*lead, *heads, *lead, *foots)
        if mode == REFLECTED:
            return out.add("Pad", source.name, pads, mode="reflect")
        value = out.number(float(node.attributes["value"]))
        return out.add("Pad", source.name, pads, value, mode="constant")
    name = source.name
    for axis, (pair, size) in enumerate(zip(pairs, source.shape, strict=True), source.lead):
        if any(pair):
            cells = np.pad(np.arange(size), pair, "symmetric")
            name = out.add("Gather", name, out.whole(cells), axis=axis)
    return name


def _largest(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    count = out.integers(node.attributes["count"])
    values, places = out.add_several("TopK", 2, sources[0].name, count, axis=-1)
    return _as_floats(out, places) if node.attributes["places"] else values


def _gathered(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return gathered rows; sample by sample where both numbers and reference change with the
    samples.
    """
    indices, reference = sources
    rows = _whole(out, indices.name)
    if not reference.lead:
        return out.add("Gather", reference.name, rows, axis=0)
    if not indices.lead:
        return out.add("Gather", reference.name, rows, axis=reference.lead)
    last = out.integers(indices.lead + len(indices.shape))
    rows = out.add("Unsqueeze", rows, last)
    return out.add("GatherND", reference.name, rows, batch_dims=indices.lead)


def _filled(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    from onnx import numpy_helper

    value = numpy_helper.from_array(np.array([node.attributes["value"]], out.floats))
    return out.add("ConstantOfShape", out.add("Shape", sources[0].name), value=value)


def _identity(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    rows, columns = node.shape
    return out.expanded(OnnxValue(out.numbers(np.eye(rows, columns)), 0, node.shape), sources[0])


SELECTING: dict[str, Row] = {
    "OneHot": _classes,
    "Pad": _padded,
    "TopK": _largest,
    "Gather": _gathered,
    "ConstantOp": _filled,
    "EyeLike": _identity,
}
