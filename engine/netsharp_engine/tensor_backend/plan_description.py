"""The calls of a step of a network of CNTK as plain data: those of the processor, and the parts of
such a plan that other back ends share. It makes no array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from netsharp_engine.graph import Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.phases import reaching
from netsharp_engine.planned import Planned, PlannedBuffer, PlannedCall, labels_of, place_of
from netsharp_engine.program import REMEMBERS, SINGLE, Job
from netsharp_engine.tensor_backend.loops import Loop
from netsharp_engine.tensor_backend.together import Together
from netsharp_engine.tensor_backend.walk import GraphWalk, Part, learning

_WIDTHS = {"float32": 4, "float64": 8}
#: Bytes of what a rule remembers as one number.
_SINGLE = 8


class PlanPart(NamedTuple):
    """Nodes that are computed at once, what computes them, and the one that a call is named after:
    the first of a loop, else the last.
    """

    nodes: tuple[Node, ...]
    kernel: str
    named: Node

    def reads(self) -> Iterator[Node]:
        """Yield the nodes outside that these read, each once."""
        inside = set(self.nodes)
        yield from dict.fromkeys(
            one for node in self.nodes for one in node.inputs if one not in inside
        )


def part_of(part: Node | Loop) -> PlanPart:
    """Return a node alone, or a loop that runs once for each step of the sequences."""
    if isinstance(part, Loop):
        return PlanPart(part.nodes, "loop", part.nodes[0])
    return PlanPart((part,), part.op, part)


def describe_plan(job: Job) -> Planned:
    """Return what the processor computes: calls in order, and memory that is made once.

    Raises GraphError for a loop that cannot be run.
    """
    walk = GraphWalk(job, {})
    parts = [_walked(part, walk) for part in walk.parts]
    labels = labels_of(job.graph.nodes)
    calls = [*forward_calls(job, parts), *_backward_calls(job, parts, labels)]
    return described(job, calls, (0, 0))


def _walked(part: Part, walk: GraphWalk) -> PlanPart:
    if isinstance(part, Together):
        return PlanPart((*part.hidden, part.shown), type(part).__name__.lower(), part.shown)
    found = part_of(part)
    return found._replace(kernel="recurrent cell") if part in walk.cells else found


def described(job: Job, calls: Iterable[PlannedCall], crossing: tuple[int, int]) -> Planned:
    """Return a plan of calls up to the gradients, with those that update the parameters, and the
    bytes that a step sends to a device and receives from it.
    """
    updates = _update_calls(job) if job.rule is not None else ()
    buffers = tuple(_buffers(job, _WIDTHS[job.dtype]))
    return Planned(job.rows, job.dtype, (*calls, *updates), buffers, *crossing)


def forward_calls(job: Job, parts: Iterable[PlanPart]) -> list[PlannedCall]:
    """Return a call for each part, those of criteria last."""
    labels, criteria = labels_of(job.graph.nodes), set(job.graph.criteria)
    calls = []
    for part in parts:
        if part.named.op == "input" or part.named.op in HELD:
            continue
        stage = "forward" if criteria.isdisjoint(part.nodes) else "loss"
        reads, writes = ([labels[one] for one in nodes] for nodes in (part.reads(), part.nodes))
        calls.append(_call(stage, part, reads, writes))
    return sorted(calls, key=lambda call: call.stage)


def _backward_calls(
    job: Job, parts: list[PlanPart], labels: Mapping[Node, str]
) -> Iterator[PlannedCall]:
    """Yield a call for each part that the gradient of the first criterion goes through."""
    if job.rule is None or not job.graph.criteria:
        return
    way = learning(job.graph) & reaching(job.graph.criteria[0])
    for part in reversed(parts):
        if way.isdisjoint(part.nodes) or part.named.op in HELD:
            continue
        reads = [f"gradient of {labels[part.named]}"]
        writes = [f"gradient of {labels[one]}" for one in part.reads() if one in way]
        yield _call("backward", part, reads, writes)


def _call(stage: str, part: PlanPart, reads: list[str], writes: list[str]) -> PlannedCall:
    formulas, named = tuple(node.op for node in part.nodes), part.named
    return PlannedCall(
        stage, part.kernel, formulas, tuple(reads), tuple(writes), named.name, place_of(named)
    )


def _update_calls(job: Job) -> Iterator[PlannedCall]:
    assert job.rule is not None
    for one in job.graph.parameters:
        if one.trained:
            state = tuple(f"{kind} of {one.name}" for kind in REMEMBERS[job.rule.kind])
            reads = (f"gradient of {one.name}", one.name, *state)
            formulas = (job.rule.kind,)
            yield PlannedCall("update", job.rule.kind, formulas, reads, (one.name, *state))


def _buffers(job: Job, width: int) -> Iterator[PlannedBuffer]:
    """Yield parameters and their optimiser state, each in its own memory."""
    for one in job.graph.parameters:
        space = "trained" if one.trained else "fixed"
        yield PlannedBuffer(one.name, space, None, one.size * width, one.shape)
        if job.rule is None or not one.trained:
            continue
        for kind in REMEMBERS[job.rule.kind]:
            alone = kind in SINGLE
            size, shape = (_SINGLE, (1,)) if alone else (one.size * width, one.shape)
            yield PlannedBuffer(f"{kind} of {one.name}", kind, None, size, shape)
