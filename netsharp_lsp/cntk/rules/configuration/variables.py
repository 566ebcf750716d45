"""Variables without a value, or with an unexpected one, and dollar signs that do not begin a
variable.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.lines import without_comments
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.configuration.variables import dollars
from netsharp_lsp.cntk.rules import CONFIGURATION, EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Place, Repair, placed
from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.text.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.faults import TextFault
    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.configuration.sources import Source, SourcePlace
    from netsharp_lsp.cntk.configuration.traced import Use
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

_WITH_DOLLAR = re.compile(rb"(?<![^\r\n])[^\r\n$]*+\$[^\r\n]*+")


@rule("CK019", "info", on=EXPERIMENT)
def undefined_variables(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report variables without a value, once per name and file."""
    experiment.configuration.values()
    elsewhere = {name.lower() for name in (*experiment.given.defines, *experiment.run.unknown)}
    seen: set[tuple[str, str]] = set()
    inside = _inner_definitions(experiment)
    for fault in _undefined(experiment):
        place = fault.place
        assert place is not None
        name = place.text.decode("utf-8", "replace").strip("$")
        key = (place.source.name, name.lower())
        if key in seen or name.lower() in elsewhere:
            continue
        seen.add(key)
        inner = _inner_definition(inside.get(name.encode().lower(), ()), place)
        if inner is None:
            yield _without_definition(experiment, place, name, fault)
        else:
            yield _only_inside(experiment, place, name, inner)


emitted("CK021", "warning")


def _undefined(experiment: Experiment) -> list[TextFault]:
    """Return the faults of that kind in the order of the text."""
    found = [
        fault
        for fault in experiment.configuration.faults
        if fault.kind == "undefined"
        and fault.place is not None
        and fault.place.source.name != COMMAND_LINE
    ]
    return sorted(found, key=lambda fault: fault.place.key if fault.place is not None else ("", 0))


def _without_definition(
    experiment: Experiment, place: SourcePlace, name: str, fault: TextFault
) -> Finding:
    declared = experiment.run.declared
    known = (entry.key.decode("utf-8", "replace") for entry in experiment.configuration.root)
    best = nearest(name, known)
    if fault.related:
        message = f"The variable '{name}' has the value 'default', which means none: CNTK stops"
    else:
        message = f"The variable '{name}' has no value here: CNTK stops"
    if declared:
        message += f" with 'No variable found with the name {name}'. Add '{name} = ...'"
    else:
        message += f" unless a run sets it, for example by '{name}=...' after the file"
    repair = None
    if best is not None:
        message += f". Did you mean '${best}$'?"
        change = Change(placed(place), f"${best}$")
        repair = Repair(f"Replace by '${best}$'", [change], safe=False)
    elif not declared:
        message += ". If it is set elsewhere, list it under 'defines' in the settings."
    else:
        message += " at the top level."
    severity: Severity | None = "error" if declared else None
    notes = _started(experiment)
    return Finding("CK019", placed(place), message, notes, repair, severity)


def _started(experiment: Experiment) -> list[Note]:
    """Return a note on the script that starts the run, which makes its findings certain."""
    run = experiment.run
    if run.origin is None or not run.declared:
        return []
    length = sum(len(encodable(item).encode()) + 1 for item in run.items)
    return [Note("It is run here.", Place(COMMAND_LINE, 0, length - 1))]


def _inner_definitions(experiment: Experiment) -> dict[bytes, list[tuple[Value, Entry]]]:
    """Return the keys of blocks by their names in lower case, each with its block."""
    found: dict[bytes, list[tuple[Value, Entry]]] = {}
    for value in experiment.configuration.values():
        for entry in value.inside or ():
            found.setdefault(entry.key.lower(), []).append((value, entry))
    return found


def _inner_definition(inside: Sequence[tuple[Value, Entry]], place: SourcePlace) -> Entry | None:
    """Return the key in a block around a place, unless the place is in its own value."""
    for value, entry in inside:
        if _holds(value, place) and not any(_within(place, part.value) for part in entry.parts):
            return entry
    return None


def _holds(value: Value, place: SourcePlace) -> bool:
    """Return whether a place is in the text of a value."""
    return any(_within(place, part.value) for part in value.entry.parts)


def _within(place: SourcePlace, around: SourcePlace) -> bool:
    same = place.source is around.source
    return same and around.start <= place.start and place.end <= around.end


def _only_inside(experiment: Experiment, place: SourcePlace, name: str, inner: Entry) -> Finding:
    message = (
        f"'{name}' is defined only inside the block that uses it, and is not found: CNTK "
        "substitutes variables when it looks the block up from outside, and stops. Define "
        f"'{name}' outside the block."
    )
    notes = [Note(f"'{name}' is defined here.", placed(inner.parts[0].key))]
    notes += _started(experiment)
    severity: Severity | None = "error" if experiment.run.declared else None
    return Finding("CK021", placed(place), message, notes, severity=severity)


@rule("CK022", "info", on=EXPERIMENT)
def ineffective_redefinitions(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report variables that a block redefines without an effect on itself."""
    seen: set[tuple[str, int, int]] = set()
    for value in experiment.configuration.values():
        if value.inside is None:
            continue
        for use in value.found.text.uses:
            inner = value.inside.here(use.name.encode())
            place = value.found.text.place(use.at, use.end)
            if inner is None or place.key in seen or not _has_no_effect(value, use, inner, place):
                continue
            seen.add(place.key)
            yield _in_vain(value, use, inner, place)


def _has_no_effect(value: Value, use: Use, inner: Entry, place: SourcePlace) -> bool:
    """Return whether the block's own value differs from the substituted one."""
    if use.problem is not None or use.definition is None or not place.text.startswith(b"$"):
        return False
    if any(_within(place, part.value) for part in inner.parts):
        return False
    assert value.inside is not None
    found = value.inside.look_up(inner.key, climb=False)
    return found is not None and found.text.text != value.found.text.text[use.at : use.end]


def _in_vain(value: Value, use: Use, inner: Entry, place: SourcePlace) -> Finding:
    outer = value.found.text.text[use.at : use.end].decode("utf-8", "replace")
    line = inner.parts[-1].key.source.lines.position(inner.parts[-1].key.start)[0]
    message = (
        f"${use.name}$ is '{outer}' here, not the value of line {line}: CNTK substitutes variables "
        "of a block from outside of it, so the block's own keys are not used. Give one of the "
        "two another name."
    )
    notes = [Note("This value is not used here.", placed(inner.parts[-1].key))]
    if use.definition is not None and use.definition.source.name != COMMAND_LINE:
        notes.append(Note("This value is used.", placed(use.definition)))
    return Finding("CK022", placed(place), message, notes)


@rule("CK024", "info", on=CONFIGURATION)
def lone_dollars(subject: Source, experiment: Experiment) -> Iterator[Finding]:
    """Report dollar signs that do not begin a variable, the first of each line."""
    if b"$" not in subject.text:
        return
    code = without_comments(subject.text)
    for line in _WITH_DOLLAR.finditer(code):
        lone = next((at for at, name in dollars(code, *line.span()) if name is None), None)
        if lone is not None and not line.group().startswith(b"include="):
            end = lone + 1
            while code[end : end + 1] == b"$":
                end += 1
            yield Finding("CK024", Place(subject.name, lone, end), _lone(code, lone, end))


def _lone(code: bytes, start: int, end: int) -> str:
    if end - start > 1:
        return (
            "'$$' is neither an escape nor a variable: both signs, and the text after them, stay."
        )
    if code[end : end + 1] in (b"{", b"("):
        return "CNTK does not expand shell variables: this '$' stays. Write $Name$ for a variable."
    return "This '$' does not begin a variable and stays as it is: variables are written $Name$."
