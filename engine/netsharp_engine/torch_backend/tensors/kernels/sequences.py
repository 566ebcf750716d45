"""Torch's operations that know where sequences stand: gaps, delays, and steps that are moved.

The places of steps are computed on the host, where packings are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from netsharp_engine.graph import SamplesError
from netsharp_engine.nodes import Node
from netsharp_engine.packing import Packing
from netsharp_engine.tensor_backend.kernels import sequences
from netsharp_engine.torch_backend.kernels.rows import Tensor

#: Operations whose values are themselves places, and are computed on the host.
_PLACES = ("Where", "PackedIndex")


def without_gaps(values: Tensor, packing: Packing | None) -> Tensor:
    """Return values with 0 in the gaps: set, not multiplied, in gradients, too."""
    if packing is None or not len(packing.gaps) or values.shape[0] != packing.columns:
        return values
    return values.index_fill(0, on_device(packing.gaps, values), 0)


def on_device(places: np.ndarray, like: Tensor) -> Tensor:
    """Return places of the host on the device of other numbers."""
    return torch.from_numpy(np.array(places, np.int64)).to(like.device)


def border(delay: Node, initial: Tensor | None, like: Tensor) -> Tensor:
    """Return the value of a delay before the first or after the last step, [1, *shape]."""
    if initial is None:
        number = delay.attributes.get("initial", 0.0)
        return like.new_full((1, *delay.shape), number)
    lacking = len(delay.shape) + 1 - initial.dim()
    shown = initial.reshape(1, *(1,) * lacking, *initial.shape[1:])
    return shown.expand(1, *delay.shape).to(like.dtype)


def delayed(
    delay: Node,
    source: Tensor,
    initial: Tensor | None,
    packing: Packing,
    carried: Mapping[Node, Tensor],
) -> Tensor:
    """Return all steps of a delay at once."""
    reach = sequences.offset(delay)
    places = packing.earlier(reach)
    places[places < 0] = packing.columns
    rows = torch.cat((source, border(delay, initial, source)))
    found = rows.index_select(0, on_device(places, source))
    for step in range(min(reach, packing.steps)):
        where, values = carried_in(delay, step, packing, carried)
        if len(where):
            found = found.index_copy(0, on_device(where + step * packing.rows, found), values)
    return found


def carried_in(
    delay: Node, step: int, packing: Packing, carried: Mapping[Node, Tensor]
) -> tuple[np.ndarray, Tensor | None]:
    """Return the rows [rows] of a step with values from the packing before, and these values.

    Raises SamplesError where the beginning of its sequences is unknown.
    """
    rows = packing.carried(step, sequences.offset(delay))
    if not len(rows):
        return rows, None
    known = carried.get(delay)
    if known is None or known.shape[1] != packing.rows:
        raise SamplesError(f"'{delay.name}' continues sequences whose beginning is not known")
    return rows, known[step].index_select(0, on_device(rows, known))


def carried_on(delay: Node, source: Tensor, packing: Packing) -> Tensor:
    """Return the last steps of a delay's source for the next packing, [steps, rows, ...]."""
    reach = sequences.carried_steps(delay, packing)
    steps = source.detach().reshape(packing.steps, packing.rows, *source.shape[1:])
    return steps[packing.steps - reach :].clone()


def moved(
    node: Node, sources: Sequence[Tensor], packings: list[Packing | None]
) -> tuple[Tensor, Packing]:
    """Return the value of an operation of ``ops.shaping.COLUMNS``, and where its sequences stand.

    What is moved are numbers of columns, on the host; the values follow these.
    """
    if node.op in _PLACES:
        given = [one.detach().cpu().numpy() for one in sources]
        value, packing = sequences.moved(node, given, packings)
        return torch.from_numpy(value).to(sources[0].device), packing
    at = {"GatherPacked": 1, "ScatterPacked": 2}.get(node.op, 0)
    source = sources[at]
    given = [
        _numbered(one) if number == at else one.detach().cpu().numpy()
        for number, one in enumerate(sources)
    ]
    columns, packing = sequences.moved(node, given, packings)
    nothing = source.new_zeros(1, *source.shape[1:])
    chosen = on_device(columns.reshape(-1), source)
    return torch.cat((nothing, source)).index_select(0, chosen), packing


def _numbered(source: Tensor) -> np.ndarray:
    """Return columns as their numbers from 1, [columns, 1]."""
    return np.arange(1, source.shape[0] + 1).reshape(-1, 1)
