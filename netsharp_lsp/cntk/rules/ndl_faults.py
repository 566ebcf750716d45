"""What keeps a network of NDL from being built, as codes; the evaluation has met it."""

from __future__ import annotations

from netsharp_lsp.cntk.findings import Change, Finding, Note, Place, Repair
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS, GROUP_ARRAYS
from netsharp_lsp.cntk.ndl.syntax import Assignment, Call
from netsharp_lsp.cntk.ndl_texts import macros, ndl_texts
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from netsharp_lsp.cntk.rules import emitted, rule
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.building import BuiltNetwork
    from netsharp_lsp.cntk.experiment import Experiment
    from netsharp_lsp.cntk.ndl.syntax import Definition, Statement
    from netsharp_lsp.cntk.ndl_texts import NdlText
    from netsharp_lsp.cntk.networks.faults import Fault
    from netsharp_lsp.diagnostics.model import Severity

    Said = tuple[str, str | None]

#: The code of each kind of fault, and how grave it is.
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
#: Kinds that rules on the text tell, too, and better.
ELSEWHERE = frozenset(
    ("unknown-option", "group", "group-name", "missing-file", "unreadable", "undefined-variable")
)
#: What follows from other faults more often than not: from any, or from an unknown macro.
_FOLLOWS = frozenset(("no-features", "no-result"))
_FOLLOWS_UNKNOWN = frozenset(("member",))
#: What leaves a call with other arguments than are written, and what is said of those then.
_UNREAD = frozenset(("option-call", "repeat", "deep"))
_COUNTS = frozenset(("arity", "macro-arity", "no-node", "no-number"))
#: Of these the first one of a file tells all.
_BRACKETS = frozenset(("unclosed", "unmatched", "stray-bracket"))
#: What somebody else may define where a file stands alone.
_OUTSIDE = frozenset(("unknown-function", "unknown-name", "no-features"))
for _code, _severity in dict(KINDS.values()).items():
    if _code != "ND002":
        emitted(_code, _severity)


@rule("ND001", "info", on="network")
def deprecated(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """That a network is written in NDL; once for each builder."""
    if built.language == "ndl" and built.found is not None:
        key = built.found.entry.parts[0].key
        message = (
            "NDL is deprecated: BrainScript has taken its place. `netsharp migrate` writes the "
            "same network in BrainScript and shows that it is the same."
        )
        yield Finding("ND001", Place(key.source.name, key.start, key.end), message)


@rule("ND002", "error", on="network")
def faults(built: BuiltNetwork, experiment: Experiment) -> Iterator[Finding]:
    """What was met while the network was evaluated."""
    if built.language != "ndl":
        return
    for fault in _telling(built.faults):
        if not _is_comment(fault, experiment) and not _loses_nothing(fault, experiment):
            yield _finding(fault, built, experiment)


def _telling(found: tuple[Fault, ...]) -> Iterator[Fault]:
    """The faults that do not follow from others."""
    kinds = {fault.kind for fault in found if _is_error(fault)}
    follows = _FOLLOWS if kinds - _FOLLOWS else frozenset[str]()
    if "unknown-function" in kinds:
        follows |= _FOLLOWS_UNKNOWN
    unread = [fault.place for fault in found if fault.kind in _UNREAD]
    miscounted = [fault.place for fault in found if fault.kind == "arity"]
    brackets: set[str] = set()
    for fault in found:
        if fault.kind not in KINDS or fault.kind in follows:
            continue
        if fault.kind == "no-node" and any(_holds(place, fault.place) for place in miscounted):
            continue
        if fault.kind in _COUNTS and any(_holds(fault.place, place) for place in unread):
            continue
        if fault.kind in _BRACKETS:
            if fault.place.source in brackets:
                continue
            brackets.add(fault.place.source)
        yield fault


def _holds(outer: Place, inner: Place) -> bool:
    same = outer.source == inner.source
    return same and outer.start <= inner.start and inner.end <= outer.end


def _is_comment(fault: Fault, experiment: Experiment) -> bool:
    """Whether what is no statement is a comment that begins wrongly, which other rules tell."""
    if fault.kind != "no-statement":
        return False
    written = _written(fault, experiment)
    return written is not None and ("//" in written[0] or "#" in written[0])


def _is_error(fault: Fault) -> bool:
    return KINDS.get(fault.kind, ("", "hint"))[1] == "error"


def _finding(fault: Fault, built: BuiltNetwork, experiment: Experiment) -> Finding:
    member = _member(fault, experiment)
    kind = fault.kind if member is None else "member"
    code, _ = KINDS[kind]
    message, better = _sentence(fault.message), None
    say = _SAID.get(kind)
    if member is not None:
        message, better = member
    elif say is not None:
        message, better = say(fault, message, experiment)
    severity: Severity | None = None
    if built.found is None and kind in _OUTSIDE:
        severity = "hint"
    if fault.kind == "renamed" and _is_group(fault, experiment):
        severity = "info"
    notes = [Note("It is called from here.", place) for place in reversed(fault.calls)]
    repair = None
    if better is not None:
        repair = Repair(f"Write '{better}'", [Change(fault.place, better)], safe=True)
    return Finding(code, fault.place, message, notes, repair, severity)


def _loses_nothing(fault: Fault, experiment: Experiment) -> bool:
    """Whether what is swallowed separates anyway."""
    written = _written(fault, experiment) if fault.kind == "swallowed" else None
    return written is not None and written[0] in (":", ",")


def _sentence(message: str) -> str:
    """A fault's message as those of other rules are: quotes, and a capital to begin with."""
    text = message.replace("`", "'")
    return text[:1].upper() + text[1:]


def _is_group(fault: Fault, experiment: Experiment) -> bool:
    """Whether the second name of a node is that of a group, as it often is."""
    written = _written(fault, experiment)
    return written is not None and written[0].lower() in GROUP_ARRAYS


def _renamed(fault: Fault, message: str, experiment: Experiment) -> Said:
    if not _is_group(fault, experiment):
        return message, None
    return f"{message} With parentheses around it, the group has the node and its name stays.", None


def _macro_around(place: Place, experiment: Experiment) -> Definition | None:
    """The innermost macro that a place is in."""
    found = None
    for text in ndl_texts(experiment):
        for macro in text.script.definitions():
            where = text.place(macro.start, macro.end)
            if where.source == place.source and where.start <= place.start < where.end:
                found = macro
    return found


def _written(fault: Fault, experiment: Experiment) -> tuple[str, NdlText] | None:
    """What stands at the place of a fault, and the text that it stands in."""
    for text in ndl_texts(experiment):
        for piece in text.script.text.pieces:
            if piece.source.name == fault.place.source:
                source = piece.source.text
                found = source[fault.place.start : fault.place.end]
                return found.decode("utf-8", "replace"), text
    return None


def _unknown_function(fault: Fault, message: str, experiment: Experiment) -> Said:
    written = _written(fault, experiment)
    if written is None:
        return message, None
    name = written[0]
    defined = macros(experiment)
    if name.lower() in defined:
        later = f"The macro '{name}' is defined only further down: a macro stands before its use."
        return later, None
    types = {one.lower(): one for one in NODE_TYPES}
    if name.lower() in types:
        return f"NDL has no function '{name}'; BrainScript has one.", None
    known = [one for function in FUNCTIONS.values() for one in (function.name, function.short)]
    near = nearest(name, [*filter(None, known), *(one.name.text for one in defined.values())])
    ask = f" Did you mean '{near}'?" if near else " A macro has to be defined before it is used."
    return f"There is no function or macro '{name}'.{ask}", near


def _member(fault: Fault, experiment: Experiment) -> Said | None:
    """What is to be said of a name with dots whose first part is the call of a macro here."""
    written = _written(fault, experiment) if fault.kind == "unknown-name" else None
    head, dot, rest = (written[0] if written is not None else "").partition(".")
    calls = dict(_calls_around(fault.place, experiment)) if dot else {}
    macro = macros(experiment).get(calls.get(head.lower(), ""))
    if macro is None or macro.body is None:
        return None
    names = list(_assigned(macro.body.statements))
    near = nearest(rest, names)
    ask = f"Did you mean '{head}.{near}'?" if near else f"It has {', '.join(names) or 'none'}."
    message = f"The macro '{macro.name.text}' has no '{rest}' that '{head}' could show. {ask}"
    return message, f"{head}.{near}" if near else None


def _calls_around(place: Place, experiment: Experiment) -> Iterator[tuple[str, str]]:
    """The names of calls where a place is, with the names of what they call, in lower case."""
    for statement in _statements_around(place, experiment):
        if not isinstance(statement, Assignment) or statement.name is None:
            continue
        if isinstance(statement.value, Call):
            yield statement.name.text.lower(), statement.value.name.text.lower()


def _unknown_name(fault: Fault, message: str, experiment: Experiment) -> Said:
    written = _written(fault, experiment)
    if written is None:
        return message, None
    name, _ = written
    names = list(dict.fromkeys(_names_around(fault.place, experiment)))
    head, dot, rest = name.partition(".")
    near = nearest(head, names)
    if near is None or near.lower() == head.lower():
        return message, None
    better = f"{near}{dot}{rest}"
    return f"{message} Did you mean '{better}'?", better


def _names_around(place: Place, experiment: Experiment) -> Iterator[str]:
    """The names that are defined in the macro, or outside of macros, where a place is."""
    macro = _macro_around(place, experiment)
    if macro is not None:
        yield from (one.text for one in macro.parameters)
    yield from _assigned(_statements_around(place, experiment))


def _statements_around(place: Place, experiment: Experiment) -> tuple[Statement, ...]:
    """The statements of the macro that a place is in, or all outside of macros."""
    macro = _macro_around(place, experiment)
    if macro is not None and macro.body is not None:
        return macro.body.statements
    texts = ndl_texts(experiment)
    return tuple(statement for text in texts for statement in text.script.statements)


def _assigned(statements: tuple[Statement, ...]) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, Assignment) and statement.name is not None:
            yield statement.name.text


_SAID: dict[str, Callable[[Fault, str, Experiment], Said]] = {
    "unknown-function": _unknown_function,
    "unknown-name": _unknown_name,
    "renamed": _renamed,
}
