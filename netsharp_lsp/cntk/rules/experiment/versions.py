"""Rules on words that not every release of CNTK has."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Finding, Note
from netsharp_lsp.cntk.run.versions import SET
from netsharp_lsp.cntk.versions import rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.versions import Version, VersionedWord
    from netsharp_lsp.diagnostics.model import Severity

emitted("CK122", "error")


@rule("CK121", "error", on=EXPERIMENT)
def other_versions(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report words that the release of a run does not have, or that no release has together."""
    version = experiment.version
    if version.why == SET:
        for word in version.words:
            if not word.known.by(version.name):
                yield _unknown(word, version)
    else:
        for word in version.words:
            other = version.deciding
            if other is not None and rank(word.known.until) < rank(other.known.since):
                yield _conflicting(word, other)


def _unknown(word: VersionedWord, version: Version) -> Finding:
    message = (
        f"CNTK knows {word.shown} {word.known}, and the settings say that {version.name} runs this:"
        f" {'it stops there' if word.stops else 'it is not read'}."
    )
    return Finding("CK121", word.place, message, severity=_severity(word))


def _conflicting(word: VersionedWord, other: VersionedWord) -> Finding:
    message = (
        f"CNTK knows {word.shown} {word.known}, and {other.shown} {other.known}: there is no "
        "release that knows both. Write everything for one release."
    )
    note = Note(f"{other.shown} is used here.", other.place)
    return Finding("CK122", word.place, message, [note], severity=_severity(word))


def _severity(word: VersionedWord) -> Severity:
    return "error" if word.stops and word.surely else "warning"
