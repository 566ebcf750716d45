"""Options of NDL's calls: those that are silently ignored, and old spellings."""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import (
    FUNCTIONS,
    ONLY_2D,
    ONLY_ND,
    function_of,
)
from netsharp_lsp.cntk.ndl.syntax import NdlCall, Word, values
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.ndl.texts import Fix, macros, ndl_texts, options
from netsharp_lsp.cntk.vocabulary import FALSE, TRUTHS
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ndl.functions import NdlFunction
    from netsharp_lsp.cntk.ndl.syntax import Definition, Option
    from netsharp_lsp.cntk.rules.findings import Finding
    from netsharp_lsp.cntk.rules.ndl.texts import NdlText
    from netsharp_lsp.cntk.run.experiment import Experiment

#: The option that every call takes.
TAG = "tag"
#: Names of options in newer texts, with those in NDL.
NEWER = {"defaulthiddenactivation": "defaultHiddenActivity"}
#: Older options that determine whether a parameter is trained.
GRADIENT = frozenset(("needgradient", "needsgradient", "computegradient"))
#: Names of groups in older texts; any that begins with `eval` means evaluation.
OLD_TAGS = {"criteria": "criterion"}
_SEQUENCES = "multiseq"
#: The functions whose images have the older layout by default.
_LEGACY = tuple(
    name
    for name, function in FUNCTIONS.items()
    if "imageLayout" in function.options and function.options["imageLayout"].default == "HWC"
)


@rule("ND020", "warning", on=EXPERIMENT, language="ndl")
def unknown_options(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report options that a function does not have: NDL ignores them."""
    hidden = macros(experiment)
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            function = function_of(call.name.text)
            if function is None or call.name.text.lower() in hidden:
                continue
            for option in options(call):
                if not _is_known(function, option.name.text):
                    yield _unknown(text, function, option)


def _is_known(function: NdlFunction, name: str) -> bool:
    lowered = name.lower()
    return lowered == TAG or lowered in {one.lower() for one in function.options}


def _unknown(text: NdlText, function: NdlFunction, option: Option) -> Finding:
    name = option.name
    known = [*function.options, TAG]
    near = NEWER.get(name.text.lower())
    near = near if near in known else nearest(name.text, known)
    kept = f"'{near}' stays {_default(function, near)}. " if near and near != TAG else ""
    ask = f"Did you mean '{near}'?" if near else f"It has {', '.join(known)}."
    message = f"{function.name} has no option '{name.text}' and ignores it. {kept}{ask}"
    fix = None
    if near is not None:
        fix = Fix(f"Write '{near}'", near, False, name.start, name.end)
    return text.finding("ND020", name, message, fix)


def _default(function: NdlFunction, name: str) -> str:
    return function.options[name].default or "empty"


@rule("ND021", "warning", on=EXPERIMENT, language="ndl")
def options_of_the_other_form(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report options of the form of a convolution that is not used."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            function = function_of(call.name.text)
            if function is None or function.form != "convolution":
                continue
            plane = sum(not _is_option(one) for one in call.arguments) == 7
            ignored = ONLY_ND if plane else ONLY_2D
            for option in options(call):
                if option.name.text.lower() in {one.lower() for one in ignored}:
                    yield _of_other_form(text, option, plane)


def _is_option(value: object) -> bool:
    from netsharp_lsp.cntk.ndl.syntax import Option

    return isinstance(value, Option)


def _of_other_form(text: NdlText, option: Option, plane: bool) -> Finding:
    form = "with seven arguments is of images and" if plane else "with a kernel's shape"
    use = "zeroPadding" if plane else "autoPadding"
    name = option.name.text
    message = f"A convolution {form} has no option '{name}' and ignores it; padding is '{use}'."
    return text.finding("ND021", option.name, message)


@rule("ND022", "warning", on=EXPERIMENT, language="ndl")
def options_given_twice(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Options that a call has twice: the first counts."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            first: dict[str, Option] = {}
            for option in options(call):
                lowered = option.name.text.lower()
                before = first.setdefault(lowered, option)
                if before is not option and lowered != TAG:
                    message = f"'{option.name.text}' is given twice; the first one is used."
                    notes = (("It is given here first.", before.name),)
                    yield text.finding("ND022", option.name, message, notes=notes)


@rule("ND023", "hint", on=EXPERIMENT, language="ndl")
def old_gradients(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report old options that determine whether a parameter is trained."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            function = function_of(call.name.text)
            if function is None or "learningRateMultiplier" not in function.options:
                continue
            rate = "learningratemultiplier"
            set_too = any(one.name.text.lower() == rate for one in options(call))
            for option in options(call):
                if option.name.text.lower() in GRADIENT and isinstance(option.value, Word):
                    yield _old_gradient(text, option, option.value, set_too)


def _old_gradient(text: NdlText, option: Option, value: Word, set_too: bool) -> Finding:
    fixed = value.text in FALSE
    number = "0" if fixed else "1"
    learns = "is not trained" if fixed else "is trained, which is the default"
    message = (
        f"'{option.name.text}' is an older way to say that the parameter {learns}: "
        f"learningRateMultiplier={number}."
    )
    known = value.text in TRUTHS
    fix = None
    if known and not set_too and not value.is_hole:
        new = f"learningRateMultiplier={number}"
        fix = Fix(f"Write {new}", new, True, option.start, option.end)
    return text.finding("ND023", option.name, message, fix)


@rule("ND024", "hint", on=EXPERIMENT, language="ndl")
def old_tags(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report tags in an old spelling, or without an effect."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            for option in options(call):
                if option.name.text.lower() == TAG and isinstance(option.value, Word):
                    yield from _old_tag(text, option, option.value)


def _old_tag(text: NdlText, option: Option, value: Word) -> Iterator[Finding]:
    lowered = value.text.lower()
    if lowered == _SEQUENCES:
        message = f"The tag '{value.text}' has no effect; it had one only in older versions."
        yield text.finding("ND024", value, message)
        return
    proper = OLD_TAGS.get(lowered)
    if proper is None and lowered.startswith("eval") and lowered != "evaluation":
        proper = "evaluation"
    if proper is not None:
        message = (
            f"The tag '{value.text}' is read as '{proper}'. Write '{proper}'; BrainScript needs it."
        )
        fix = Fix(f"Write '{proper}'", proper, True, value.start, value.end)
        yield text.finding("ND024", value, message, fix)


@rule("ND025", "error", on=EXPERIMENT, language="ndl")
def unknown_tags(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report tags that are not groups: CNTK stops."""
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            for option in options(call):
                value = option.value
                if option.name.text.lower() != TAG or not isinstance(value, Word):
                    continue
                lowered = value.text.lower()
                known = lowered in (*GROUPS, *OLD_TAGS, _SEQUENCES) or lowered.startswith("eval")
                if not known and not value.is_hole:
                    near = nearest(value.text, GROUPS)
                    ask = f"Did you mean '{near}'?" if near else f"There is {', '.join(GROUPS)}."
                    message = f"There is no group '{value.text}'; CNTK stops here. {ask}"
                    title = f"Write '{near}'"
                    fix = Fix(title, near, True, value.start, value.end) if near else None
                    yield text.finding("ND025", value, message, fix)


@rule("ND026", "hint", on=EXPERIMENT, language="ndl")
def unstated_layouts(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report images without a layout: NDL and BrainScript have different defaults."""
    for text in ndl_texts(experiment):
        found = [call for call, _ in text.calls() if _has_no_layout(call)]
        if not found:
            continue
        more = f" The same applies to {len(found) - 1} more here." if len(found) > 1 else ""
        name = found[0].name
        message = (
            f"'{name.text}' has no imageLayout: the default is 'legacy' (channels last), in "
            f"BrainScript 'cudnn' (channels first). Write the layout.{more}"
        )
        yield text.finding("ND026", name, message)


def _has_no_layout(call: NdlCall) -> bool:
    function = function_of(call.name.text)
    if function is None:
        return False
    plane = function.form == "convolution" and sum(not _is_option(o) for o in call.arguments) == 7
    if function.name not in _LEGACY and not plane:
        return False
    if function.form == "reshape" and not any("image" in o.name.text for o in options(call)):
        return False
    return all(option.name.text.lower() != "imagelayout" for option in options(call))


@rule("ND027", "warning", on=EXPERIMENT, language="ndl")
def options_that_a_macro_does_not_use(
    subject: Experiment, experiment: Experiment
) -> Iterator[Finding]:
    """Report options of a call that the macro does not use."""
    known = macros(experiment)
    for text in ndl_texts(experiment):
        for call, _ in text.calls():
            macro = known.get(call.name.text.lower())
            if macro is None or macro.body is None:
                continue
            used = _names_in(macro)
            for option in options(call):
                if option.name.text.lower() not in (TAG, *used):
                    yield _unused(text, macro, option, used)


def _names_in(macro: Definition) -> dict[str, str]:
    found: dict[str, str] = {}
    waiting = list(macro.body.statements if macro.body is not None else ())
    for statement in waiting:
        value = getattr(statement, "value", None)
        for one in values(value) if value is not None else ():
            if isinstance(one, Word) and not one.is_number:
                found.setdefault(one.text.lower(), one.text)
    return found


def _unused(text: NdlText, macro: Definition, option: Option, used: dict[str, str]) -> Finding:
    name = option.name
    formal = next((o for o in macro.parameters if o.text.lower() == name.text.lower()), None)
    if formal is not None:
        why = " Parameters of a macro are passed by position."
    else:
        near = nearest(name.text, used.values())
        why = f" Did you mean '{near}'?" if near else ""
    message = (
        f"The macro '{macro.name.text}' does not use an option '{name.text}': it is ignored.{why}"
    )
    return text.finding("ND027", name, message)
