"""Means and deviations computed from data: before the first epoch, or of a whole model.

They are CNTK's recurrence in its type of numbers (ComputationNetworkLib/PreComputeNodes.h), not
exact sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from netsharp_engine.cntk.computing import Computing
from netsharp_engine.cntk.descent.schedules import Noise
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.samples.minibatches import Minibatch
from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import STATISTICS
from netsharp_engine.program import Batch, UpdateRule

#: CNTK's bound below a variance, so that a constant feature is not divided by 0
#: (ComputationNetworkLib/PreComputeNodes.h, InvStdDevNode).
_LEAST_VARIANCE = 1e-10
#: The rule of a pass that is one of training and trains nothing.
STILL = UpdateRule("sgd", 0.0)


class Moments:
    """Mean and variance of the samples so far."""

    def __init__(self, size: int, dtype: str) -> None:
        self._type: Any = np.dtype(dtype).type
        self.mean = np.zeros(size, dtype)
        self._variance = np.zeros(size, dtype)
        self._samples = 0

    def add(self, values: Array) -> None:
        """Take samples [n, size]."""
        kind, count = self._type, len(values)
        alpha = kind(1) / kind(self._samples + count)
        beta = kind(self._samples) / kind(self._samples + count)
        mean = beta * self.mean + alpha * _summed(values)
        drift, spread = self.mean - mean, values - mean
        self._variance = beta * (self._variance + drift * drift) + alpha * _summed(spread * spread)
        self.mean = mean
        self._samples += count

    @property
    def inverse_deviation(self) -> Array:
        """Return 1 / the square root of the variance, which is bounded away from 0, [size]."""
        kind = self._type
        least = np.maximum(self._variance, kind(_LEAST_VARIANCE))
        return np.asarray(kind(1) / np.sqrt(least))


def measured(graph: Graph) -> list[Node]:
    """Return the nodes whose samples the statistics of a graph are of."""
    return list(dict.fromkeys(one.inputs[0] for one in graph.nodes if one.op in STATISTICS))


def precomputed(
    graph: Graph,
    batches: Iterable[Minibatch],
    values: Mapping[str, Array],
    rows: int,
    by: Computing,
) -> dict[str, Array]:
    """Return the values of a graph's statistics, by the names of their parameters, from minibatches
    of at most ``rows`` rows. Arrays have the shapes of their parameters, in the type of ``by``.
    GraphError, one sentence, where a node cannot be computed.

    The nodes below a statistic are computed by a back end, its recurrence on the host.
    Source: CNTK, ComputationNetworkLib/PreComputeNodes.h, MeanNode and InvStdDevNode.
    """
    nodes, dtype = [node for node in graph.nodes if node.op in STATISTICS], by.dtype
    program = by.draft(graph, rows).program()
    unknown = {one.name: np.zeros(one.shape, dtype) for one in graph.parameters}
    program.load(unknown | {name: values[name] for name in unknown if name in values})
    moments = {source: Moments(source.size, dtype) for source in measured(graph)}
    for batch in batches:
        program.feed(Batch(batch.inputs))
        program.forward()
        for source, found in moments.items():
            found.add(program.read(source))
    return {
        node.parameters[0].name: (
            moments[node.inputs[0]].mean
            if node.op == "Mean"
            else moments[node.inputs[0]].inverse_deviation
        )
        for node in nodes
    }


def renormalized(
    graph: Graph,
    batches: Iterable[Minibatch],
    values: Mapping[str, Array],
    rows: int,
    by: Computing,
) -> dict[str, Array]:
    """Return all values of a graph after a forward pass over some minibatches, of at most ``rows``
    rows, as in training: statistics of batch normalisation follow their nodes' time constants, and
    nothing is trained. Arrays have the shapes of their parameters, in the type of ``by``.
    GraphError, one sentence, where a node cannot be computed.
    """
    program = by.draft(graph, rows, STILL).program()
    program.load(values)
    program.begin(Noise().phase(0, by.dtype))
    for batch in batches:
        program.feed(Batch(batch.inputs))
        program.forward()
    return program.store()


def _summed(values: Array) -> Array:
    return np.asarray(np.add.reduce(values, axis=0, dtype=np.float64), values.dtype)
