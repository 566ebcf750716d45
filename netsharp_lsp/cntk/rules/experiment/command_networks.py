"""Which network a command has: the one that it builds, or that of the model which it reads.

Paths are compared as text once variables are in place; what cannot be known is None.
"""

from __future__ import annotations

import posixpath

from netsharp_lsp.cntk.configuration.options import EVALUATING, TRAINING
from netsharp_lsp.once import once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Options that name a model which an action writes, and what is added where they are absent.
_WRITTEN = {
    **dict.fromkeys(TRAINING, ("modelPath",)),
    "edit": ("outputModelPath",),
    "bnstat": ("newModelPath",),
    "SVD": ("outputmodelPath",),
    "convertdbn": ("modelPath",),
}
#: Options that name a model which an action reads.
_READ = {
    **dict.fromkeys(EVALUATING, ("modelPath",)),
    **dict.fromkeys(("dumpNodes", "dumpNode", "dumpnode"), ("modelPath",)),
    **dict.fromkeys(("plot", "SVD", "exportdbn"), ("modelPath",)),
    "adapt": ("origModelFileName",),
}


def normal(path: str) -> str:
    """A path in one spelling."""
    return posixpath.normpath(path.replace("\\", "/"))


def path_of(found: Found | None) -> str | None:
    """The path that an option gives; None where it is absent, empty or not known."""
    if found is None or found.problem is not None or not found.text.text:
        return None
    return found.text.text.decode("utf-8", "replace")


def option(command: Command, name: str) -> Found | None:
    """What a command finds for an option; training looks in its own block first."""
    if command.scope is None:
        return None
    block = command.scope.block(b"SGD") if trains(command) else None
    return (block or command.scope).look_up(name.encode())


def trains(command: Command) -> bool:
    """Whether a command trains."""
    return any(action in TRAINING for action in command.actions)


def models_written(command: Command) -> Iterator[str]:
    """The models that a command writes, as far as their paths are known."""
    for action in command.actions:
        for name in _WRITTEN.get(action, ()):
            path = path_of(option(command, name))
            if path is not None:
                yield normal(path)
        if action == "bnstat" and option(command, "newModelPath") is None:
            path = path_of(option(command, "modelPath"))
            if path is not None:
                yield normal(f"{path}.PBN")


def models_read(command: Command) -> Iterator[tuple[str, Found]]:
    """The models that a command reads: each path and where it is given."""
    for action in command.actions:
        builds = action in ("write", "bnstat") and command.builder is not None
        for name in () if builds else _READ.get(action, ()):
            found = option(command, name)
            path = path_of(found)
            if path is not None and found is not None:
                yield path, found


def edits_freely(command: Command) -> bool:
    """Whether a command runs a script that may write any model."""
    builder = command.builder
    scripted = builder is None or builder.entry.key.lower() != b"brainscriptnetworkbuilder"
    return "edit" in command.actions and scripted


class _Order:
    """The places of commands in their order: of each, of the first that may write any model, and
    of those that write a model.
    """

    __slots__ = ("free", "places", "writers")

    def __init__(self, commands: list[Command]) -> None:
        self.places = {command: place for place, command in enumerate(commands)}
        edits = (place for place, command in enumerate(commands) if edits_freely(command))
        self.free = next(edits, len(commands))
        self.writers: dict[str, list[int]] = {}
        for place, command in enumerate(commands):
            for path in models_written(command):
                self.writers.setdefault(path, []).append(place)


@once
def _order(experiment: Experiment) -> _Order:
    return _Order(experiment.commands)


def goes_on(command: Command, experiment: Experiment) -> bool:
    """Whether a command may train a model that a command before writes as its epoch 0: what
    builds its network is not read then.
    """
    path = path_of(option(command, "modelPath"))
    if path is None or not trains(command):
        return False
    known = _order(experiment)
    writers = known.writers.get(f"{normal(path)}.0", [])
    return min([known.free, *writers[:1]]) < known.places[command]


def network_of(command: Command, experiment: Experiment) -> Network | None:
    """The network that a command works on, None where it cannot be known."""
    if command.scope is None:
        return None
    if command.builder is not None and "cv" not in command.actions:
        built = experiment.network_of(command.name)
        return None if built is None else built.network
    wanted = {normal(path) for path, _ in models_read(command)}
    if len(wanted) != 1:
        return None
    return _trained(wanted.pop(), command, experiment)


def _trained(path: str, reader: Command, experiment: Experiment) -> Network | None:
    """The network of the command that writes a model, of its epochs too."""
    known = _order(experiment)
    end = known.places.get(reader, len(known.places))
    if known.free < end:
        return None
    stem, _, epoch = path.rpartition(".")
    paths = (path, stem) if epoch.isdecimal() else (path,)
    writers = [place for one in paths for place in known.writers.get(one, ())]
    last = max((place for place in writers if place < end), default=None)
    if last is None or not trains(experiment.commands[last]):
        return None
    built = experiment.network_of(experiment.commands[last].name)
    return None if built is None else built.network
