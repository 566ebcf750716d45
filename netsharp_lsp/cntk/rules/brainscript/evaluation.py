"""Rules on the faults that the evaluation of BrainScript finds: each kind has its code."""

from __future__ import annotations

from netsharp_lsp.cntk.rules import PROGRAM, RULES, emitted, rule
from netsharp_lsp.cntk.rules.brainscript.calls import (
    arity,
    failing_functions,
    given_twice,
    unknown_arguments,
    unknown_starts,
    unknown_texts,
)
from netsharp_lsp.cntk.rules.brainscript.facts import users_place
from netsharp_lsp.cntk.rules.brainscript.names import (
    defined_twice,
    missing_includes,
    sibling_defaults,
    unknown_classes,
    unknown_members,
    unknown_names,
)
from netsharp_lsp.cntk.rules.findings import Finding, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram

#: The code of each kind of fault, and advice.
KINDS: dict[str, tuple[str, str]] = {
    "unknown-name": ("BS020", ""),
    "unknown-member": ("BS021", ""),
    "arity": ("BS022", ""),
    "unknown-argument": ("BS023", ""),
    "duplicate-argument": ("BS024", ""),
    "duplicate": ("BS013", ""),
    "circular": (
        "BS025",
        "Only 'PastValue' and 'FutureValue' may close a cycle, through their input.",
    ),
    "unknown-operation": ("BS026", ""),
    "unknown-class": ("BS027", ""),
    "init": ("BS030", ""),
    "init-array": ("BS030", ""),
    "include": ("BS018", ""),
    "include-cycle": ("BS019", ""),
    "operator": (
        "BS040",
        "Numbers take '+ - * / % **' and comparisons, strings '+' and comparisons,"
        " booleans '&& ||'.",
    ),
    "node-operator": ("BS041", "Nodes take '+ - * .*', '/' by a number, '&&' and comparisons."),
    "with": ("BS042", ""),
    "kind": ("BS043", ""),
    "index": ("BS044", ""),
    "first-index": ("BS044", ""),
    "missing-parameter": ("BS045", "Give it a value."),
    "dimension": ("BS046", ""),
    "unknown-dimension": (
        "BS047",
        "Inferred dimensions are known only after the network is built: write the number.",
    ),
    "layout": ("BS048", ""),
    "inputs": ("BS049", ""),
    "failed": ("BS065", "The network itself stops here, with 'Fail'."),
    "too-deep": ("BS066", "End the recursion, or nest less."),
    "too-long": ("BS066", ""),
    "too-much": ("BS066", "End the recursion, or build less."),
    "zero": ("BS067", ""),
    "format": ("BS068", ""),
    "unknown-function": ("BS068", ""),
    "old-gradient": ("BS069", ""),
    "clone": ("BS082", ""),
    "edit-circle": ("BS080", "Let one of them return a node that no other edit replaces."),
    "double-name": ("BS081", "CNTK stops there: give one of them another name."),
    "model": ("CK091", ""),
}
#: Faults of whole texts, which the rules on configurations report.
ELSEWHERE = frozenset(("builder", "outside", "unreadable"))
#: Rules that find the same without evaluation, with a better message.
STATIC = (
    arity,
    defined_twice,
    failing_functions,
    given_twice,
    missing_includes,
    sibling_defaults,
    unknown_arguments,
    unknown_classes,
    unknown_members,
    unknown_names,
    unknown_starts,
)
#: The most bytes between the name of an argument and its value.
FARTHEST = 8
#: The most calls on the way to a fault that are shown.
SHOWN = 5
CODES = {code for code, _ in KINDS.values()}
for _code in sorted(CODES - {"BS040", "CK091"} - RULES.severities.keys()):
    emitted(_code, "error", language="brainscript")


@rule("BS040", "error", on=PROGRAM)
def faults(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report faults that keep a network from being built, at the user's text that causes them."""
    if not program.built.faults:
        return
    reported = _Reported(finding for rule in STATIC for finding in rule(program, experiment))
    words = {text.value for _, text in unknown_texts(program)}
    names = {program.outside(use.place) for use in program.program.uses}
    seen = {("BS018", place) for place in program.left_open}
    for fault in program.built.faults:
        if fault.kind in ELSEWHERE:
            continue
        code, advice = KINDS[fault.kind]
        place = users_place(program, fault)
        # The rule on names decides from the text around it whether an unknown name is reported.
        named = fault.kind == "unknown-name" and place in names
        known = fault.word in words or reported.holds(code, place, fault.kind)
        if named or known or (code, place) in seen:
            continue
        seen.add((code, place))
        yield Finding(
            code,
            place,
            _sentence(program, fault, advice),
            _way(program, fault, place),
            severity="hint" if fault.kind == "unknown-name" and program.alone else None,
        )


class _Reported:
    """The findings of rules without evaluation, by where they begin and end."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.starts: set[tuple[str, str, int]] = set()
        self.ends: set[tuple[str, str, int]] = set()
        for one in findings:
            self.starts.add((one.code, one.place.source, one.place.start))
            self.ends.add((one.code, one.place.source, one.place.end))

    def holds(self, code: str, place: Place, kind: str) -> bool:
        """Return whether the same fault was found: a function where its call begins, possibly in
        brackets, or a name before the value of an argument.
        """
        if any((code, place.source, place.start + by) in self.starts for by in (0, 1)):
            return True
        before = range(place.start - FARTHEST, place.start)
        return kind == "unknown-argument" and any(
            (code, place.source, end) in self.ends for end in before
        )


def _sentence(program: BrainScriptProgram, fault: BuildingFault, advice: str) -> str:
    message = fault.message
    message = message[:1].upper() + message[1:]
    if program.in_library(fault.place) and fault.kind != "failed":
        message += " The error occurs in the library function that is called here."
    return f"{message} {advice}".rstrip()


def _way(program: BrainScriptProgram, fault: BuildingFault, place: Place) -> list[Note]:
    """Return notes on the user's calls that led to a fault, or on the members of a cycle."""
    sentence = (
        "This is part of the cycle." if fault.kind == "circular" else "It is called from here."
    )
    notes: list[Note] = []
    for call in reversed(fault.calls):
        known = any(note.place == call for note in notes)
        if call != place and not program.in_library(call) and not known and call.source:
            notes.append(Note(sentence, call))
    return notes[:SHOWN]
