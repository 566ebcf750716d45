"""The calls that torch would run of a network of CNTK in a step, without a device."""

from __future__ import annotations

from netsharp_engine.planned import Planned, PlannedCall
from netsharp_engine.program import Job
from netsharp_engine.tensor_backend.loops import scheduled
from netsharp_engine.tensor_backend.plan_description import described, forward_calls, part_of

_WIDTHS = {"float32": 4, "float64": 8}
#: Bytes of a criterion that is read in a step, and of the word whether all numbers are finite.
_READ, _FAULT = 8, 1


def describe_plan(job: Job, device: str) -> Planned:
    """Return calls in order, memory that is made once, and bytes that cross in a step."""
    graph, width = job.graph, _WIDTHS[job.dtype]
    calls = forward_calls(job, map(part_of, scheduled(graph)))
    if job.rule is not None:
        leaves = tuple(f"gradient of {one.name}" for one in graph.parameters if one.trained)
        calls.append(PlannedCall("backward", "autograd", (), (), leaves))
    sent = sum(node.size for node in (*graph.inputs, *graph.targets)) * width * job.rows
    read = _READ * len(graph.criteria) + (_FAULT if job.rule is not None else 0)
    return described(job, calls, (0, 0) if device == "cpu" else (sent, read))
