"""Rules on commands: names without blocks, unknown actions, lists."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import ACTIONS
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.rules import EXPERIMENT, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Repair, placed
from netsharp_lsp.diagnostics.nearest import nearest, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

_NO_PART = b" \t,;|"


def _listed(experiment: Experiment) -> list[Traced]:
    """Return the names that `command` lists, if they are known."""
    found = experiment.configuration.root.look_up(b"command")
    if found is None or found.problem is not None:
        return []
    return list(elements(found.text) or ())


def _blocks(experiment: Experiment) -> list[str]:
    """Return the blocks at the top level."""
    root = experiment.configuration.root
    return [_decoded(entry.key) for entry in root if entry.kind == "block"]


@rule("CK080", "error", on=EXPERIMENT)
def unknown_actions(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report actions that do not exist; their names are case-sensitive."""
    for command in experiment.commands:
        found = None if command.scope is None else command.scope.look_up(b"action")
        if found is None or found.problem is not None or found.text.text == b"default":
            continue
        for element in elements(found.text) or ():
            name = _decoded(element.text)
            if name in ACTIONS:
                continue
            place = placed(element.place(0, len(element)))
            meant = nearest(name, ACTIONS)
            case = (
                " Actions are case-sensitive."
                if meant is not None and meant.lower() == name.lower()
                else ""
            )
            message = f"There is no action '{name}': CNTK stops.{case}{suggestion(name, ACTIONS)}"
            direct = meant is not None and not element.uses and place.source != COMMAND_LINE
            repair = None
            if direct and meant is not None:
                repair = Repair(f"Write '{meant}'", [Change(place, meant)], safe=False)
            severity: Severity | None = None if command.listed else "warning"
            yield Finding("CK080", place, message, repair=repair, severity=severity)


@rule("CK081", "error", on=EXPERIMENT)
def commands_without_block(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report commands that are named and have no block."""
    listed = _listed(experiment)
    root = experiment.configuration.root
    lacking = [one for one in listed if root.look_up(one.text) is None]
    certain = experiment.run.declared or len(lacking) < len(listed)
    blocks = _blocks(experiment)
    for element in lacking:
        if any(byte in _NO_PART for byte in element.text):
            continue
        name = _decoded(element.text)
        message = (
            f"command names '{name}', and there is no such block: CNTK stops."
            f"{suggestion(name, blocks)}"
        )
        place = placed(element.place(0, len(element)))
        yield Finding("CK081", place, message, severity=None if certain else "info")


@rule("CK083", "warning", on=EXPERIMENT)
def repeated_commands(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report commands that are named twice."""
    seen: set[bytes] = set()
    for element in _listed(experiment):
        if element.text.lower() in seen:
            name = _decoded(element.text)
            message = f"command names '{name}' twice, so it is run twice. Remove one."
            yield Finding("CK083", placed(element.place(0, len(element))), message)
        seen.add(element.text.lower())


@rule("CK085", "warning", on=EXPERIMENT)
def separators(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report names of commands that are not separated by `:`."""
    blocks = {name.lower() for name in _blocks(experiment)}
    why = "Names of commands are separated by ':'."
    for element in _listed(experiment):
        words = element.text.replace(b",", b" ").replace(b"|", b" ").split()
        known = sum(_decoded(word).lower() in blocks for word in words)
        if len(words) > 1 and known:
            place = placed(element.place(0, len(element)))
            text = " : ".join(_decoded(word) for word in words)
            repair = Repair("Separate with ':'", [Change(place, text)], safe=False)
            message = f"'{_decoded(element.text)}' is read as one name, and no block has it. {why}"
            yield Finding("CK085", place, message, repair=repair)
    yield from _cut_off(experiment, why)


def _cut_off(experiment: Experiment, why: str) -> Iterator[Finding]:
    """Report names after a comma, before which the value of `command` ends."""
    for entry in experiment.configuration.root:
        first = entry.assignments[0]
        if first.kind != "flag" or not any(it.kind == "block" for it in entry.assignments[1:]):
            continue
        name = _decoded(entry.key)
        message = (
            f"'{name}' is after a ',' or ';', which ends the value before it: the "
            f"command '{name}' is not run. {why}"
        )
        yield Finding("CK085", placed(first.key), message)


@rule("CK086", "hint", on=EXPERIMENT)
def idle_blocks(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report blocks with an action that no command names."""
    if not _listed(experiment):
        return
    for command in experiment.commands:
        if command.listed or command.found is None or command.scope is None:
            continue
        if command.scope.look_up(b"action", climb=False) is None:
            continue
        message = f"command does not name '{command.name}', so this block is not run."
        yield Finding("CK086", placed(command.found.entry.parts[-1].key), message)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
