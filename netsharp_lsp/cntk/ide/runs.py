"""Runs of a configuration in an editor: the lenses of its commands, and how a run is started."""

from __future__ import annotations

from netsharp_lsp.cntk.run.experiment import SingleFile
from netsharp_lsp.ide import answers
from netsharp_lsp.ide.answers import DOCUMENT, Lens, StartedRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.run.experiment import Experiment

TRAIN = "netsharp.server.train"
_TESTS = frozenset(("test", "eval"))


def start_of(edited: Edited, command: str) -> StartedRun | None:
    """Return the command line that runs a text, with the model of a command; None where it is not a
    configuration.
    """
    experiment = edited.main
    if edited.language != "cntk" or isinstance(experiment, SingleFile):
        return None
    sources = experiment.configuration.layers.sources
    files = tuple(experiment.files.locate(one.name) for one in sources)
    names = command.lower().split(":")
    found = [one for one in experiment.commands if not command or one.name.lower() in names]
    models = [_model(one, experiment) for one in found if _trains(one)]
    run = experiment.run
    return StartedRun(run.items, run.directory, files, models[0] if models else "")


def run_lenses(edited: Edited) -> Iterator[Lens]:
    """Yield lenses that run, resume and test, above each command in the text."""
    experiment = edited.main
    if edited.language != "cntk" or isinstance(experiment, SingleFile):
        return
    commands = experiment.commands
    for command in commands:
        if command.found is None or not command.actions:
            continue
        place = command.found.entry.parts[0].key
        if not edited.is_here(experiment, place.source.name):
            continue
        for title, options in _offered(command, commands, experiment):
            execution = answers.Command(TRAIN, title, (DOCUMENT, options))
            yield Lens(place.start, place.start, title, execution)


def _offered(
    command: Command, commands: list[Command], experiment: Experiment
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the actions for a command: a title, and the request to the server."""
    name = {"command": command.name}
    if not _trains(command):
        yield ("Test" if _tests(command) else "Run"), name
        return
    yield "Run", {**name, "resume": False}
    yield "Resume", {**name, "resume": True}
    model = _model(command, experiment)
    testers = [one for one in commands if _tests(one) and _model(one, experiment) == model]
    if model and testers:
        yield "Test", {"command": ":".join(one.name for one in testers)}


def _trains(command: Command) -> bool:
    return any(action.lower().startswith("train") for action in command.actions)


def _tests(command: Command) -> bool:
    return any(action.lower() in _TESTS for action in command.actions)


def _model(command: Command, experiment: Experiment) -> str:
    """Return the path of a command's model; empty for none."""
    found = None if command.scope is None else command.scope.look_up(b"modelPath")
    text = "" if found is None else found.text.text.decode("utf-8", "replace").strip().strip('"')
    return experiment.files.locate(text) if text else ""
