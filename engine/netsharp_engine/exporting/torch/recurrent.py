"""Loops as layers of PyTorch: nn.LSTM, nn.GRU and nn.RNN, one direction each.

PyTorch's layers run forwards: the steps of a backward one are reversed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting import recurrences
from netsharp_engine.exporting.cells import GatedCell, PlainCell, recognised_cell
from netsharp_engine.exporting.torch.operators.rows import owner
from netsharp_engine.exporting.torch.source import Expression, call, items
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import STEPWISE, Array, ExportedValue
from netsharp_engine.tensor_backend.lstm import recognised

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop
    from netsharp_engine.tensor_backend.lstm import Cell

#: The order of PyTorch's gates i, f, c, o among CNTK's i, c, f, o.
_GATES = (0, 2, 1, 3)
#: What bounds PyTorch's plain recurrences.
_BOUNDS = {"Tanh": "tanh", "RectifiedLinear": "relu"}


class _Numbers(NamedTuple):
    """The numbers of a layer: weights [inputs, gates] and [size, gates], and a bias for each."""

    kind: str
    size: int
    read: ExportedValue
    weights: Array
    again: Array
    bias: Array
    inner: Array
    words: Mapping[str, str] = {}


def repeated(out: TorchWriting, border: Array, like: str, *steps: str) -> Expression:
    """Return a border [*steps, sequences, *shape], for as many sequences as another tensor has."""
    sizes = [*steps, f"{like}.shape[1]", *map(str, border.shape)]
    first = border.reshape(-1)[:1]
    if np.array_equal(border, np.broadcast_to(first, border.shape)):
        if not first.any():
            return call(f"{like}.new_zeros", *sizes)
        # As short as the type of the numbers allows; NaN and infinities are words of Python's math.
        number = str(first[0])
        if not np.isfinite(first[0]):
            number = f'float("{number}")'
        return call(f"{like}.new_full", items(sizes), number)
    return call(f"{out.tensor(border)}.expand", *sizes)


def layer_of(
    out: TorchWriting,
    loop: Loop,
    shown: Collection[Node],
    values: Mapping[Node, ExportedValue],
) -> dict[Node, ExportedValue] | None:
    """Add the layer of a loop, and return its output; None where there is no such layer. Raises
    ExportError where a delay's first values change with the samples.
    """
    long = recognised(loop, shown)
    if long is not None:
        return _long(out, long, shown, values)
    cell = recognised_cell(loop, shown, values)
    if isinstance(cell, PlainCell):
        return _plain(out, cell, values)
    return None if cell is None else _gated(out, cell, values)


def _long(
    out: TorchWriting,
    cell: Cell,
    shown: Collection[Node],
    values: Mapping[Node, ExportedValue],
) -> dict[Node, ExportedValue] | None:
    size = cell.size
    if cell.peepholes is not None or cell.projection is not None:
        return None
    affine = recurrences.fed_together([recurrences.whole_of(cell.sums)], values)
    if affine is None or affine.source is None or not set(shown) <= {cell.outputs}:
        return None
    numbers = _Numbers(
        "nn.LSTM",
        size,
        affine.source,
        _arranged(affine.weights, size),
        _arranged(recurrences.constant_of(cell.weights, values), size),
        _arranged(affine.bias[None], size)[0],
        np.zeros(4 * size),
    )
    origin = owner(cell.outputs, cell.weights.name)
    return {cell.outputs: _layer(out, numbers, origin, cell.before, cell.backwards, values)}


def _arranged(weights: Array, size: int) -> Array:
    """Return columns of CNTK's gates in the order of PyTorch's."""
    found: Array = weights.reshape(-1, 4, size)[:, list(_GATES)].reshape(-1, 4 * size)
    return found


def _plain(
    out: TorchWriting, cell: PlainCell, values: Mapping[Node, ExportedValue]
) -> dict[Node, ExportedValue] | None:
    affine = recurrences.fed_together([cell.gate.outside], values)
    if cell.bound not in _BOUNDS or affine is None or affine.source is None:
        return None
    size = cell.outputs.size
    again = recurrences.columns_of(cell.gate.weights, values)
    words = {} if cell.bound == "Tanh" else {"nonlinearity": f'"{_BOUNDS[cell.bound]}"'}
    numbers = _Numbers(
        "nn.RNN", size, affine.source, affine.weights, again, affine.bias, np.zeros(size), words
    )
    origin = owner(cell.outputs, cell.gate.weights.node.name)
    return {cell.outputs: _layer(out, numbers, origin, (cell.before,), cell.backwards, values)}


def _gated(
    out: TorchWriting, cell: GatedCell, values: Mapping[Node, ExportedValue]
) -> dict[Node, ExportedValue] | None:
    """Return a gated unit as PyTorch's GRU, whose gate r is multiplied with a product; None for
    other units, which are written step by step.
    """
    gates = (cell.reset, cell.update, cell.candidate)
    affine = recurrences.fed_together([one.outside for one in gates], values)
    if not cell.resets_products or affine is None or affine.source is None:
        return None
    size = cell.outputs.size
    again = np.concatenate([recurrences.columns_of(one.weights, values) for one in gates], 1)
    inner = np.zeros(3 * size)
    for part in cell.inner:
        known = recurrences.fed(part, values)
        if known.source is not None:
            return None
        inner[2 * size :] += known.bias
    numbers = _Numbers("nn.GRU", size, affine.source, affine.weights, again, affine.bias, inner)
    origin = owner(cell.outputs, cell.reset.weights.node.name)
    return {cell.outputs: _layer(out, numbers, origin, (cell.before,), cell.backwards, values)}


def _layer(
    out: TorchWriting,
    numbers: _Numbers,
    origin: str,
    before: Sequence[Node],
    backwards: bool,
    values: Mapping[Node, ExportedValue],
) -> ExportedValue:
    """Add a layer and the state that it begins with, unless that is 0."""
    source = out.read(numbers.read)
    state = {
        "weight_ih_l0": numbers.weights.T,
        "weight_hh_l0": numbers.again.T,
        "bias_ih_l0": numbers.bias,
        "bias_hh_l0": numbers.inner,
    }
    width, size = str(len(numbers.weights)), str(numbers.size)
    made = call(numbers.kind, width, size, **numbers.words)
    out.begin(before[0].inputs[0].name)
    # Weights are those of one loop: no other has the same layer.
    layer = out.layer(("recurrent", before[0]), origin, made, state)
    borders = [recurrences.border_of(one, out.floats, values) for one in before]
    starts = []
    if any(one.any() for one in borders):
        for delay, border in zip(before, borders, strict=True):
            first = repeated(out, border, source, "1")
            starts.append(out.let(first, f"{delay.name}/start"))
    given = [source + (".flip(0)" if backwards else "")]
    if starts:
        given.append(starts[0] if len(starts) == 1 else f"({', '.join(starts)})")
    ending = ")[0].flip(0)" if backwards else ")[0]"
    name = out.let(call(layer, *given)._replace(closing=ending))
    return ExportedValue(name, STEPWISE, (numbers.size,))
