"""Operations that read other steps of sequences, as ONNX operators on [steps, sequences, ...].

A loop becomes an LSTM where it is one, else a Scan with a state for each step that a delay reaches
back.  Sequences of one batch have equally many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.tensor_backend.lstm import recognised

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx import ValueInfoProto

    from netsharp_engine.tensor_backend.loops import Loop
    from netsharp_engine.tensor_backend.lstm import Cell

#: Adds one operation inside a loop.
Emit = Callable[[OnnxWriting, Node, dict[Node, OnnxValue]], OnnxValue]
#: The order of ONNX's gates i, o, f, c among CNTK's i, c, f, o.
_GATES = (0, 3, 2, 1)


def border_of(delay: Node, floats: str, values: Mapping[Node, OnnxValue]) -> Array:
    """Return what a delay gives where there is no such step, of its shape."""
    number: Array = np.asarray(delay.attributes.get("initial", 0.0), floats)
    if len(delay.inputs) > 1:
        given = values[delay.inputs[1]]
        if given.constant is None:
            raise refused(delay, f"'{given.name}', where it begins, changes with the samples.")
        number = given.constant
    return np.broadcast_to(number, delay.shape)


def _repeated(out: OnnxWriting, border: Array, like: OnnxValue, steps: tuple[int, ...] = ()) -> str:
    """A border [*steps, sequences, *shape], for as many sequences as another tensor has."""
    whole = out.add("Shape", like.name)
    count = out.add("Slice", whole, out.integers(like.lead - 1), out.integers(like.lead))
    parts = [*([out.integers(*steps)] if steps else []), count, out.integers(*border.shape)]
    return out.add("Expand", out.numbers(border), out.add("Concat", *parts, axis=0))


def delayed(out: OnnxWriting, node: Node, values: Mapping[Node, OnnxValue]) -> str:
    """Add a delay that no loop goes through."""
    source = values[node.inputs[0]]
    steps = int(node.attributes.get("timeStep", 1))
    edge = _repeated(out, border_of(node, out.floats, values), source, (steps,))
    count = out.add("Slice", out.add("Shape", source.name), out.integers(0), out.integers(1))
    if node.op == DELAYS[0]:
        longer = out.add("Concat", edge, source.name, axis=0)
        return out.add("Slice", longer, out.integers(0), count, out.integers(0))
    longer = out.add("Concat", source.name, edge, axis=0)
    end = out.add("Add", count, out.integers(steps))
    return out.add("Slice", longer, out.integers(steps), end, out.integers(0))


def looped(
    out: OnnxWriting, loop: Loop, shown: Collection[Node], values: dict[Node, OnnxValue], emit: Emit
) -> None:
    """Add a loop; the values of the nodes that are read outside of it are then known."""
    cell = recognised(loop, shown)
    if cell is not None and cell.projection is None and set(shown) <= {cell.outputs}:
        values[cell.outputs] = _cell(out, cell, values)
    else:
        _scanned(out, loop, shown, values, emit)


def _scanned(
    out: OnnxWriting, loop: Loop, shown: Collection[Node], values: dict[Node, OnnxValue], emit: Emit
) -> None:
    from onnx import TensorProto, helper

    kind = TensorProto.DOUBLE if out.floats == "float64" else TensorProto.FLOAT
    body, inside = out.inner(), set(loop.nodes)
    read = dict.fromkeys(one for node in loop.nodes for one in node.inputs if one not in inside)
    fed = [one for one in read if values[one].lead]
    if not fed:
        raise refused(loop.nodes[0], "the loop that it is in reads nothing along a sequence.")
    if any(values[one].lead != 2 for one in fed):
        raise refused(loop.nodes[0], "the loop that it is in reads what no step has of its own.")
    like = values[fed[0]]
    known = {one: values[one] for one in read if not values[one].lead}
    states, starts, updates = [], [], []
    delays = [node for node in loop.nodes if node.op in DELAYS]
    kept: dict[Node, list[str]] = {}
    for delay in delays:
        out.begin(delay.name)
        first = _repeated(out, border_of(delay, out.floats, values), like)
        count = int(delay.attributes.get("timeStep", 1))
        kept[delay] = [body.fresh(f"{delay.name}/state") for _ in range(count)]
        states += kept[delay]
        starts += [first] * count
        known[delay] = OnnxValue(kept[delay][-1], 1, delay.shape)
    slices = {one: body.fresh(f"{values[one].name}/step") for one in fed}
    known.update((one, OnnxValue(name, 1, one.shape)) for one, name in slices.items())
    for node in loop.nodes:
        if node.op not in DELAYS:
            known[node] = emit(body, node, known)
    for delay in delays:
        source = known[delay.inputs[0]]
        body.begin(delay.name)
        fresh = body.expanded(source, known[delay])
        updates += [body.add("Identity", one) for one in (fresh, *kept[delay][:-1])]
    tops = [body.add("Identity", known[one].name) for one in shown]

    def typed(names: Sequence[str]) -> list[ValueInfoProto]:
        return [helper.make_tensor_value_info(name, kind, None) for name in names]

    graph = helper.make_graph(
        body.nodes, "step", typed([*states, *slices.values()]), typed([*updates, *tops])
    )
    along = [1 if loop.backwards else 0]
    out.begin(loop.nodes[0].name)
    made = [out.fresh(f"{delay}/last") for delay in states]
    results = [out.fresh(one.name) for one in shown]
    out.nodes.append(
        helper.make_node(
            "Scan",
            [*starts, *(values[one].name for one in fed)],
            [*made, *results],
            out.fresh("Scan"),
            body=graph,
            num_scan_inputs=len(fed),
            scan_input_directions=along * len(fed),
            scan_output_directions=along * len(results),
        )
    )
    values.update(
        (one, OnnxValue(name, 2, one.shape)) for one, name in zip(shown, results, strict=True)
    )


def _cell(out: OnnxWriting, cell: Cell, values: Mapping[Node, OnnxValue]) -> OnnxValue:
    """A loop that is a cell of long short-term memory."""
    size = cell.size
    out.begin(cell.outputs.name)
    source, weights, bias = _outside(cell, values)
    recurrent = _constant(cell.weights, values).reshape(size, 4, size)
    gates = out.numbers(_arranged(weights.reshape(-1, 4, size)))
    again = out.numbers(_arranged(recurrent))
    both = np.concatenate([bias.reshape(4, size)[list(_GATES)].reshape(-1), np.zeros(4 * size)])
    past, kept = (border_of(one, out.floats, values) for one in cell.before)
    starts = [_repeated(out, one[None], source) for one in (past, kept)]
    starts = [out.add("Transpose", one, perm=(1, 0, 2)) for one in starts]
    inputs = [source.name, gates, again, out.numbers(both[None]), "", *starts]
    if cell.peepholes is not None:
        let_in, keep, show = (_constant(one, values) for one in cell.peepholes)
        inputs.append(out.numbers(np.concatenate([let_in, show, keep])[None]))
    direction = "reverse" if cell.backwards else "forward"
    found = out.add("LSTM", *inputs, hidden_size=size, direction=direction)
    found = out.add("Squeeze", found, out.integers(1))
    return OnnxValue(out.rename(found, cell.outputs.name), 2, cell.outputs.shape)


def _arranged(weights: Array) -> Array:
    """Weights [inputs, gates, size] as ONNX has them: [1, gates * size, inputs]."""
    found: Array = weights[:, list(_GATES)].reshape(len(weights), -1).T[None]
    return found


def _constant(node: Node, values: Mapping[Node, OnnxValue]) -> Array:
    found = values[node].constant
    assert found is not None, "a cell's weights are worked out of parameters alone"
    return found


def _outside(cell: Cell, values: Mapping[Node, OnnxValue]) -> tuple[OnnxValue, Array, Array]:
    """What a cell reads, and the weights [inputs, 4 * size] and bias that its sums are made by."""
    width = 4 * cell.size
    sums, bias = cell.sums, np.zeros(width)
    if sums.op == "Plus" and sums in values:
        constants = [one for one in sums.inputs if values[one].constant is not None]
        if len(constants) == 1 and constants[0].size in (1, width):
            bias = np.broadcast_to(_constant(constants[0], values).reshape(-1), (width,))
            sums = next(one for one in sums.inputs if one is not constants[0])
    if sums.op == "Times" and int(sums.attributes.get("outputRank", 1)) == 1:
        left, right = (values[one] for one in sums.inputs)
        if left.constant is not None and right.lead == 2 and len(right.shape) == 1:
            return right, left.constant.reshape(-1, width), bias
    return values[sums], np.eye(width), bias
