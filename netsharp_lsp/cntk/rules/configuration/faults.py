"""Faults that the evaluation of a configuration finds: brackets, values, includes, files and
limits.

Each kind of fault of the evaluator has a code; faults of variables and strings have rules of their
own, and faults that follow from a string that swallows brackets are not reported.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.brackets import PARTNERS
from netsharp_lsp.cntk.configuration.lines import misaligned
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE, SourcePlace
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.configuration.traps import trap_offsets
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Place, Repair, placed
from netsharp_lsp.cntk.rules.paths import not_a_file
from netsharp_lsp.once import once
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.configuration.faults import TextFault
    from netsharp_lsp.cntk.run.experiment import Experiment

    Reporter = Callable[[TextFault, SourcePlace, Experiment], Finding]

_BLANKS = late(rb"[ \t]*+")
_NAME_BEFORE = late(rb"([A-Za-z_][\w.]*)[ \t]*=?[ \t]*\Z")
_BLOCK_BELOW = late(rb"[ \t]*=([ \t]*(?:#[^\n]*)?\r?\n\s*)([\[{(\"])")
_LONE_RETURN = late(rb"\r(?!\n)")


@rule("CK003", "error", on=EXPERIMENT, of_texts=True)
def configuration_faults(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report each fault of the evaluation that has a code here."""
    experiment.configuration.values()
    follow_ups = trap_offsets(experiment)
    for fault in list(experiment.configuration.faults):
        report = REPORTERS.get(fault.kind)
        if report is None or fault.place is None or fault.place.source.name == COMMAND_LINE:
            continue
        first = follow_ups.get(fault.place.source.name)
        if first is None or not _follows(fault, fault.place.start, first):
            yield report(fault, fault.place, experiment)


def _follows(fault: TextFault, start: int, first: int) -> bool:
    """Return whether a bracket does not match because of a string at `first` that swallows
    others.
    """
    return fault.kind == "unclosed" or (fault.kind in BRACKETS and start >= first)


def line_of(place: SourcePlace) -> int:
    """Return the line of a place, from 1."""
    return place.source.lines.position(place.start)[0]


def _owner(place: SourcePlace) -> str:
    """Return the owner of a bracket as words to append: " of 'Train'"."""
    text = place.source.text
    found = _NAME_BEFORE.search(text, max(0, place.start - 200), place.start)
    return "" if found is None else f" of '{found.group(1).decode('utf-8', 'replace')}'"


def _closer(place: SourcePlace) -> str:
    return chr(PARTNERS.get(place.text[0], place.text[0]))


def _unclosed(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    if place.text == b'"':
        message = (
            "This quote opens a string that is never closed: a quoted record is written like a "
            "block, without quotes. Remove the quotes."
        )
        return Finding("CK005", placed(place), message)
    suspect = misaligned(place.source.text, place.start)
    if suspect is not None:
        return _lacking(place, *suspect)
    closer = _closer(place)
    end = len(place.source.text.rstrip(b" \t\r\n"))
    message = (
        f"'{place.text.decode()}'{_owner(place)} is never closed: CNTK stops with 'no closing "
        f"{closer} found'. Add '{closer}' where it should end."
    )
    addition = Change(Place(place.source.name, end, end), f"\n{closer}")
    repair = Repair(f"Add '{closer}' at the end of the file", [addition], safe=False)
    return Finding("CK003", placed(place), message, repair=repair)


def _lacking(outer: SourcePlace, opening: int, closing: int) -> Finding:
    """Return the finding on an inner bracket, identified by the indentation of what closes it."""
    source = outer.source
    place = SourcePlace(source, opening, opening + 1)
    closer = _closer(place)
    line = source.lines.line_at(closing)
    message = (
        f"'{place.text.decode()}'{_owner(place)} seems to lack its '{closer}': the one on line "
        f"{line + 1} closes it, but is indented like one further out, so that "
        f"'{outer.text.decode()}'{_owner(outer)} is never closed and CNTK stops."
    )
    start = source.lines.starts[line]
    opened = source.lines.span(source.lines.line_at(opening))[0]
    indent = _BLANKS.match(source.text, opened).group()  # type: ignore[union-attr]
    change = Change(Place(source.name, start, start), f"{indent.decode()}{closer}\n")
    repair = Repair(f"Add '{closer}' before line {line + 1}", [change], safe=False)
    notes = [Note("This one has no partner.", placed(outer))]
    return Finding("CK003", placed(place), message, notes, repair)


def _unmatched(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    opened = fault.related[0][1]
    suspect = misaligned(place.source.text, opened.start)
    if suspect is not None and suspect[1] < place.start and opened.source is place.source:
        return _lacking(opened, *suspect)
    expected = _closer(opened)
    found = place.text.decode()
    message = (
        f"'{found}' cannot close '{opened.text.decode()}'{_owner(opened)}, which was opened on "
        f"line {line_of(opened)}: CNTK stops with 'unmatched bracket found'."
    )
    at = placed(place)
    if len(fault.related) > 1:
        message += f" Close it with '{expected}' before this '{found}'."
        change = Change(Place(at.source, at.start, at.start), f"{expected} ")
        repair = Repair(f"Add '{expected}' before '{found}'", [change], safe=False)
    else:
        message += f" Write '{expected}' instead."
        repair = Repair(f"Replace by '{expected}'", [Change(at, expected)], safe=False)
    notes = [Note(words, placed(where)) for words, where in fault.related]
    return Finding("CK004", at, message, notes, repair)


def _stray(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    return surplus(placed(place), place.text.decode("utf-8", "replace"))


def surplus(place: Place, found: str) -> Finding:
    """Return the finding on a closing bracket without an opening one, which CNTK ignores."""
    message = f"'{found}' closes no bracket: all before it are closed. CNTK ignores it."
    repair = Repair("Delete the bracket", [Change(place, "")], safe=True)
    return Finding("CK006", place, f"{message} Remove it.", repair=repair)


def _empty(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    name = place.text.decode("utf-8", "replace")
    below = _BLOCK_BELOW.match(place.source.text, place.end)
    if below is None:
        message = (
            f"'{name}' has no value: CNTK stops with \"No value given for '{name}'\". Give it a "
            "value, or remove the line."
        )
        return Finding("CK008", placed(place), message)
    bracket = below.group(2).decode()
    message = (
        f"'{name}' has no value on its line: a value begins after '=', and the '{bracket}' on the "
        f"next line belongs to no key. Move '{bracket}' up."
    )
    repair = None
    if not below.group(1).strip():
        gap = Place(place.source.name, *below.span(1))
        repair = Repair(f"Move '{bracket}' up", [Change(gap, " ")], safe=True)
    return Finding("CK008", placed(place), message, repair=repair)


def _missing(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    written = place.text.decode("utf-8", "replace")
    bare = written.strip(' \t"')
    kind = experiment.files.not_a_file(written)
    if kind is not None:
        return Finding("CK012", placed(place), f"Include: {not_a_file(written, kind)}")
    if bare == written:
        message = (
            f"There is no file '{written}': CNTK stops. Paths of included files are relative to "
            "the folder in which CNTK is started, not to this file."
        )
        return Finding("CK012", placed(place), message)
    message = (
        f"There is no file '{written}': blanks and quotes around a path are part of it, also the "
        f"blank before a comment. Write 'include={bare}' and nothing else on the line."
    )
    repair = _bare_include(place, bare) if experiment.files.read(bare) is not None else None
    return Finding("CK012", placed(place), message, repair=repair)


def _bare_include(place: SourcePlace, bare: str) -> Repair:
    """Return a fix that writes only the path and moves a comment to a line before."""
    source = place.source
    start, end = source.lines.span(source.lines.line_at(place.start))
    comment = source.text[place.end : end].decode("utf-8", "replace")
    name = source.name
    changes = [Change(Place(name, place.start, end), bare)]
    if comment:
        changes.insert(0, Change(Place(name, start, start), f"{comment}\n"))
    return Repair(f"Write 'include={bare}'", changes, safe=True)


def _carriage_return(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    source = place.source
    name = source.name
    places = [Place(name, *found.span()) for found in _LONE_RETURN.finditer(source.text)]
    message = (
        f"{len(places)} line(s) end in a carriage return alone, which CNTK refuses to read. Save "
        "the file with the line ends of Unix or Windows."
    )
    repair = Repair("Use line feeds", [Change(one, "\n") for one in places], safe=True)
    return Finding("CK013", placed(place), message, repair=repair)


def _cycle(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    notes = [Note(words, placed(where)) for words, where in fault.related]
    if len(fault.related) > 1 or experiment.run.declared:
        return Finding("CK020", placed(place), fault.message, notes)
    name = place.text.decode("utf-8", "replace").strip("$")
    message = (
        f"'{name}' is defined by itself, so a run has to set it: CNTK hangs unless "
        f"'{name}=...' is after the file, or in a later file."
    )
    return Finding("CK019", placed(place), message, notes)


def _lines(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    name = place.text.decode("utf-8", "replace").strip("$")
    message = (
        f"'{name}' has a value of several lines, and CNTK substitutes only a single line for "
        f"${name}$: it stops. Give '{name}' one line."
    )
    return Finding("CK023", placed(place), message)


def _included_again(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
    path = fault.name
    cycles = _cycles(experiment)
    if cycles.get(path, path) == cycles.get(place.source.name):
        message = (
            f"{path} includes this file again: the files include each other in a cycle. CNTK "
            "skips this line with a warning; remove it."
        )
        code = "CK027"
    else:
        message = (
            f"{path} was read before; CNTK reads each file once and skips this line with a warning."
        )
        code = "CK026"
    line = Place(place.source.name, place.start - len(b"include="), place.end)
    following = place.source.lines.full_span(place.source.lines.line_at(place.start))
    repair = Repair("Delete the line", [Change(Place(line.source, *following), "")], safe=True)
    alone = b"+" not in place.text
    return Finding(code, line, message, repair=repair if alone else None)


def _includes(experiment: Experiment) -> dict[str, dict[str, None]]:
    """Return the files that each file includes."""
    return {
        source.name: {
            path: None
            for line in re.findall(rb"^include=([^\r\n]*)", source.text, re.MULTILINE)
            for path in line.decode("utf-8", "replace").split("+")
        }
        for source in experiment.configuration.layers.sources
    }


@once
def _cycles(experiment: Experiment) -> dict[str, str]:
    """Return for each file the same file for all of one include cycle, itself outside of cycles."""
    includes = _includes(experiment)
    named_by: dict[str, list[str]] = {name: [] for name in includes}
    for name, paths in includes.items():
        for path in paths:
            if path in named_by:
                named_by[path].append(name)
    found: dict[str, str] = {}
    # Files that include one are visited before it: those that lead back to the last one are its
    # cycle.
    for first in reversed(_ordered(includes)):
        waiting = [first]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = first
                waiting += named_by[name]
    return found


def _ordered(includes: dict[str, dict[str, None]]) -> list[str]:
    """Return the files in an order in which each comes after all that it includes, cycles aside."""
    order: list[str] = []
    seen: set[str] = set()
    for first in includes:
        way = [(first, iter((first,)))]
        while way:
            name, rest = way[-1]
            path = next((one for one in rest if one in includes and one not in seen), None)
            if path is not None:
                seen.add(path)
                way.append((path, iter(includes[path])))
            else:
                way.pop()
                if way:
                    order.append(name)
    return order


def _as_reported(code: str) -> Reporter:
    """Return a function that reports a fault in the evaluator's own words."""

    def report(fault: TextFault, place: SourcePlace, experiment: Experiment) -> Finding:
        return Finding(code, placed(place), fault.message)

    return report


@rule("CK029", "error", on=EXPERIMENT)
def named_twice(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report a file that the command line names twice, or that does not exist."""
    sources = experiment.configuration.layers.sources
    for fault in experiment.configuration.faults:
        if fault.kind == "duplicate-file":
            message = (
                f"The run names {fault.name} twice: CNTK stops with 'Cannot specify same config "
                "file multiple times'. Name it once; later files override."
            )
            yield Finding("CK029", Place(fault.name, 0, 0), message)
        elif fault.kind == "missing-file" and sources:
            message = f"The run names a file that does not exist: {fault.message}"
            yield Finding("CK012", Place(sources[0].name, 0, 0), message)


BRACKETS = frozenset(("unmatched", "stray-bracket"))
REPORTERS: dict[str, Reporter] = {
    "unclosed": _unclosed,
    "unmatched": _unmatched,
    "stray-bracket": _stray,
    "empty-value": _empty,
    "missing-include": _missing,
    "carriage-return": _carriage_return,
    "long": _as_reported("CK018"),
    "cycle": _cycle,
    "newline-in-variable": _lines,
    "include-variable": _as_reported("CK025"),
    "included-twice": _included_again,
    "deep": _as_reported("CK039"),
}
for _code in ("CK004", "CK008", "CK012", "CK013", "CK018", "CK020", "CK023", "CK025"):
    emitted(_code, "error")
for _code in ("CK006", "CK027", "CK039"):
    emitted(_code, "warning")
emitted("CK026", "info")
