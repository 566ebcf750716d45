"""Faults that keep a network of NDL from being built, found by the evaluation, as codes."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import EXPERIMENT, NETWORK, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.cntk.rules.ndl.sentences import is_group, message_on, written_at
from netsharp_lsp.cntk.rules.ndl.texts import edit_faults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.networks.faults import BuildingFault
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

#: The code of each kind of fault, and its severity.
KINDS: dict[str, tuple[str, Severity]] = {
    "unknown-function": ("ND002", "error"),
    "recursion": ("ND003", "error"),
    "reserved-name": ("ND004", "error"),
    "reserved-parameter": ("ND004", "error"),
    "macro-reserved": ("ND004", "error"),
    "reassigned": ("ND005", "error"),
    "redefined": ("ND005", "error"),
    "unknown-name": ("ND006", "error"),
    "used-before-definition": ("ND007", "error"),
    "nested-number": ("ND007", "error"),
    "arity": ("ND008", "error"),
    "macro-arity": ("ND009", "error"),
    "parameter-default": ("ND010", "warning"),
    "number-as-node": ("ND011", "error"),
    "no-number": ("ND012", "error"),
    "dimension": ("ND013", "error"),
    "no-node": ("ND014", "error"),
    "option-value": ("ND015", "error"),
    "option-missing": ("ND016", "error"),
    "option-call": ("ND017", "error"),
    "macro-option": ("ND018", "error"),
    "member": ("ND019", "error"),
    "swallowed": ("ND037", "warning"),
    "shadowed": ("ND038", "warning"),
    "renamed": ("ND039", "warning"),
    "nested-argument": ("ND040", "error"),
    "nested-parameter": ("ND041", "warning"),
    "no-result": ("ND042", "error"),
    "no-constructor": ("ND043", "error"),
    "no-statement": ("ND044", "error"),
    "no-name": ("ND044", "error"),
    "empty-value": ("ND045", "error"),
    "macro-without-body": ("ND046", "error"),
    "repeat": ("ND047", "error"),
    "deep": ("ND048", "warning"),
    "too-much": ("ND048", "warning"),
    "group-member": ("ND049", "error"),
    "group-value": ("ND049", "error"),
    "group-order": ("ND050", "error"),
    "no-features": ("ND051", "error"),
    "no-run": ("ND052", "error"),
    "several-files": ("ND053", "error"),
    "missing-section": ("ND054", "error"),
    "unclosed": ("ND057", "error"),
    "unmatched": ("ND057", "error"),
    "stray-bracket": ("ND057", "error"),
}
#: Kinds that rules on the text report, too, and better.
ELSEWHERE = frozenset(
    ("unknown-option", "group", "group-name", "missing-file", "unreadable", "undefined-variable")
) | {"outside"}
#: Faults that usually follow from others: from any, or from an unknown macro.
_FOLLOWS = frozenset(("no-features", "no-result"))
_FOLLOWS_UNKNOWN = frozenset(("member",))
#: Faults that a part of the text outside the allowed folders may explain.
_UNKNOWN = _FOLLOWS | _FOLLOWS_UNKNOWN | {"unknown-function", "unknown-name", "missing-section"}
#: Faults of a statement whatever model it is added to.
_IN_EDITS = frozenset(
    (
        *("reserved-name", "arity", "macro-arity", "dimension", "option-value", "option-missing"),
        *("option-call", "swallowed", "nested-parameter", "no-constructor", "repeat"),
    )
)
#: Faults that change the arguments of a call, and faults that then follow.
_UNPARSED = frozenset(("option-call", "repeat", "deep"))
_COUNTS = frozenset(("arity", "macro-arity", "no-node", "no-number"))
#: Of these only the first one of a file is reported.
_BRACKETS = frozenset(("unclosed", "unmatched", "stray-bracket"))
#: What another file may define, if a file is checked on its own.
_OUTSIDE = frozenset(("unknown-function", "unknown-name", "no-features"))
for _code, _severity in dict(KINDS.values()).items():
    if _code not in ("ND002", "ND004"):
        emitted(_code, _severity, language="ndl")


@rule("ND001", "info", on=NETWORK, language="ndl")
def deprecated(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report once per builder that a network is written in NDL."""
    if built.language == "ndl" and built.found is not None:
        key = built.found.entry.parts[0].key
        message = (
            "NDL is deprecated: BrainScript has replaced it. 'netsharp migrate' writes the "
            "same network in BrainScript and proves that it is the same."
        )
        yield Finding("ND001", Place(key.source.name, key.start, key.end), message)


@rule("ND002", "error", on=NETWORK, language="ndl")
def faults(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """Report the faults that the evaluation of a network found."""
    if built.language != "ndl":
        return
    seen: set[str] = set()
    sketch = built.found is not None and _is_sketch(built.found.text.text)
    for fault in _independent(built.faults):
        if sketch and fault.kind == "missing-section":
            continue
        if _is_comment(fault, experiment) or _drops_separator(fault, experiment):
            continue
        if not _is_known(fault, built, seen, experiment):
            yield _finding(fault, built.found is None, experiment)


@rule("ND004", "error", on=EXPERIMENT, language="ndl")
def faults_of_edits(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report faults in statements of NDL within MEL that do not depend on nodes of a model."""
    for edit in experiment.edits:
        found = [fault for fault in edit_faults(edit) if fault.kind in _IN_EDITS]
        for fault in _independent(tuple(found)):
            if fault.place.source == edit.text.name and not _drops_separator(fault, experiment):
                yield _finding(fault, not edit.command, experiment)


def _is_sketch(text: bytes) -> bool:
    """Return whether a part of a builder is omitted, which may contain sections, too."""
    return any(line.strip() == b"..." for line in text.splitlines())


def _independent(found: tuple[BuildingFault, ...]) -> Iterator[BuildingFault]:
    """Yield the faults that do not follow from others."""
    kinds = {fault.kind for fault in found if _is_error(fault)}
    follows = _FOLLOWS if kinds - _FOLLOWS else frozenset[str]()
    if "unknown-function" in kinds:
        follows |= _FOLLOWS_UNKNOWN
    if any(fault.kind == "outside" for fault in found):
        follows |= _UNKNOWN
    unparsed = [fault.place for fault in found if fault.kind in _UNPARSED]
    miscounted = [fault.place for fault in found if fault.kind == "arity"]
    brackets: set[str] = set()
    for fault in found:
        if fault.kind not in KINDS or fault.kind in follows:
            continue
        if fault.kind == "no-node" and any(_holds(place, fault.place) for place in miscounted):
            continue
        if fault.kind in _COUNTS and any(_holds(fault.place, place) for place in unparsed):
            continue
        if fault.kind in _BRACKETS:
            if fault.place.source in brackets:
                continue
            brackets.add(fault.place.source)
        yield fault


def _holds(outer: Place, inner: Place) -> bool:
    same = outer.source == inner.source
    return same and outer.start <= inner.start and inner.end <= outer.end


def _is_error(fault: BuildingFault) -> bool:
    return KINDS.get(fault.kind, ("", "hint"))[1] == "error"


def _finding(fault: BuildingFault, alone: bool, experiment: Experiment) -> Finding:
    better = message_on(fault, experiment)
    code, _ = KINDS[better.kind]
    outside = alone and better.kind in _OUTSIDE
    severity: Severity | None = "hint" if outside else None
    if better.kind == "renamed" and is_group(fault.place, experiment):
        severity = "info"
    calls = [Note("It is called from here.", place) for place in reversed(fault.calls)]
    repair = None
    if better.better is not None:
        change = Change(fault.place, better.better)
        safe = better.keeps and not outside
        repair = Repair(f"Write '{better.better.strip()}'", [change], safe=safe)
    notes = [*better.notes, *calls]
    return Finding(code, fault.place, better.message, notes, repair, severity)


def _drops_separator(fault: BuildingFault, experiment: Experiment) -> bool:
    """Return whether the swallowed character is an ordinary separator."""
    return fault.kind == "swallowed" and written_at(fault.place, experiment) in (":", ",")


def _is_comment(fault: BuildingFault, experiment: Experiment) -> bool:
    """Return whether an invalid statement is a wrong comment, which other rules report."""
    written = written_at(fault.place, experiment) if fault.kind == "no-statement" else ""
    return "//" in written or "#" in written


def _is_known(
    fault: BuildingFault, built: BuiltNetwork, seen: set[str], experiment: Experiment
) -> bool:
    """Return whether an unknown name of a file on its own was reported before."""
    if built.found is not None or fault.kind not in _OUTSIDE:
        return False
    name = written_at(fault.place, experiment).lower()
    if name in seen:
        return True
    seen.add(name)
    return False
