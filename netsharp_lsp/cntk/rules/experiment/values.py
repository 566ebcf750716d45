"""Rules on values of options: wrong types, unknown words, numbers out of range.

An option is checked where CNTK finds it, which may be far outside the block that reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import OLD_ACTIONS, TOP
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.scope import DEFAULT
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Repair, placed
from netsharp_lsp.cntk.rules.proposals import proposal
from netsharp_lsp.cntk.vocabulary import TRUTHS
from netsharp_lsp.text.expressions import late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Option
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

emitted("CK043", "info")
emitted("CK051", "error")
emitted("CK052", "error")
emitted("CK053", "error")
emitted("CK054", "error")
emitted("CK055", "warning")
emitted("CK056", "error")
emitted("CK057", "info")
emitted("CK058", "error")

#: Readers that had another mode in older releases.
_SPEECH = frozenset(("HTKMLFReader", "Kaldi2Reader", "KaldiReader"))
#: Words for true and false in other formats.
_MEANT = {
    **dict.fromkeys(("yes", "on", "y", "t", "true", "enabled"), "true"),
    **dict.fromkeys(("no", "off", "n", "f", "false", "none", "disabled"), "false"),
}
#: What a value contains that is longer than intended, which the rules on texts report.
_MORE_THAN_A_VALUE = (b"//", b"/*", b"=", b"\n")
_INTEGER = late(r"[+-]?[0-9]+\Z")
_NUMBER = late(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
    r"|0[xX][0-9a-fA-F]+|inf(?:inity)?|nan|[0-9.]+#inf)\Z",
    re.IGNORECASE,
)
#: CNTK reads these blocks only when several workers train.
_WITH_WORKERS = frozenset(
    (
        *("ParallelTrain", "DataParallelSGD", "ModelAveragingSGD", "BlockMomentumSGD"),
        *("DataParallelASGD", "AdjustLearningRateAtBeginning"),
    )
)
#: The tables in which CNTK stops at a number out of range.
_CHECKED = frozenset(("SGD", "AutoAdjust"))


class _GivenOption(NamedTuple):
    """An option that is read: its row, the value found, the table that it is in, the severity of a
    fault.
    """

    option: Option
    found: Found
    table: str
    severity: Severity
    experiment: Experiment


@rule("CK050", "error", on=EXPERIMENT)
def unreadable_values(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report each value that cannot be read as its option needs, each place once."""
    seen: set[tuple[str, object]] = set()
    for given in _given_options(experiment):
        for finding in _checked(given):
            key = (finding.code, finding.place)
            if key not in seen:
                seen.add(key)
                yield finding


def _given_options(experiment: Experiment) -> Iterator[_GivenOption]:
    if any(command.listed for command in experiment.commands):
        root = experiment.configuration.root
        yield from _of_table(TOP.keys, root, "top level", "error", experiment)
    for visit in sorted(experiment.visits, key=lambda one: not one.command.listed):
        options = [(key, one) for key, one in visit.table.keys if _is_read(one, visit)]
        scope, name = visit.scope, visit.table.name
        yield from _of_table(options, scope, name, _severity(visit), experiment)


def _of_table(
    options: Iterable[tuple[bytes, Option]],
    scope: Scope,
    table: str,
    severity: Severity,
    experiment: Experiment,
) -> Iterator[_GivenOption]:
    for key, option in options:
        found = scope.look_up(key, climb=not option.here)
        if found is not None and found.problem is None and found.text.text != DEFAULT:
            yield _GivenOption(option, found, table, severity, experiment)


def _is_read(option: Option, visit: Visit) -> bool:
    """Return whether CNTK reads an option at all: it sets some itself before."""
    writes = visit.command.actions == ("write",)
    return not (writes and option.name == "randomize")


def _severity(visit: Visit) -> Severity:
    """Return the severity of a fault: only a block that is run and read stops CNTK."""
    runs = visit.command.listed and visit.table.name not in _WITH_WORKERS
    return "error" if runs else "warning"


def _checked(given: _GivenOption) -> Iterator[Finding]:
    option, found = given.option, given.found
    if option.instead:
        yield _old_option(given)
    if option.inside:
        plain = option.kind == "block" and not is_block(found.text.text)
        # At the top level, parallelTrain is the switch whose name differs in case only.
        switch = found.scope.parent is None and TOP.find(option.name) is not None
        if plain and not switch:
            yield _no_block(given)
        return
    if option.kind not in _KINDS:
        return
    if is_block(found.text.text):
        yield _block_instead(given)
        return
    listed = elements(found.text) if option.each else [found.text]
    for element in _each_once(listed or []):
        if any(sign in element.text for sign in _MORE_THAN_A_VALUE):
            continue
        yield from _KINDS[option.kind](given, element)


def _each_once(texts: list[Traced]) -> list[Traced]:
    return list({(one.text, one.place(0, len(one)).key): one for one in texts}.values())


def _value(text: Traced) -> str:
    return text.text.decode("utf-8", "replace").strip()


def _at(code: str, text: Traced, message: str, given: _GivenOption, change: str = "") -> Finding:
    """Return the finding on a value, with the severity of the block that reads it."""
    place = placed(text.place(0, len(text)))
    direct = place.source == given.found.entry.parts[-1].value.source.name and not text.uses
    repair = None
    if change and direct:
        repair = Repair(f"Write '{change}'", [Change(place, change)], safe=False)
    severity: Severity = given.severity
    return Finding(code, place, message, repair=repair, severity=severity)


def _choice(given: _GivenOption, text: Traced) -> Iterator[Finding]:
    option, word = given.option, _value(text)
    known = (*option.values, *option.old)
    if word in known or (not option.cased and word.lower() in {one.lower() for one in known}):
        yield from _old_value(given, text, word)
        return
    values = [one for one in option.values if given.experiment.has(option.word(one))]
    allowed = ", ".join(values)
    found = proposal(word, ((one, option.word(one)) for one in option.values), given.experiment)
    meant = found.word or ""
    case = " It is case-sensitive." if word.lower() == meant.lower() != "" else ""
    message = (
        f"{option.name} cannot be '{word}': CNTK stops. It may be {allowed}.{case}{found.sentence}"
    )
    yield _at("CK050", text, message, given, meant)


def _old_value(given: _GivenOption, text: Traced, word: str) -> Iterator[Finding]:
    option = given.option
    if not word or word.lower() not in {one.lower() for one in option.old}:
        return
    if word.lower() in {one.lower() for one in option.values}:
        return
    values = [one for one in option.values if given.experiment.has(option.word(one))]
    message = (
        f"'{word}' is an old value of {option.name}. The current ones are {', '.join(values)}."
    )
    yield Finding("CK057", placed(text.place(0, len(text))), message)


def _old_option(given: _GivenOption) -> Finding:
    place = placed(given.found.entry.parts[-1].key)
    message = f"{given.option.name} is deprecated. Write {given.option.instead} instead."
    return Finding("CK043", place, message)


def _truth(given: _GivenOption, text: Traced) -> Iterator[Finding]:
    word = _value(text)
    values = {one.lower() for one in given.option.values}
    if word in TRUTHS or word.lower() in values:
        return
    more = "".join(f" or {one}" for one in given.option.values)
    message = (
        f"{given.option.name} is true or false{more}, and '{word}' is neither: CNTK "
        "stops. It accepts t, true, T, True, TRUE, 1 and the same for false, 0."
    )
    yield _at("CK051", text, message, given, _MEANT.get(word.lower(), ""))


def _number(given: _GivenOption, text: Traced) -> Iterator[Finding]:
    word = _value(text)
    if _NUMBER.match(word) is None:
        if word.lower() not in {one.lower() for one in given.option.values}:
            yield _no_number(given, text, word, "a number")
        return
    yield from _range(given, text, word)


def _integer(given: _GivenOption, text: Traced) -> Iterator[Finding]:
    word = _value(text)
    if _INTEGER.match(word) is not None:
        yield from _range(given, text, word)
        return
    if word.lower() in {one.lower() for one in given.option.values}:
        return
    if word == "" and given.option.default == "":
        return
    if _NUMBER.match(word) is None:
        yield _no_number(given, text, word, "an integer")
        return
    whole = _as_whole(word)
    message = (
        f"{given.option.name} is an integer, read digit by digit, and '{word}' is not written "
        f"so: CNTK stops.{f' Write {whole}.' if whole else ''}"
    )
    yield _at("CK053", text, message, given, whole)


def _as_whole(word: str) -> str:
    try:
        value = float(word)
    except ValueError:
        return ""
    return str(int(value)) if value == value and abs(value) < 1e15 and value == int(value) else ""


def _no_number(given: _GivenOption, text: Traced, word: str, wanted: str) -> Finding:
    listed = given.option.each and len(elements(given.found.text) or ()) > 1
    what = f"Each value of {given.option.name}" if listed else given.option.name
    more = f" (or {', '.join(given.option.values)})" if given.option.values else ""
    message = f"{what} must be {wanted}{more}, but '{word}' is not: CNTK stops."
    return _at("CK054" if listed else "CK052", text, message, given)


def _range(given: _GivenOption, text: Traced, word: str) -> Iterator[Finding]:
    option = given.option
    if option.span is None or _NUMBER.match(word) is None or "#" in word or "x" in word.lower():
        return
    if option.span.holds(float(word)):
        return
    stops = given.table in _CHECKED
    what = "CNTK stops" if stops else "its value is not meaningful"
    message = f"{option.name} must be {option.span}, but is {word}: {what}."
    yield _at("CK056", text, message, given if stops else given._replace(severity="warning"))


def _no_block(given: _GivenOption) -> Finding:
    place = placed(given.found.entry.parts[-1].value)
    message = (
        f"{given.option.name} is a block of options, but is given '{_value(given.found.text)}', "
        "which contains none. Write { ... }."
    )
    return Finding("CK055", place, message)


def _block_instead(given: _GivenOption) -> Finding:
    place = placed(given.found.entry.parts[0].key)
    message = (
        f"{given.option.name} is a single value, but is given a block: CNTK stops when it "
        "reads it. Write the value without brackets."
    )
    return Finding("CK058", place, message, severity=given.severity)


_KINDS = {"choice": _choice, "truth": _truth, "number": _number, "integer": _integer}


@rule("CK045", "error", on=EXPERIMENT)
def refused_options(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report options of older releases that are errors in current ones."""
    root = experiment.configuration.root
    readers = (
        visit.scope.here(b"legacyMode")
        for visit in experiment.visits
        if visit.command.listed and visit.table.name in _SPEECH
    )
    for entry in dict.fromkeys((root.here(b"type"), *readers)):
        if entry is None:
            continue
        name = entry.key.decode("utf-8", "replace")
        advice = "Write precision instead." if name.lower() == "type" else "Remove it."
        message = (
            f"'{name}' is an option of older releases; current ones stop with an error. {advice}"
        )
        yield Finding("CK045", placed(entry.parts[-1].key), message)


@rule("CK059", "info", on=EXPERIMENT)
def old_actions(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report old spellings of actions."""
    for visit in experiment.visits:
        found = None if visit.outer is not None else visit.scope.look_up(b"action", climb=False)
        for element in elements(found.text) or () if found is not None else ():
            today = OLD_ACTIONS.get(_value(element))
            if today is not None:
                message = f"'{_value(element)}' is an old name of the action {today}."
                yield Finding("CK059", placed(element.place(0, len(element))), message)
