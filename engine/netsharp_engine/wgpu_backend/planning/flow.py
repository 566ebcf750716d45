"""What is known while a graph is described: values, errors passed back, gradients, by node.

Operations ask it for buffers; it knows none of them.
"""

from __future__ import annotations

from netsharp_engine.graph import Node, Parameter
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.program import Job
from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import BACKWARD, WEIGHTS, Buffer
from netsharp_engine.wgpu_backend.planning.facts import GraphFacts
from netsharp_engine.wgpu_backend.templates import dropping, elementwise


class GraphFlow:
    """The buffers of one job as they come up."""

    def __init__(self, job: Job, facts: GraphFacts) -> None:
        self.job, self.facts = job, facts
        self.build = Building(job.rows)
        #: Parameters come first, so that programs of one graph find them in the same places.
        self.parameters = {
            each: self.build.buffer(each.name, each.size, room=WEIGHTS, kept=True)
            for each in job.graph.parameters
        }
        self.values: dict[Node, Buffer] = {}
        self.errors: dict[Node, list[Buffer]] = {}
        self.found: dict[Parameter, list[Buffer]] = {}
        self.kept: dict[Node, tuple[Buffer, ...]] = {}
        self.memory: dict[str, dict[Parameter, Buffer]] = {}
        self.masks: dict[str, Buffer] = {}
        self.draw: Buffer | None = None

    def value(self, node: Node, *, alias: Buffer | None = None) -> Buffer:
        """Return the buffer of a node's values, which may be that of its source."""
        if node not in self.values:
            label = called(node, self.facts)
            kept = node is self.facts.output or bool(node.name)
            if alias is None:
                self.values[node] = self.build.values(f"{label} {node.op}", node.size, kept=kept)
            else:
                self.values[node] = self.build.keep(alias) if kept else alias
        return self.build.buffers[self.values[node].number]

    def mask(self, node: Node) -> Buffer:
        """Return the buffer of a ``Dropout`` node's mask, drawn where it is asked for first."""
        layer = node.attributes["layer"]
        if layer not in self.masks:
            if self.draw is None:
                self.draw = self.build.buffer("draw of the step", dropping.NUMBERS, kept=True)
            mask = self.masks[layer] = self.build.values(f"mask of {layer}", node.size)
            dropping.drawn(self.build, f"mask of {layer}", node.attributes, self.draw, mask)
        return self.masks[layer]

    def error(self, node: Node) -> Buffer:
        """Return the error of a node: what its users passed back, together."""
        return self.together(self.errors[node], f"{called(node, self.facts)}: error", BACKWARD)

    def below(self, node: Node, what: str) -> Buffer | None:
        """Return a buffer for the gradient of a node; None where nothing before it is trained."""
        if node not in self.facts.learning:
            return None
        if node.op in HELD:
            return self.gradient(node.parameters[0])
        out = self.build.values(f"{what}: error of the source", node.size)
        self.errors.setdefault(node, []).append(out)
        return out

    def pass_back(self, node: Node, error: Buffer) -> None:
        """Let an error be a node's, as it is."""
        if node in self.facts.learning:
            self.errors.setdefault(node, []).append(error)

    def gradient(self, parameter: Parameter) -> Buffer | None:
        """Return a buffer for a gradient of a parameter; None where it does not learn."""
        if not parameter.trained:
            return None
        out = self.build.buffer(f"{parameter.name}: gradient", parameter.size)
        self.found.setdefault(parameter, []).append(out)
        return out

    def together(self, parts: list[Buffer], label: str, role: str) -> Buffer:
        """Return the sum of parts, made by a kernel where there are several."""
        if len(parts) > 1:
            first = parts[0]
            out = self.build.buffer(label, first.width, rows=first.rows)
            elementwise.total(self.build, label, role, parts, out)
            parts[:] = [out]
        return parts[0]


def called(node: Node, facts: GraphFacts) -> str:
    """Return the layer of a node: the next name on the way to the output."""
    while not node.name:
        users = facts.users[node]
        if not users:
            return node.op
        node = users[0]
    return node.name
