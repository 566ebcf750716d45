"""Runs every rule over a specification; knows the subjects of rules and no single rule."""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.rules import SEVERITIES, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.netsharp.findings import Finding
    from netsharp_lsp.netsharp.rules import Rule


def findings_of(network: Network) -> Iterator[Finding]:
    """Everything that is to be said about a network, less what rests on unreadable text."""
    rules = load()
    withholds = network.doubts.withholds
    return (finding for finding in _every_finding(network, rules) if not withholds(finding))


def _every_finding(network: Network, rules: list[Rule]) -> Iterator[Finding]:
    yield from network.findings
    subjects: dict[str, Iterable[object]] = {
        "declaration": network.specification.declarations,
        "constant": network.all_constants,
        "layer": network.all_layers,
        "bundle": list(network.bundles()),
        "share": network.shares,
        "network": (network,),
    }
    # Subject by subject: what one rule has read of a layer is at hand for the next.
    for kind, chosen in subjects.items():
        checks = [rule.check for rule in rules if rule.subject == kind]
        for subject in chosen:
            for check_one in checks:
                yield from check_one(subject, network)


def diagnostics_of(network: Network) -> list[Diagnostic]:
    """The diagnostics of a network in the order of the text, each once."""
    found = {
        finding.diagnostic(network.specification, SEVERITIES[finding.code])
        for finding in findings_of(network)
    }
    if network.doubts.broken and not any(d.severity == "error" for d in found):
        resort = network.doubts.last_resort()
        if resort is not None:
            found.add(resort.diagnostic(network.specification, "error"))
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)


def check(data: bytes, context: Context) -> tuple[Network, list[Diagnostic]]:
    """Check UTF-8 bytes without a byte-order mark."""
    network = Network(parse(data), context)
    return network, diagnostics_of(network)
