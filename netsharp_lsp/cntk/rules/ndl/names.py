"""Names in texts of NDL: misspelt, unused, or with an unexpected meaning."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ndl.functions import GROUP_ARRAYS, function_of
from netsharp_lsp.cntk.ndl.syntax import Array, NdlAssignment, NdlCall, Option, Word, values
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.ndl.texts import Fix, ndl_texts, options
from netsharp_lsp.cntk.vocabulary import KEYWORDS
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ndl.syntax import Body, Definition, Statement, Value
    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.rules.ndl.texts import NdlText
    from netsharp_lsp.cntk.run.experiment import Experiment

#: The arrays that put nodes into groups, as they are usually spelt.
ARRAYS = ("featureNodes", "labelNodes", "criterionNodes", "evalNodes", "outputNodes")
#: BrainScript's name of the array of evaluations.
_EVALUATIONS = "evaluationnodes"
_INPUTS = frozenset(("InputValue", "SparseInputValue", "ImageInput", "SparseImageInput"))
_LABEL, _FEATURE = re.compile(r"label|\Alabs?\Z", re.IGNORECASE), re.compile(r"feat", re.IGNORECASE)
_BUILDER_KEYS = frozenset(("ndlmacros", "networkdescription", "randomseedoffset"))


@rule("ND028", "warning", on=EXPERIMENT, language="ndl")
def misspelt_groups(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report arrays with names close to those of groups: their nodes are in no group."""
    for text in ndl_texts(experiment):
        for statement, macro in text.assignments():
            name = statement.name
            if macro is not None or name is None or not isinstance(statement.value, Array):
                continue
            near = _group_meant(name.text)
            if near is None:
                continue
            if name.text.lower() == _EVALUATIONS:
                why = "is a name of BrainScript; NDL knows only 'evalNodes'"
            else:
                why = "is not a node group"
            message = f"'{name.text}' {why}: its nodes are in no group. Did you mean '{near}'?"
            fix = Fix(f"Write '{near}'", near, False, name.start, name.end)
            yield text.finding("ND028", name, message, fix)


def _group_meant(name: str) -> str | None:
    lowered = name.lower()
    if lowered in GROUP_ARRAYS:
        return None
    if lowered == _EVALUATIONS:
        return "evalNodes"
    return nearest(name, ARRAYS) if lowered.endswith(("node", "nodes")) else None


@rule("ND029", "warning", on=EXPERIMENT, language="ndl")
def inputs_in_the_wrong_group(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report inputs that are named as labels and tagged as features, or the other way round."""
    for text in ndl_texts(experiment):
        for statement, _ in text.assignments():
            call, name = statement.value, statement.name
            if name is None or not isinstance(call, NdlCall):
                continue
            function = function_of(call.name.text)
            if function is None or function.name not in _INPUTS:
                continue
            for option in options(call):
                yield from _wrong_group(text, name, option)


def _wrong_group(text: NdlText, name: Word, option: Option) -> Iterator[Finding]:
    value = option.value
    if option.name.text.lower() != "tag" or not isinstance(value, Word):
        return
    label, feature = _LABEL.search(name.text), _FEATURE.search(name.text)
    if label is None and feature is not None and value.text.lower() == "label":
        meant = "feature"
    elif feature is None and label is not None and value.text.lower() == "feature":
        meant = "label"
    else:
        return
    message = (
        f"The input '{name.text}' is tagged '{value.text}', but its name is that of a {meant}. "
        f"If it is one, tag it '{meant}'."
    )
    fix = Fix(f"Tag it '{meant}'", meant, False, value.start, value.end)
    yield text.finding("ND029", value, message, fix)


@rule("ND030", "hint", on=EXPERIMENT, language="ndl")
def other_case(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report names that are not capitalized as in their definition."""
    shared = _shared(experiment)
    for text in ndl_texts(experiment):
        outer = _spellings(_outer(text, shared), None)
        seen: set[tuple[str, str]] = set()
        for statement, macro in text.assignments():
            known = outer
            if macro is not None and macro.body is not None:
                known = _spellings(macro.body.statements, macro)
            for word in _used(statement.value):
                head = word.text.partition(".")[0]
                spelt = known.get(head.lower(), head)
                if spelt == head or (head, spelt) in seen:
                    continue
                seen.add((head, spelt))
                message = (
                    f"'{head}' is defined as '{spelt}'. NDL takes them for the same name; "
                    "BrainScript and patterns of MEL do not."
                )
                end = word.start + len(head.encode())
                fix = Fix(f"Write '{spelt}'", spelt, True, word.start, end)
                yield text.finding("ND030", word._replace(end=end), message, fix)


def _shared(experiment: Experiment) -> list[NdlText]:
    """Return the texts that share their variables: all except files of macros and edits."""
    return [text for text in ndl_texts(experiment) if text.role not in ("macros", "edit")]


def _outer(text: NdlText, shared: list[NdlText]) -> tuple[Statement, ...]:
    """Return the statements outside of macros whose variables are in scope in a text."""
    if text not in shared:
        return text.script.statements
    return tuple(statement for one in shared for statement in one.script.statements)


def _spellings(statements: tuple[Statement, ...], macro: Definition | None) -> dict[str, str]:
    found = {word.text.lower(): word.text for word in macro.parameters} if macro else {}
    for statement in statements:
        if isinstance(statement, NdlAssignment) and statement.name is not None:
            found.setdefault(statement.name.text.lower(), statement.name.text)
    return found


def _used(value: Value) -> Iterator[Word]:
    """Yield the words of a value that are looked up: no names of functions and options, no tags."""
    for one in values(value):
        if isinstance(one, Word) and not one.is_number and not one.is_hole and not one.quoted:
            yield one


@rule("ND031", "hint", on=EXPERIMENT, language="ndl")
def unused_numbers(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report named numbers that are not used."""
    shared = _shared(experiment)
    for text in ndl_texts(experiment):
        if text in shared:
            used = _all_used(_outer(text, shared))
            yield from _unused_numbers(text, text.script.statements, used, None)
        for macro in text.script.definitions():
            if macro.body is not None:
                statements = macro.body.statements
                yield from _unused_numbers(text, statements, _all_used(statements), macro)


def _unused_numbers(
    text: NdlText, statements: tuple[Statement, ...], used: set[str], macro: Definition | None
) -> Iterator[Finding]:
    for statement in statements:
        if not isinstance(statement, NdlAssignment) or statement.name is None:
            continue
        value, name = statement.value, statement.name
        is_number = isinstance(value, Word) and value.is_number and not value.is_hole
        if is_number and name.text.lower() not in used and "." not in name.text:
            where = f" in the macro '{macro.name.text}'" if macro is not None else ""
            message = f"'{name.text}' is never used{where}."
            yield text.finding("ND031", name, message)


def _all_used(statements: tuple[Statement, ...]) -> set[str]:
    """Return all names that statements use, with and without members."""
    found: set[str] = set()
    for statement in statements:
        if not isinstance(statement, NdlAssignment):
            continue
        for word in _used(statement.value):
            found |= {word.text.lower(), word.text.partition(".")[0].lower()}
    return found


@rule("ND032", "hint", on=EXPERIMENT, language="ndl")
def unused_parameters(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report parameters of macros that their body does not use."""
    for text in ndl_texts(experiment):
        for macro in text.script.definitions():
            if macro.body is None:
                continue
            used = _all_used(macro.body.statements)
            for word in macro.parameters:
                if word.text.lower() not in used and "=" not in word.text and not word.is_hole:
                    message = (
                        f"The macro '{macro.name.text}' does not use its parameter '{word.text}'."
                    )
                    yield text.finding("ND032", word, message)


@rule("ND058", "hint", on=EXPERIMENT, language="ndl")
def unused_macros(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report macros of a network that are never called; files of macros are shared by networks."""
    called = {
        value.name.text.lower() for text in ndl_texts(experiment) for value, _ in text.calls()
    }
    for text in _shared(experiment):
        for macro in text.script.definitions():
            if not text.alone and macro.name.text.lower() not in called:
                yield text.finding("ND058", macro.name, f"'{macro.name.text}' is never called.")


@rule("ND059", "warning", on=EXPERIMENT, language="ndl")
def keys_of_the_builder(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report keys of a builder in a text of NDL, where they are variables."""
    for text in ndl_texts(experiment):
        for statement, macro in text.assignments():
            name = statement.name
            if macro is None and name is not None and name.text.lower() in _BUILDER_KEYS:
                message = (
                    f"'{name.text}' is a key of the NDLNetworkBuilder in a configuration; here it "
                    "is a variable that is never read. Move it to the configuration."
                )
                yield text.finding("ND059", name, message)


@rule("ND033", "warning", on=EXPERIMENT, language="ndl")
def assigned_parameters(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report parameters of macros that are assigned another value: the call's value wins."""
    for text in ndl_texts(experiment):
        for statement, macro in text.assignments():
            name = statement.name
            if macro is None or name is None:
                continue
            lowered = name.text.lower()
            formal = next((one for one in macro.parameters if one.text.lower() == lowered), None)
            if formal is not None:
                message = (
                    f"'{name.text}' is a parameter of '{macro.name.text}': this creates "
                    "a node, but the name still refers to the call's argument. Use another name."
                )
                notes = (("It is a parameter here.", formal),)
                yield text.finding("ND033", name, message, notes=notes)


@rule("ND034", "info", on=EXPERIMENT, language="ndl")
def results_by_name(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report macros with a variable of their own name that is not the last one: it is the
    result.
    """
    for text in ndl_texts(experiment):
        for macro in text.script.definitions():
            found = _own_name(macro.body, macro.name.text) if macro.body is not None else None
            if found is not None and found.name is not None:
                message = (
                    f"'{found.name.text}' has the name of its macro and is therefore the result, "
                    "not the last statement."
                )
                yield text.finding("ND034", found.name, message)


def _own_name(body: Body, name: str) -> NdlAssignment | None:
    assigned = [one for one in body.statements if isinstance(one, NdlAssignment)]
    for statement in assigned[:-1]:
        if statement.name is not None and statement.name.text.lower() == name.lower():
            return statement
    return None


@rule("ND035", "hint", on=EXPERIMENT, language="ndl")
def words_of_brainscript(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report names that are reserved words of BrainScript."""
    for text in ndl_texts(experiment):
        for statement, _ in text.statements():
            name = statement.name
            if name is not None and name.text in KEYWORDS and function_of(name.text) is None:
                message = (
                    f"'{name.text}' is a reserved word of BrainScript: there the name has to be "
                    "another one."
                )
                yield text.finding("ND035", name, message)


@rule("ND036", "hint", on=EXPERIMENT, language="ndl")
def short_names(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report short names of functions, which BrainScript lacks, once per name and text."""
    for text in ndl_texts(experiment):
        found: dict[str, list[NdlCall]] = {}
        for call, _ in text.calls():
            function = function_of(call.name.text)
            if function is None or not function.short or function.short in _KEPT:
                continue
            if call.name.text.lower() == function.short.lower():
                found.setdefault(function.name, []).append(call)
        for name, calls in found.items():
            yield _short_name(text, name, calls)


#: Short names that BrainScript has, too.
_KEPT = frozenset(("Input", "SparseInput", "Parameter", "ReLU", "Delay", "ErrorPrediction"))


def _short_name(text: NdlText, name: str, calls: list[NdlCall]) -> Finding:
    first = calls[0].name
    more = f" ({len(calls)} times here)" if len(calls) > 1 else ""
    message = f"'{first.text}' is short for '{name}'{more}; BrainScript has only the full name."
    fix = Fix(f"Write '{name}'", name, True, first.start, first.end)
    return text.finding("ND036", first, message, fix)
