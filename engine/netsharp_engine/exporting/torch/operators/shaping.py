"""Operations that arrange, choose or sum up elements of samples in PyTorch.

CNTK counts axes from 1, the fastest first: its axis a is PyTorch's -a.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch.operators.rows import Row
from netsharp_engine.exporting.torch.source import Expression, call, listed
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import ExportedValue
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.shaping import sliced_cells

_REDUCTIONS = {
    "Sum": "sum",
    "Plus": "sum",
    "Mean": "mean",
    "Max": "amax",
    "Min": "amin",
    "LogSum": "logsumexp",
    "Prod": "prod",
    "Argmax": "argmax",
    "Argmin": "argmin",
}
#: Those that answer with whole numbers.
_PLACES = ("Argmax", "Argmin")


def _reshaped(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return out.shaped(out.read(sources[0]), sources[0].shape, node.shape)


def _sliced(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    axis, cells = node.attributes["axis"], sliced_cells(node)
    source, size = out.read(sources[0]), sources[0].shape[-axis]
    if cells.step < 0:  # PyTorch has no slices backwards.
        stop = size if cells.stop is None else size - 1 - cells.stop
        source, cells = f"{source}.flip(-{axis})", slice(size - 1 - cells.start, stop, -cells.step)
    last = "" if cells.stop in (None, size) else cells.stop
    step = "" if cells.step in (None, 1) else f":{cells.step}"
    index = f"{cells.start or ''}:{last}{step}" + ", :" * (axis - 1)
    return f"{source}[..., {index}]"


def _stacked(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    axis, rank = node.attributes["axis"], len(node.shape)
    like = max(sources, key=lambda one: one.lead)
    parts: list[Expression] = []
    for one in sources:
        stretched = (1,) * (rank - len(one.shape)) + one.shape
        wanted = list(node.shape)
        wanted[-axis] = stretched[-axis]
        name = out.shaped(out.read(one), one.shape, stretched)
        if tuple(wanted) != stretched or one.lead != like.lead:
            leading = [f"*{like.name}.shape[:{like.lead}]"] if like.lead else []
            sizes = [*leading, *(str(size) for size in wanted)]
            name = out.let(call(f"{out.let(name)}.expand", *sizes))
        parts.append(name)
    return call("torch.cat", listed(parts), dim=f"-{axis}")


def _transposed(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    (source,), rank = sources, len(node.shape)
    stretched = (1,) * (rank - len(source.shape)) + source.shape
    name = out.shaped(out.read(source), source.shape, stretched)
    first, second = node.attributes["axis1"], node.attributes["axis2"]
    return f"{name}.transpose(-{first}, -{second})"


def _reduced(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    (source,), kind = sources, node.attributes["reductionOp"]
    if kind not in _REDUCTIONS:
        raise refused(node, f"nothing is written for the reduction '{kind}' yet.")
    axis = int(node.attributes["axis"])
    given = out.read(source) if axis else out.flattened(source)
    found = call(f"{given}.{_REDUCTIONS[kind]}", f"-{axis or 1}", keepdim="True")
    return f"{out.let(found)}.to({out.read(source)}.dtype)" if kind in _PLACES else found


def _column(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return call(f"{out.flattened(sources[0])}.sum", "-1", keepdim="True")


def _repeated(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    source, rank = out.read(sources[0]), len(node.shape)
    return call("torch.cat", f"[{source}] * {int(node.attributes['numRepeats'])}", dim=f"-{rank}")


def _diagonal(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return f"{out.read(sources[0])}.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)"


def _cropped(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    across, down = node.attributes["offsets"]
    height, width = node.shape[-2:]
    rows, columns = f"{down}:{down + height}", f"{across}:{across + width}"
    cut, like = f"{out.read(sources[0])}[..., {rows}, {columns}]", sources[1]
    if sources[0].lead == like.lead or sources[0].lead:
        return cut
    leading = f"*{like.name}.shape[:{like.lead}]"
    return call(f"{out.let(cut)}.expand", leading, *map(str, node.shape))


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
    "Crop": _cropped,
}
