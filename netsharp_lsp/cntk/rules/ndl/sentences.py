"""The messages on faults that the evaluation of NDL found: with intended names, and with places of
definitions.  Knows no code of a rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from netsharp_lsp.cntk.ndl.functions import FUNCTIONS, GROUP_ARRAYS
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from netsharp_lsp.cntk.rules.findings import Note, Place
from netsharp_lsp.cntk.rules.ndl.texts import macros, ndl_texts
from netsharp_lsp.cntk.vocabulary import LAYOUTS, NDL_STARTS, PLAIN_TRUTHS
from netsharp_lsp.diagnostics.nearest import Candidates, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.ndl.syntax import Definition, Statement
    from netsharp_lsp.cntk.networks.faults import BuildingFault
    from netsharp_lsp.cntk.rules.ndl.texts import NdlText
    from netsharp_lsp.cntk.run.experiment import Experiment


class NdlMessage(NamedTuple):
    """A message, the replacement of the place, and notes; `kind` is the fault's, or a better one.
    `keeps`: the replacement does not change what CNTK computes from a valid text.
    """

    kind: str
    message: str
    better: str | None = None
    notes: tuple[Note, ...] = ()
    keeps: bool = True


#: The values of options that take a word, by their names in lower case.
VALUES = {
    "init": NDL_STARTS,
    "imagelayout": tuple(LAYOUTS),
    "engine": ("cntk", "cudnn"),
}


def message_on(fault: BuildingFault, experiment: Experiment) -> NdlMessage:
    """Return the best message on a fault."""
    text = fault.message.rstrip(".")
    plain = NdlMessage(fault.kind, f"{text[:1].upper()}{text[1:]}.")
    written = written_at(fault.place, experiment)
    write = _SENTENCES.get(fault.kind)
    if write is None or "$" in written or not written:
        return plain
    return write(written, fault.place, experiment, plain)


def written_at(place: Place, experiment: Experiment) -> str:
    """Return the text at a place of NDL, empty if it is unknown."""
    for text in ndl_texts(experiment):
        for piece in text.script.text.pieces:
            if piece.source.name == place.source:
                return piece.source.text[place.start : place.end].decode("utf-8", "replace")
    return ""


def is_group(place: Place, experiment: Experiment) -> bool:
    """Return whether the text at a place is the name of a node group."""
    return written_at(place, experiment).lower() in GROUP_ARRAYS


def _unknown_function(
    name: str, place: Place, experiment: Experiment, plain: NdlMessage
) -> NdlMessage:
    defined = macros(experiment)
    if name.lower() in defined:
        later = f"The macro '{name}' is defined only further down: define a macro before its use."
        return NdlMessage(plain.kind, later, None, tuple(_definition(name, experiment)))
    types = {one.lower(): one for one in NODE_TYPES}
    if name.lower() in types:
        return NdlMessage(plain.kind, f"NDL has no function '{name}', but BrainScript has.")
    known = [
        one
        for function in FUNCTIONS.values()
        if experiment.has(function.known)
        for one in (function.name, function.short)
    ]
    near = nearest(name, [*filter(None, known), *(one.name.text for one in defined.values())])
    if near is not None:
        ask = f"Did you mean '{near}'?"
    else:
        ask = "A macro is defined before its use, here or in a file that 'ndlMacros' names."
    return NdlMessage(plain.kind, f"There is no function or macro '{name}'. {ask}", near)


def _unknown_name(name: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    head, dot, rest = name.partition(".")
    calls = dict(_calls_around(place, experiment)) if dot else {}
    macro = macros(experiment).get(calls.get(head.lower(), ""))
    if macro is not None and macro.body is not None:
        return _member(head, rest, macro, experiment)
    near = nearest(head, _names_around(place, experiment))
    if near is None or near.lower() == head.lower():
        return plain
    better = f"{near}{dot}{rest}"
    return plain._replace(message=f"{plain.message} Did you mean '{better}'?", better=better)


def _member(head: str, rest: str, macro: Definition, experiment: Experiment) -> NdlMessage:
    names = list(_assigned(macro.body.statements if macro.body is not None else ()))
    near = nearest(rest, names)
    ask = f"Did you mean '{head}.{near}'?" if near else f"It has {', '.join(names) or 'none'}."
    message = f"The macro '{macro.name.text}' of '{head}' has no member '{rest}'. {ask}"
    notes = tuple(_definition(macro.name.text, experiment))
    return NdlMessage("member", message, f"{head}.{near}" if near else None, notes)


def _reassigned(name: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    """Return the message with the place where the name got its value."""
    for text in ndl_texts(experiment):
        for statement, _ in text.assignments():
            word = statement.name
            if word is None or word.text.lower() != name.lower():
                continue
            first = text.place(word.start, word.end)
            if first.source == place.source and first != place:
                note = Note(f"'{word.text}' gets its value here.", first)
                return plain._replace(notes=(note,))
    return plain


def _redefined(name: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    notes = [note for note in _definition(name, experiment) if note.place != place]
    return plain._replace(notes=tuple(notes))


def _miscounted(call: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    name = call.partition("(")[0].strip()
    return plain._replace(notes=tuple(_definition(name, experiment)))


def _renamed(name: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    if not is_group(place, experiment):
        return plain
    keep = "With parentheses around it, the group has the node and its name stays."
    return plain._replace(message=f"{plain.message} {keep}")


def _swallowed(sign: str, place: Place, experiment: Experiment, plain: NdlMessage) -> NdlMessage:
    """Return the message with what CNTK reads instead."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            at = call.swallowed
            if at is None or text.place(at, at + 1) != place or not call.arguments:
                continue
            first = call.arguments[0]
            read = text.script.text.text[first.start : first.end].decode("utf-8", "replace")
            more = ", ..." if len(call.arguments) > 1 else ""
            message = (
                f"'{sign}' directly after a bracket is read as the separator and "
                f"dropped: this is read as {call.name.text}({read}{more}). Write a blank before it."
            )
            return NdlMessage(plain.kind, message, f" {sign}", keeps=False)
    return plain


def _option_value(
    written: str, place: Place, experiment: Experiment, plain: NdlMessage
) -> NdlMessage:
    """Return the message with the intended word, if the option takes a word."""
    name, sign, value = written.partition("=")
    bare = value.strip().strip('"')
    known = VALUES.get(name.strip().lower(), PLAIN_TRUTHS)
    near = nearest(bare, known) if sign and bare else None
    if near is None:
        return plain
    better = f"{name}={value.replace(bare, near, 1)}"
    return plain._replace(message=f"{plain.message} Did you mean '{near}'?", better=better)


def _definition(name: str, experiment: Experiment) -> Iterator[Note]:
    """Yield a note on where a macro is defined: the first of its name."""
    for text in ndl_texts(experiment):
        for macro in text.script.definitions():
            if macro.name.text.lower() == name.lower():
                place = text.place(macro.name.start, macro.name.end)
                yield Note(f"The macro '{macro.name.text}' is defined here.", place)
                return


def _calls_around(place: Place, experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield the names of calls where a place is, with the names of what they call, in lower
    case.
    """
    for statement in _statements_around(place, experiment):
        if not isinstance(statement, NdlAssignment) or statement.name is None:
            continue
        if isinstance(statement.value, NdlCall):
            yield statement.name.text.lower(), statement.value.name.text.lower()


#: The names that are defined in a macro, or outside of macros, each once.
_NAMES: WeakKeyDictionary[Experiment, dict[Definition | None, Candidates]]
_NAMES = WeakKeyDictionary()


def _names_around(place: Place, experiment: Experiment) -> Candidates:
    """Return the names that are defined in the macro, or outside of macros, where a place is."""
    known = _NAMES.setdefault(experiment, {})
    found = _macro_around(place, experiment)
    macro = None if found is None else found[1]
    if macro not in known:
        parameters = () if macro is None else (one.text for one in macro.parameters)
        assigned = _assigned(_statements_around(place, experiment))
        known[macro] = Candidates(dict.fromkeys((*parameters, *assigned)))
    return known[macro]


def _statements_around(place: Place, experiment: Experiment) -> tuple[Statement, ...]:
    """Return the statements of the macro that a place is in, or all outside of macros."""
    found = _macro_around(place, experiment)
    if found is not None and found[1].body is not None:
        return found[1].body.statements
    texts = ndl_texts(experiment)
    return tuple(statement for text in texts for statement in text.script.statements)


def _macro_around(place: Place, experiment: Experiment) -> tuple[NdlText, Definition] | None:
    """Return the innermost macro that a place is in, with its text."""
    found = None
    for text in ndl_texts(experiment):
        for macro in text.script.definitions():
            where = text.place(macro.start, macro.end)
            if where.source == place.source and where.start <= place.start < where.end:
                found = text, macro
    return found


def _assigned(statements: tuple[Statement, ...]) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, NdlAssignment) and statement.name is not None:
            yield statement.name.text


_SENTENCES: dict[str, Callable[[str, Place, Experiment, NdlMessage], NdlMessage]] = {
    "unknown-function": _unknown_function,
    "unknown-name": _unknown_name,
    "reassigned": _reassigned,
    "redefined": _redefined,
    "macro-arity": _miscounted,
    "renamed": _renamed,
    "swallowed": _swallowed,
    "option-value": _option_value,
}
