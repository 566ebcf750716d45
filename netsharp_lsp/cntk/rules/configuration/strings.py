"""Strings and comments that swallow the text after them, or change the pairing of brackets."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.configuration.traps import BRACKET_FAULTS, traps
from netsharp_lsp.cntk.rules.findings import Finding, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity


@rule("CK005", "error", on=EXPERIMENT)
def traps_of_strings(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report swallowed text: an error if brackets or quotes do not match because of it."""
    experiment.configuration.values()
    broken = _broken(experiment)
    for source in experiment.configuration.layers.sources:
        severity: Severity = "error" if source.name in broken else "warning"
        for trap in traps(source):
            place = Place(source.name, trap.start, trap.end)
            yield Finding(trap.code, place, trap.message, repair=trap.repair, severity=severity)


emitted("CK010", "error")
emitted("CK036", "error")


def _broken(experiment: Experiment) -> set[str]:
    """Return the sources whose brackets or quotes do not match."""
    return {
        fault.place.source.name
        for fault in experiment.configuration.faults
        if fault.kind in BRACKET_FAULTS and fault.place is not None
    }
