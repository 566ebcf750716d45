"""Loops as operators of ONNX: LSTM, GRU and RNN, in their direction.

Inputs are [steps, sequences, inputs]; a state is [1, sequences, size].
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.exporting import recurrences
from netsharp_engine.exporting.cells import GatedCell, PlainCell, recognised_cell
from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting
from netsharp_engine.tensor_backend.lstm import recognised

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node
    from netsharp_engine.tensor_backend.loops import Loop
    from netsharp_engine.tensor_backend.lstm import Cell

#: The order of ONNX's gates i, o, f, c among CNTK's i, c, f, o.
_GATES = (0, 3, 2, 1)
#: What bounds plain recurrences.
_BOUNDS = {"Tanh": "Tanh", "Sigmoid": "Sigmoid", "RectifiedLinear": "Relu"}


class _Numbers(NamedTuple):
    """The numbers of an operator, gates in ONNX's order: weights [inputs, gates] and [size, gates],
    a bias [gates] for each, and the gates that see the state.
    """

    operator: str
    read: OnnxValue
    weights: Array
    again: Array
    bias: Array
    inner: Array
    peepholes: Array | None = None


def repeated(out: OnnxWriting, border: Array, like: OnnxValue, steps: tuple[int, ...] = ()) -> str:
    """Return a border [*steps, sequences, *shape], for as many sequences as another tensor has."""
    whole = out.add("Shape", like.name)
    count = out.add("Slice", whole, out.integers(like.lead - 1), out.integers(like.lead))
    parts = [*([out.integers(*steps)] if steps else []), count, out.integers(*border.shape)]
    return out.add("Expand", out.numbers(border), out.add("Concat", *parts, axis=0))


def operator_of(
    out: OnnxWriting,
    loop: Loop,
    shown: Collection[Node],
    values: Mapping[Node, OnnxValue],
) -> dict[Node, OnnxValue] | None:
    """Add the operator of a loop, and return its output; None where there is no such operator.
    Raises ExportError where a delay's first values change with the samples. Source: ONNX operators
    LSTM, GRU and RNN.
    """
    long = recognised(loop, shown)
    if long is not None:
        if long.projection is not None or not set(shown) <= {long.outputs}:
            return None
        return {long.outputs: _long(out, long, values)}
    cell = recognised_cell(loop, shown, values)
    if cell is None:
        return None
    found = _plain(out, cell, values) if isinstance(cell, PlainCell) else _gated(out, cell, values)
    return None if found is None else {cell.outputs: found}


def _long(out: OnnxWriting, cell: Cell, values: Mapping[Node, OnnxValue]) -> OnnxValue:
    """Return a cell of long short-term memory as ONNX's LSTM."""
    width, sums = 4 * cell.size, values[cell.sums]
    affine = recurrences.fed_together([recurrences.whole_of(cell.sums)], values)
    if affine is None or affine.source is None:
        affine = recurrences.Fed(sums, np.eye(width), np.zeros(width))
    peepholes = None
    if cell.peepholes is not None:
        let_in, keep, show = (recurrences.constant_of(one, values) for one in cell.peepholes)
        peepholes = np.concatenate([let_in, show, keep])
    numbers = _Numbers(
        "LSTM",
        affine.source or sums,
        _arranged(affine.weights, cell.size),
        _arranged(recurrences.constant_of(cell.weights, values), cell.size),
        _arranged(affine.bias[None], cell.size)[0],
        np.zeros(width),
        peepholes,
    )
    return _added(out, numbers, cell.outputs, cell.before, cell.backwards, values)


def _arranged(weights: Array, size: int) -> Array:
    """Return columns of CNTK's gates in the order of ONNX's."""
    found: Array = weights.reshape(-1, 4, size)[:, list(_GATES)].reshape(-1, 4 * size)
    return found


def _plain(out: OnnxWriting, cell: PlainCell, values: Mapping[Node, OnnxValue]) -> OnnxValue | None:
    affine = recurrences.fed_together([cell.gate.outside], values)
    if affine is None or affine.source is None:
        return None
    again = recurrences.columns_of(cell.gate.weights, values)
    none = np.zeros(cell.outputs.size)
    numbers = _Numbers("RNN", affine.source, affine.weights, again, affine.bias, none)
    words = {"activations": [_BOUNDS[cell.bound]]}
    return _added(out, numbers, cell.outputs, (cell.before,), cell.backwards, values, **words)


def _gated(out: OnnxWriting, cell: GatedCell, values: Mapping[Node, OnnxValue]) -> OnnxValue | None:
    """Return a gated unit as ONNX's GRU, whose order of gates is z, r, c and which has both forms
    of the candidate; None where the sums are not of one source.
    """
    gates = (cell.update, cell.reset, cell.candidate)
    affine = recurrences.fed_together([one.outside for one in gates], values)
    if affine is None or affine.source is None:
        return None
    size = cell.outputs.size
    again = np.concatenate([recurrences.columns_of(one.weights, values) for one in gates], 1)
    inner = np.zeros(3 * size)
    for part in cell.inner:
        known = recurrences.fed(part, values)
        if known.source is not None:
            return None
        inner[2 * size :] += known.bias
    numbers = _Numbers("GRU", affine.source, affine.weights, again, affine.bias, inner)
    words = {"linear_before_reset": int(cell.resets_products)}
    return _added(out, numbers, cell.outputs, (cell.before,), cell.backwards, values, **words)


def _added(
    out: OnnxWriting,
    numbers: _Numbers,
    outputs: Node,
    before: Sequence[Node],
    backwards: bool,
    values: Mapping[Node, OnnxValue],
    **words: Any,
) -> OnnxValue:
    """Add an operator with the states that it begins with."""
    out.begin(outputs.name)
    weights, again = (out.numbers(one.T[None]) for one in (numbers.weights, numbers.again))
    bias = out.numbers(np.concatenate([numbers.bias, numbers.inner])[None])
    borders = [recurrences.border_of(one, out.floats, values) for one in before]
    starts = [repeated(out, one[None], numbers.read) for one in borders]
    starts = [out.add("Transpose", one, perm=(1, 0, 2)) for one in starts]
    inputs = [numbers.read.name, weights, again, bias, "", *starts]
    if numbers.peepholes is not None:
        inputs.append(out.numbers(numbers.peepholes[None]))
    direction = "reverse" if backwards else "forward"
    found = out.add(
        numbers.operator, *inputs, hidden_size=outputs.size, direction=direction, **words
    )
    found = out.add("Squeeze", found, out.integers(1))
    return OnnxValue(out.rename(found, outputs.name), 2, outputs.shape)
