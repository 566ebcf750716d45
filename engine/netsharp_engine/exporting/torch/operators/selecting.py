"""Operations of later releases in PyTorch: classes, padding, largest elements, look-ups.

CNTK counts axes from 1, the fastest first: its axis a is PyTorch's -a.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netsharp_engine.exporting.torch.operators.rows import Row
from netsharp_engine.exporting.torch.source import Expression, call, numbers
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import ExportedValue
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.choosing import FILLED, REFLECTED


def _classes(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return one-hot rows, 0 everywhere for a number that is not a class, which PyTorch's own
    function refuses.
    """
    axis, source = node.attributes["axis"], out.read(sources[0])
    shape = [1] * len(node.shape)
    shape[-axis] = node.attributes["classes"]
    known = out.tensor(np.arange(node.attributes["classes"]).reshape(shape), whole=True)
    return f"({source}.trunc().unsqueeze(-{axis}) == {known}).to({source}.dtype)"


def _padded(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return padding with the cells beside the border, axis by axis: PyTorch mirrors along few axes
    only.
    """
    source, mode = out.read(sources[0]), node.attributes["mode"]
    pairs = [*zip(node.attributes["head"], node.attributes["foot"], strict=True)]
    if mode == FILLED:
        value = repr(float(node.attributes["value"]))
        return call("F.pad", source, numbers([one for pair in pairs for one in pair]), value=value)
    how = "reflect" if mode == REFLECTED else "symmetric"
    for axis, (pair, size) in enumerate(zip(pairs, sources[0].shape[::-1], strict=True), 1):
        if any(pair):
            cells = np.pad(np.arange(size), pair, how)  # type: ignore[call-overload]
            source = out.let(
                call(f"{source}.index_select", f"-{axis}", out.tensor(cells, whole=True))
            )
    return source


def _largest(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return the largest elements, the first of equal ones first, which PyTorch's topk does not
    guarantee.
    """
    source, count = out.read(sources[0]), node.attributes["count"]
    found = out.let(call(f"{source}.sort", dim="-1", descending="True", stable="True"))
    if node.attributes["places"]:
        return f"{found}.indices[..., :{count}].to({source}.dtype)"
    return f"{found}.values[..., :{count}]"


def _gathered(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    """Return gathered rows; sample by sample where both numbers and reference change with the
    samples.
    """
    indices, reference = sources
    rows, values = out.let(f"{out.read(indices)}.long()"), out.read(reference)
    if not reference.lead:
        return f"{values}[{rows}]"
    if not indices.lead:
        return f"{values}[{':, ' * reference.lead}{rows}]"
    lead, rest = indices.lead, reference.shape[1:]
    flat = f"{rows}.flatten({lead})" if len(indices.shape) > 1 else rows
    if rest:
        flat = f"{flat}[..., {', '.join(['None'] * len(rest))}]"
        flat = out.let(call(f"{flat}.expand", *["-1"] * (lead + 1), *map(str, rest)))
    found = call(f"{values}.gather", str(lead), flat)
    if len(indices.shape) == 1:
        return found
    return call("torch.unflatten", out.let(found), str(lead), numbers(indices.shape))


def _filled(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    value = repr(float(node.attributes["value"]))
    return call("torch.full_like", out.read(sources[0]), value)


def _identity(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    rows, columns = node.shape
    return call(f"{out.tensor(np.eye(rows, columns))}.expand_as", out.read(sources[0]))


SELECTING: dict[str, Row] = {
    "OneHot": _classes,
    "Pad": _padded,
    "TopK": _largest,
    "Gather": _gathered,
    "ConstantOp": _filled,
    "EyeLike": _identity,
}
