"""A graph as kernels, one idea each: forward, criterion, backward, gradients, updates.

It asks the tables of operations, and knows neither how kernels are joined nor where buffers lie.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from netsharp_engine.graph import Node, Parameter
from netsharp_engine.program import REMEMBERS, Job, UpdateRule
from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import GRADIENT, WEIGHTS, Buffer
from netsharp_engine.wgpu_backend.planning.facts import CriterionFacts, GraphFacts, criterion_facts
from netsharp_engine.wgpu_backend.planning.flow import GraphFlow, called
from netsharp_engine.wgpu_backend.planning.operations import OPERATIONS, OpSite
from netsharp_engine.wgpu_backend.planning.tensors import TENSORS
from netsharp_engine.wgpu_backend.templates import losses, updates

#: All operations: Net#'s, and those of CNTK's under other names.
TABLE = {**TENSORS, **OPERATIONS}
#: Lines of the ring that losses go to, which is read before it is full.
SLOTS = 4096


class Entrances(NamedTuple):
    """The buffers that a batch fills, by the names of inputs, a draw of masks, and what the loss
    reads."""

    inputs: Mapping[str, Buffer]
    draw: Buffer | None
    goal: losses.Goal | None
    figures: Buffer


class Described(NamedTuple):
    """Kernels in order, buffers, and which of them are what.

    ``ring`` has, for each step, the sums of ``criteria`` criteria; ``checks`` are parameters.
    """

    building: Building
    entrances: Entrances
    values: Mapping[Node, Buffer]
    parameters: Mapping[Parameter, Buffer]
    memory: Mapping[str, Mapping[Parameter, Buffer]]
    gradients: Mapping[Parameter, Buffer]
    ring: Buffer | None
    slot: Buffer | None
    checks: Mapping[Parameter, Buffer]


class Describer(GraphFlow):
    """The kernels of one job."""

    def __init__(self, job: Job, facts: GraphFacts) -> None:
        super().__init__(job, facts)
        self.ring: Buffer | None = None
        self.slot: Buffer | None = None

    def described(self) -> Described:
        """Describe all of it."""
        job, build = self.job, self.build
        if job.rule is not None:
            for kind in REMEMBERS[job.rule.kind]:
                self.memory[kind] = {
                    each: build.buffer(f"{each.name}: {kind}", each.size, room=WEIGHTS, kept=True)
                    for each in job.graph.parameters
                    if each.trained
                }
        figures = build.buffer("figures of the step", len(updates.FIGURES), kept=True)
        loss = criterion_facts(self.facts, job.graph.criteria)
        self._forward(loss)
        goal = None if loss is None else self._goal(loss, figures)
        if loss is not None and goal is not None:
            self._criteria(loss, goal)
        if job.rule is not None:
            self._backward()
            self._updates(job.rule, figures)
        inputs = {node.name: self.values[node] for node in job.graph.inputs if node in self.values}
        checks = {
            each: updates.checked(build, self.parameters[each])
            for each in (self.found if job.rule is not None else ())
        }
        gradients = {each: found[-1] for each, found in self.found.items()}
        return Described(
            build,
            Entrances(inputs, self.draw, goal, figures),
            self.values,
            self.parameters,
            self.memory,
            gradients,
            self.ring,
            self.slot,
            checks,
        )

    def _goal(self, loss: CriterionFacts, figures: Buffer) -> losses.Goal:
        build, outputs = self.build, self.facts.output.size
        coded = loss.label is None and outputs > 1
        codes = build.buffer("wanted codes", 1, rows=build.rows, kept=True) if coded else None
        if loss.label is None:
            numbers = build.values("wanted numbers", outputs, kept=True)
        else:
            numbers = self.values[loss.label] = build.values(loss.label.name, outputs, kept=True)
        shares = build.buffer("shares of rows", 1, rows=build.rows, kept=True)
        return losses.Goal(codes, numbers, shares, figures, updates.PLACES["coded"])

    def _forward(self, loss: CriterionFacts | None) -> None:
        later = loss.shown if loss is not None and loss.fused else None
        for node in self.facts.nodes:
            if node.op == "input":
                self.values[node] = self.build.values(node.name, node.size, kept=True)
            elif node is not later:
                TABLE[node.op].forward(self, self._site(node))

    def _site(self, node: Node) -> OpSite:
        return OpSite(node, called(node, self.facts))

    def _criteria(self, loss: CriterionFacts, goal: losses.Goal) -> None:
        build, op = self.build, loss.criterion
        lines = build.buffer("losses of rows", 1, rows=build.rows)
        source = self.value(loss.source)
        shown = source
        if loss.fused:
            made = loss.shown
            shown = self.value(made) if made else build.values("probabilities", source.width)
        if not loss.fused:
            losses.plain_loss(build, op, source, goal, lines)
        elif op == "cross entropy":
            losses.entropy_of_softmax(build, source, goal, shown, lines)
        else:
            losses.entropy_of_sigmoid(build, source, goal, shown, lines)
        criteria: list[tuple[Buffer, Buffer | None]] = [(lines, goal.shares)]
        for right in loss.counts:
            answers = build.buffer("answers of rows", 1, rows=build.rows)
            fed = updates.figure(goal.figures, "rows")
            losses.counted_answers(build, shown, goal, fed, answers, right=right)
            criteria.append((answers, None))
        if self.job.rule is not None:
            self._error(loss, goal, shown)
        self.ring = build.buffer("ring", len(criteria), rows=SLOTS, kept=True)
        self.slot = build.buffer("slot of the ring", 1, kept=True)
        losses.tally(build, criteria, self.ring, self.slot, SLOTS)

    def _error(self, loss: CriterionFacts, goal: losses.Goal, shown: Buffer) -> None:
        node = loss.source
        out = self.build.values(f"{called(node, self.facts)}: error", node.size)
        if not loss.fused:
            losses.plain_error(self.build, loss.criterion, shown, goal, out)
        elif loss.criterion == "cross entropy":
            losses.error_of_softmax(self.build, shown, goal, out)
        else:
            losses.error_of_sigmoid(self.build, shown, goal, out)
        self.errors[node] = [out]

    def _backward(self) -> None:
        for node in reversed(self.facts.nodes):
            if node in self.facts.learning and node in self.errors:
                TABLE[node.op].backward(self, self._site(node))

    def _updates(self, rule: UpdateRule, figures: Buffer) -> None:
        build, shaping = self.build, rule.shaping
        trained = [
            each for each in self.job.graph.parameters if each.trained and each in self.found
        ]
        gradients = [
            self.together(self.found[each], f"{each.name}: gradient", GRADIENT) for each in trained
        ]
        scale, cut = None, shaping.limit < math.inf
        if shaping.total < math.inf:
            scale = build.buffer("scale of gradients", 1)
            updates.total_norm(build, gradients, figures, scale, cut=cut)
        kind = updates.formulas_of(rule)
        for parameter, gradient in zip(trained, gradients, strict=True):
            state = {name: found[parameter] for name, found in self.memory.items()}
            updates.update(
                build,
                updates.RULES[kind],
                self.parameters[parameter],
                gradient,
                state,
                figures,
                scale=scale,
                cut=cut,
                decays=bool(rule.decay),
                regular=shaping.l2 > 0 and parameter.name not in shaping.unregular,
            )
        if rule.max_norm:
            for parameter in trained:
                self._bound(parameter, figures)

    def _bound(self, parameter: Parameter, figures: Buffer) -> None:
        buffer, shape = self.parameters[parameter], parameter.shape
        if parameter.kind == "kernels":
            updates.bound_rows(self.build, buffer, shape[0], shape[1] - 1, shape[1], figures)
        elif parameter.kind == "weights" and len(shape) == 1:
            users = (node for node in self.facts.nodes if parameter in node.parameters)
            user = next(users)
            owners = [int(each) for each in user.attributes["edges"][0]]
            updates.bound_edges(self.build, buffer, owners, user.size, figures)
        elif parameter.kind == "weights":
            width = parameter.size // shape[0]
            updates.bound_rows(self.build, buffer, shape[0], width, width, figures)
