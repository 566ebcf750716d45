"""Rules on the origin of networks and models: builders that override others, models never
written.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.options import ACTIONS, BUILDERS
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.networks.named import named_differences
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.rules import COMMAND, EXPERIMENT, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note, placed
from netsharp_lsp.cntk.run.edits import keeps, normal
from netsharp_lsp.cntk.run.elsewhere import builder_of_result, known_whole, network_there
from netsharp_lsp.cntk.run.models import (
    edits_freely,
    models_read,
    models_written,
    option,
    path_of,
    trains,
)
from netsharp_lsp.cntk.vocabulary import TRUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.run.experiment import Experiment

#: A builder that takes its network from a model.
_LOADS = re.compile(rb"\bNetwork\s*\.\s*(?:Load|Edit|CloneFunction)\b|\bCloneFunction\b")
#: Actions that read a model only if no network is built.
_USING = ("test", "eval", "write", "bnstat")
_OUTPUTS = ("outputPath", "outputModelPath", "newModelPath", "outputFile")
_INPUTS = ("modelPath", "inputFile", "origModelFileName", "dbnModelPath", "editPath")
#: The most differences that are listed: the first explain the others.
_MOST_LISTED = 3


@rule("CK090", "warning", on=COMMAND)
def fresh_network(command: Command, experiment: Experiment) -> Iterator[Finding]:
    """Report a new, untrained network where a model was to be used."""
    builder = command.builder
    used = [action for action in command.actions if action in _USING]
    if builder is None or not used or trains(command) or not command.listed:
        return
    if _LOADS.search(builder.text.text) is not None or _is_opaque_or_fixed(command, experiment):
        return
    key = _decoded(builder.entry.key)
    path = path_of(option(command, "modelPath"))
    instead = f"'{path}'" if path is not None else "modelPath"
    far = builder.scope is not command.scope
    where = "found further out" if far else "in its block"
    message = (
        f"'{command.name}' ({used[0]}) has a {key} {where}, so it builds a new network whose "
        f"parameters are untrained, and does not load {instead}. "
        + ("Move the builder into the command that trains." if far else "Remove the builder.")
    )
    note = [Note(f"{key} is found here.", placed(builder.entry.parts[-1].key))]
    place = builder.entry.parts[-1].key if not far else _key_of(command)
    yield Finding("CK090", placed(place), message, note if far else ())


def _key_of(command: Command) -> SourcePlace:
    assert command.found is not None
    return command.found.entry.parts[-1].key


def _is_opaque_or_fixed(command: Command, experiment: Experiment) -> bool:
    """Return whether a network takes its parameters from elsewhere, or has no trained ones."""
    built = experiment.network_of(command.name)
    network = None if built is None else built.network
    if network is None:
        return False
    nodes = network.nodes.values()
    opaque = any(node.operation == OPAQUE for node in nodes)
    return opaque or not any(node.trainable for node in nodes)


@rule("CK091", "info", on=EXPERIMENT)
def unwritten_models(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report models that are read, do not exist, and are written by no earlier command."""
    written: dict[str, str] = {}
    free = False
    later = {
        path: command.name for command in experiment.commands for path in models_written(command)
    }
    for command in experiment.commands:
        for path, found in models_read(command) if command.listed and not free else ():
            if not _is_there(path, written, experiment) and not _is_written_beside(
                path, experiment
            ):
                yield _unwritten(command, path, found, later)
        written |= dict.fromkeys(models_written(command), command.name)
        free = free or edits_freely(command)


def _is_there(path: str, written: dict[str, str], experiment: Experiment) -> bool:
    wanted = normal(path)
    points = (at for at, letter in enumerate(wanted) if letter == ".")
    if wanted in written or any(wanted[:at] in written for at in points):
        return True
    files = experiment.files
    return files.exists(path) or _epochs_there(path, experiment) or files.outside(path)


def _is_written_beside(path: str, experiment: Experiment) -> bool:
    """Return whether a configuration in the same folder writes a model."""
    return builder_of_result(path, experiment) is not None


def _epochs_there(path: str, experiment: Experiment) -> bool:
    """Return whether the model of a first epoch exists, which `cv` uses."""
    return experiment.files.exists(f"{path}.1")


def _unwritten(command: Command, path: str, found: Found, later: dict[str, str]) -> Finding:
    writer = later.get(normal(path))
    why = (
        f"'{writer}', which writes it, is run later or not at all"
        if writer is not None and writer != command.name
        else "no earlier command writes it"
    )
    message = f"'{command.name}' reads the model '{path}', which does not exist, and {why}."
    return Finding("CK091", placed(found.entry.parts[-1].value), message)


@rule("CK092", "warning", on=COMMAND)
def several_builders(command: Command, _: Experiment) -> Iterator[Finding]:
    """Report a builder that is overridden by another one that is not nearer."""
    if command.scope is None or not command.listed:
        return
    found = [(name, command.scope.look_up(name.encode())) for name in BUILDERS]
    given = [(name, one) for name, one in found if one is not None]
    if len(given) < 2:
        return
    (winner, first), *others = given
    for name, other in others:
        if first.scope is command.scope and other.scope is not command.scope:
            continue
        near = "around it" if first.scope is not command.scope else "in the same block"
        message = (
            f"This {name} is not used in '{command.name}': the {winner} {near} takes precedence, "
            "whatever their order. Remove one of them."
        )
        note = Note(f"{winner} is given here.", placed(first.entry.parts[-1].key))
        yield Finding("CK092", placed(other.entry.parts[-1].key), message, [note])


@rule("CK096", "error", on=COMMAND)
def text_without_brackets(command: Command, _: Experiment) -> Iterator[Finding]:
    """Report a BrainScript builder that does not begin with a bracket."""
    builder = command.builder
    if builder is None or not builder.entry.key.lower().endswith(
        (b"brainscriptnetworkbuilder", b"experimentalnetworkbuilder")
    ):
        return
    text = builder.text.text
    if builder.problem is not None or text[:1] in (b"(", b"[", b"{") or is_block(text):
        return
    message = (
        f"A {_decoded(builder.entry.key)} is a network in braces, or an expression in parentheses; "
        'other text stops CNTK. For a file write { include "FILE" }.'
    )
    yield Finding("CK096", placed(builder.entry.parts[-1].value), message)


@rule("CK099", "warning", on=COMMAND)
def overwritten_inputs(command: Command, _: Experiment) -> Iterator[Finding]:
    """Report a path that is written while it is read."""
    if command.scope is None or not command.listed or trains(command):
        return
    read = {
        normal(path): name
        for name in _INPUTS
        if (path := path_of(command.scope.look_up(name.encode()))) is not None
    }
    for name in _OUTPUTS:
        found = command.scope.look_up(name.encode())
        path = path_of(found)
        if found is None or path is None or normal(path) not in read:
            continue
        other = read[normal(path)]
        if not _uses(command, name) or not _uses(command, other):
            continue
        message = f"{name} is the file that {other} reads: it is overwritten. Write another path."
        yield Finding("CK099", placed(found.entry.parts[-1].value), message)


def _uses(command: Command, name: str) -> bool:
    """Return whether any action of a command reads an option."""
    return any(ACTIONS[action].find(name) for action in command.actions if action in ACTIONS)


@rule("CK100", "warning", on=EXPERIMENT)
def models_trained_twice(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report two commands that train the same model: the second finds it finished."""
    trained: dict[str, Command] = {}
    for command in experiment.commands:
        if not command.listed or not trains(command) or command.scope is None:
            continue
        found = option(command, "modelPath")
        path = path_of(found)
        if path is None or found is None:
            continue
        before = trained.setdefault(normal(path), command)
        makes = command.scope.option(b"makeMode", "true") in TRUE
        if before is command or before.name.lower() == command.name.lower() or not makes:
            continue
        message = (
            f"'{command.name}' trains the model '{path}' that '{before.name}' has already "
            "finished: with makeMode it does nothing. Give it a modelPath of its own."
        )
        note = Note(f"'{before.name}' writes it.", placed(_key_of(before)))
        yield Finding("CK100", placed(_key_of(command)), message, [note])


@rule("CK126", "info", on=EXPERIMENT)
def outdated_models(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report model files with another network than the command that trains them builds."""
    for command in experiment.commands:
        found = option(command, "modelPath") if command.listed and keeps(command) else None
        path = path_of(found)
        built = None if path is None else experiment.network_of(command.name)
        network = None if built is None else known_whole(built)
        if found is None or path is None or network is None:
            continue
        place = _last_written(path, experiment)
        held = network_there(place, command, experiment)
        clauses = [] if held is None else list(named_differences(held, network))
        if clauses:
            more = len(clauses) - _MOST_LISTED
            rest = f"; and {more} more" if more > 0 else ""
            then = "is finished with it" if place == path else "continues with it"
            message = (
                f"The model '{place}' exists and has another network than '{command.name}' builds: "
                f"{'; '.join(clauses[:_MOST_LISTED])}{rest}. Training {then}: to train the network "
                "in this configuration, remove the file or name another."
            )
            yield Finding("CK126", placed(found.entry.parts[-1].value), message)


def _last_written(path: str, experiment: Experiment) -> str:
    """Return the model that a training finds: the final one, otherwise that of the last epoch."""
    found, epoch = path, 0
    if not experiment.files.exists(path):
        while experiment.files.exists(f"{path}.{epoch}"):
            found, epoch = f"{path}.{epoch}", epoch + 1
    return found


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
