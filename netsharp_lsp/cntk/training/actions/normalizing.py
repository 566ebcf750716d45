"""The action bnstat: statistics of batch normalisation computed again, node by node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED, INTERRUPTED
from netsharp_engine.cntk.statistics import STILL, renormalized
from netsharp_engine.data.errors import DataError
from netsharp_engine.program import Job
from netsharp_lsp.cntk.networks.freezing import normalizations
from netsharp_lsp.cntk.networks.inference import in_order
from netsharp_lsp.cntk.training.networks.lowering import lowered
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, remade
from netsharp_lsp.cntk.training.work import (
    network_of,
    nodes_named,
    refuse_model_outside,
    refuse_outside,
    samples_of,
    work_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.cntk.computing import Computing
    from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps
    from netsharp_engine.cntk.stored.values import StoredNode
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

_CONSTANTS = ("normalizationTimeConstant", "blendTimeConstant")
#: Time constants of a mean over all samples, and of statistics that stay as they are.
_MEAN, _STILL = (-1.0, 0.0), (math.inf, math.inf)


class Renormalize(NamedTuple):
    """The action bnstat, with the number of minibatches for each node."""

    work: CommandWork
    source: Sweeps
    target: str
    size: int
    minibatches: int
    by: Computing

    def run(self, reporter: RunReporter) -> str:
        """Compute the statistics of each node after those of the nodes before it, and write the
        model [CNTK: SGDLib/PostComputingActions.cpp].
        """
        reporter.begun()
        reporter.computed_by(self.by.facts)
        reporter.warned(self.source.sequences.warnings)
        work = self.work
        model = work.store.load(work.model_path)
        names = [node.name for node in _normalizing(work, model.network)]
        model = self._with(model, dict.fromkeys(names, _MEAN))
        zeros = {name: model.values[name] * 0 for name in names}
        model = LearntNetwork(model.network, {**model.values, **zeros}, model.dtype)
        samples = len(names) * self.size * self.minibatches
        batches = iter(self.source.epoch(0, samples, self.size))
        for name in names:
            reporter.line(f"Estimating Statistics --> {name}")
            if reporter.stops():
                reporter.notice(f"Stopped before '{name}'; nothing is written.")
                return INTERRUPTED
            graph = lowered(model.network, [model.network.nodes[name]])
            own, rows = self._next(batches, name), self.source.widest(self.size)
            found = renormalized(graph, own, model.values, rows, self.by)
            model = LearntNetwork(model.network, {**model.values, **found}, model.dtype)
            model = self._with(model, {name: _STILL})
        work.store.save(work.shop.path(self.target), model)
        reporter.wrote(self.target)
        reporter.done()
        return FINISHED

    def _next(self, batches: Iterator[Minibatch], name: str) -> Iterator[Minibatch]:
        """Yield the minibatches of a node."""
        number = 0
        for batch in islice(batches, self.minibatches):
            number += 1
            yield batch
        if number < self.minibatches:
            raise DataError(
                f"'{name}' needs {self.minibatches:,} minibatches, and the data end after "
                f"{number:,}. Set a smaller itersPerNode."
            )

    def _with(self, model: LearntNetwork, of: dict[str, tuple[float, float]]) -> LearntNetwork:
        """Return a model whose nodes have these time constants."""

        def changed(nodes: list[StoredNode]) -> list[StoredNode]:
            return [
                one._replace(
                    attributes={
                        **one.attributes,
                        **dict(zip(_CONSTANTS, of[one.name], strict=True)),
                    }
                )
                if one.name in of
                else one
                for one in nodes
            ]

        return remade(model, changed, self.work.model_path)


def renormalize(command: Command, action: str, shop: Workshop) -> Renormalize:
    """Prepare the action bnstat of a command."""
    work = work_of(command, action, shop)
    refuse_model_outside(work)
    options = work.options
    if command.builder is not None:
        raise work.refused("bnstat works on the model of modelPath. Remove the builder.")
    target = options.path("newModelPath") or f"{work.model_name}.PBN"
    refuse_outside(work, shop.path(target))
    sizes = options.wholes("minibatchSize") or [40960]
    minibatches = options.whole("itersPerNode", 30)
    if min(sizes) < 1 or minibatches < 1:
        raise work.refused("'minibatchSize' and 'itersPerNode' have to be 1 or more.")
    network = network_of(work)
    nodes = _normalizing(work, network)
    graph = lowered(network, nodes)
    reader = samples_of(work, shuffled=True)
    reader.fit(network.nodes[node.name] for node in graph.inputs)
    source = reader.source(work.dtype)
    by = work.shop.requested.forward(Job(graph, source.widest(sizes[0]), work.dtype, STILL))
    return Renormalize(work, source, target, sizes[0], minibatches, by)


def _normalizing(work: CommandWork, network: Network) -> Sequence[Node]:
    """Return the batch normalisations below the evaluated nodes, each after those that it depends
    on.
    """
    named = nodes_named(work, network, work.options.names("evalNodeNames"))
    wanted = set(normalizations(network, named))
    ordered = in_order(list(network.nodes.values()), lambda node: node.inputs)
    found = [one for one in ordered if one in wanted]
    if not found:
        raise work.refused(
            f"the network of '{work.name}' has no BatchNormalization whose statistics could be "
            "computed."
        )
    return found
