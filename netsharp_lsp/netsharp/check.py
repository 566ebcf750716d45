"""Runs every rule over a specification; knows the subjects of rules and no single rule.

The findings of a declaration are kept until it, or what they depend on in others, changes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import chain, islice

from netsharp_lsp.diagnostics.model import SEVERITIES, in_order, reading_order
from netsharp_lsp.netsharp.findings import Finding, LateDiagnostic
from netsharp_lsp.netsharp.meaning.doubts import BESIDE, BEYOND_ITS_PLACE, Doubts
from netsharp_lsp.netsharp.meaning.index import Index
from netsharp_lsp.netsharp.meaning.steps.revision import resolve, revise
from netsharp_lsp.netsharp.reading.incremental import Reading, read_by_windows
from netsharp_lsp.netsharp.reading.mistakes import is_debris
from netsharp_lsp.netsharp.reading.syntax import KINDS
from netsharp_lsp.netsharp.rules import (
    BUNDLE,
    CONFLICT,
    CONSTANT,
    DECLARATION,
    LAYER,
    NAMED,
    NETWORK,
    RULES,
    SHARE,
    UNREPORTED,
)
from netsharp_lsp.text.conflicts import conflicts_in, one_side
from netsharp_lsp.text.edits import common_ends, difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic, Severity
    from netsharp_lsp.diagnostics.registry import CheckT, SubjectKind
    from netsharp_lsp.netsharp.findings import RelativeSpan
    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.units import Unit
    from netsharp_lsp.netsharp.reading.incremental import Delta
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.netsharp.rules import Check, SubjectT
    from netsharp_lsp.text.conflicts import Conflict

    #: Converts a finding to a diagnostic.
    Convert = Callable[[Finding, Specification, Severity], Diagnostic]

#: A broken text has at least one finding of this severity.
WORST = "error"


class Examination:
    """The findings of all rules on a network, kept up to date while its text is edited.

    `examined`: the number of declarations that were checked for the newest version.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.examined = 0
        #: The findings of each declaration; those that depend on nothing else are in order, and
        #: counted by severity and code.
        self._dependent: dict[Declaration, tuple[Finding, ...]] = {}
        self._local: dict[Declaration, tuple[Finding, ...]] = {}
        #: Those of them with a finding that a name in unparsed text would refute.
        self._naming: set[Declaration] = set()
        self._counts: Counter[tuple[Severity, str]] = Counter()
        #: The declarations that the findings of a declaration point at, and the inverse.
        self._pointing: dict[Declaration, frozenset[Declaration]] = {}
        self._pointed_at: Index[Declaration] = Index()
        self._waiting: dict[Declaration, None] = dict.fromkeys(network.units)
        self._of_declarations = checks_on(DECLARATION)
        named = checks_on(NAMED)
        self._of_constants = [*checks_on(CONSTANT), *named]
        self._of_layers = [*checks_on(LAYER), *named]
        self._of_shares = checks_on(SHARE)
        self._of_networks = checks_on(NETWORK)
        self._premises = [(code, one.given) for code, one in RULES.traits.items() if one.given]
        bundles = RULES.on(BUNDLE)
        self._of_bundles: dict[str | None, list[Check[Bundle]]] = {
            kind: [
                rule.check
                for rule in bundles
                if rule.traits.kinds is None or kind in rule.traits.kinds
            ]
            for kind in (*KINDS, None)
        }

    def edited(self, specification: Specification, delta: Delta) -> None:
        """Update to the next version of the text."""
        network = self.network
        doubts = Doubts.of(specification)
        also = {one for gone in delta.removed for one in self._pointed_at[gone]}
        # What was not checked yet may point at what is removed, too.
        also.update(one for one in self._waiting if network.units[one].faults)
        also.update(affected(network.doubts, doubts))
        for gone in delta.removed:
            self._forget(gone)
            self._waiting.pop(gone, None)
        for unit in revise(network, specification, doubts, delta, also):
            self._waiting[unit.declaration] = None
        self.examined = 0

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, less those that depend on unparsed text."""
        self._examine()
        reached = self._reached()
        counts = self._premises_met()
        for declaration, findings in self._local.items():
            if declaration not in reached:
                yield from (one for one in findings if counts[one.code])
        yield from self._others(reached)

    def _premises_met(self) -> dict[str, bool]:
        """Return for each code whether its findings apply to the network as a whole."""
        met = dict.fromkeys(RULES.traits, True)
        met.update((code, holds(self.network)) for code, holds in self._premises)
        return met

    def _reached(self) -> set[Declaration]:
        """Return those declarations with local findings only that unparsed text may affect."""
        doubts = self.network.doubts
        if doubts.foreign:
            return set(self._local)
        if not doubts.incomplete:
            return set()
        return self._naming.union(one for one in doubts.touched if one in self._local)

    def _others(self, reached: Iterable[Declaration]) -> Iterator[Finding]:
        """Yield the findings that are not local to declarations."""
        findings = chain(self._dependent.values(), (self._local[one] for one in reached))
        suppresses, terms = self.network.doubts.suppresses, RULES.traits
        for finding in self._in_force(chain.from_iterable(findings)):
            if not suppresses(finding, terms[finding.code].rests):
                yield finding

    def _in_force(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings that apply to the network as a whole, and those about the network."""
        network = self.network
        terms = RULES.traits
        counts = self._premises_met()
        first: dict[str, Finding] = {}
        for finding in findings:
            code = finding.code
            if terms[code].first_only:
                known = first.setdefault(code, finding)
                if self._start(finding) < self._start(known):
                    first[code] = finding
            elif counts[code]:
                yield finding
        yield from first.values()
        for check_one in self._of_networks:
            yield from check_one(network, network)

    def _start(self, finding: Finding) -> int:
        return finding.place.offsets(self.network.specification)[0]

    # One declaration.

    def _examine(self) -> None:
        network = self.network
        for declaration in self._waiting:
            unit = network.subject = network.units[declaration]
            self._forget(declaration)
            found = (*unit.faults, *self._check_unit(unit))
            if found:
                self._keep(declaration, found)
            unit.drop_pairs()
        network.subject = None
        self.examined += len(self._waiting)
        self._waiting.clear()

    def _check_unit(self, unit: Unit) -> list[Finding]:
        found: list[Finding] = []
        self._run_checks(self._of_declarations, unit.declaration, found)
        for constant in unit.constants:
            self._run_checks(self._of_constants, constant, found)
        for layer in unit.layers:
            self._run_checks(self._of_layers, layer, found)
            for bundle in layer.bundles:
                self._run_checks(self._of_bundles[bundle.kind], bundle, found)
        if unit.share is not None:
            self._run_checks(self._of_shares, unit.share, found)
        return found

    def _run_checks(
        self, checks: Sequence[Check[SubjectT]], subject: SubjectT, found: list[Finding]
    ) -> None:
        network = self.network
        for check_one in checks:
            found.extend(check_one(subject, network))

    def _keep(self, declaration: Declaration, found: tuple[Finding, ...]) -> None:
        alone = local_findings(declaration, found)
        if alone is None:
            self._dependent[declaration] = found
        else:
            self._local[declaration] = alone
            rests = {RULES.traits[one.code].rests for one in alone}
            if not rests.isdisjoint(BEYOND_ITS_PLACE):
                self._naming.add(declaration)
            self._counts.update(map(severity_and_code, alone))
        others = {place.declaration for finding in found for place in places_of(finding)}
        pointing = frozenset(one for one in others if one not in (None, declaration))
        if pointing:
            self._pointing[declaration] = pointing
            for other in pointing:
                self._pointed_at.add(other, declaration)

    def _forget(self, declaration: Declaration) -> None:
        self._dependent.pop(declaration, None)
        self._naming.discard(declaration)
        if declaration in self._local:
            self._counts.subtract(map(severity_and_code, self._local.pop(declaration)))
        for other in self._pointing.pop(declaration, ()):
            self._pointed_at.remove(other, declaration)

    def diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics in text order, each once."""
        return self._all(Finding.diagnostic)

    def late_diagnostics(self) -> list[Diagnostic]:
        """Return the same for callers that read more than place and severity of few of them."""
        return self._all(LateDiagnostic)

    def most_severe(self, most: int, wants: Callable[[str], bool]) -> tuple[int, list[Diagnostic]]:
        """Return the number of diagnostics with a wanted code, and the most severe of them.

        At most ``most`` are returned; findings local to declarations are read only as far as
        needed.
        """
        self._examine()
        reached = self._reached()
        counts = self._counts.copy()
        for declaration in reached:
            counts.subtract(map(severity_and_code, self._local[declaration]))
        met = self._premises_met()
        counts = Counter({key: n for key, n in counts.items() if n and met[key[1]]})
        others = [one for one in self._others(reached) if not self._repeats(one, reached)]
        others += self._unreported(others, any(level == WORST for level, _ in counts))
        wanted = {key: n for key, n in counts.items() if wants(key[1])}
        selected = {code: wants(code) for code in {one.code for one in others}}
        shown = in_order(self._as(LateDiagnostic, (one for one in others if selected[one.code])))
        count = len(shown) + sum(wanted.values())
        if count > most:
            return count, self._most_severe(most, shown, wanted, reached)
        shown += self._in_text({code for _, code in wanted}, reached)
        return count, in_order(shown)

    def _most_severe(
        self,
        most: int,
        others: Iterable[Diagnostic],
        wanted: Iterable[tuple[Severity, str]],
        reached: set[Declaration],
    ) -> list[Diagnostic]:
        shown: list[Diagnostic] = []
        for severity in SEVERITIES:
            room = most - len(shown)
            here = [one for one in others if one.severity == severity]
            codes = {code for level, code in wanted if level == severity}
            matching = (one for one in self._in_text(codes, reached) if one.severity == severity)
            here += islice(matching, room)
            shown += in_order(here)[:room]
        return shown

    def _in_text(self, codes: Container[str], reached: set[Declaration]) -> Iterator[Diagnostic]:
        """Yield the local findings of declarations in text order; every keystroke needs all."""
        if not codes:
            return
        specification, severities, alone = self.network.specification, RULES.severities, self._local
        starts = specification.starts
        for declaration in specification.declarations:
            known = alone.get(declaration)
            if known is None or declaration in reached:
                continue
            base = starts[declaration]
            for finding in known:
                code = finding.code
                if code in codes:
                    yield LateDiagnostic(finding, specification, severities[code], base)

    def _repeats(self, finding: Finding, reached: set[Declaration]) -> bool:
        """Return whether the declaration around a finding has the same finding itself."""
        specification = self.network.specification
        if severity_and_code(finding) not in self._counts:
            return False
        declaration = specification.declaration_at(self._start(finding))
        if declaration is None or declaration in reached:
            return False
        reported = self._as(Finding.diagnostic, self._local.get(declaration, ()))
        return bool(reported) and self._as(Finding.diagnostic, [finding])[0] in reported

    def _all(self, convert: Convert) -> list[Diagnostic]:
        findings = list(self.findings())
        return in_order(self._as(convert, [*findings, *self._unreported(findings)]))

    def _unreported(self, findings: Iterable[Finding], has_errors: bool = False) -> list[Finding]:
        """Return the findings on a broken text for which no error was reported."""
        network = self.network
        if not network.doubts.broken or has_errors:
            return []
        if any(severity_and_code(one)[0] == WORST for one in findings):
            return []
        return [one for check_one in checks_on(UNREPORTED) for one in check_one(network, network)]

    def _as(self, convert: Convert, findings: Iterable[Finding]) -> list[Diagnostic]:
        specification, severities = self.network.specification, RULES.severities
        return [convert(one, specification, severities[one.code]) for one in findings]


def checks_on(kind: SubjectKind[CheckT]) -> list[CheckT]:
    """Return the checks of one kind of subject, in the order of codes."""
    return [rule.check for rule in RULES.on(kind)]


def severity_and_code(finding: Finding) -> tuple[Severity, str]:
    """Return the severity of a finding, and its code."""
    return finding.severity or RULES.severities[finding.code], finding.code


def local_findings(
    declaration: Declaration, found: Iterable[Finding]
) -> tuple[Finding, ...] | None:
    """Return findings in order if each is in the declaration and depends on no other; else None."""
    terms = RULES.traits
    ordered: dict[tuple[int, int, str, str], Finding] = {}
    for finding in found:
        place, code = finding.place, finding.code
        key = (place.start, place.end, code, finding.message)
        if (
            place.declaration is not declaration
            or not 0 <= place.start < declaration.end
            or any(other.declaration is not declaration for other in finding.also)
            or terms[code].first_only
            or key in ordered
        ):
            return None
        ordered[key] = finding
    return None if is_debris(declaration) else tuple(ordered[key] for key in sorted(ordered))


def places_of(finding: Finding) -> Iterator[RelativeSpan]:
    """Yield every place that a finding points at or depends on."""
    yield finding.place
    yield from finding.also
    for note in finding.notes:
        yield note.place
    for change in finding.repair.changes if finding.repair is not None else ():
        yield change.place


def affected(before: Doubts, after: Doubts) -> set[Declaration]:
    """Return the declarations for which rules on syntax may give other findings in the next
    version, due to unparsed text in either.

    A declaration around which only marks are missing, and nothing has changed, keeps its findings.
    """
    if before.foreign or after.foreign:
        return {*before.specification.declarations, *after.specification.declarations}
    if before.broken != after.broken:
        return {*before.near, *after.near}
    if not before.near and not after.near:
        return set()
    old, new = before.specification, after.specification
    head, tail = common_ends(old.data, new.data)
    first, last = (bisect_right(new.offsets, at) for at in (head, len(new.data) - tail))
    around = new.declarations[max(0, first - 1 - BESIDE) : last + 1 + BESIDE]
    changed = before.near ^ after.near | after.near.intersection(around)
    return {*before.entangled, *after.entangled, *changed}


def findings_of(network: Network) -> Iterator[Finding]:
    """Return all findings on a network, less those that depend on unparsed text."""
    return Examination(network).findings()


def diagnostics_of(network: Network) -> list[Diagnostic]:
    """Return the diagnostics of a network in text order, each once."""
    return Examination(network).diagnostics()


def check(data: bytes, context: Context) -> tuple[Network, list[Diagnostic]]:
    """Check UTF-8 bytes without a byte-order mark; of conflicts our sides make the network."""
    conflicts = conflicts_in(data)
    if conflicts:
        both = Sides(data, conflicts, context)
        return both.ours.network, both.diagnostics(conflicts)
    network = resolve(read_by_windows(data), context)
    return network, diagnostics_of(network)


class _Side:
    """A text with one side of its conflicts."""

    __slots__ = ("examination", "is_ours", "reading")

    def __init__(
        self, data: bytes, conflicts: Sequence[Conflict], context: Context, *, ours: bool
    ) -> None:
        self.is_ours = ours
        self.reading = Reading.of(one_side(data, conflicts, ours=ours))
        self.examination = Examination(resolve(self.reading.specification, context))

    @property
    def network(self) -> Network:
        """Return the network of this side."""
        return self.examination.network

    def edited(self, data: bytes, conflicts: Sequence[Conflict]) -> None:
        """Update to the next version of the text."""
        after = one_side(data, conflicts, ours=self.is_ours)
        edit = difference(self.reading.data, after)
        self.reading, delta = self.reading.edited(after, [edit])
        self.examination.edited(self.reading.specification, delta)


class Sides:
    """A text with merge conflicts, read as if our side of each was kept, and as if theirs was."""

    __slots__ = ("ours", "theirs")

    def __init__(self, data: bytes, conflicts: Sequence[Conflict], context: Context) -> None:
        self.ours = _Side(data, conflicts, context, ours=True)
        self.theirs = _Side(data, conflicts, context, ours=False)

    def edited(self, data: bytes, conflicts: Sequence[Conflict]) -> None:
        """Update to the next version of the text."""
        self.ours.edited(data, conflicts)
        self.theirs.edited(data, conflicts)

    def diagnostics(self, conflicts: Sequence[Conflict]) -> list[Diagnostic]:
        """Return the conflicts, and the diagnostics that both sides have."""
        from netsharp_lsp.diagnostics.conflicts import undisputed

        network = self.ours.network
        found = [
            finding.diagnostic(network.specification, rule.severity)
            for rule in RULES.on(CONFLICT)
            for conflict in conflicts
            for finding in rule.check(conflict, network)
        ]
        diagnostics = (side.examination.diagnostics() for side in (self.ours, self.theirs))
        return sorted([*found, *undisputed(conflicts, *diagnostics)], key=reading_order)
