"""Torch's rows for operations that arrange, choose, reduce or fill elements of each sample.

CNTK counts a tensor's axes from 1, the fastest first: its axis a is torch's -a.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from netsharp_engine.graph import GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.choosing import FILLED
from netsharp_engine.ops.tensors.shaping import sliced_cells
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, TorchRow, ruled, stretched


def _sliced(node: Node, sources: Tensors) -> Tensor:
    axis, cells = -node.attributes["axis"], sliced_cells(node)
    size = node.inputs[0].shape[axis]
    wanted = range(*cells.indices(size))
    if wanted.step == 1:
        return sources[0].narrow(axis, wanted.start, len(wanted))
    chosen = torch.tensor(list(wanted), device=sources[0].device)
    return sources[0].index_select(sources[0].dim() + axis, chosen)


def _cropped(node: Node, sources: Tensors) -> Tensor:
    """Return as many samples as there are of both sources."""
    (right, down), (height, width) = node.attributes["offsets"], node.shape[-2:]
    found = sources[0][..., down : down + height, right : right + width]
    count = max(one.shape[0] for one in sources)
    return found if found.shape[0] == count else found.expand(count, *found.shape[1:])


def _stacked(node: Node, sources: Tensors) -> Tensor:
    axis, rank = node.attributes["axis"], len(node.shape)
    count = max(one.shape[0] for one in sources)
    parts = []
    for source in (stretched(one, rank) for one in sources):
        shape = [count, *node.shape]
        shape[-axis] = source.shape[-axis]
        parts.append(source.expand(shape))
    return torch.cat(parts, -axis)


def _transposed(node: Node, sources: Tensors) -> Tensor:
    first, second = node.attributes["axis1"], node.attributes["axis2"]
    return stretched(sources[0], len(node.shape)).transpose(-first, -second)


def _reduced(node: Node, sources: Tensors) -> Tensor:
    """Reduce one axis, or all; the gradient of a maximum goes to all that are equal to it."""
    axis, kind = int(node.attributes["axis"]), node.attributes["reductionOp"]
    values = sources[0]
    if not axis:
        values, axis = values.reshape(values.shape[0], -1), 1
    if kind in ("Sum", "Plus"):
        found = values.sum(-axis, keepdim=True)
    elif kind == "Mean":
        found = values.sum(-axis, keepdim=True) * (node.size / node.inputs[0].size)
    elif kind == "LogSum":
        found = torch.logsumexp(values, -axis, keepdim=True)
    elif kind == "Prod":
        found = values.prod(-axis, keepdim=True)
    elif kind in ("Argmax", "Argmin"):
        place = torch.argmax if kind == "Argmax" else torch.argmin
        found = place(values.detach(), -axis, keepdim=True).to(values.dtype)
    else:
        most = torch.amax if kind == "Max" else torch.amin
        found = ruled(
            lambda z: most(z, -axis, keepdim=True),
            lambda value, by, z: (by * (z == value),),
            values,
        )
    return found.reshape(-1, *node.shape)


def _summed(node: Node, sources: Tensors) -> Tensor:
    return sources[0].reshape(sources[0].shape[0], -1).sum(1, keepdim=True)


def _repeated(node: Node, sources: Tensors) -> Tensor:
    flat = sources[0].reshape(sources[0].shape[0], -1)
    return flat.repeat(1, node.attributes["numRepeats"]).reshape(-1, *node.shape)


def _diagonal(node: Node, sources: Tensors) -> Tensor:
    return torch.diagonal(sources[0], dim1=1, dim2=2).unsqueeze(-1)


def _hardmax(node: Node, sources: Tensors) -> Tensor:
    flat = sources[0].detach().reshape(sources[0].shape[0], -1)
    found = functional.one_hot(flat.argmax(1), flat.shape[1])
    return found.to(flat.dtype).reshape(sources[0].shape)


def _classes(node: Node, sources: Tensors) -> Tensor:
    """1 where the whole part of a number is the class; nowhere for any other number."""
    at = len(node.shape) + 1 - node.attributes["axis"]
    found = torch.trunc(sources[0].detach()).unsqueeze(at)
    sides = [1] * found.dim()
    sides[at] = node.attributes["classes"]
    classes = torch.arange(sides[at], device=found.device).reshape(sides)
    return (found == classes).to(found.dtype)


_MODES = ("constant", "reflect", "symmetric")


def _padded(node: Node, sources: Tensors) -> Tensor:
    """Return cells by the index of the one that each shows; the index after the last is filled."""
    head, foot = node.attributes["head"], node.attributes["foot"]
    pads = [*zip(head, foot, strict=True)][::-1]
    numbers = np.arange(node.inputs[0].size).reshape(node.inputs[0].shape)
    mode, values = node.attributes["mode"], sources[0].reshape(sources[0].shape[0], -1)
    if mode == FILLED:
        cells = np.pad(numbers, pads, constant_values=node.inputs[0].size)
        more = values.new_full((values.shape[0], 1), node.attributes["value"])
        values = torch.cat((values, more), 1)
    else:
        cells = np.pad(numbers, pads, _MODES[mode])  # type: ignore[call-overload]
    chosen = torch.from_numpy(cells.reshape(-1)).to(values.device)
    return values.index_select(1, chosen).reshape(-1, *node.shape)


def _largest(node: Node, sources: Tensors) -> Tensor:
    """Return the largest elements along the last axis, the first of equal ones first."""
    found = torch.sort(sources[0], dim=-1, descending=True, stable=True)
    count = node.attributes["count"]
    if node.attributes["places"]:
        return found.indices[..., :count].to(sources[0].dtype)
    return found.values[..., :count]


def _gathered(node: Node, sources: Tensors) -> Tensor:
    """Return the rows of the reference by index; GraphError for an index that has none."""
    numbers, reference = sources
    rows = torch.trunc(numbers.detach())
    wrong = ~((rows >= 0) & (rows < reference.shape[1]))
    if bool(wrong.any()):
        raise GraphError(
            f"'{node.name}' looks up number {float(rows[wrong][0]):g}, and "
            f"'{node.inputs[1].name}' has {reference.shape[1]} of them"
        )
    samples = torch.arange(reference.shape[0], device=rows.device)
    return reference[samples.reshape(-1, *(1,) * (rows.dim() - 1)), rows.long()]


def _filled(node: Node, sources: Tensors) -> Tensor:
    return torch.full_like(sources[0].detach(), node.attributes["value"])


def _identity(node: Node, sources: Tensors) -> Tensor:
    one = torch.eye(*node.shape, dtype=sources[0].dtype, device=sources[0].device)
    return one.expand(sources[0].shape[0], *node.shape)


SHAPING: dict[str, TorchRow] = {
    "OneHot": _classes,
    "Pad": _padded,
    "TopK": _largest,
    "Gather": _gathered,
    "ConstantOp": _filled,
    "EyeLike": _identity,
    "Slice": _sliced,
    "Crop": _cropped,
    "RowStack": _stacked,
    "TransposeDimensions": _transposed,
    "ReduceElements": _reduced,
    "SumColumnElements": _summed,
    "RowRepeat": _repeated,
    "Diagonal": _diagonal,
    "Hardmax": _hardmax,
}
