"""Numpy's calls of a step and the places of its buffers, from a design alone."""

from __future__ import annotations

from collections.abc import Iterator

from netsharp_engine.graph import Node
from netsharp_engine.numpy_backend.design import WIDTHS, Design
from netsharp_engine.planned import (
    Planned,
    PlannedBuffer,
    PlannedCall,
    labels_of,
    place_of,
)
from netsharp_engine.program import REMEMBERS, Job


def describe_plan(design: Design, job: Job) -> Planned:
    """Return the calls of a step in order: forward for each node, backward where it is trained."""
    named = NamedDesign(design)
    calls = [*_forward(named), *_loss(named), *_backward(named), *_update(job)]
    buffers = (*_vectors(design, job), *_values(design))
    return Planned(job.rows, job.dtype, tuple(calls), buffers, 0, 0)


class NamedDesign:
    """A design with the names of its nodes and of their layers."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.labels, self.layers = labels_of(design.nodes), design.facts.layers()


def _call(named: NamedDesign, stage: str, node: Node, formulas: tuple[str, ...]) -> PlannedCall:
    design, labels = named.design, named.labels
    sources = tuple(labels[design.values[source]] for source in node.inputs)
    value = labels[design.values[node]]
    reads = sources
    writes: tuple[str, ...] = (value,)
    if stage == "backward":
        gradient = f"gradient of {labels[design.gradients[node]]}"
        reads, writes = (
            (
                *dict.fromkeys(
                    (gradient, value, *sources, *(each.name for each in node.parameters))
                ),
            ),
            tuple(
                f"gradient of {labels[design.gradients[source]]}"
                for source in node.inputs
                if source in design.gradients
            ),
        )
        writes += tuple(f"gradient of {each.name}" for each in node.parameters if each.trained)
    else:
        reads += tuple(each.name for each in node.parameters)
    writes = tuple(dict.fromkeys(writes))
    return PlannedCall(stage, node.op, formulas, reads, writes, named.layers[node], place_of(node))


def _formula(node: Node) -> str:
    return str(node.attributes.get("function", node.op))


def _forward(named: NamedDesign) -> Iterator[PlannedCall]:
    design = named.design
    for node in design.nodes:
        if node.op != "input" and not (design.fused and node is design.output):
            yield _call(named, "forward", node, (_formula(node),))


def _loss(named: NamedDesign) -> Iterator[PlannedCall]:
    design = named.design
    if design.loss is None:
        return
    node = design.output
    formulas = (_formula(node), design.loss.op) if design.fused else (design.loss.op,)
    yield _call(named, "loss", node, formulas)._replace(kernel=design.loss.op)


def _backward(named: NamedDesign) -> Iterator[PlannedCall]:
    design = named.design
    for node in reversed(design.nodes):
        fused = design.fused and node is design.output
        if node in design.gradients and node.op != "input" and not fused:
            yield _call(named, "backward", node, (_formula(node),))


def _update(job: Job) -> Iterator[PlannedCall]:
    if job.rule is not None:
        kind, writes = job.rule.kind, ("weights", *REMEMBERS[job.rule.kind])
        yield PlannedCall("update", kind, (kind,), ("gradient", *writes), writes)


def _vectors(design: Design, job: Job) -> Iterator[PlannedBuffer]:
    """Yield the parameters in a row, trained ones first, and the gradient in the same order."""
    width, start = WIDTHS[design.dtype], 0
    parameters = sorted(design.graph.parameters, key=lambda each: not each.trained)
    for each in parameters:
        size = each.size * width
        yield PlannedBuffer(each.name, "weights", start, size, each.shape)
        start += size
    trained = sum(each.size for each in parameters if each.trained)
    if job.rule is not None:
        for name in ("gradient", *REMEMBERS[job.rule.kind]):
            yield PlannedBuffer(name, name, 0, trained * width, (trained,))


def _values(design: Design) -> Iterator[PlannedBuffer]:
    width, labels = WIDTHS[design.dtype], labels_of(design.nodes)
    for node in design.nodes:
        size, shape = node.size * design.batch * width, (node.size, design.batch)
        if design.values[node] is node:
            yield PlannedBuffer(labels[node], "values", None, size, shape)
        if design.gradients.get(node) is node:
            yield PlannedBuffer(f"gradient of {labels[node]}", "values", None, size, shape)
