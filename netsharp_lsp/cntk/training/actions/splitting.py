"""The action SVD: parameters of a model as products of two smaller ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.cntk.stored.splitting import KeptShare, Split, split_nodes
from netsharp_lsp.cntk.training.actions.inspecting import REPEATED_GROUP
from netsharp_lsp.cntk.training.networks.models import remade
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal
from netsharp_lsp.cntk.training.samples.word_lists import required_lines, where_of_option
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
    from netsharp_lsp.cntk.training.telling import Telling
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


class SplitModel(NamedTuple):
    """The action SVD."""

    work: CommandWork
    shares: Sequence[KeptShare]
    aligned: int
    target: str

    def run(self, telling: Telling) -> str:
        """Split what matches in the model that is there now, and write what comes of it."""
        telling.begun()
        told: list[Split] = []

        def change(nodes: list[StoredNode]) -> list[StoredNode]:
            found, parts = split_nodes(nodes, self.shares, self.aligned)
            told.extend(parts)
            return found

        model = self.work.store.load(self.work.model_path)
        made = remade(model, change, self.target)
        for one in told:
            share = 100 * (one.rows + one.columns) * one.rank / (one.rows * one.columns)
            telling.line(
                f"Performing SVD for a {one.rows:5d}-by-{one.columns:<5d} matrix (node name: "
                f"{one.name:<20}) ===> keep {one.rank:5d} svd values (reduce to {share:4.1f}% "
                "parameters) "
            )
        if not told:
            telling.notice("no parameter matches that has several rows and columns.")
        self.work.store.save(self.work.shop.path(self.target), made)
        telling.wrote(self.target)
        telling.done()
        return FINISHED


def split(command: Command, action: str, shop: Workshop) -> SplitModel:
    """The action SVD of a command."""
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
    return SplitModel(work, _shares(work), aligned, target)


def _shares(work: CommandWork) -> list[KeptShare]:
    options = work.options
    single = options.text("NodeNameRegex")
    if single:
        return [_share(work, single, options.real("KeepRatio", 0.4), "NodeNameRegex")]
    if not options.path("SVDConfig"):
        raise work.refused("neither 'NodeNameRegex' nor 'SVDConfig' says which parameters.")
    found: dict[str, KeptShare] = {}
    for number, line in enumerate(
        required_lines(options, "SVDConfig", work.shop.experiment.files), 1
    ):
        cells = line.decode("utf-8", "replace").split()
        if not cells:
            continue
        try:
            pattern, kept = cells
            found[pattern] = _share(work, pattern, float(kept), "SVDConfig")
        except ValueError:
            reason = (
                f"'{options.path('SVDConfig')}', line {number:,}: expected are a pattern of names "
                "and a share."
            )
            raise Refused(RunRefusal(reason, where_of_option(options, "SVDConfig"))) from None
    return [found[pattern] for pattern in sorted(found)]


def _share(work: CommandWork, pattern: str, kept: float, key: str) -> KeptShare:
    where = where_of_option(work.options, key)
    if not 0 <= kept <= 1:
        raise Refused(RunRefusal(f"the share {kept:g} is not from 0 to 1.", where))
    if REPEATED_GROUP.search(pattern):
        reason = f"'{key}' repeats a group ({pattern}), which is not done. Write it without."
        raise Refused(RunRefusal(reason, where))
    try:
        return KeptShare(re.compile(pattern), kept)
    except re.error as error:
        raise Refused(RunRefusal(f"'{pattern}' is no pattern: {error}.", where)) from None
