"""A graph as torch's calls: which nodes are computed together, and which are left for later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from netsharp_engine.analysis import Analysis
from netsharp_engine.graph import Node
from netsharp_engine.torch_backend.kernels import KERNELS
from netsharp_engine.torch_backend.kernels.criteria import CRITERIA, Judge
from netsharp_engine.torch_backend.kernels.dense import affine
from netsharp_engine.torch_backend.kernels.rows import Call, Tensor, TorchPlace
from netsharp_engine.torch_backend.numbers import TorchNumbers, parts_of


class NodeStep(NamedTuple):
    """One call: the node whose value it makes, those that it reads, and what merged in it."""

    node: Node
    sources: tuple[Node, ...]
    call: Call
    merged: tuple[Node, ...] = ()


class TorchCalls:
    """The calls of one graph in order.

    ``last`` is the node whose values the loss reads; the output's own step, if it is fused with the
    loss, is ``late``: it runs where its value is read.  ``masks`` are filled by each batch.
    """

    def __init__(self, facts: Analysis, numbers: TorchNumbers) -> None:
        self.facts, self.masks = facts, dict[str, Tensor]()
        self._numbers = numbers
        loss = next(iter(facts.graph.criteria), None)
        fused = loss is not None and loss in facts.fused
        self.last = facts.output.inputs[0] if fused else facts.output
        self.judge: Judge | None = None
        if loss is not None:
            row = CRITERIA[loss.op]
            self.judge = row.fused if fused else row.plain
        inner = set[Node]()
        chains: dict[Node, tuple[Node, ...]] = {}
        for node in facts.nodes:
            terms = merged_terms(facts, node)
            if terms:
                chains[node] = terms
                inner |= {*terms, node.inputs[0]}
        steps = [
            self._step(node, chains.get(node))
            for node in facts.nodes
            if node.op != "input" and node not in inner
        ]
        self.steps = [step for step in steps if not (fused and step.node is facts.output)]
        self.late = {step.node: step for step in steps if fused and step.node is facts.output}

    def _step(self, node: Node, terms: tuple[Node, ...] | None) -> NodeStep:
        if terms is None:
            return NodeStep(node, node.inputs, KERNELS[node.op](node, self._place(node)))
        ((biases,),) = self._place(node).parts
        weights = [self._place(term).parts[0][0] for term in terms]
        sources = tuple(term.inputs[0] for term in terms)
        merged = terms if len(terms) == 1 else (*terms, node.inputs[0])
        return NodeStep(node, sources, affine(weights, biases), merged)

    def _place(self, node: Node) -> TorchPlace:
        numbers = self._numbers
        parts = [numbers.parts[parameter.name] for parameter in node.parameters]
        return TorchPlace(parts, numbers.device, numbers.dtype, self.facts.training, self.masks)

    def run(self, values: dict[Node, Tensor]) -> None:
        """Compute all nodes except late ones; ``values`` has those of the inputs."""
        for node, sources, call, _ in self.steps:
            values[node] = call(*[values[source] for source in sources])

    def read(self, values: dict[Node, Tensor], node: Node) -> Tensor:
        """Return the values of a node of the last call; KeyError for one that has none."""
        late = self.late.get(node)
        if late is not None and node not in values:
            with torch.no_grad():
                values[node] = late.call(*[values[source] for source in late.sources])
        return values[node]


def merged_terms(facts: Analysis, node: Node) -> tuple[Node, ...]:
    """Return the full bundles that are multiplied and added together with the biases ``node``.

    Empty where it adds to another value, or another node may read the value between.
    """
    if node.op != "bias":
        return ()
    source = node.inputs[0]
    between: Sequence[Node] = (source,)
    if source.op == "add":
        if not _inside(facts, source, node):
            return ()
        between = source.inputs
    user = source if source.op == "add" else node
    for term in between:
        if not multiplies(facts, term) or not _inside(facts, term, user):
            return ()
    return tuple(between)


def multiplies(facts: Analysis, node: Node) -> bool:
    """Return whether a bundle is computed as a product with a matrix."""
    if node.op == "filtered":
        parameter = node.parameters[0]
        users = [each for each in facts.graph.nodes if parameter in each.parameters]
        return parts_of(parameter, users)[0].cells is not None
    return node.op == "full"


def _inside(facts: Analysis, node: Node, user: Node) -> bool:
    """Return whether only ``user`` reads a node, by name either."""
    return not node.name and facts.ends(node, user) and node is not facts.output


def bytes_of(facts: Analysis, rows: int, width: int) -> Mapping[Node, int]:
    """Return about how many bytes the values of each node take, with the gradients it needs."""
    copies = {node: 2 if node in facts.learning else 1 for node in facts.nodes}
    return {node: node.size * rows * width * copies[node] for node in facts.nodes}
