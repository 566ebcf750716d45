"""The action edit: models derived from others, by BrainScript or a script of the editing
language.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.descent.reports import FINISHED
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.training.actions.inspecting import (
    dumped,
    in_order_of_names,
    write_shown,
)
from netsharp_lsp.cntk.training.actions.taken import Made, TakenNumbers, made_of
from netsharp_lsp.cntk.training.networks.models import LearntNetwork
from netsharp_lsp.cntk.training.networks.written import written_start
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.work import network_of, refuse_outside, work_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from netsharp_engine.cntk.starts import Start
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.mel.surroundings import Dumped, Revised
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


class ShownNodes(NamedTuple):
    """Nodes of a network that are written as text, with or without their numbers."""

    path: str
    made: Made
    nodes: Sequence[Node]
    has_numbers: bool


class EditModels(NamedTuple):
    """The action edit: models by path, and nodes that are written as texts."""

    work: CommandWork
    made: Mapping[str, Made]
    keeps: bool
    shown: Sequence[ShownNodes] = ()

    def run(self, reporter: RunReporter) -> str:
        """Write the models."""
        reporter.begun()
        if self.keeps and os.path.exists(self.work.model_path):
            name = self.work.model_name
            reporter.line(
                f"'{name}' exists, skipping. Specify makeMode=false to force executing the action."
            )
            reporter.notice(f"'{name}' exists, so nothing is done; makeMode=false replaces it.")
            reporter.done()
            return FINISHED
        numbers = TakenNumbers(self.work)
        models = [
            (path, LearntNetwork(one.network, numbers.of(one), self.work.dtype))
            for path, one in self.made.items()
        ]
        shown = [(one, self._learnt(one, numbers)) for one in self.shown]
        for path, model in models:
            self.work.store.save(self.work.shop.path(path), model)
            count = len(model.network.nodes)
            reporter.line(f"Model with {count} nodes saved as '{path}'.")
            reporter.wrote(path)
        for one, model in shown:
            texts = (
                text for node in one.nodes for text in dumped(node, model, one.has_numbers, True)
            )
            write_shown(self.work, reporter, one.path, texts)
        reporter.done()
        return FINISHED

    def _learnt(self, one: ShownNodes, numbers: TakenNumbers) -> LearntNetwork:
        """Return the network of nodes, with numbers where they are shown."""
        values = numbers.of(one.made) if one.has_numbers else {}
        return LearntNetwork(one.made.network, values, self.work.dtype)


def edit(command: Command, action: str, shop: Workshop) -> EditModels:
    """Prepare the action edit of a command."""
    builder = command.builder
    if builder is not None and builder.entry.key.lower() == b"brainscriptnetworkbuilder":
        return _of_text(command, action, shop)
    return _of_script(command, action, shop)


def _of_text(command: Command, action: str, shop: Workshop) -> EditModels:
    """Prepare an edit that is written in BrainScript."""
    work = work_of(command, action, shop, "outputModelPath")
    made = {work.model_name: made_of(work, network_of(work), "brainscript")}
    return EditModels(work, made, work.options.truth("makeMode", True))


def _of_script(command: Command, action: str, shop: Workshop) -> EditModels:
    """Prepare an edit that is a script of the editing language."""
    work = work_of(command, action, shop, "")
    place = shop.experiment.commands.index(command)
    edits = [one for one in shop.experiment.edits_before(place + 1) if one.command == command.name]
    if not edits:
        path = work.options.required_path("editPath", command.name)
        raise work.refused(
            f"editPath: there is no file '{path}'. Paths are relative to the folder in which CNTK "
            "is started, which --cd names."
        )
    script = edits[-1]
    if not script.written and not script.dumped:
        raise work.refused("the script writes no model.")
    drawn = _revised(script.revised, work)
    missing = next((one.message for one in script.faults if one.kind == "missing-file"), "")
    made: dict[str, Made] = {}
    for path, built in script.written.items():
        network = None if built is None else built.network
        if network is None:
            raise work.refused(_unknown("the network that", path, missing))
        made[path] = made_of(work, network, "ndl", drawn=drawn)
        _refuse_target(work, path)
    shown = [_shown(work, one, drawn, missing) for one in script.dumped]
    twice = next((one.path for one in shown if one.path in made), None)
    if twice is not None:
        raise work.refused(
            f"the script writes both a model and a text to '{twice}'. Name another file for one."
        )
    return EditModels(work, made, keeps=False, shown=shown)


def _shown(work: CommandWork, dump: Dumped, drawn: dict[object, Start], missing: str) -> ShownNodes:
    """Return the nodes that a script writes as text. Raises Refused, at its place, if they are not
    known.
    """
    path = normal(dump.path)
    _refuse_target(work, path)
    network, names = dump.network, dump.names
    if network is None or names is None:
        reason = _unknown("what", path, dump.why or missing)
        raise Refused(RunRefusal(reason, where_of(dump.text)))
    wanted = set(names)
    nodes = [node for node in in_order_of_names(network) if node.name in wanted]
    made = made_of(work, network, "ndl", drawn=drawn)
    return ShownNodes(path, made, nodes, dump.has_numbers)


def _unknown(what: str, path: str, why: str) -> str:
    return (
        f"{what} the script writes to '{path}' cannot be known. "
        f"{why or 'The script uses models or commands that cannot be followed here.'}"
    )


def _refuse_target(work: CommandWork, path: str) -> None:
    """Refuse a path that may not be written to or is not a file."""
    if path.startswith("|") or path.endswith("|") or path == "-":
        raise work.refused(
            f"the script writes to '{path}', a program or a stream in the place of a file. Name a "
            "file."
        )
    refuse_outside(work, work.shop.path(path))


def _revised(several: Iterable[Revised], work: CommandWork) -> dict[object, Start]:
    """Return the starts of parameters that take numbers from files, by their draws.

    Refused, at the place of the script, if the numbers cannot be used.
    """
    found: dict[object, Start] = {}
    for one in several:
        if one.why:
            raise Refused(RunRefusal(one.why, where_of(one.text)))
        for node in one.parameters:
            try:
                start = written_start(node, work.shop.experiment.files)
            except DataError as error:
                raise Refused(RunRefusal(str(error), where_of(one.text))) from None
            assert start is not None
            found[node.draw] = start
    return found
