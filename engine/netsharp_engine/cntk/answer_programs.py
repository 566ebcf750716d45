"""The program of a model's answer node for rows: that of any back end, with the loss of the answers
counted on the host. It must not know where rows come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsharp_engine.graph import Graph
from netsharp_engine.program import Batch, Figures, Memory

if TYPE_CHECKING:
    import numpy.typing as npt

    from netsharp_engine.cntk.computing import Computing
    from netsharp_engine.nodes import Node
    from netsharp_engine.program import (
        Backend,
        Draft,
        Job,
        Program,
        Tensors,
        Unsupported,
        UpdateRule,
    )


def answer_backend(by: Computing) -> Backend:
    """Return the back end of graphs whose one criterion is counted outside of what ``by``
    computes.
    """

    def drafted(job: Job) -> Draft:
        return _AnswerDraft(job, by)

    return drafted


class _AnswerDraft:
    """The draft of a graph without its criterion and the input that this compares."""

    def __init__(self, job: Job, by: Computing) -> None:
        self._scored = job.graph
        plain = Graph()
        outside = {*job.graph.targets, *job.graph.criteria}
        plain.inputs, plain.output = list(job.graph.inputs), job.graph.output
        plain.nodes = [node for node in job.graph.nodes if node not in outside]
        plain.parameters = list(job.graph.parameters)
        self._draft = by.backend(job._replace(graph=plain))

    def unsupported(self) -> Sequence[Unsupported]:
        """Return the nodes that cannot be computed."""
        return self._draft.unsupported()

    def needs(self, *, shares: bool = False, threads: int = 1) -> Counter[str]:
        """Return the bytes on the host."""
        return self._draft.needs(shares=shares, threads=threads)

    def program(self, threads: int = 1, beside: Program | None = None) -> _AnswerProgram:
        """Make a program, with parameters of its own."""
        return _AnswerProgram(self._draft.program(threads), self._scored)


class _AnswerProgram:
    """Counts a loss of the output of a program."""

    def __init__(self, program: Program, scored: Graph) -> None:
        self._program = program
        self._target = scored.targets[0].name if scored.targets else ""
        self._output = scored.output
        self._is_entropy = any(node.op == "cross entropy" for node in scored.criteria)
        self._wanted: Any = None
        self._weights: Any = None
        self._counted = Figures((0.0,))

    def feed(self, batch: Batch) -> None:
        """Take the inputs of a model and its label, with which outputs are compared."""
        inputs = dict(batch.inputs)
        self._wanted, self._weights = inputs.pop(self._target, None), batch.weights
        self._program.feed(Batch(inputs))

    def forward(self) -> None:
        """Compute the output."""
        self._program.forward()

    def step(self) -> bool:
        """Compute the output and count its loss."""
        self.forward()
        assert self._output is not None
        found = self.read(self._output).astype(np.float64)
        rows = len(self._wanted)
        weights = np.ones(rows) if self._weights is None else self._weights
        if self._is_entropy:
            chances = found[np.arange(rows), self._wanted]
            losses = -np.log(np.maximum(chances, np.finfo(np.float32).tiny))
        else:
            losses = ((found - np.reshape(self._wanted, (rows, -1))) ** 2).sum(1)
        before = self._counted
        self._counted = Figures(
            (before.sums[0] + float(losses @ weights),),
            before.weight + float(np.sum(weights)),
            before.rows + rows,
            before.steps + 1,
        )
        return True

    def update(self, rule: UpdateRule) -> bool:
        """Change the parameters."""
        return self._program.update(rule)

    def count(self, figures: Figures) -> None:
        """Go on counting from these figures."""
        self._counted = figures._replace(sums=figures.sums or (0.0,))

    def figures(self) -> Figures:
        """Return the figures that were counted."""
        return self._counted

    def read(self, node: Node) -> npt.NDArray[np.floating[Any]]:
        """Return the values [rows, nodes] of a node."""
        return self._program.read(node)

    def load(self, values: Mapping[str, Any]) -> None:
        """Set all parameters; GraphError names a misfit."""
        self._program.load(values)

    def store(self) -> Tensors:
        """Return copies of all parameters by name."""
        return self._program.store()

    def load_memory(self, memory: Memory) -> None:
        """Take the memory of a rule."""
        self._program.load_memory(memory)

    def store_memory(self) -> Memory:
        """Return the memory of a rule."""
        return self._program.store_memory()
