"""Torch's calls of a step and the places of its vectors, without a device.

The calls are bound to tensors that have shapes and no memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Node, Parameter
from netsharp_engine.planned import (
    Planned,
    PlannedBuffer,
    PlannedCall,
    crossing,
    labels_of,
    place_of,
)
from netsharp_engine.program import REMEMBERS, Job
from netsharp_engine.torch_backend.network import NodeStep, TorchCalls
from netsharp_engine.torch_backend.numbers import TorchNumbers

#: Bytes that are read in a step: the loss, and the square of the gradient.
READ = 16


def describe_plan(facts: Analysis, job: Job, device: str, width: int) -> Planned:
    """Return the calls on a device, which need not be present."""
    graph = job.graph
    meta, dtype = torch.device("meta"), getattr(torch, job.dtype)
    numbers = TorchNumbers(graph.parameters, graph.nodes, meta, dtype)
    made = TorchCalls(facts, numbers)
    labels, layers = labels_of(facts.nodes), facts.layers()
    calls = [_call(step, labels, layers[step.node]) for step in made.steps]
    calls += _loss(facts, made, labels)
    if job.rule is not None:
        leaves = tuple(f"gradient of {each.name}" for each in numbers.changed)
        learning = [step.node.op for step in made.steps if step.node in facts.learning]
        calls.append(PlannedCall("backward", "autograd", tuple(reversed(learning)), (), leaves))
        calls += _update(job, numbers)
    here = device == "cpu"
    sent = 0 if here else crossing(job, width)
    return Planned(
        job.rows,
        job.dtype,
        tuple(calls),
        tuple(_vectors(job, numbers, width)),
        sent,
        0 if here else READ,
    )


def _formula(node: Node) -> str:
    return str(node.attributes.get("function", node.op))


def _call(step: NodeStep, labels: dict[Node, str], layer: str) -> PlannedCall:
    node = step.node
    parameters = [each.name for one in (*step.merged, node) for each in one.parameters]
    formulas = (*(_formula(one) for one in step.merged), _formula(node))
    kernel = "linear" if step.merged else node.op
    reads = (*(labels[source] for source in step.sources), *parameters)
    return PlannedCall("forward", kernel, formulas, reads, (labels[node],), layer, place_of(node))


def _loss(facts: Analysis, made: TorchCalls, labels: dict[Node, str]) -> Iterator[PlannedCall]:
    criterion = next(iter(facts.graph.criteria), None)
    if criterion is None:
        return
    node = facts.output
    formulas = (_formula(node), criterion.op) if made.late else (criterion.op,)
    reads = (labels[made.last], criterion.inputs[1].name)
    yield PlannedCall("loss", criterion.op, formulas, reads, ("loss",), node.name, place_of(node))


def _update(job: Job, numbers: TorchNumbers) -> Iterator[PlannedCall]:
    """One call for all small parameters together, and one for each large one."""
    assert job.rule is not None
    kind, state = job.rule.kind, REMEMBERS[job.rule.kind]
    small = tuple(each.name for each in numbers.changed if not numbers.is_large(each))
    if small:
        reads = ("gradient", *small, *state)
        yield PlannedCall("update", kind, (kind,), reads, (*small, *state))
    for each in filter(numbers.is_large, numbers.changed):
        reads = (f"gradient of {each.name}", each.name, *state)
        layer = each.name.partition("/")[0]
        yield PlannedCall("update", kind, (kind,), reads, (each.name, *state), layer)


def _vectors(job: Job, numbers: TorchNumbers, width: int) -> Iterator[PlannedBuffer]:
    for space, some, vector in (
        ("trained", numbers.changed, numbers.trained),
        ("fixed", numbers.kept, numbers.fixed),
    ):
        yield from _parts(space, some, numbers.views(some, vector), width)
    if job.rule is not None:
        count = len(numbers.trained)
        for name in REMEMBERS[job.rule.kind]:
            yield PlannedBuffer(name, name, 0, count * width, (count,))


def _parts(
    space: str, some: list[Parameter], views: dict[str, tuple[torch.Tensor, ...]], width: int
) -> Iterator[PlannedBuffer]:
    start = 0
    for each in some:
        parts = views[each.name]
        for number, view in enumerate(parts):
            name = (
                each.name if len(parts) == 1 else f"{each.name} ({('kernels', 'biases')[number]})"
            )
            size = view.numel() * width
            yield PlannedBuffer(name, space, start, size, tuple(view.shape))
            start += size
