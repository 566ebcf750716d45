"""Rules on calls in a program of BrainScript whose function is known without evaluation."""

from __future__ import annotations

from itertools import pairwise

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.reading.syntax import Name, Select, Text
from netsharp_lsp.cntk.library.versions import of_parameter, of_start
from netsharp_lsp.cntk.rules import PROGRAM, rule
from netsharp_lsp.cntk.rules.brainscript.facts import severity
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair
from netsharp_lsp.cntk.rules.proposals import NONE, MeantWord, proposal
from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.cntk.vocabulary import LAYOUTS, STARTS, TAKEN_BY_ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Signature
    from netsharp_lsp.cntk.brainscript.reading.syntax import Argument
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.programs import BrainScriptProgram
    from netsharp_lsp.cntk.versions import Releases

#: Functions that take one list, and several arguments in other languages.
OF_LISTS = frozenset(("RowStack", "Splice", "CNTK2.Splice", "Sequential"))
#: Functions for which CNTK has no node type when it builds networks from BrainScript.
FAILING = frozenset(("Shift", "TimeReverse", "GMMLogLikelihood"))
PARAMETERS = frozenset(("Parameter", "ParameterTensor"))


@rule("BS022", "error", on=PROGRAM)
def arity(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report calls with too few or too many positional arguments."""
    for application, signature in _known(program):
        call = application.call
        given = [one for one in call.arguments if not one.name]
        wanted = len(signature.required)
        if len(given) == wanted:
            continue
        names = f" ({', '.join(signature.required)})" if wanted else ""
        count = f"{len(given)} {'is' if len(given) == 1 else 'are'}"
        message = (
            f"{_called(program, application)} takes {_counted(wanted)} by position{names}, and"
            f" {count} given."
        )
        repair = None
        if signature.name in OF_LISTS and len(given) > 1:
            message += " It takes one list: write 'a : b : c'."
            repair = _joined(program, given)
        elif signature.name == "Parameter" and len(given) == 1:
            message += " A vector is 'ParameterTensor {n}', a column 'Parameter (n, 1)'."
        place = program.outside(call.place)
        yield Finding(
            "BS022",
            program.outside(call.function.place),
            message,
            _declared(program, signature),
            repair,
            severity(program, place, application),
        )


def _called(program: BrainScriptProgram, application: Application) -> str:
    """Return the function of a call as it is written there, for a message."""
    function = application.call.function
    if not isinstance(function, Name | Select):
        return "This function"
    source, start, end = function.place
    return f"'{program.data(source)[start:end].decode('utf-8', 'replace')}'"


def _counted(count: int) -> str:
    return f"{count or 'no'} argument{'s' * (count != 1)}"


def _joined(program: BrainScriptProgram, given: list[Argument]) -> Repair:
    """Return a fix that writes the arguments as a list."""
    changes = []
    for one, other in pairwise(given):
        between = one.place._replace(start=one.place.end, end=other.place.start)
        changes.append(Change(program.outside(between), " : "))
    return Repair("Make a list of them", changes, safe=False)


def _known(program: BrainScriptProgram) -> Iterator[tuple[Application, Signature]]:
    for application in program.program.applications:
        raise_if_cancelled()
        signature = program.program.signature(application)
        if signature is not None:
            yield application, signature


def _declared(program: BrainScriptProgram, signature: Signature) -> list[Note]:
    declaration = signature.declaration
    if declaration is None or declaration.library:
        return []
    return [Note(f"'{declaration.name}' is defined here.", program.outside(declaration.place))]


@rule("BS023", "error", on=PROGRAM)
def unknown_arguments(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report named arguments that the function does not have."""
    for application, signature in _known(program):
        for one in application.call.arguments:
            if not one.name or one.name in signature.named or _is_of_all(signature, one.name):
                continue
            place = program.outside(one.value.place)
            known = {name: _releases(signature, name) for name in signature.named}
            meant = proposal(one.name, known.items(), experiment)
            names = [name for name, releases in known.items() if experiment.has(releases)]
            yield Finding(
                "BS023",
                program.outside(_name_of(one)),
                _unknown(_called(program, application), signature, one.name, meant, names),
                _declared(program, signature),
                _respelt(program, signature, one, meant.word),
                severity(program, place, application),
            )


def _is_of_all(signature: Signature, name: str) -> bool:
    """Return whether it is a library function, and an argument that all of these accept."""
    declaration = signature.declaration
    return name in TAKEN_BY_ALL and declaration is not None and declaration.library


def _name_of(one: Argument) -> Place:
    start = one.place.start
    return one.place._replace(end=start + len(one.name.encode()))


def _releases(signature: Signature, name: str) -> Releases:
    """Return the releases in which a function has a parameter."""
    declaration = signature.declaration
    if declaration is None or not declaration.library:
        return ALWAYS
    return of_parameter(signature.name, name)


def _unknown(
    function: str, signature: Signature, name: str, meant: MeantWord, names: Sequence[str]
) -> str:
    if name in signature.required:
        return f"{function} takes '{name}' by position, not by name: write the value alone."
    if meant != NONE:
        return f"{function} has no optional parameter '{name}'.{meant.sentence}"
    known = ", ".join(f"'{one}'" for one in names) or "none at all"
    return f"{function} has no optional parameter '{name}'; it has {known}."


def _respelt(
    program: BrainScriptProgram, signature: Signature, one: Argument, meant: str | None
) -> Repair | None:
    if meant is None or one.name in signature.required:
        return None
    return Repair(f"Write '{meant}'", [Change(program.outside(_name_of(one)), meant)], safe=False)


@rule("BS024", "error", on=PROGRAM)
def given_twice(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report arguments that are given twice by the same name."""
    for application in program.program.applications:
        first: dict[str, Argument] = {}
        for one in application.call.arguments:
            if not one.name:
                continue
            if one.name not in first:
                first[one.name] = one
                continue
            place = program.outside(one.place)
            yield Finding(
                "BS024",
                place,
                f"'{one.name}' is given twice in this call. Remove one of them.",
                [Note("It is first given here.", program.outside(first[one.name].place))],
                severity=severity(program, place, application),
            )


@rule("BS026", "error", on=PROGRAM)
def failing_functions(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report library functions that no network can use."""
    for application, signature in _known(program):
        declaration = signature.declaration
        if declaration is None or not declaration.library or signature.name not in FAILING:
            continue
        place = program.outside(application.call.place)
        yield Finding(
            "BS026",
            program.outside(application.call.function.place),
            f"{_called(program, application)} always fails here: the library has it, but"
            " CNTK cannot create its node when it builds a network from BrainScript.",
            severity=severity(program, place, application),
        )


@rule("BS030", "error", on=PROGRAM)
def unknown_starts(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report `init` with an unknown way to initialize a parameter."""
    failed = {fault.word for fault in program.built.faults}
    for application, text in unknown_texts(program):
        place = program.outside(text.place)
        meant = proposal(text.value, ((word, of_start(word)) for word in STARTS), experiment)
        known = [word for word in STARTS if experiment.has(of_start(word))]
        word = meant.word
        repair = Repair(f"Write '{word}'", [Change(place, f"'{word}'")], safe=False)
        yield Finding(
            "BS030",
            place,
            f"'{text.value}' is not a way to initialize a parameter"
            + (f": did you mean '{word}'?" if word else f"; there are {', '.join(known)}.")
            + meant.other,
            repair=repair if word else None,
            severity=None if text.value in failed else severity(program, place, application),
        )


def unknown_texts(program: BrainScriptProgram) -> Iterator[tuple[Application, Text]]:
    """Yield the calls of library functions with such a string, each with it."""
    for application, signature in _known(program):
        declaration = signature.declaration
        one = _text_of(application, "init")
        if declaration is None or not declaration.library or one is None:
            continue
        text = one.value
        if isinstance(text, Text) and text.value and text.value not in STARTS:
            yield application, text


def _text_of(application: Application, name: str) -> Argument | None:
    return next((one for one in application.call.arguments if one.name == name), None)


@rule("BS031", "warning", on=PROGRAM)
def ignored_values(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report `value` next to an `init` that does not read it."""
    for application, signature in _known(program):
        one = _text_of(application, "value")
        if signature.name not in PARAMETERS or one is None:
            continue
        start = _text_of(application, "init")
        if start is not None and (
            not isinstance(start.value, Text) or start.value.value == "fixedValue"
        ):
            continue
        place = program.outside(_name_of(one))
        yield Finding(
            "BS031",
            place,
            "'value' needs init='fixedValue': without it the parameter starts at random."
            " Write 'initValue'.",
            repair=Repair("Write 'initValue'", [Change(place, "initValue")], safe=False)
            if start is None
            else None,
        )


@rule("BS064", "info", on=PROGRAM)
def legacy_layout(program: BrainScriptProgram, experiment: Experiment) -> Iterator[Finding]:
    """Report image layouts that only old networks use."""
    for application, _ in _known(program):
        one = _text_of(application, "imageLayout")
        if one is None or not isinstance(one.value, Text):
            continue
        if LAYOUTS.get(one.value.value) == "HWC":
            yield Finding(
                "BS064",
                program.outside(one.value.place),
                f"'{one.value.value}' is channels last ([C x W x H] in CNTK); convolution on a GPU,"
                " and every pooling, need channels first: 'CHW' ([W x H x C]), the default.",
            )
