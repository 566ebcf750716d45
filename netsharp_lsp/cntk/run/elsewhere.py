"""The network of a model that a run reads: the one in its file, else that of the command which
writes it, also in another run. The caller names the other runs.
"""

from __future__ import annotations

import os

from netsharp_lsp.cntk.networks.faults import Outcome, Place
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.run.building import BuiltNetwork
from netsharp_lsp.cntk.run.edits import is_complete, normal
from netsharp_lsp.cntk.run.models import (
    SPLIT,
    built_for,
    edits_freely,
    may_be_rewritten,
    model_of,
    trained_before,
    writers_of,
)
from netsharp_lsp.generics import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.models import CommandRun

    Running = TypeVar("Running", bound=CommandRun)
    #: Other runs, each with its name.
    Others = Iterable[tuple[str, Running]]
else:
    Running = TypeVar("Running")


class TrainedNetwork(Generic[Running]):
    """The builder's result of a network, its run, and the name of the run for users."""

    __slots__ = ("built", "experiment", "name")

    def __init__(self, built: BuiltNetwork, experiment: Running, name: str) -> None:
        self.built = built
        self.experiment = experiment
        self.name = name


def network_for(
    command: Command, experiment: Running, name: str, others: Others[Running]
) -> TrainedNetwork[Running] | str:
    """Find the result that built the network of a command; a sentence where it is unknown."""
    here = built_for(command, experiment)
    if not isinstance(here, str):
        return TrainedNetwork(here, experiment, name)
    path = model_of(command)
    if path is None or writers_of(path, experiment):
        return here
    found = _trained_by(path, experiment, others)
    stored = network_there(path, command, experiment) if found is None else None
    if stored is not None:
        return TrainedNetwork(_as_stored(command, stored), experiment, path)
    if found is None:
        return (
            f"'{command.name}' reads the model '{path}', and neither a command of this "
            "configuration nor of one beside it trains it: its network is unknown."
        )
    return f"'{command.name}' reads the model '{path}'{found}" if isinstance(found, str) else found


def network_of(command: Command, experiment: CommandRun) -> tuple[Network | None, str]:
    """Find the network of a command, None where it is unknown, and a clause on its origin: empty
    where this configuration determines it.
    """
    path = _read_alone(command)
    if path is not None:
        stored = network_there(path, command, experiment)
        if stored is not None:
            return stored, f", from the model '{path}',"
    path = model_of(command)
    others = () if path is None else experiment.beside(path)
    found = network_for(command, experiment, "", others)
    # What an earlier run left may differ from what the texts say now: no reason for a finding.
    if isinstance(found, str) or found.built.language == SPLIT:
        return None, ""
    return found.built.network, f", which {found.name} trains," if found.name else ""


def _read_alone(command: Command) -> str | None:
    """Return the model of a command that builds nothing itself."""
    if command.builder is not None and "cv" not in command.actions:
        return None
    return None if edits_freely(command) else model_of(command)


def _as_stored(command: Command, network: Network) -> BuiltNetwork:
    """Return the network in a model's file as a builder's result; it is in no text."""
    outcome = Outcome(network, ())
    return BuiltNetwork(command.name, "", "stored", Place("", 0, 0), lambda: outcome)


def network_there(path: str, command: Command, run: CommandRun) -> Network | None:
    """Return the network in the file of a model that a command finds there; None where no file
    exists or may be read, where it cannot be used, and where an earlier command rewrites it.
    """
    files = run.files
    if (
        files.outside(path)
        or not files.exists(path)
        or may_be_rewritten(normal(path), command, run)
    ):
        return None
    network = files.network(path)
    return network if network is not None and not network.troubles else None


def builder_of_result(path: str, experiment: CommandRun) -> BuiltNetwork | str | None:
    """Find the result that built the network of a model that no command of a run writes: a sentence
    where a configuration beside it writes it and the network is unknown, None where none writes it.
    """
    found = _trained_by(path, experiment, experiment.beside(path))
    return found.built if isinstance(found, TrainedNetwork) else found


def held_by(path: str, command: Command, run: CommandRun) -> Network | str | None:
    """Return the network that a command finds in a model: a sentence where there cannot be one, and
    None where it is unknown.
    """
    kind = run.files.not_a_file(path)
    if kind is not None:
        return f"'{path}' is not a model: it is a {kind}."
    there = network_there(path, command, run)
    if there is not None:
        return there
    found = trained_before(normal(path), command, run)
    if not isinstance(found, str):
        return known_whole(found)
    writers = writers_of(normal(path), run)
    before = run.commands[: run.commands.index(command)]
    # The present file is not what the command finds if an earlier one writes it.
    if run.files.outside(path) or any(edits_freely(one) or one in writers for one in before):
        return None
    if run.files.exists(path):
        return None
    beside = builder_of_result(path, run)
    if beside is not None:
        return None if isinstance(beside, str) else known_whole(beside)
    later = next((one.name for one in writers if one is not command), None)
    why = "no earlier command writes it" if later is None else f"'{later}' writes it only later"
    return f"the model '{path}' does not exist, and {why}."


def known_whole(built: BuiltNetwork) -> Network | None:
    """Return a network that is known completely, as CNTK builds it; None for any other."""
    network = built.network
    if network is None or network.troubles or not is_complete(built):
        return None
    opaque = any(node.operation == OPAQUE for node in network.nodes.values())
    return None if opaque else network


def _trained_by(
    path: str, experiment: Running, others: Others[Running]
) -> TrainedNetwork[Running] | str | None:
    """Return the result of the other run that trains a model; the end of a sentence on the model
    where that is unknown, None where none does.
    """
    found = list(_elsewhere(path, experiment, others))
    known = [one for one in found if isinstance(one, TrainedNetwork)]
    reason = next((one for one in found if isinstance(one, str)), None)
    if reason is not None or not known:
        return reason
    if any(_nodes(one.built) != _nodes(known[0].built) for one in known[1:]):
        names = ", ".join(sorted({one.name for one in known}))
        return (
            ", and several commands train it with different networks "
            f"({names}): which one applies is unknown."
        )
    return known[0]


def _nodes(built: BuiltNetwork) -> object:
    """Return the identity of a network, apart from the places of its nodes."""
    nodes = built.network.nodes.values() if built.network is not None else ()
    return [(one.name, one.operation, one.shape, [it.name for it in one.inputs]) for one in nodes]


def _elsewhere(
    path: str, here: Running, others: Others[Running]
) -> Iterator[TrainedNetwork[Running] | str]:
    """Yield the results of other runs that train a model, by its canonical path."""
    target = here.files.locate(path)
    for name, experiment in others:
        spelt = _as_written(path, target, experiment)
        if spelt is None:
            continue
        built = trained_before(spelt, None, experiment)
        if isinstance(built, str):
            yield f". In {name} {built}"
        else:
            yield TrainedNetwork(built, experiment, name)


def _as_written(path: str, target: str, experiment: CommandRun) -> str | None:
    """Return the path of a model as written in another run whose command writes it; None where none
    does.
    """
    spellings = {path, os.path.relpath(target, experiment.files.folder), target}
    return next(
        (
            spelt
            for spelt in sorted(one.replace(os.sep, "/") for one in spellings)
            if experiment.files.locate(spelt) == target and writers_of(spelt, experiment)
        ),
        None,
    )
