"""Keys that are given twice, and square brackets, which alone add keys to an existing block."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.brackets import Brackets
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.lines import builder_spans, inside
from netsharp_lsp.cntk.configuration.records import is_block, records
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Place, Repair, placed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.configuration.entries import Assignment, Entry
    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.run.experiment import Experiment


#: The most keys that are listed by name.
_MOST_NAMED = 6


class _Parts:
    """The parts of the text of a block; empty at the top level."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, places: Sequence[SourcePlace] = ()) -> None:
        self._starts: dict[int, list[int]] = {}
        #: The furthest end of the parts that begin at each of these starts or before.
        self._ends: dict[int, list[int]] = {}
        for place in sorted(places, key=lambda place: place.start):
            ends = self._ends.setdefault(id(place.source), [])
            ends.append(max(place.end, ends[-1] if ends else 0))
            self._starts.setdefault(id(place.source), []).append(place.start)

    def hold_both(self, first: SourcePlace, second: SourcePlace) -> bool:
        """Return whether two places of one source are in the same part."""
        if not self._starts:
            return True
        starts = self._starts.get(id(first.source), [])
        before = bisect_right(starts, min(first.start, second.start))
        reach = self._ends[id(first.source)][before - 1] if before else 0
        return reach > max(first.start, second.start)


@rule("CK030", "warning", on=EXPERIMENT)
def repeated_keys(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report keys that have a value and are given another."""
    yield from _repeated(experiment.configuration.root, _Parts())
    for value in experiment.configuration.values():
        if value.inside is not None:
            parts = _Parts([part.value for part in value.entry.parts])
            yield from _repeated(value.inside, parts)


emitted("CK031", "info")


def _repeated(scope: Scope, parts: _Parts) -> Iterator[Finding]:
    for entry in scope:
        given = entry.assignments
        for before, after in pairwise(given):
            if not after.appends and not _unreported(entry, before, after):
                finding = _repeat(entry, before, after, parts)
                if finding is not None:
                    yield finding


def _in_network(place: SourcePlace) -> bool:
    """Return whether a place is in a network of BrainScript, used or not."""
    return inside(builder_spans(place.source.text), place.start - 1)


def _unreported(entry: Entry, before: Assignment, after: Assignment) -> bool:
    """Return whether both come from a command line, or the key is not a name or is in a network."""
    if _in_network(before.key):
        return True
    lines = (before.key.source.name, after.key.source.name)
    return lines == (COMMAND_LINE, COMMAND_LINE) or not entry.key[:1].isalpha()


def _repeat(entry: Entry, before: Assignment, after: Assignment, parts: _Parts) -> Finding | None:
    name = entry.key.decode("utf-8", "replace")
    lost = _lost(before, after)
    if lost:
        return _loss(name, before, after, lost)
    same_source = before.key.source is after.key.source
    if not same_source or not parts.hold_both(before.key, after.key):
        return None
    line = after.key.source.lines.position(after.key.start)[0]
    message = (
        f"'{name}' is given again on line {line}, and the last value is used: this one has no "
        "effect. Remove one of the two."
    )
    notes = [Note("This value is used.", placed(after.key))]
    return Finding("CK031", placed(before.key), message, notes)


def _lost(before: Assignment, after: Assignment) -> list[str]:
    """Return the keys of a block that the block replacing it lacks."""
    texts = [one.record.content for one in (before, after)]
    if not all(is_block(text.text) for text in texts):
        return []
    old, new = (
        {record.name.lower(): record.name for record in records(text, TextFaults())}
        for text in texts
    )
    return [name.decode("utf-8", "replace") for key, name in old.items() if key not in new]


def _loss(name: str, before: Assignment, after: Assignment, lost: list[str]) -> Finding:
    listed = ", ".join(f"'{key}'" for key in lost[:_MOST_NAMED])
    if len(lost) > _MOST_NAMED:
        listed += f" and {len(lost) - _MOST_NAMED} more"
    where = before.key
    message = (
        f"This block replaces the one that '{name}' has from "
        f"{where.source.name}:{where.source.lines.position(where.start)[0]}: {listed} "
        f"{'is' if len(lost) == 1 else 'are'} lost. Blocks in braces are not merged; only one in "
        "square brackets adds its keys to the existing ones."
    )
    if after.key.source.name == COMMAND_LINE:
        return Finding("CK030", placed(before.key), message.replace("This block", "The run", 1))
    notes = [Note("This block is replaced.", placed(before.key))]
    return Finding("CK030", placed(after.key), message, notes)


class _Brackets(NamedTuple):
    """A block in square brackets as written; `adds`: it adds keys to an existing block."""

    source: str
    start: int
    end: int
    adds: bool
    name: str


@rule("CK032", "info", on=EXPERIMENT)
def square_brackets(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report blocks in square brackets that do not extend another one, the outermost of each."""
    outer: _Brackets | None = None
    within: list[_Brackets] = []
    written = _written(experiment)
    for block in sorted(written):
        if outer is not None and outer.source == block.source and block.end <= outer.end:
            within.append(block)
            continue
        if outer is not None and not outer.adds:
            yield _deprecated(outer, within, written[outer], experiment)
        outer, within = block, []
    if outer is not None and not outer.adds:
        yield _deprecated(outer, within, written[outer], experiment)


def _written(experiment: Experiment) -> dict[_Brackets, Traced]:
    """Return the blocks in square brackets that are closed by their own kind of bracket."""
    found = {}
    for value in experiment.configuration.values():
        if value.kind != "block":
            continue
        name = value.entry.key.decode("utf-8", "replace")
        for one in value.entry.assignments:
            place = one.value
            whole = place.text.startswith(b"[") and place.text.endswith(b"]")
            if whole and place.source.name != COMMAND_LINE and not _in_network(place):
                where = (place.source.name, place.start, place.end)
                found[_Brackets(*where, one.appends, name)] = one.record.content
    return found


def _deprecated(
    outer: _Brackets, within: list[_Brackets], text: Traced, experiment: Experiment
) -> Finding:
    """Return the finding on a block, without a fix if its text has an unmatched bracket."""
    message = (
        f"'{outer.name}' is in square brackets, which are deprecated except to add keys to an "
        "existing block. Write braces."
    )
    blocks = [outer, *(block for block in within if not block.adds)]
    changes = [
        change
        for block in blocks
        for change in (
            Change(Place(block.source, block.start, block.start + 1), "{"),
            Change(Place(block.source, block.end - 1, block.end), "}"),
        )
    ]
    changes.sort(key=lambda change: change.place.start)
    faults = TextFaults()
    Brackets(text, faults).partner(0)
    repair = None
    if not faults:
        repair = Repair("Write braces", changes, safe=_is_whole(outer.source, experiment))
    place = Place(outer.source, outer.start, outer.start + 1)
    return Finding("CK032", place, message, repair=repair)


def _is_whole(source: str, experiment: Experiment) -> bool:
    """Return whether a file is run by itself; a layer over others may have to extend their
    blocks.
    """
    entry = experiment.configuration.root.here(b"command")
    return entry is not None and any(part.key.source.name == source for part in entry.assignments)
