"""Evaluation of a model file's network on samples: values of its nodes, and its criteria.

It knows graphs by the names of nodes, and not where samples or networks come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.computing import Computing
from netsharp_engine.cntk.descent.reports import CriterionMeans
from netsharp_engine.cntk.evaluation import Passes, evaluated, load, programmed
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.given import InputStream, Wants
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.errors import DataError
from netsharp_engine.graph import Graph, Node
from netsharp_engine.model_file import ModelError
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.packing import Indices
from netsharp_engine.phases import PhasedProgram
from netsharp_engine.program import Batch, Job

#: Numbers of the largest node that a minibatch may have: memory stays within some of them.
_HELD = 1 << 21
_MOST = 4096


class NodeGraph(NamedTuple):
    """The graph of some nodes, the declaration of each of their inputs, and whether it runs over
    time.
    """

    graph: Graph
    inputs: Sequence[InputStream]
    over_time: bool

    def given(self, dtype: str, aliases: Mapping[str, str]) -> Wants:
        """Return the inputs that are read for it, under the names that files have for them."""
        named = [one._replace(alias=aliases.get(one.name, "")) for one in self.inputs]
        return Wants(named, dtype, self.over_time)


class ModelNetwork(NamedTuple):
    """The network of a model file.

    ``inputs`` and ``outputs`` are row-major shapes by name; ``answer`` is the node that answers
    where none is named; ``criteria`` are types of its criteria, in the order of a test, and
    ``test_line`` the line of a test after that number of minibatches; ``streams`` are all of its
    inputs, ``aliases`` other names of nodes. Sums over samples are divided by those of the input
    ``counted``, where one is named. ``graph`` makes the graph of some nodes, with or without
    criteria; ModelError for other nodes. ``remade`` is a function with its arguments that makes the
    model again, for copies of it. ``exported`` names the nodes that an export has as
    outputs, in its order.
    """

    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]
    answer: str
    criteria: Mapping[str, str]
    graph: Callable[[Sequence[str], bool], NodeGraph]
    values: Mapping[str, Array]
    dtype: str
    test_line: Callable[[int, CriterionMeans], str]
    streams: Sequence[str]
    aliases: Mapping[str, str] = {}
    counted: str = ""
    remade: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    exported: Sequence[str] = ()


class KeptPrograms:
    """The programs of the graphs used last, kept for the next request, limited in number and in
    bytes of each.

    A program is removed while it computes, so that no two threads share it.
    """

    most, most_bytes = 4, 1 << 27

    def __init__(self) -> None:
        self._kept: dict[Graph, tuple[int, PhasedProgram]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(
        self, graph: Graph, values: Mapping[str, Array], rows: int, by: Computing
    ) -> tuple[int, PhasedProgram]:
        """Return a program with these values, as if it were made for them, and the rows that it has
        room for: those that are asked for, or more. Raises GraphError, one sentence, where a node
        cannot be computed or memory is too small. ``values`` has the array of each parameter, in
        its shape.
        """
        found = self._kept.pop(graph, None)
        if found is None or found[0] < rows:
            return rows, programmed(graph, values, rows, by)
        load(found[1], values, by)
        return found

    def keep(self, graph: Graph, program: PhasedProgram, rows: int, dtype: str) -> None:
        """Keep a program after its use, in the place of the least recently used one."""
        numbers = sum(one.size * (1 if one.op in HELD else rows) for one in graph.nodes)
        numbers += sum(one.size for one in graph.parameters)
        if numbers * np.dtype(dtype).itemsize > self.most_bytes:
            return
        self._kept[graph] = rows, program
        while len(self._kept) > self.most:
            self._kept.pop(next(iter(self._kept)), None)


class Answered(NamedTuple):
    """Values [samples, nodes] of nodes, sequence after sequence, by name; ``lengths`` are the
    samples of each sequence, ``sequences`` their numbers.
    """

    values: Mapping[str, Array]
    lengths: Mapping[str, Indices]
    sequences: Indices

    def side_by_side(self) -> tuple[dict[str, Array], Indices]:
        """Return the values, with the same number of rows for all nodes, and the lengths: a value
        that a sequence has once is repeated at each of its steps. DataError where two nodes have
        different lengths.
        """
        longest = np.max([self.lengths[name] for name in self.values], axis=0)
        found = {}
        for name, values in self.values.items():
            lengths = self.lengths[name]
            again = np.where(lengths == longest, 1, longest)
            if not ((lengths == longest) | (lengths == 1)).all():
                raise DataError(
                    f"'{name}' has another number of steps than the outputs beside it. Ask for it "
                    "alone."
                )
            found[name] = np.repeat(values, np.repeat(again, lengths), axis=0)
        return found, longest


def answered(
    network: ModelNetwork,
    graph: NodeGraph,
    names: Sequence[str],
    sequences: Sequences,
    programs: KeptPrograms,
    by: Computing,
) -> Iterator[Answered]:
    """Yield the values of named nodes for all samples, some sequences at a time and in their
    order. ModelError, one sentence, where ``by`` cannot compute them.
    """
    source = Sweeps(sequences, randomize=False)
    size = _minibatch(graph.graph)
    values, rows = _shaped(network.values, graph.graph), source.widest(size)
    places = {node.name: node for node in graph.graph.nodes}
    asked = [places[network.aliases.get(name, name)] for name in names]
    _require(by, Job(graph.graph, rows, network.dtype), asked)
    room, program = programs.take(graph.graph, values, rows, by)
    for batch in source.epoch(0, 0, size):
        program.feed(Batch(batch.inputs))
        program.forward()
        found: dict[str, Array] = {}
        lengths: dict[str, Indices] = {}
        for name, node in zip(names, asked, strict=True):
            read, known = program.read(node), program.lengths(node)
            count = len(batch.sequences)
            if known is None:
                read, known = np.broadcast_to(read, (count, node.size)), np.ones(count, np.intp)
            found[name], lengths[name] = np.array(read), known
        yield Answered(found, lengths, batch.sequences)
    programs.keep(graph.graph, program, room, network.dtype)


def evaluated_criteria(
    network: ModelNetwork, graph: NodeGraph, sequences: Sequences, by: Computing
) -> tuple[CriterionMeans, int]:
    """Return the means of a graph's criteria over all samples, and the number of minibatches.
    ModelError, one sentence, where ``by`` cannot compute them.
    """
    _require(by, Job(graph.graph, _minibatch(graph.graph), network.dtype))
    return evaluated(
        graph.graph,
        _shaped(network.values, graph.graph),
        Sweeps(sequences, randomize=False),
        Passes(_minibatch(graph.graph), every=0),
        by,
        lambda start, end, means: None,
        network.counted,
    )


def _require(by: Computing, job: Job, reads: Sequence[Node] = ()) -> None:
    """Raise ModelError, one sentence, where a requested device cannot compute a job, or would not
    have the values of the nodes ``reads`` after it.
    """
    refusal = by.refusal(job, reads) if by.facts else None
    if refusal is not None:
        raise ModelError(f"device {by.facts['name']}: {refusal} Or choose cpu for it.")


def _minibatch(graph: Graph) -> int:
    # What parameters hold is there once, however many samples there are.
    largest = max((node.size for node in graph.nodes if node.op not in HELD), default=1)
    return max(1, min(_MOST, _HELD // max(largest, 1)))


def _shaped(values: Mapping[str, Array], graph: Graph) -> dict[str, Array]:
    return {
        one.name: np.ascontiguousarray(values[one.name]).reshape(one.shape)
        for one in graph.parameters
    }
