"""The network of a command: the one that it builds, or that of the model that it reads.

Paths are compared as text after substitution; what is unknown is None.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import EVALUATING, TRAINING
from netsharp_lsp.cntk.networks.faults import Outcome, Place
from netsharp_lsp.cntk.networks.freezing import with_statistics
from netsharp_lsp.cntk.run.building import BuiltNetwork
from netsharp_lsp.cntk.run.edits import evaluated_nodes, keeps, normal
from netsharp_lsp.once import once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    #: The nodes below which the action bnstat renews statistics, of each time that it is done.
    Renewals = dict[tuple[str, ...], None]
    #: A model, the place before which it is read, and how it is renewed from then on.
    Source = tuple[str, int, Renewals]

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.edits import Edit
    from netsharp_lsp.cntk.run.files import RunFiles
    from netsharp_lsp.workspace import Run

    class CommandRun(Protocol):
        """A run as seen by the order of its commands."""

        @property
        def commands(self) -> list[Command]:
            """Return the commands in order."""

        @property
        def run(self) -> Run:
            """Return the run that starts it."""

        @property
        def files(self) -> RunFiles:
            """Return the files of the run."""

        @property
        def first_read(self) -> list[str]:
            """Return the files that it begins with, by the paths of the command line."""

        def beside(self, path: str) -> Iterable[tuple[str, CommandRun]]:
            """Return the runs beside it that may write a model, each with its name."""

        def edits_before(self, place: int) -> list[Edit]:
            """Return at least the edits in MEL of the commands before a place."""

        def network_of(self, command: str) -> BuiltNetwork | None:
            """Return the result of a command's builder."""


#: Stands for a language where the network is what the action SVD left in a file.
SPLIT = "split"
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


def path_of(found: Found | None) -> str | None:
    """Return the path in an option; None where it is absent, empty or unknown."""
    if found is None or found.problem is not None or not found.text.text:
        return None
    return found.text.text.decode("utf-8", "replace")


def option(command: Command, name: str) -> Found | None:
    """Return the value of a command's option; training looks in its own block first."""
    if command.scope is None:
        return None
    block = command.scope.block(b"SGD") if trains(command) else None
    return (block or command.scope).look_up(name.encode())


def trains(command: Command) -> bool:
    """Return whether a command trains."""
    return any(action in TRAINING for action in command.actions)


def models_written(command: Command) -> Iterator[str]:
    """Yield the models that a command writes, as far as their paths are known."""
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
    """Yield the models that a command reads: each path with its option."""
    for action in command.actions:
        builds = action in ("write", "bnstat") and command.builder is not None
        for name in () if builds else _READ.get(action, ()):
            found = option(command, name)
            path = path_of(found)
            if path is not None and found is not None:
                yield path, found


def named_models(command: Command) -> Iterator[tuple[str, Found]]:
    """Yield the models that a command reads or writes: each path with its option."""
    for action in command.actions:
        for name in dict.fromkeys((*_READ.get(action, ()), *_WRITTEN.get(action, ()))):
            found = option(command, name)
            path = path_of(found)
            if path is not None and found is not None:
                yield path, found


def edits_freely(command: Command) -> bool:
    """Return whether a command runs a script that may write any model."""
    builder = command.builder
    scripted = builder is None or builder.entry.key.lower() != b"brainscriptnetworkbuilder"
    return "edit" in command.actions and scripted


class _Order:
    """The order of commands: the place of each, of the first that may write any model, and of those
    that write a model; and the edits in MEL by place.

    Edits are evaluated on networks, which are built for them: only for those before a place.
    """

    __slots__ = ("_left", "_scripted", "edits", "free", "places", "sources", "writers")

    def __init__(self, run: CommandRun) -> None:
        commands = run.commands
        self.places = {command: place for place, command in enumerate(commands)}
        self._scripted = {
            place: command.name for place, command in enumerate(commands) if edits_freely(command)
        }
        self._left = sorted(self._scripted, reverse=True)
        self.edits: dict[int, Edit] = {}
        self.free = len(commands)
        self.writers: dict[str, list[int]] = {}
        #: What commands that renew models begin with, by their places.
        self.sources: dict[int, Source] = {}
        for place, command in enumerate(commands):
            for path in models_written(command):
                self.writers.setdefault(path, []).append(place)

    def upto(self, end: int, run: CommandRun) -> _Order:
        """Return itself with the models that the edits before a place write.

        It is kept as long as its run is, so it does not refer to it.
        """
        while self._left and self._left[-1] < end:
            place = self._left.pop()
            name = self._scripted[place]
            edits = run.edits_before(place + 1)
            edit = next((one for one in reversed(edits) if one.command == name), None)
            if edit is None or not edit.is_sure:
                self.free = min(self.free, place)
            if edit is not None:
                self.edits[place] = edit
                for path in edit.written:
                    self.writers.setdefault(path, []).append(place)
        return self

    def last(self, path: str, end: int) -> int | None:
        """Return the last place before another at which a model is written, or the model of which
        it may be an epoch.
        """
        places = (place for one in _spellings(path) for place in self.writers.get(one, ()))
        return max((place for place in places if place < end), default=None)


@once
def _order_of(run: CommandRun) -> _Order:
    return _Order(run)


def _order(run: CommandRun, end: int | None = None) -> _Order:
    """Return the order of commands, with the facts about those before a place."""
    return _order_of(run).upto(len(run.commands) if end is None else end, run)


def may_resume(command: Command, experiment: CommandRun) -> bool:
    """Return whether a command may train a model that an earlier command writes as its epoch 0: its
    network builder is not read then.
    """
    if not trains(command):
        return False
    place = _order_of(experiment).places[command]
    known = _order(experiment, place)
    return _begun(command, experiment) is not None or known.free < place


def _begun(command: Command, experiment: CommandRun) -> str | None:
    """Return the model of an epoch that an earlier command writes and from which a training
    resumes.
    """
    path = path_of(option(command, "modelPath"))
    if path is None:
        return None
    end = _order_of(experiment).places[command]
    begun = f"{normal(path)}.0"
    writers = _order(experiment, end).writers.get(begun, ())
    return begun if any(place < end for place in writers) else None


def built_for(command: Command, experiment: CommandRun) -> BuiltNetwork | str:
    """Return the builder's result for a command: its own, or that of the earlier command that
    trains the model that it reads. A sentence on the reason where it is unknown.
    """
    if command.scope is None:
        return f"no block '{command.name}' exists."
    if edits_freely(command):
        return _edited(command, experiment)
    if command.builder is not None and "cv" not in command.actions:
        begun = _begun(command, experiment) if trains(command) else None
        if begun is not None:
            return trained_before(begun, command, experiment)
        return experiment.network_of(command.name) or _without_network(command)
    path = model_of(command)
    if path is None:
        return _without_network(command)
    built = trained_before(path, command, experiment)
    return _split_before(path, command, experiment) or built if isinstance(built, str) else built


def _split_before(path: str, reader: Command, experiment: CommandRun) -> BuiltNetwork | str | None:
    """Return the network of a model that the action SVD writes before it is read, as in the file
    that the last run left: its inner dimensions depend on trained numbers. None for any other.
    """
    writer = splitter_of(normal(path), reader, experiment)
    if writer is None:
        return None
    network = experiment.files.network(path)
    if network is None or network.troubles:
        return (
            f"'{writer.name}' writes '{path}', and the number of kept singular values depends on "
            "trained numbers: the network is known once it has run."
        )
    outcome = Outcome(network, ())
    return BuiltNetwork(reader.name, "", SPLIT, Place("", 0, 0), lambda: outcome)


def splitter_of(path: str, reader: Command, experiment: CommandRun) -> Command | None:
    """Return the command whose action SVD writes a model last before another command reads it; None
    where the last writer is another command, or where an edit may have written it.
    """
    end = _order_of(experiment).places.get(reader, 0)
    known = _order(experiment, end)
    place = known.last(path, end) if known.free >= end else None
    writer = None if place is None else experiment.commands[place]
    return writer if writer is not None and "SVD" in writer.actions else None


def model_of(command: Command) -> str | None:
    """Return the one model that a command reads, None where it reads none or several."""
    wanted = {normal(path) for path, _ in models_read(command)}
    return wanted.pop() if len(wanted) == 1 else None


def may_be_rewritten(path: str, reader: Command, experiment: CommandRun) -> bool:
    """Return whether an earlier command may write a model that exists already: all that write it
    may, except those that train it and find it finished.
    """
    end = _order_of(experiment).places[reader]
    known = _order(experiment, end)
    if known.free < end:
        return True
    return any(
        place < end and not keeps(experiment.commands[place])
        for one in _spellings(path)
        for place in known.writers.get(one, ())
    )


def writers_of(path: str, experiment: CommandRun) -> list[Command]:
    """Return the commands that write a model, including its epochs, in order."""
    known = _order(experiment)
    places = {place for one in _spellings(path) for place in known.writers.get(one, ())}
    return [experiment.commands[place] for place in sorted(places)]


def trained_before(path: str, reader: Command | None, experiment: CommandRun) -> BuiltNetwork | str:
    """Return the builder's result of a model as a command finds it, None for after all commands; a
    sentence where it is unknown.
    """
    places = _order_of(experiment).places
    end = len(places) if reader is None else places.get(reader, len(places))
    known = _order(experiment, end)
    if known.free < end:
        editor = experiment.commands[known.free].name
        return f"'{editor}' edits models, and may have written '{path}'."
    renewals: Renewals = {}
    renewer = ""
    while (place := known.last(path, end)) is not None:
        command = experiment.commands[place]
        if place in known.edits:
            return _renewed(_built_by(known.edits[place], path), renewals, renewer)
        begun = _begun(command, experiment) if trains(command) else None
        built = experiment.network_of(command.name)
        if begun is None and built is not None and _writes_its_own(command):
            return _renewed(built, renewals, renewer)
        if _renews(command):
            renewer = renewer or command.name
            path, end, more = _before_renewals(place, known, experiment)
            renewals |= more
        elif begun is None:
            return f"'{command.name}' writes '{path}', and the network that it writes is unknown."
        else:
            path, end = begun, place
    return f"no command here writes '{path}' before it is read."


def _renews(command: Command) -> bool:
    """Return whether a command derives one model from another by the action bnstat."""
    return "bnstat" in command.actions and model_of(command) is not None


def _before_renewals(place: int, known: _Order, experiment: CommandRun) -> Source:
    """Return the source of a command that renews a model, before all consecutive renewals; found
    once for each.
    """
    passed = []
    path, end = "", place
    renewals: Renewals = {}
    at: int | None = place
    while at is not None and at not in known.sources:
        command = experiment.commands[at]
        built = experiment.network_of(command.name)
        if at in known.edits or not _renews(command) or (built and _writes_its_own(command)):
            break
        passed.append(at)
        path, end = normal(model_of(command) or ""), at
        at = known.last(path, end)
    if at in known.sources:
        path, end, renewals = known.sources[at]
    for one in reversed(passed):
        renewals = {**renewals, evaluated_nodes(experiment.commands[one]): None}
        known.sources[one] = path, end, renewals
    return path, end, renewals


def _renewed(built: BuiltNetwork | str, renewals: Renewals, renewer: str) -> BuiltNetwork | str:
    """Return a network after renewals, of which a command does the last."""
    if isinstance(built, str) or not renewals:
        return built

    def evaluate() -> Outcome:
        network = built.network
        if network is not None and not network.troubles:
            network = with_statistics(network, renewals)
        return Outcome(network, built.faults)

    return BuiltNetwork(renewer, built.builder, built.language, built.place, evaluate)


def _edited(command: Command, experiment: CommandRun) -> BuiltNetwork | str:
    """Return the network that an edit writes last."""
    place = _order_of(experiment).places[command]
    edit = _order(experiment, place + 1).edits.get(place)
    if edit is None:
        return f"the text of the edit '{command.name}' cannot be read."
    if not edit.written:
        return f"the edit '{command.name}' writes no model."
    return _built_by(edit, next(reversed(edit.written)))


def _built_by(edit: Edit, path: str) -> BuiltNetwork | str:
    """Return the network that an edit writes to a path, or to that of which it is an epoch."""
    found = next((edit.written[one] for one in _spellings(path) if one in edit.written), None)
    return found or (
        f"the edit '{edit.command}' writes '{path}', and what it loads or does is not completely "
        "known."
    )


def _writes_its_own(command: Command) -> bool:
    """Return whether a command writes the network that its builder builds."""
    return trains(command) or "edit" in command.actions


def _spellings(path: str) -> tuple[str, ...]:
    """Return a model's path, and the path of which it may be an epoch."""
    stem, _, epoch = path.rpartition(".")
    return (path, stem) if epoch.isdecimal() else (path,)


def _without_network(command: Command) -> str:
    return f"'{command.name}' builds no network and reads no known model."
