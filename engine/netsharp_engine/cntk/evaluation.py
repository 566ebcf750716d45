"""Evaluation of a network on data without training: its criteria, and the values of nodes. It must
not know where either comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.computing import Computing
from netsharp_engine.cntk.descent.reports import CriterionMeans, criterion_means
from netsharp_engine.cntk.descent.schedules import Noise
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps
from netsharp_engine.graph import Graph, Node
from netsharp_engine.phases import PhasedProgram, gathered
from netsharp_engine.program import Batch, Figures
from netsharp_engine.room import require_room

_ADVICE = "Set a smaller minibatchSize."


class Passes(NamedTuple):
    """The passes over data: samples of a minibatch and in all (0: each once)."""

    minibatch: int
    samples: int = 0
    every: int = 100
    first: int = 0


#: The numbers of each sample of a sequence.
Samples = list[list[float]]
#: Called with the means over minibatches ``start`` to ``end``.
Report = Callable[[int, int, CriterionMeans], object]


class Evaluation:
    """A graph that is evaluated on data, once or with new parameters after each epoch: its program
    is kept.
    """

    def __init__(self, graph: Graph, source: Sweeps, by: Computing) -> None:
        self._graph, self._source, self._by = graph, source, by
        self._program: PhasedProgram | None = None
        self._rows = 0

    def figures(
        self, values: Mapping[str, Array], passes: Passes, report: Report, counted: str = ""
    ) -> tuple[CriterionMeans, int]:
        """Return the means of the criteria over data, and the number of minibatches.

        Sums within a minibatch are in the type of the numbers, the sum of minibatches in float64
        (SGDLib/SimpleEvaluator.h, Evaluate). They are divided by the samples that a program counts,
        or by those of the input ``counted``. ``report`` receives the figures on the way.
        GraphError, one sentence, where a node cannot be computed; TrainingError where memory is too
        small.
        """
        graph, program = self._graph, self._loaded(values, passes.minibatch)
        whole, part = _Sums(graph), _Sums(graph)
        place = next((node for node in graph.inputs if node.name == counted), None)
        end = start = 0
        batches = self._source.epoch(0, passes.samples, passes.minibatch)
        for end, batch in enumerate(batches, 1):
            program.count(Figures())
            program.feed(Batch(batch.inputs))
            program.step()
            figures = program.figures()
            known = program.lengths(place) if place is not None else None
            if known is not None:
                figures = figures._replace(rows=int(known.sum()))
            for sums in (whole, part):
                sums.add(figures)
            if end <= passes.first or (passes.every and end % passes.every == 0):
                report(start + 1, end, part.means())
                start, part = end, _Sums(graph)
        return whole.means(), end

    def _loaded(self, values: Mapping[str, Array], minibatch: int) -> PhasedProgram:
        """Return a program with these values, as if it were made for them."""
        rows, program = self._source.widest(minibatch), self._program
        if program is None or rows > self._rows:
            self._program = None
            program = programmed(self._graph, values, rows, self._by)
            self._program, self._rows = program, rows
        else:
            load(program, values, self._by)
        return program


def evaluated(
    graph: Graph,
    values: Mapping[str, Array],
    source: Sweeps,
    passes: Passes,
    by: Computing,
    report: Report,
    counted: str = "",
) -> tuple[CriterionMeans, int]:
    """Return the means of a graph's criteria over data, and the number of minibatches, as
    ``Evaluation.figures`` does, with its errors. ``values`` has the array of each parameter, in its
    shape.
    """
    return Evaluation(graph, source, by).figures(values, passes, report, counted)


def computed(
    graph: Graph,
    names: Sequence[str],
    values: Mapping[str, Array],
    source: Sweeps,
    passes: Passes,
    by: Computing,
) -> Iterator[tuple[Minibatch, dict[str, list[Samples]]]]:
    """Yield the values of named nodes, minibatch by minibatch: for each sequence, [steps, size].
    GraphError, one sentence, where a node cannot be computed; TrainingError where memory is too
    small.
    """
    program = programmed(graph, values, source.widest(passes.minibatch), by)
    nodes = [node for node in graph.nodes if node.name in names]
    for batch in source.epoch(0, passes.samples, passes.minibatch):
        program.feed(Batch(batch.inputs))
        program.forward()
        yield batch, {node.name: _sequences(program, node, batch) for node in nodes}


def _sequences(program: PhasedProgram, node: Node, batch: Minibatch) -> list[Samples]:
    """Return the values of a node by sequence; a value that all samples share is repeated for
    each.
    """
    found, lengths = program.read(node), program.lengths(node)
    if lengths is None:
        whole = np.broadcast_to(found, (batch.samples, node.size))
        return [[one] for one in whole.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [
        found[end - length : end].tolist()
        for end, length in zip(ends, lengths.tolist(), strict=True)
    ]


def programmed(
    graph: Graph, values: Mapping[str, Array], rows: int, by: Computing
) -> PhasedProgram:
    """Return a program with these values, for at most ``rows`` rows. GraphError, one sentence,
    where a node cannot be computed; TrainingError where memory is too small. ``values`` has the
    array of each parameter, in its shape.
    """
    draft = by.draft(graph, rows)
    require_room("The network", [draft.needs()], _ADVICE)
    program = draft.program()
    load(program, values, by)
    return program


def load(program: PhasedProgram, values: Mapping[str, Array], by: Computing) -> None:
    """Load the parameters of a program, which begins as if it were new."""
    program.load(values)
    # Nodes that draw, draw as in the first epoch: CNTK numbers its nodes, which no file keeps.
    program.begin(Noise().phase(0, by.dtype))


class _Sums:
    """Sums of criteria over minibatches."""

    def __init__(self, graph: Graph) -> None:
        self._names = [node.name for node in graph.criteria]
        self._gathered = frozenset(node.name for node in gathered(graph))
        self._sums = [0.0] * len(self._names)
        self._rows = 0

    def add(self, figures: Figures) -> None:
        """Take a minibatch."""
        self._sums = [
            new if name in self._gathered else known + new
            for name, known, new in zip(self._names, self._sums, figures.sums, strict=True)
        ]
        self._rows += figures.rows

    def means(self) -> CriterionMeans:
        """Return the means."""
        return criterion_means(self._names, self._sums, self._rows, self._gathered)
