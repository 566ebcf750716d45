"""Rules on what evaluation meets in a program of BrainScript: each kind of fault has its code."""

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
from netsharp_lsp.cntk.rules.brainscript.names import (
    defined_twice,
    missing_includes,
    sibling_defaults,
    unknown_classes,
    unknown_members,
    unknown_names,
)
from netsharp_lsp.cntk.rules.brainscript.told import users_place
from netsharp_lsp.cntk.rules.findings import Finding, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram

#: The code of each kind of fault, and what to do about it.
KINDS: dict[str, tuple[str, str]] = {
    "unknown-name": ("BS020", ""),
    "unknown-member": ("BS021", ""),
    "arity": ("BS022", ""),
    "unknown-argument": ("BS023", ""),
    "duplicate-argument": ("BS024", ""),
    "duplicate": ("BS013", ""),
    "circular": (
        "BS025",
        "Only 'PastValue' and 'FutureValue' may close a circle, through their input.",
    ),
    "unknown-operation": ("BS026", ""),
    "unknown-class": ("BS027", ""),
    "init": ("BS030", ""),
    "init-array": ("BS030", ""),
    "include": ("BS018", ""),
    "include-cycle": ("BS019", ""),
    "operator": (
        "BS040",
        "Numbers take '+ - * / % **' and comparisons, texts '+' and comparisons, truths '&& ||'.",
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
        "Dimensions that are inferred are not there yet while the network is built: write the"
        " number.",
    ),
    "layout": ("BS048", ""),
    "inputs": ("BS049", ""),
    "failed": ("BS065", "The network itself stops here, with 'Fail'."),
    "too-deep": ("BS066", "Give it an end, or nest less."),
    "too-long": ("BS066", ""),
    "too-much": ("BS066", "End the recursion, or build less."),
    "zero": ("BS067", ""),
    "format": ("BS068", ""),
    "unknown-function": ("BS068", ""),
    "old-gradient": ("BS069", ""),
    "clone": ("BS082", ""),
    "edit-circle": ("BS080", "Let one of them give a node that no other edit replaces."),
    "double-name": ("BS081", "The program stops there: give one of them another name."),
    "model": ("CK091", ""),
}
#: Faults of whole texts, of which the rules on configurations tell.
ELSEWHERE = frozenset(("builder", "outside", "unreadable"))
#: Rules that find the same without evaluation, and say it better.
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
#: Bytes that may stand between the name of an argument and its value.
FARTHEST = 8
#: Calls on the way to a fault that are shown.
SHOWN = 5
CODES = {code for code, _ in KINDS.values()}
for _code in sorted(CODES - {"BS040", "CK091"} - RULES.severities.keys()):
    emitted(_code, "error", language="brainscript")


@rule("BS040", "error", on=PROGRAM)
def faults(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """What keeps a network from being built, at the text of the user that asks for it."""
    if not program.built.faults:
        return
    told = _Told(finding for rule in STATIC for finding in rule(program, experiment))
    words = {text.value for _, text in unknown_texts(program)}
    names = {program.outside(use.place) for use in program.program.uses}
    seen = {("BS018", place) for place in program.left_open}
    for fault in program.built.faults:
        if fault.kind in ELSEWHERE:
            continue
        code, advice = KINDS[fault.kind]
        place = users_place(program, fault)
        # Whether an unknown name is worth telling is judged with the text around it.
        judged = fault.kind == "unknown-name" and place in names
        known = fault.word in words or told.holds(code, place, fault.kind)
        if judged or known or (code, place) in seen:
            continue
        seen.add((code, place))
        yield Finding(
            code,
            place,
            _sentence(program, fault, advice),
            _way(program, fault, place),
            severity="hint" if fault.kind == "unknown-name" and program.alone else None,
        )


class _Told:
    """What was found without evaluation, by where it begins and ends."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.starts: set[tuple[str, str, int]] = set()
        self.ends: set[tuple[str, str, int]] = set()
        for one in findings:
            self.starts.add((one.code, one.place.source, one.place.start))
            self.ends.add((one.code, one.place.source, one.place.end))

    def holds(self, code: str, place: Place, kind: str) -> bool:
        """Whether the same was found: a function where its call begins, maybe in brackets, a
        name before the value of an argument.
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
        message += " The function of the library that is called here asks for that."
    return f"{message} {advice}".rstrip()


def _way(program: BrainScriptProgram, fault: BuildingFault, place: Place) -> list[Note]:
    """The calls of the user that led to a fault, or the members of a circle."""
    said = "This is part of the circle." if fault.kind == "circular" else "It is called from here."
    notes: list[Note] = []
    for call in reversed(fault.calls):
        known = any(note.place == call for note in notes)
        if call != place and not program.in_library(call) and not known and call.source:
            notes.append(Note(said, call))
    return notes[:SHOWN]
