"""Operations that read other steps of sequences, as ONNX operators on [steps, sequences, ...].

A loop becomes an LSTM, a GRU or an RNN where it is one, else a Scan with a state for each step that
a delay reaches back.  Sequences of one batch have equally many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from netsharp_engine.exporting.onnx import recurrent
from netsharp_engine.exporting.onnx.recurrent import repeated
from netsharp_engine.exporting.onnx.writing import OnnxValue, OnnxWriting
from netsharp_engine.exporting.recurrences import border_of
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.shaping import DELAYS

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx import ValueInfoProto

    from netsharp_engine.tensor_backend.loops import Loop

#: Adds one operation inside a loop.
Emit = Callable[[OnnxWriting, Node, dict[Node, OnnxValue]], OnnxValue]


def delayed(out: OnnxWriting, node: Node, values: Mapping[Node, OnnxValue]) -> str:
    """Add a delay outside of loops. Raises ExportError where its first values change with the
    samples.
    """
    source = values[node.inputs[0]]
    steps = int(node.attributes.get("timeStep", 1))
    edge = repeated(out, border_of(node, out.floats, values), source, (steps,))
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
    """Add a loop; the values of the nodes that are read outside of it are then known. Raises
    ExportError for a loop that reads nothing along a sequence. Source: ONNX operator Scan.
    """
    found = recurrent.operator_of(out, loop, shown, values)
    if found is None:
        _scanned(out, loop, shown, values, emit)
    else:
        values.update(found)


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
        first = repeated(out, border_of(delay, out.floats, values), like)
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
