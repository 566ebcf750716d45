"""The jobs of commands: all are checked completely before the first one begins, then run."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_lsp.cntk.run.models import trains
from netsharp_lsp.cntk.training.actions.editing import edit
from netsharp_lsp.cntk.training.actions.evaluate import cross_validate, test, write
from netsharp_lsp.cntk.training.actions.inspecting import dump_nodes, plot
from netsharp_lsp.cntk.training.actions.listing import create_label_map, write_words
from netsharp_lsp.cntk.training.actions.normalizing import renormalize
from netsharp_lsp.cntk.training.actions.splitting import split
from netsharp_lsp.cntk.training.actions.train import train
from netsharp_lsp.cntk.training.needs import needed_of, written_by
from netsharp_lsp.cntk.training.options import refused
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.training.reporting import RunReporter
    from netsharp_lsp.cntk.training.work import CommandWork, Workshop


class Undertaking(Protocol):
    """One action of one command, ready to be done."""

    @property
    def work(self) -> CommandWork:
        """The parameters of its command, with the name of the action."""

    def run(self, reporter: RunReporter) -> str:
        """Run it, and return how it ended."""


#: What is done, by the names of actions.
ACTIONS: Mapping[str, Callable[[Command, str, Workshop], Undertaking]] = {
    "train": train,
    "trainRNN": train,
    "test": test,
    "eval": test,
    "cv": cross_validate,
    "write": write,
    "dumpNodes": dump_nodes,
    "dumpNode": dump_nodes,
    "dumpnode": dump_nodes,
    "plot": plot,
    "edit": edit,
    "bnstat": renormalize,
    "SVD": split,
    "writeWordAndClass": write_words,
    "createLabelMap": create_label_map,
}


class Renewed(NamedTuple):
    """An action on a model that an earlier command writes: checked with what is known of that
    model, and prepared from its file once that command has finished.
    """

    work: CommandWork
    make: Callable[[], Undertaking]

    def run(self, reporter: RunReporter) -> str:
        """Run it, and return how it ended."""
        return self.make().run(reporter)


class Prepared(NamedTuple):
    """The jobs of commands in order, and why others are omitted."""

    jobs: Sequence[tuple[Command, Undertaking]]
    refusals: Sequence[RunRefusal]


def prepared(shop: Workshop) -> Prepared:
    """Return the jobs of all listed commands, except those that cannot be run and those that need
    what these would write.
    """
    found: list[tuple[Command, Undertaking]] = []
    refusals: list[RunRefusal] = []
    #: What commands that are left out would write, with the names of these.
    lost: dict[str, str] = {}
    for command in shop.experiment.commands:
        if not command.listed:
            continue
        seeds = shop.seeds.copy()
        try:
            _demand_files(command, shop, lost)
            found += [(command, job) for job in list(_jobs(command, shop))]
        except Refused as refusal:
            refusals += refusal.refusals
            shop.seeds.replace(seeds)
            _leave_out(command, shop, lost)
    return Prepared(found, list(dict.fromkeys(refusals)))


def _demand_files(command: Command, shop: Workshop, lost: Mapping[str, str]) -> None:
    """Refuse a command that needs the files of omitted commands."""
    needed = needed_of(command, shop.experiment, lost) if lost else None
    if needed is None or command.found is None:
        return
    path, writer = needed
    reason = f"'{command.name}' needs '{path}', which '{writer}' would write."
    if os.path.exists(shop.path(path)):
        reason += f" command={command.name} alone uses the existing file."
    raise Refused(RunRefusal(reason, where_of(command.found.text)))


def _leave_out(command: Command, shop: Workshop, lost: dict[str, str]) -> None:
    """Note the names that are not written, and count the parameters that would have been drawn."""
    if command.scope is None:
        return
    for path in written_by(command, shop.experiment):
        lost.setdefault(path, command.name)
    built = shop.experiment.network_of(command.name) if trains(command) else None
    if built is not None and built.network is not None:
        shop.seeds.pass_over(built.network, built.language)


def _jobs(command: Command, shop: Workshop) -> Iterable[Undertaking]:
    root = shop.experiment.configuration.root
    if command.scope is None or command.found is None:
        reason = f"no block '{command.name}' exists."
        raise Refused(RunRefusal(reason, where_of(root.text)))
    visits = [one for one in shop.experiment.visits if one.command is command]
    refusals = list(refused(visits, root))
    if refusals:
        raise Refused(*refusals)
    for action in command.actions:
        make = ACTIONS.get(action)
        if make is None:
            able = ", ".join(ACTIONS)
            reason = f"the action '{action}' is not supported yet; {able} are."
            raise Refused(RunRefusal(reason, where_of(command.found.text)))
        later = partial(make, command, action, shop._replace(seeds=shop.seeds.copy()))
        ahead: list[str] = []
        job = make(command, action, shop._replace(ahead=ahead))
        yield Renewed(job.work, later) if ahead else job
