"""The action edit: models made of others, by BrainScript or a script of the editing language."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_lsp.cntk.mel.arguments import function_of
from netsharp_lsp.cntk.training.actions.taken import Made, TakenNumbers, made_of
from netsharp_lsp.cntk.training.networks.models import LearntNetwork
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.work import network_of, refuse_outside, work_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.mel.reading import Statement
    from netsharp_lsp.cntk.training.telling import Telling
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop

#: Functions of scripts that do something beside the network, or to its numbers.
_NOT_DONE = frozenset(("ReviseParameter", "DumpModel", "DumpNode"))


class EditModels(NamedTuple):
    """The action edit: models by their paths."""

    work: CommandWork
    made: Mapping[str, Made]
    keeps: bool

    def run(self, telling: Telling) -> str:
        """Write the models."""
        telling.begun()
        if self.keeps and os.path.exists(self.work.model_path):
            name = self.work.model_name
            telling.line(
                f"'{name}' exists, skipping. Specify makeMode=false to force executing the action."
            )
            telling.notice(f"'{name}' is there, so nothing is done; makeMode=false makes it anew.")
            telling.done()
            return FINISHED
        numbers = TakenNumbers(self.work)
        models = [
            (path, LearntNetwork(one.network, numbers.of(one), self.work.dtype))
            for path, one in self.made.items()
        ]
        for path, model in models:
            self.work.store.save(self.work.shop.path(path), model)
            count = len(model.network.nodes)
            telling.line(f"Model with {count} nodes saved as '{path}'.")
            telling.wrote(path)
        telling.done()
        return FINISHED


def edit(command: Command, action: str, shop: Workshop) -> EditModels:
    """The action edit of a command."""
    builder = command.builder
    if builder is not None and builder.entry.key.lower() == b"brainscriptnetworkbuilder":
        return _of_text(command, action, shop)
    return _of_script(command, action, shop)


def _of_text(command: Command, action: str, shop: Workshop) -> EditModels:
    """What a text of BrainScript makes."""
    work = work_of(command, action, shop, "outputModelPath")
    made = {work.model_name: made_of(work, network_of(work), "brainscript")}
    return EditModels(work, made, work.options.truth("makeMode", True))


def _of_script(command: Command, action: str, shop: Workshop) -> EditModels:
    """What a script of the editing language writes."""
    work = work_of(command, action, shop, "")
    place = shop.experiment.commands.index(command)
    edits = [one for one in shop.experiment.edits_before(place + 1) if one.command == command.name]
    if not edits:
        path = work.options.required_path("editPath", command.name)
        raise work.refused(f"'{path}' cannot be read.")
    script = edits[-1]
    refusals = list(_not_done(script.text.mel.statements))
    if refusals:
        raise Refused(*refusals)
    if not script.written:
        raise work.refused("the script writes no model.")
    made: dict[str, Made] = {}
    for path, built in script.written.items():
        network = None if built is None else built.network
        if network is None:
            why = next((one.message for one in script.faults if one.kind == "missing-file"), "")
            raise work.refused(
                f"the network that the script writes to '{path}' cannot be known. "
                f"{why or 'It loads or does what is not followed here.'}"
            )
        made[path] = made_of(work, network, "ndl")
        refuse_outside(work, shop.path(path))
    return EditModels(work, made, keeps=False)


def _not_done(statements: list[Statement]) -> Iterator[RunRefusal]:
    for one in statements:
        found = function_of(one) if one.kind == "call" else None
        if found is not None and found.name in _NOT_DONE:
            reason = f"'{found.name}' of a script is not done yet. Leave it out."
            yield RunRefusal(reason, where_of(one.text))
