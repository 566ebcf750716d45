"""Runs every rule over a specification; knows the subjects of rules and no single rule.

What rules say of a declaration is kept until it, or what they read of others, changes.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.doubts import Doubts
from netsharp_lsp.netsharp.meaning.index import Index
from netsharp_lsp.netsharp.meaning.revision import resolve, revise
from netsharp_lsp.netsharp.reading.incremental import read_by_windows
from netsharp_lsp.netsharp.reading.syntax import KINDS
from netsharp_lsp.netsharp.rules import FIRST_ONLY, PREMISES, RESTS, SEVERITIES, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.netsharp.findings import Finding, RelativeSpan
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.units import Unit
    from netsharp_lsp.netsharp.reading.incremental import Delta
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.netsharp.rules import Check


class Examination:
    """What the rules say of a network, kept up to date while its text is edited.

    `examined`: how many declarations were judged for the newest version.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.examined = 0
        self._told: dict[Declaration, tuple[Finding, ...]] = {}
        #: The declarations that what is told of a declaration points at, and the other way round.
        self._pointing: dict[Declaration, frozenset[Declaration]] = {}
        self._pointed_at: Index[Declaration] = Index()
        self._waiting: dict[Declaration, None] = dict.fromkeys(network.units)
        self._checks: dict[str, tuple[Check, ...]] = {
            kind: tuple(rule.check for rule in load() if rule.subject == kind)
            for kind in ("declaration", "constant", "layer", "share", "network", "unsaid")
        }
        self._checks_of_bundles: dict[str | None, tuple[Check, ...]] = {
            kind: tuple(
                rule.check
                for rule in load()
                if rule.subject == "bundle" and (rule.kinds is None or kind in rule.kinds)
            )
            for kind in (*KINDS, None)
        }

    def edited(self, specification: Specification, delta: Delta) -> None:
        """Go on to the next version of the text."""
        network = self.network
        doubts = Doubts.of(specification)
        also = {one for gone in delta.removed for one in self._pointed_at[gone]}
        # What was not judged yet may point at what goes, too.
        also.update(one for one in self._waiting if network.units[one].faults)
        also.update(doubtful(network.doubts, network.specification))
        also.update(doubtful(doubts, specification))
        for gone in delta.removed:
            self._forget(gone)
            self._waiting.pop(gone, None)
        for unit in revise(network, specification, doubts, delta, also):
            self._waiting[unit.declaration] = None
        self.examined = 0

    def findings(self) -> Iterator[Finding]:
        """Everything that is to be said, less what rests on unreadable text."""
        self._examine()
        withholds = self.network.doubts.withholds
        return (one for one in self._every_finding() if not withholds(one, RESTS[one.code]))

    def _every_finding(self) -> Iterator[Finding]:
        network = self.network
        premises = {code: holds(network) for code, holds in PREMISES.items()}
        first: dict[str, Finding] = {}
        for findings in self._told.values():
            for finding in findings:
                code = finding.code
                if code in FIRST_ONLY:
                    known = first.setdefault(code, finding)
                    if self._start(finding) < self._start(known):
                        first[code] = finding
                elif premises.get(code, True):
                    yield finding
        yield from first.values()
        for check_one in self._checks["network"]:
            yield from check_one(network, network)

    def _start(self, finding: Finding) -> int:
        return finding.place.offsets(self.network.specification)[0]

    # One declaration.

    def _examine(self) -> None:
        network = self.network
        for declaration in self._waiting:
            unit = network.subject = network.units[declaration]
            self._forget(declaration)
            found = (*unit.faults, *self._judge(unit))
            if found:
                self._keep(declaration, found)
            unit.let_go()
        network.subject = None
        self.examined += len(self._waiting)
        self._waiting.clear()

    def _judge(self, unit: Unit) -> list[Finding]:
        checks = self._checks
        found: list[Finding] = []
        self._ask(checks["declaration"], unit.declaration, found)
        for constant in unit.constants:
            self._ask(checks["constant"], constant, found)
        for layer in unit.layers:
            self._ask(checks["layer"], layer, found)
            for bundle in layer.bundles:
                self._ask(self._checks_of_bundles[bundle.kind], bundle, found)
        if unit.share is not None:
            self._ask(checks["share"], unit.share, found)
        return found

    def _ask(self, checks: tuple[Check, ...], subject: object, found: list[Finding]) -> None:
        network = self.network
        for check_one in checks:
            found.extend(check_one(subject, network))

    def _keep(self, declaration: Declaration, found: tuple[Finding, ...]) -> None:
        self._told[declaration] = found
        others = {place.declaration for finding in found for place in places_of(finding)}
        pointing = frozenset(one for one in others if one not in (None, declaration))
        if pointing:
            self._pointing[declaration] = pointing
            for other in pointing:
                self._pointed_at.add(other, declaration)

    def _forget(self, declaration: Declaration) -> None:
        self._told.pop(declaration, None)
        for other in self._pointing.pop(declaration, ()):
            self._pointed_at.remove(other, declaration)

    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics in the order of the text, each once."""
        network = self.network
        found = {self._told_at(finding) for finding in self.findings()}
        if network.doubts.broken and not any(d.severity == "error" for d in found):
            for check_one in self._checks["unsaid"]:
                found.update(map(self._told_at, check_one(network, network)))
        return sorted(found, key=reading_order)

    def _told_at(self, finding: Finding) -> Diagnostic:
        return finding.diagnostic(self.network.specification, SEVERITIES[finding.code])


def reading_order(diagnostic: Diagnostic) -> tuple[object, ...]:
    """The order of the text, then that of the places that belong to a diagnostic."""
    related = [(one.start, one.end, one.message) for one in diagnostic.related]
    return diagnostic.sort_key, related


def places_of(finding: Finding) -> Iterator[RelativeSpan]:
    """Every place that a finding points at or rests on."""
    yield finding.place
    yield from finding.also
    for note in finding.notes:
        yield note.place
    for change in finding.repair.changes if finding.repair is not None else ():
        yield change.place


def doubtful(doubts: Doubts, specification: Specification) -> Iterable[Declaration]:
    """The declarations that rules on syntax may judge otherwise for what stands in doubt."""
    return specification.declarations if doubts.foreign else doubts.near


def findings_of(network: Network) -> Iterator[Finding]:
    """Everything that is to be said about a network, less what rests on unreadable text."""
    return Examination(network).findings()


def diagnostics_of(network: Network) -> list[Diagnostic]:
    """The diagnostics of a network in the order of the text, each once."""
    return Examination(network).diagnostics()


def check(data: bytes, context: Context) -> tuple[Network, list[Diagnostic]]:
    """Check UTF-8 bytes without a byte-order mark."""
    network = resolve(read_by_windows(data), context)
    return network, diagnostics_of(network)
