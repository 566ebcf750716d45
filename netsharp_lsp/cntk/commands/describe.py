"""`netsharp describe` of what CNTK builds: the choice of the network, and the comparison with a
log.
"""

from __future__ import annotations

from netsharp_lsp.cntk.commands.models import origin_of
from netsharp_lsp.cntk.commands.subjects import SubjectError, are_in_networks, read, read_experiment
from netsharp_lsp.cntk.description.network import default_network, described_network
from netsharp_lsp.cntk.networks.faults import Outcome
from netsharp_lsp.cntk.run.building import BuiltNetwork
from netsharp_lsp.cntk.run.models import edits_freely, may_resume, model_of
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.questions import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.commands.models import Trained
    from netsharp_lsp.cntk.commands.subjects import ExperimentSubject
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.questions import Question

DONE, FAULTY, FAILED = 0, 1, 2


def describe_experiment(argument: str, request: Question) -> Answer:
    """Describe a network of a run; errors are reported, and an error in a network leaves no
    description.
    """
    answer = Answer()
    try:
        subject = read_experiment(argument, request)
        command = _reader(subject, request.command)
        origin = None if command is None else origin_of(command, subject, request)
        built = _meant(subject, request.command) if origin is None else _of_command(origin, command)
        findings, errors = subject.errors()
        if origin is not None and origin.subject is not subject:
            others, more = origin.subject.errors()
            findings, errors = findings + others, errors + more
        answer.reports = (findings,) if findings else ()
        if are_in_networks(errors):
            answer.code = FAULTY
        else:
            _describe(answer, subject, built, request, origin)
            answer.code = max(answer.code, FAULTY if errors and request.log is None else DONE)
    except SubjectError as error:
        answer.complaints, answer.code = (str(error),), FAILED
    return answer


def _describe(
    answer: Answer,
    subject: ExperimentSubject,
    built: BuiltNetwork | None,
    request: Question,
    origin: Trained | None,
) -> None:
    """Add to the answer the description of the network, or its difference from a log; places of a
    network from another configuration are in that.
    """
    if built is None or built.network is None:
        raise SubjectError(_without_network(subject, built))
    unknown = next((one for one in built.faults if one.kind == "unknown-name"), None)
    if unknown is not None:
        answer.code = FAULTY
        answer.complaints = (
            f"{subject.name}: a part of the network is unknown: {unknown.message} "
            "Describe a configuration that includes the file, or set what is missing.",
        )
    elif request.log is not None:
        difference = _difference(built, request.log, request)
        answer.code = DONE if difference is None else FAULTY
        same = f"The log has the same {len(built.network.nodes):,} nodes."
        answer.lines = (same if difference is None else f"{request.log}: {difference}",)
    else:
        around = subject if origin is None else origin.subject
        answer.document = _placed(described_network(built, subject.experiment), around)


def _placed(description: dict[str, Any], subject: ExperimentSubject) -> dict[str, Any]:
    """Return a description whose places are lines and columns of files by their names for users;
    nodes from the file of a model have none.
    """
    for one in (*description["nodes"], *description["calls"]):
        if not one["file"]:
            one.update(dict.fromkeys(("file", "start", "end")))
            continue
        lines = subject.lines(one["file"])
        for end in ("start", "end"):
            line, column = lines.position(one[end])
            one[end] = {"line": line, "column": column}
        one["file"] = subject.shown(one["file"])
    return description


def _reader(subject: ExperimentSubject, name: str | None) -> Command | None:
    """Return the command to describe if it works on a model: the named one if it builds no network
    or resumes from one; without a name, where nothing is built, the first such command.
    """
    experiment = subject.experiment
    if name is None and experiment.networks:
        return None
    named = (
        one
        for one in experiment.commands
        if (one.listed if name is None else one.name.lower() == name.lower())
    )
    return next((one for one in named if _works_on_model(one, experiment)), None)


def _works_on_model(command: Command, experiment: Experiment) -> bool:
    """Return whether the network of a command is that of a model."""
    if command.builder is None:
        return edits_freely(command) or model_of(command) is not None
    return edits_freely(command) or may_resume(command, experiment)


def _of_command(origin: Trained, command: Command | None) -> BuiltNetwork:
    """Return a builder's result, under the name of the command that works on it."""
    built = origin.built
    assert command is not None
    outcome = Outcome(built.network, built.faults)
    return BuiltNetwork(
        command.name, built.builder, built.language, built.place, lambda: outcome, found=built.found
    )


def _meant(subject: ExperimentSubject, command: str | None) -> BuiltNetwork | None:
    experiment = subject.experiment
    if command is None:
        return default_network(experiment)
    built = experiment.network_of(command)
    if built is not None:
        return built
    names = [one.command for one in experiment.networks if one.command]
    known = f"Those with a network are {', '.join(names)}." if names else "None has a network."
    hint = suggestion(command, names)
    raise SubjectError(f"{subject.name}: no command '{command}' builds a network.{hint} {known}")


def _without_network(subject: ExperimentSubject, built: BuiltNetwork | None) -> str:
    if built is not None and (built.faults or subject.language == "cntk"):
        return f"{subject.name}: there is no network to describe: {built.why_not}"
    if subject.language == "mel":
        return f"{subject.name}: edits a network and does not define one."
    if subject.language != "cntk":
        return f"{subject.name}: contains no network of its own."
    return f"{subject.name}: no command has a network builder, so there is nothing to describe."


def _difference(built: BuiltNetwork, path: str, request: Question) -> str | None:
    """Return the difference of a network from what CNTK logged about it."""
    from netsharp_lsp.cntk.networks.log import first_difference

    data = read(request.meant(path), request)
    assert built.network is not None
    return first_difference(built.network, data.decode("utf-8", "replace"))
