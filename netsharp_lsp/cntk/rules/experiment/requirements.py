"""Options, blocks, networks and destinations that a command needs and look-up does not find.

A file without a known run may be one layer of several, or a sketch: there a command is reported
only if it lacks at most two of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.meaning.usage import sections
from netsharp_lsp.cntk.configuration.options import BUILDERS, TRAINING
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.experiment.keys import forget_misspellings, has_misspelling
from netsharp_lsp.cntk.rules.findings import Finding, placed
from netsharp_lsp.cntk.run.models import trains

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.rules.findings import Place
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

emitted("CK061", "error")
emitted("CK072", "error")
emitted("CK073", "error")
emitted("CK074", "error")
emitted("CK075", "error")
emitted("CK082", "info")

_RATES = ("learningRatesPerSample", "learningRatesPerMB")
_WRITES = ("writer", "outputPath")
#: A command that lacks more is taken for a sketch unless its run is declared.
_MOST_LACKING = 2
#: Actions that need a model even if they build a network.
_EVALUATED = frozenset(("test", "eval", "cv"))
#: Prefixes of the types of deserializers whose streams have files of their own.
_WITHOUT_FILE = ("HTK", "Lattice")
#: The placeholder of omitted text.
PLACEHOLDER = b"..."


class _Lack(NamedTuple):
    """A missing item: its `name`, its kind (a whole block, an option of a command itself, or one
    further in), the message, and where.
    """

    name: str
    kind: str
    code: str
    place: Place
    message: str


@rule("CK070", "error", on=EXPERIMENT)
def missing(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report what commands need and do not find."""
    if not experiment.configuration.readable:
        return
    listed = [command for command in experiment.commands if command.listed]
    visited: dict[Command, list[Visit]] = {}
    for visit in experiment.visits:
        visited.setdefault(visit.command, []).append(visit)
    several = [_lacking(visited.get(command, [])) for command in listed]
    names = {lack.name for lacks in several for lack in lacks if lack.kind != "inner"}
    seen: set[object] = set()
    for command, lacks in zip(listed, several, strict=True):
        sketch = len({(it.name, it.place) for it in lacks}) > _MOST_LACKING
        if sketch and not experiment.run.declared:
            continue
        yield from _without_action(command, visited.get(command, []))
        whole = all(lack.kind == "inner" for lack in lacks)
        for lack in lacks:
            key = (lack.place, lack.message)
            if key in seen:
                continue
            seen.add(key)
            certain = whole or (lack.kind == "option" and len(names) == 1)
            severity: Severity | None = None if certain or experiment.run.declared else "info"
            yield Finding(lack.code, lack.place, lack.message, severity=severity)
    forget_misspellings()


def _without_action(command: Command, visits: list[Visit]) -> Iterator[Finding]:
    if command.scope is None or command.found is None:
        return
    own = visits[0]
    given = command.scope.look_up(b"action") is not None or has_misspelling("action", own)
    if not given and command.scope.here(PLACEHOLDER) is None:
        message = (
            f"'{command.name}' has no action, so it trains. Write action=train if that is intended."
        )
        yield Finding("CK082", placed(command.found.entry.parts[-1].key), message)


def _lacking(visits: list[Visit]) -> list[_Lack]:
    """Return the missing parts of one command; none if a placeholder stands for a part."""
    if any(visit.scope.here(PLACEHOLDER) is not None for visit in visits):
        return []
    return [lack for visit in visits for lack in _lacks(visit)]


def _lacks(visit: Visit) -> Iterator[_Lack]:
    """Yield what one block lacks."""
    if visit.is_open:
        return
    special = _SPECIAL.get(visit.table.name)
    if special is not None:
        yield from special(visit)
    for option in visit.table.required:
        lacks = visit.option(option.name) is None and _is_needed(option.name, visit)
        if lacks and not has_misspelling(option.name, visit):
            yield _required(option.name, visit)
    if visit.outer is None:
        yield from _of_command(visit, visit.command)


def _is_needed(option: str, visit: Visit) -> bool:
    """Return whether a required option has no substitute."""
    if visit.table.name in ("stream", "CNTKTextFormatReader") and option != "file":
        return False
    if option == "SGD":
        return visit.option("optimizer") is None
    if option == "file" and visit.table.name == "deserializer":
        return not (visit.text("type") or "HTK").startswith(_WITHOUT_FILE)
    if option == "modelPath":
        return _needs_a_model(visit)
    return True


def _needs_a_model(visit: Visit) -> bool:
    """Return whether a block needs modelPath; training reads it in its own block, too."""
    if visit.outer is not None or _in_training_block(visit):
        return False
    asks = trains(visit.command) or bool(_EVALUATED.intersection(visit.command.actions))
    return asks or visit.command.builder is None


def _in_training_block(visit: Visit) -> bool:
    block = visit.scope.block(b"SGD")
    return block is not None and block.look_up(b"modelPath") is not None


def _required(name: str, visit: Visit) -> _Lack:
    option = visit.table.find(name)
    here = option is not None and option.here
    where = "there" if here else "there or in a block around it"
    text = option.description if option is not None else ""
    meaning = f" ({text.rstrip('.').lower()})" if text else ""
    message = (
        f"'{visit.name}' ({visit.table.name}) needs {name}{meaning}, and none is found {where}: "
        "CNTK stops."
    )
    outermost = "block" if option is not None and option.inside else "option"
    return _at("CK070", visit, message, name, outermost if visit.outer is None else "inner")


def _at(code: str, visit: Visit, message: str, name: str = "", kind: str = "inner") -> _Lack:
    """Return a missing item at the key of a block in a file, rather than on the command line."""
    parts = visit.found.entry.parts
    files = [part for part in parts if part.key.source.name != COMMAND_LINE]
    return _Lack(name or code, kind, code, placed((files or parts)[-1].key), message)


def _of_command(visit: Visit, command: Command) -> Iterator[_Lack]:
    actions = command.actions
    misspelt = any(has_misspelling(name, visit) for name in BUILDERS)
    if any(it in TRAINING[:2] for it in actions) and command.builder is None and not misspelt:
        message = (
            f"'{command.name}' has the action train, but neither it nor a block around it has a "
            "network: CNTK stops. Add a BrainScriptNetworkBuilder, NDLNetworkBuilder or "
            "SimpleNetworkBuilder."
        )
        yield _at("CK072", visit, message, "builder", "block")
    given = (visit.option(it) is not None or has_misspelling(it, visit) for it in _WRITES)
    if "write" in actions and not any(given):
        message = (
            f"'{command.name}' has the action write, but neither outputPath nor writer: CNTK "
            "stops. Add outputPath for text files."
        )
        yield _at("CK075", visit, message, "outputPath", "option")
    if "edit" in actions:
        brainscript = visit.option("BrainScriptNetworkBuilder") is not None
        name = "outputModelPath" if brainscript else "editPath"
        if visit.option(name) is None:
            yield _required(name, visit)
    if "writeWordAndClass" in actions and visit.text("nbrClass") not in (None, "0"):
        for name in ("outputWord2Cls", "outputCls2Index"):
            if visit.option(name) is None:
                yield _required(name, visit)


def _training(visit: Visit) -> Iterator[_Lack]:
    if any(visit.option(name) is not None or has_misspelling(name, visit) for name in _RATES):
        return
    adjust = visit.scope.block(b"AutoAdjust")
    search = "none" if adjust is None else adjust.option(b"autoAdjustLR", "none").lower()
    if search in ("none", "false"):
        message = (
            "Training needs a learning rate, and neither learningRatesPerMB nor "
            "learningRatesPerSample is found in this block or one around it, nor does AutoAdjust "
            "search one: CNTK stops."
        )
        yield _at("CK061", visit, message)


def _text_reader(visit: Visit) -> Iterator[_Lack]:
    if visit.option("input") is None and not has_misspelling("input", visit):
        message = (
            f"The reader '{visit.name}' reads CNTK's text format and has no input block with its "
            "streams: CNTK stops. It looks for input in this block only."
        )
        yield _at("CK073", visit, message)


def _stream(visit: Visit) -> Iterator[_Lack]:
    lacking = [
        name
        for name in ("dim", "format")
        if visit.option(name) is None and not has_misspelling(name, visit)
    ]
    if lacking:
        message = (
            f"The stream '{visit.name}' needs {' and '.join(lacking)}, in its own block: "
            "CNTK stops."
        )
        yield _at("CK074", visit, message)


def _streams(visit: Visit) -> Iterator[_Lack]:
    """Yield streams that are not blocks."""
    for entry, found in sections(visit):
        if found.problem is None and found.text.text[:1] not in (b"[", b"{"):
            name = entry.key.decode("utf-8", "replace")
            message = f"The stream '{name}' is not a block, so it lacks dim and format."
            place = placed(entry.parts[-1].key)
            yield _Lack(name, "inner", "CK074", place, message)


_SPECIAL = {
    "SGD": _training,
    "CNTKTextFormatReader": _text_reader,
    "stream": _stream,
    "streams": _streams,
}
