"""The network of a command that reads a model: that of the command which trains the model, in the
same configuration or in another beside it. Reads configurations; evaluates no rule.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.commands.runs import declared_runs, supposed_run
from netsharp_lsp.cntk.commands.settings import declared_in
from netsharp_lsp.cntk.commands.subjects import ExperimentSubject, SubjectError
from netsharp_lsp.cntk.model_files import MODEL_BEGINS, model_head
from netsharp_lsp.cntk.run.elsewhere import network_for
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.suffixes import STARTS
from netsharp_lsp.limits import MODEL_CONFIGURATIONS
from netsharp_lsp.project.walk import specifications_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.questions import PlacedRun, Question


def is_model(path: str) -> bool:
    """Return whether a file is a model of CNTK, or a network of it in a safetensors file."""
    head = model_head(path)
    if head is None or head.startswith(MODEL_BEGINS):
        return head is not None
    from netsharp_lsp.cntk.training.stored_models import model_bytes

    return model_bytes(path) is not None


class Trained(NamedTuple):
    """The builder's result of a network, and the subject that contains its places."""

    built: BuiltNetwork
    subject: ExperimentSubject


def origin_of(command: Command, subject: ExperimentSubject, request: Question) -> Trained:
    """Find the result that built the network of a command; SubjectError where it is unknown."""
    here = subject.experiment
    found = network_for(command, here, subject.name, _others(subject, request))
    if isinstance(found, str):
        raise SubjectError(f"{subject.name}: {found}")
    if found.experiment is here:
        return Trained(found.built, subject)
    other = ExperimentSubject(found.name, "cntk", found.experiment, subject.files)
    return Trained(found.built, other)


def _others(subject: ExperimentSubject, request: Question) -> Iterator[tuple[str, Experiment]]:
    """Yield the runs around a configuration that are not its own."""
    here = subject.experiment
    own = {here.files.locate(one.name) for one in here.configuration.layers.sources}
    for run in _beside(sorted(own), subject, request):
        if own.intersection(run.configurations):
            continue
        placed = run.run.assigning(request.assignments)
        name = os.path.relpath(run.configurations[0]) if run.configurations else subject.name
        yield name, Experiment(placed, subject.files, here.library, run.given)


def _beside(own: list[str], subject: ExperimentSubject, request: Question) -> Iterator[PlacedRun]:
    """Yield the runs that settings declare around a configuration, and those of others in its
    folder.
    """
    if not own:
        return
    folder = os.path.dirname(own[0])
    settings = request.find(folder)
    runs = declared_runs(settings, subject.files)
    yield from runs
    known = {path for run in runs for path in run.configurations}
    given = declared_in(settings).given
    paths = specifications_below(folder, lambda path: False, STARTS, request.roots)
    for path in paths[: MODEL_CONFIGURATIONS.most]:
        located = subject.files.locate(os.path.abspath(path))
        if located not in known:
            yield supposed_run(located, given, subject.files)
