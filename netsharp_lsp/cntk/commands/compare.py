"""`netsharp diff` of runs of CNTK, or of files of networks."""

from __future__ import annotations

import os
import re

from netsharp_lsp.cntk.commands.models import is_model
from netsharp_lsp.cntk.commands.subjects import SubjectError, are_in_networks, read_experiment
from netsharp_lsp.cntk.description.comparison import compare
from netsharp_lsp.cntk.description.network import default_network
from netsharp_lsp.cntk.run.models import models_written
from netsharp_lsp.questions import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.questions import Question

DONE, FAILED = 0, 2
#: The name of an epoch's model ends with the epoch.
_EPOCH = re.compile(r"\.[0-9]+$")


def compare_experiments(before: str, after: str, request: Question) -> Answer:
    """Compare two runs; without a comparison where one has a faulty network or cannot be read."""
    answer = Answer(FAILED)
    if any(map(is_model, (before, after))):
        return _compare_models(before, after, request)
    try:
        subjects = [read_experiment(name, request) for name in (before, after)]
        found = [subject.errors() for subject in subjects]
        answer.reports = [findings for findings, _ in found if findings]
        if any(are_in_networks(errors) for _, errors in found):
            return answer
        if not all(one.experiment.configuration.readable for one in subjects):
            return answer
        for subject in subjects:
            built = [one for one in subject.experiment.networks if one.network is not None]
            if subject.language != "cntk" and not built:
                raise SubjectError(f"{subject.name}: contains no network to compare.")
    except SubjectError as error:
        answer.complaints = (str(error),)
        return answer
    answer.comparison = compare(*(subject.experiment for subject in subjects))
    answer.code = DONE
    return answer


def _built_for(model: str, experiment: Experiment) -> BuiltNetwork | None:
    """Return the network of the command that writes a model, or that of which it is an epoch; else
    the default one, where no command is named.
    """
    targets = {os.path.realpath(one) for one in (model, _EPOCH.sub("", model))}
    for command in experiment.commands:
        paths = models_written(command) if command.listed else ()
        if targets.intersection(map(experiment.files.locate, paths)):
            built = experiment.network_of(command.name)
            if built is not None and built.network is not None:
                return built
    return default_network(experiment)


def _compare_models(before: str, after: str, request: Question) -> Answer:
    """Compare two models, or a model with the network that a configuration builds."""
    from netsharp_lsp.cntk.training.model_comparison import Compared, compared_models

    answer = Answer(FAILED)
    found: list[Compared] = []
    try:
        for name in (before, after):
            if is_model(name):
                found.append(Compared.of_model(name))
                continue
            subject = read_experiment(name, request)
            findings, errors = subject.errors()
            answer.reports = (*answer.reports, findings) if findings else answer.reports
            model = before if name == after else after
            built = _built_for(model, subject.experiment)
            if are_in_networks(errors) or built is None or built.network is None:
                raise SubjectError(f"{name}: builds no network to compare.")
            found.append(Compared.of_text(built, subject.experiment, model))
    except (SubjectError, ValueError) as error:
        answer.complaints = (str(error),)
        return answer
    answer.comparison = compared_models(*found)
    answer.code = DONE
    return answer
