"""Dependencies of commands through files: an omitted command also omits those that read what it
writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.cntk.run.edits import normal
from netsharp_lsp.cntk.run.models import edits_freely, models_written, path_of, trains

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.run.experiment import Experiment


def written_by(command: Command, experiment: Experiment) -> set[str]:
    """Return the files that a command writes; an entry that ends with a point is a prefix of
    names.
    """
    found = set(models_written(command))
    for name, path in _paths(command, experiment, "output"):
        found.add(f"{path}." if name == "outputPath" else path)
    if edits_freely(command):
        place = experiment.commands.index(command)
        edits = (one for one in experiment.edits_before(place + 1) if one.command == command.name)
        for edit in edits:
            found.update(edit.written, (normal(one.path) for one in edit.dumped))
    return found


def needed_of(
    command: Command, experiment: Experiment, lost: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return a file that a command reads and an omitted one would write, with the name of that
    command; None if there is none.
    """
    for path in read_by(command, experiment):
        for written in _beginnings(path):
            if written in lost:
                return path, lost[written]
    if trains(command):  # it resumes from an existing model, and from one of its epochs
        for own in models_written(command):
            for written, by in lost.items():
                if written.startswith(f"{own}.") and written[len(own) + 1 :].isdecimal():
                    return written, by
    return None


def read_by(command: Command, experiment: Experiment) -> Iterator[str]:
    """Yield the files that a command reads, as far as they are known."""
    yield from (path for _, path in _paths(command, experiment, "input"))
    if trains(command):
        yield from models_written(command)
    built = experiment.network_of(command.name) if command.builder is not None else None
    if built is not None and built.network is not None:
        yield from {normal(one.saved[0]) for one in built.network.nodes.values() if one.saved}


def _paths(command: Command, experiment: Experiment, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a kind that name files, with the files."""
    for visit in experiment.visits:
        for option in visit.table if visit.command is command else ():
            path = path_of(visit.option(option.name)) if option.kind == kind else None
            if path is not None:
                yield option.name, normal(path)


def _beginnings(path: str) -> Iterator[str]:
    """Yield a path, its prefixes up to each of its points, and the model of which it is an
    epoch.
    """
    yield path
    yield from (path[: at + 1] for at, letter in enumerate(path) if letter == ".")
    stem, _, epoch = path.rpartition(".")
    if epoch.isdecimal():
        yield stem
