"""Runs every rule over an experiment; knows the subjects of rules and no single rule."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import SEVERITIES, about_network, load
from netsharp_lsp.cntk.rules.configuration.traps import misread_networks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Diagnostic


def findings(experiment: Experiment) -> Iterator[Finding]:
    """Everything that is to be said about a run and the files that it reads."""
    is_open = experiment.configuration.is_open
    rules = [one for one in load() if not is_open or one.of_texts]
    misread = misread_networks(experiment)
    subjects: dict[str, list[object]] = {}
    for rule in rules:
        if rule.subject not in subjects:
            subjects[rule.subject] = _subjects(experiment, rule.subject)
        for subject in subjects[rule.subject]:
            for finding in rule.check(subject, experiment):
                if not _follows(finding, misread):
                    yield finding


def refusals(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """What stops the program of all that is to be said about one network and its texts."""
    names = {part.script.place(0, 0).source for part in built.parts}
    texts = [text for text in experiment.texts(built.language) if text.name in names]
    subjects: dict[str, Sequence[object]] = {"network": [built], built.language: texts}
    for rule in load():
        for subject in subjects.get(rule.subject, ()):
            for finding in rule.check(subject, experiment):
                severity = finding.severity or SEVERITIES[finding.code]
                if severity == "error":
                    yield finding


def _follows(finding: Finding, misread: dict[str, list[tuple[int, int]]]) -> bool:
    """Whether a network is said to be wrong whose text ends elsewhere than it should."""
    spans = misread.get(finding.place.source)
    if not spans or not about_network(finding.code, "brainscript"):
        return False
    return any(start <= finding.place.start <= end for start, end in spans)


def diagnostics_by_file(experiment: Experiment) -> dict[str, list[Diagnostic]]:
    """The diagnostics of a run by the file that they are about, each once."""
    found: dict[str, dict[Diagnostic, None]] = {}
    for finding in findings(experiment):
        diagnostic = finding.diagnostic(SEVERITIES[finding.code])
        found.setdefault(finding.place.source, {})[diagnostic] = None
    return {
        file: sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
        for file, diagnostics in found.items()
    }


def _subjects(experiment: Experiment, kind: str) -> list[object]:
    """What rules on one kind of subject look at."""
    if kind == "experiment":
        return [experiment]
    if kind == "configuration":
        return list(experiment.configuration.layers.sources)
    if kind == "command":
        return list(experiment.commands)
    if kind == "network":
        return list(experiment.networks)
    if kind == "program":
        return list(experiment.programs)
    return list(experiment.texts(kind))
