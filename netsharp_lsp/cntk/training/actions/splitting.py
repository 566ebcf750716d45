"""The action SVD: parameters of a model replaced by products of two smaller ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.cntk.stored.splitting import KeptShare, Split, split_nodes
from netsharp_lsp.cntk.training.networks.models import remade
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal
from netsharp_lsp.cntk.training.samples.word_lists import where_of_option
from netsharp_lsp.cntk.training.splits import kept_shares
from netsharp_lsp.cntk.training.work import (
    network_of,
    refuse_model_outside,
    refuse_outside,
    work_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.cntk.stored.values import StoredNode
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


class SplitModel(NamedTuple):
    """The action SVD."""

    work: CommandWork
    shares: Sequence[KeptShare]
    aligned: int
    target: str

    def run(self, reporter: RunReporter) -> str:
        """Split the matching parameters of the model as it is in its file now, and write the
        result.
        """
        reporter.begun()
        splits: list[Split] = []

        def change(nodes: list[StoredNode]) -> list[StoredNode]:
            found, parts = split_nodes(nodes, self.shares, self.aligned)
            splits.extend(parts)
            return found

        model = self.work.store.load(self.work.model_path)
        made = remade(model, change, self.target)
        for one in splits:
            share = 100 * (one.rows + one.columns) * one.rank / (one.rows * one.columns)
            reporter.line(
                f"Performing SVD for a {one.rows:5d}-by-{one.columns:<5d} matrix (node name: "
                f"{one.name:<20}) ===> keep {one.rank:5d} svd values (reduce to {share:4.1f}% "
                "parameters) "
            )
        if not splits:
            reporter.notice("no matching parameter has several rows and columns.")
        self.work.store.save(self.work.shop.path(self.target), made)
        reporter.wrote(self.target)
        reporter.done()
        return FINISHED


def split(command: Command, action: str, shop: Workshop) -> SplitModel:
    """Prepare the action SVD of a command."""
    work = work_of(command, action, shop)
    refuse_model_outside(work)
    network_of(work)
    options = work.options
    target = options.required_path("outputmodelPath", work.name)
    refuse_outside(work, shop.path(target))
    aligned = options.whole("AlignedSize", 8)
    if aligned < 1:
        reason = "'AlignedSize' has to be 1 or more."
        raise Refused(RunRefusal(reason, where_of_option(options, "AlignedSize")))
    return SplitModel(work, kept_shares(options, shop.experiment.files), aligned, target)
