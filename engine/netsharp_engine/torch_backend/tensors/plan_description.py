"""The calls that torch would run of a network of CNTK in a step, without a device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netsharp_engine.graph import Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.planned import Planned, PlannedBuffer, PlannedCall, labels_of, place_of
from netsharp_engine.program import REMEMBERS, SINGLE, Job
from netsharp_engine.tensor_backend.loops import Loop, scheduled

_WIDTHS = {"float32": 4, "float64": 8}
#: Bytes of a criterion that is read in a step, and of the word whether all numbers are finite.
_READ, _FAULT = 8, 1
#: Bytes of what a rule remembers as one number.
_SINGLE = 8


def describe_plan(job: Job, device: str) -> Planned:
    """Return calls in order, memory that is made once, and bytes that cross in a step."""
    graph, width = job.graph, _WIDTHS[job.dtype]
    labels = labels_of(graph.nodes)
    calls = [call for part in scheduled(graph) for call in _calls(part, graph.criteria, labels)]
    calls.sort(key=lambda call: call.stage)
    trained = [one for one in graph.parameters if one.trained]
    if job.rule is not None:
        leaves = tuple(f"gradient of {one.name}" for one in trained)
        calls.append(PlannedCall("backward", "autograd", (), (), leaves))
        for one in trained:
            state = tuple(f"{kind} of {one.name}" for kind in REMEMBERS[job.rule.kind])
            reads = (f"gradient of {one.name}", one.name, *state)
            formulas = (job.rule.kind,)
            calls.append(PlannedCall("update", job.rule.kind, formulas, reads, (one.name, *state)))
    here = device == "cpu"
    on_device = sum(node.size for node in (*graph.inputs, *graph.targets)) * width * job.rows
    read = _READ * len(graph.criteria) + (_FAULT if job.rule is not None else 0)
    buffers = tuple(_buffers(job, width))
    return Planned(
        job.rows, job.dtype, tuple(calls), buffers, *((0, 0) if here else (on_device, read))
    )


def _calls(
    part: Node | Loop, criteria: list[Node], labels: Mapping[Node, str]
) -> Iterator[PlannedCall]:
    """Yield a call for each node, and one for each loop, which runs once a step of sequences."""
    if isinstance(part, Loop):
        inside = set(part.nodes)
        outside = dict.fromkeys(
            labels[one] for node in part.nodes for one in node.inputs if one not in inside
        )
        writes = tuple(labels[node] for node in part.nodes)
        formulas = tuple(node.op for node in part.nodes)
        first = part.nodes[0]
        yield PlannedCall(
            "forward", "loop", formulas, tuple(outside), writes, first.name, place_of(first)
        )
    elif part.op != "input" and part.op not in HELD:
        stage = "loss" if part in criteria else "forward"
        reads = tuple(labels[one] for one in part.inputs)
        writes = (labels[part],)
        yield PlannedCall(stage, part.op, (part.op,), reads, writes, part.name, place_of(part))


def _buffers(job: Job, width: int) -> Iterator[PlannedBuffer]:
    """Parameters and their optimiser state, each in its own memory."""
    for one in job.graph.parameters:
        space = "trained" if one.trained else "fixed"
        yield PlannedBuffer(one.name, space, None, one.size * width, one.shape)
        if job.rule is None or not one.trained:
            continue
        for kind in REMEMBERS[job.rule.kind]:
            alone = kind in SINGLE
            size, shape = (_SINGLE, (1,)) if alone else (one.size * width, one.shape)
            yield PlannedBuffer(f"{kind} of {one.name}", kind, None, size, shape)
