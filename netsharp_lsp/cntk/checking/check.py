"""Runs all rules on an experiment; knows the subjects of rules and no single rule."""

from __future__ import annotations

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.rules import (
    COMMAND,
    CONFIGURATION,
    CONFLICT,
    EXPERIMENT,
    NETWORK,
    PROGRAM,
    RULES,
    about_network,
)
from netsharp_lsp.cntk.rules.configuration.traps import misread_networks
from netsharp_lsp.cntk.run.conflicts import FileConflict, OneSide, conflicts_by_file
from netsharp_lsp.diagnostics.conflicts import undisputed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.registry import SubjectKind
    from netsharp_lsp.text.conflicts import Conflict


def findings(experiment: Experiment) -> Iterator[Finding]:
    """Yield all findings about a run and the files that it reads."""
    is_open = experiment.configuration.is_open
    rules = [one for one in RULES.load() if not is_open or one.traits.of_texts]
    misread = misread_networks(experiment)
    subjects: dict[SubjectKind[Any], Sequence[object]] = {}
    for rule in rules:
        if rule.subject not in subjects:
            subjects[rule.subject] = _subjects(experiment, rule.subject)
        for subject in subjects[rule.subject]:
            raise_if_cancelled()
            for finding in rule.check(subject, experiment):
                if not _follows(finding, misread):
                    yield finding


def refusals(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Yield the errors about one network and its texts, at which CNTK stops."""
    names = {part.script.place(0, 0).source for part in built.parts}
    texts = [text for text in experiment.texts(built.language) if text.name in names]
    subjects: dict[str, Sequence[object]] = {NETWORK.name: [built], built.language: texts}
    for rule in RULES.load():
        for subject in subjects.get(rule.subject.name, ()):
            for finding in rule.check(subject, experiment):
                severity = finding.severity or RULES.severities[finding.code]
                if severity == "error":
                    yield finding


def _follows(finding: Finding, misread: dict[str, list[tuple[int, int]]]) -> bool:
    """Return whether a finding is about a network whose text ends elsewhere than it should."""
    spans = misread.get(finding.place.source)
    if not spans or not about_network(finding.code, "brainscript"):
        return False
    return any(start <= finding.place.start <= end for start, end in spans)


def diagnostics_by_file(experiment: Experiment) -> dict[str, list[Diagnostic]]:
    """Return the diagnostics of a run by the file that they are about, each once."""
    files = experiment.files
    found: dict[str, list[Diagnostic]] = {}
    if not conflicts_by_file(files, experiment.first_read):
        found = _by_file(findings(experiment))
    if not conflicts_by_file(files, list(files.texts)):
        return found
    ours = experiment.over(lambda given: OneSide(given, ours=True))
    theirs = experiment.over(lambda given: OneSide(given, ours=False))
    found_in_ours, others = (_by_file(findings(one)) for one in (ours, theirs))
    conflicts = conflicts_by_file(files, {**files.texts, **ours.files.texts, **theirs.files.texts})
    found = _by_file(_of_conflicts(conflicts, experiment))
    for file, diagnostics in found_in_ours.items():
        left = undisputed(conflicts.get(file, ()), diagnostics, others.get(file, ()))
        found[file] = sorted([*found.get(file, ()), *left], key=lambda one: one.sort_key)
    return found


def _of_conflicts(
    conflicts: Mapping[str, Sequence[Conflict]], experiment: Experiment
) -> Iterator[Finding]:
    for rule in RULES.on(CONFLICT):
        for file, several in conflicts.items():
            for one in several:
                yield from rule.check(FileConflict(file, one), experiment)


def _by_file(found_in_run: Iterable[Finding]) -> dict[str, list[Diagnostic]]:
    found: dict[str, dict[Diagnostic, None]] = {}
    for finding in found_in_run:
        diagnostic = finding.diagnostic(RULES.severities[finding.code])
        found.setdefault(finding.place.source, {})[diagnostic] = None
    return {
        file: sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
        for file, diagnostics in found.items()
    }


def _subjects(experiment: Experiment, kind: SubjectKind[Any]) -> Sequence[object]:
    """Return the subjects of one kind in a run."""
    if kind is EXPERIMENT:
        return [experiment]
    if kind is CONFLICT:
        return ()
    if kind is CONFIGURATION:
        return experiment.configuration.layers.sources
    if kind is COMMAND:
        return experiment.commands
    if kind is NETWORK:
        return experiment.networks
    if kind is PROGRAM:
        return experiment.programs
    return experiment.texts(kind.name)
