"""Checks the parameters of a MEL call against those of its function; knows no model."""

from __future__ import annotations

from netsharp_lsp.cntk.mel.faults import EditFault, Replacement
from netsharp_lsp.cntk.mel.functions import (
    ANY,
    FUNCTIONS,
    INCLUDE_DATA,
    MAKERS,
    NAMES,
    fits,
    meant,
    possible,
)
from netsharp_lsp.cntk.mel.reading import dropped_character, parameter, word
from netsharp_lsp.cntk.vocabulary import TRUTHS
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.functions import Function, Option
    from netsharp_lsp.cntk.mel.reading import Statement


def function_of(statement: Statement) -> Function | None:
    """Return the MEL function that a statement calls, None for an unknown one."""
    if statement.function is None:
        return None
    name = word(statement.function)
    if statement.kind == "model":
        return next(one for one in FUNCTIONS if one.name == f"{_maker(name)}WithName")
    return meant(name)


def _maker(name: str) -> str:
    return next(maker for maker in MAKERS if fits(name, maker))


def unknown_function(statement: Statement) -> EditFault:
    """Return the fault of a call of an unknown function."""
    assert statement.function is not None
    name = word(statement.function)
    short = [full for full in NAMES if name and full.lower().startswith(name.lower())]
    if short:
        need = len(short[0]) // 2
        message = (
            f"MEL has no function '{name}': a name may be abbreviated to half its length, which is "
            f"{need} letters of '{short[0]}'. Write '{short[0]}'."
        )
        return EditFault(
            "unknown-function", message, statement.function, _named(statement, short[0])
        )
    # RenameNode means Rename, although RemoveNode is nearer by its letters.
    longer = [full for full in NAMES if name.lower().startswith(full.lower())]
    near = max(longer, key=len) if longer else nearest(name, (*MAKERS, *NAMES))
    ask = f" Did you mean '{near}'?" if near else f" It has {', '.join(NAMES)}."
    message = f"MEL has no function '{name}'; the edit stops here.{ask}"
    repair = _named(statement, near) if near else None
    return EditFault("unknown-function", message, statement.function, repair)


def _named(statement: Statement, name: str) -> Replacement:
    assert statement.function is not None
    return Replacement(f"Write '{name}'", statement.function, name, safe=True)


def of_names(statement: Statement, function: Function) -> Iterator[EditFault]:
    """Report an abbreviated function name."""
    assert statement.function is not None
    name = word(statement.function)
    full = _maker(name) if statement.kind == "model" else function.name
    proper = (full, function.alias) if statement.kind == "call" else (full,)
    if name.lower() in {one.lower() for one in proper} or (name and name in MAKERS):
        return
    if statement.kind == "call" and not fits(name, full):
        full = function.alias
    others = [one for one in possible(name) if one not in proper and one != full]
    also = f", though it could be '{others[0]}', too" if others else ""
    yield EditFault(
        "shortened",
        f"'{name}' is read as '{full}'{also}. Write the full name.",
        statement.function,
        _named(statement, full),
    )


def of_count(statement: Statement, function: Function) -> Iterator[EditFault]:
    """Report too few or too many parameters, or some without an effect."""
    assert statement.list is not None
    named = statement.kind == "model"
    count = len(statement.arguments) + named
    if function.required <= count <= function.most:
        yield from _ignored(statement, function)
        return
    form = function.form
    if named:
        maker = _maker(word(statement.function)) if statement.function is not None else ""
        form = "CreateModel()" if maker == "CreateModel" else "LoadModel(file, [format=...])"
    given = count - named
    message = (
        f"{given or 'No'} parameter{'' if given == 1 else 's'} here; the edit stops. The form is "
        f"{form}."
    )
    yield EditFault("count", message, statement.list)


def _ignored(statement: Statement, function: Function) -> Iterator[EditFault]:
    if function.option is None or function.most == ANY:
        return
    first = function.required - (statement.kind == "model")
    for argument in statement.arguments[first:]:
        if parameter(argument) is None:
            option = function.option.names[-1]
            message = (
                f"'{word(argument)}' has no effect: a further parameter of {function.name} is "
                f"written as {option}=..."
            )
            yield EditFault("ignored", message, argument)


def of_options(statement: Statement, function: Function) -> Iterator[EditFault]:
    """Report an unknown option, or one with an invalid value."""
    first = function.required - (statement.kind == "model")
    if function.option is None:
        return
    for argument in statement.arguments[first : function.most]:
        found = parameter(argument)
        if found is None:
            continue
        name = word(found.name)
        if not any(fits(name, proper) for proper in function.option.names):
            yield _unknown_option(found.name, function)
        else:
            yield from _of_value(function.option, found.value)


def _unknown_option(name: Traced, function: Function) -> EditFault:
    assert function.option is not None
    proper = function.option.names[-1]
    message = f"{function.name} has no option '{word(name)}'; the edit stops. It has '{proper}'."
    repair = Replacement(f"Write '{proper}'", name, proper, safe=True)
    return EditFault("option", message, name, repair)


def _of_value(option: Option, value: Traced) -> Iterator[EditFault]:
    text = word(value)
    if "$" in text:
        return
    name = option.names[-1]
    if option is INCLUDE_DATA:
        if text not in TRUTHS:
            yield EditFault("option-value", f"'{text}' is neither true nor false.", value)
        return
    if not option.values:
        if not text:
            yield EditFault("option-value", f"'{name}' needs the name of a section.", value)
        return
    if not any(fits(text, allowed) for allowed in option.values):
        allowed = " or ".join(f"'{one}'" for one in option.values)
        near = nearest(text, option.values)
        repair = Replacement(f"Write '{near}'", value, near, safe=True) if near else None
        message = f"'{name}' cannot be '{text}'; the edit stops. Use {allowed}."
        yield EditFault("option-value", message, value, repair)


def of_separator(statement: Statement) -> Iterator[EditFault]:
    """Report that the first character of the parameters is read as a separator."""
    lost = dropped_character(statement.list) if statement.list is not None else None
    if lost is None or statement.list is None:
        return
    sign = word(lost)
    first = word(statement.arguments[0]) if statement.arguments else ""
    message = (
        f"'{sign}' directly after the bracket is read as the separator of parameters and "
        f"dropped: the first parameter is '{first}'. Write a blank before it."
    )
    repair = Replacement("Put a blank before it", lost, f" {sign}", safe=False)
    yield EditFault("separator", message, lost, repair)
