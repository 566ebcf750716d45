"""Files that a run names outside of the allowed folders: they count as unknown."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.experiment.starts import files_of_starts
from netsharp_lsp.cntk.rules.findings import Finding, Place, placed
from netsharp_lsp.cntk.run.models import models_read, path_of
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Options that name several files, and what separates these.
_SEVERAL = {"ndlmacros": "+"}


@rule("CK119", "info", on=EXPERIMENT, of_texts=True, unknown=True)
def outside_files(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report files outside, once for each file that names some."""
    seen: set[str] = set()
    for place, message in (*_layers(experiment), *_included(experiment), *_named(experiment)):
        if place.source not in seen:
            seen.add(place.source)
            yield Finding("CK119", place, message)


def _layers(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Yield layers and files that they include."""
    sources = experiment.configuration.layers.sources
    for fault in experiment.configuration.faults:
        if fault.kind != "outside" or fault.place is None:
            continue
        if fault.place.source.name != COMMAND_LINE:
            yield placed(fault.place), fault.message
        elif sources:
            yield Place(sources[0].name, 0, 0), fault.message


def _included(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Yield files that BrainScript includes."""
    for program in experiment.programs:
        for entry in program.program.survey.missing:
            if experiment.files.outside(entry.path):
                yield program.outside(entry.place), _message(entry.path, experiment)


def _named(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Yield files that options name, and that parameters of networks start from."""
    yield from _options(experiment)
    for _, path, place in files_of_starts(experiment):
        if experiment.files.outside(path):
            yield place, _message(path, experiment)


def _options(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Yield texts, data and models that options name."""
    for visit in experiment.visits:
        for option in visit.table if visit.command.listed else ():
            found = visit.option(option.name) if option.kind == "input" else None
            path = path_of(found)
            if found is None or path is None or is_block(path.encode()):
                continue
            separator = _SEVERAL.get(option.name.lower())
            for one in path.split(separator) if separator else (path,):
                yield from _option(one, found, experiment)
    for command in experiment.commands:
        for path, found in models_read(command) if command.listed else ():
            yield from _option(path, found, experiment)


def _option(path: str, found: Found, experiment: Experiment) -> Iterator[tuple[Place, str]]:
    if path.strip() and experiment.files.outside(path):
        yield placed(found.text.place(0, len(found.text))), _message(path, experiment)


def _message(path: str, experiment: Experiment) -> str:
    """Return the message about a file that is not looked for."""
    if not experiment.files.is_in_working_directory(path):
        return outside(path)
    return (
        f"'{path}' is relative to the folder in which CNTK is started, and a script sets "
        "that to a value that is not known here."
    )
