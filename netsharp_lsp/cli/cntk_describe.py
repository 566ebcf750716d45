"""`netsharp describe` of what CNTK builds: which network is meant, and whether a log agrees."""

from __future__ import annotations

from netsharp_lsp.cli.cntk_subjects import read_experiment, spoil_networks
from netsharp_lsp.cli.files import ReadError, named_input, read_bytes
from netsharp_lsp.cli.subjects import SubjectError
from netsharp_lsp.cli.terminal import complain, say
from netsharp_lsp.cntk.description.network import default_network, described_network
from netsharp_lsp.diagnostics.nearest import suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from netsharp_lsp.cli.cntk_subjects import ExperimentSubject
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots

DONE, FAULTY = 0, 1


def describe_experiment(
    args: argparse.Namespace, find: Find, roots: Roots
) -> tuple[dict[str, Any] | None, int]:
    """Describe a network of a run, None where there is nothing more to say; and the exit code.

    Errors go to stderr; one in a network leaves none to describe. SubjectError where it cannot be
    read or has no network.
    """
    subject = read_experiment(args.subject, args, find, roots)
    built = _meant(subject, args.command)
    errors = subject.show_errors()
    if spoil_networks(errors):
        return None, FAULTY
    if built is None or built.network is None:
        raise SubjectError(_without_network(subject, built))
    unknown = next((one for one in built.faults if one.kind == "unknown-name"), None)
    if unknown is not None:
        complain(
            f"{subject.name}: a part of the network is not known: {unknown.message} "
            "Describe a configuration that includes the file, or set what is missing."
        )
        return None, FAULTY
    if args.log is not None:
        return None, _compared(built, args.log)
    return _placed(
        described_network(built, subject.experiment), subject
    ), FAULTY if errors else DONE


def _placed(description: dict[str, Any], subject: ExperimentSubject) -> dict[str, Any]:
    """A description whose places are lines and columns of files as people call them."""
    for node in description["nodes"]:
        lines = subject.lines(node["file"])
        for end in ("start", "end"):
            line, column = lines.position(node[end])
            node[end] = {"line": line, "column": column}
        node["file"] = subject.shown(node["file"])
    return description


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
    raise SubjectError(
        f"{subject.name}: there is no command '{command}' that builds a network.{hint} {known}"
    )


def _without_network(subject: ExperimentSubject, built: BuiltNetwork | None) -> str:
    if built is not None and (built.faults or subject.language == "cntk"):
        return f"{subject.name}: there is no network to describe: {built.why_not}"
    if subject.language == "mel":
        return f"{subject.name}: edits a network and describes none."
    if subject.language != "cntk":
        return f"{subject.name}: holds no network of its own."
    return f"{subject.name}: no command has a network builder, and so there is nothing to describe."


def _compared(built: BuiltNetwork, path: str) -> int:
    """Say how a network differs from what the original program logged of it."""
    from netsharp_lsp.cntk.networks.log import first_difference

    data = read_bytes(named_input(path))
    if isinstance(data, ReadError):
        raise SubjectError(data.message)
    assert built.network is not None
    difference = first_difference(built.network, data.decode("utf-8", "replace"))
    if difference is None:
        say([f"The log has the same {len(built.network.nodes):,} nodes."])
        return DONE
    say([f"{path}: {difference}"])
    return FAULTY
