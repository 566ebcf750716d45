"""Records that end elsewhere than they seem to: at a quote, at the end of a line, or too late."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.lines import builder_spans, inside
from netsharp_lsp.cntk.configuration.records import Record
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.configuration.splitting import CUSTOM_SEPARATORS, PATHS
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.configuration.faults import surplus
from netsharp_lsp.cntk.rules.configuration.traps import trap_offsets
from netsharp_lsp.cntk.rules.findings import Change, Finding, Place, Repair, placed
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.run.experiment import Experiment

_IDENTIFIER = late(rb"[A-Za-z_][\w.]*\Z")
_ALMOST = late(rb"([A-Za-z_]\w*)([ \t]*:[ \t]*|[ \t]+)(?=[^\s:])")
#: Blanks are scanned from the first one on: a line may be a megabyte of them.
_SWALLOWED = late(rb"(?<![ \t])([ \t]+)([A-Za-z_]\w*)[ \t]*=(?!=)")
_BLOCK_BELOW = late(rb"[ \t]*\n[ \t\n]*([\[{])")
_BRACKET = late(rb"[\[{(](?=([`~!@$%^&*_\-+|:;,?.]))")
_CLOSER = late(rb'[\[\](){}]|"[^"]*"?')
_NUMBER = rb"-?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+(?:\*\d++)?+"
_NUMBERS = late(rb"%b(?::%b)*+\Z" % (_NUMBER, _NUMBER))
#: A number whose digits may be grouped by commas.
_THOUSANDS = late(rb"[1-9]\d{0,2}(?:,\d{3})++\Z")
PLACEHOLDER = b"..."


@rule("CK007", "warning", on=EXPERIMENT)
def ends_of_records(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report records that begin or end at an unexpected place."""
    follow_ups = trap_offsets(experiment)
    for scope in _scopes(experiment):
        found = [one for one in scope.records if not _swallowed_up(one, follow_ups)]
        chain_end = 0
        for number, record in enumerate(found):
            before = found[number - 1] if number else None
            if before is not None and _follows(before, record):
                if number >= chain_end:
                    chain_end = _chain(found, number)
                    yield from _after(before, found[number:chain_end])
                continue
            yield from _of_one(record, before, scope.parent is None)
            if before is not None and _is_lost(before, record) and before.kind == "text":
                yield from _lost(before, _lost_numbers(found, number))


for _code in ("CK033", "CK035", "CK037", "CK038", "CK120"):
    emitted(_code, "warning")
emitted("CK034", "hint")


def _swallowed_up(record: Record, follow_ups: dict[str, int]) -> bool:
    """Return whether a record is part of an unclosed string or of a network."""
    place = record.text.place(*record.key)
    first = follow_ups.get(place.source.name)
    if first is not None and place.start >= first:
        return True
    return inside(builder_spans(place.source.text), place.start)


def _scopes(experiment: Experiment) -> Iterator[Scope]:
    yield experiment.configuration.root
    for value in experiment.configuration.values():
        if value.inside is not None:
            yield value.inside


def _of_one(record: Record, before: Record | None, at_top: bool) -> Iterator[Finding]:
    """Report the faults of one record that begins where it should."""
    if _foreign(record.text, record.key[0]):
        return
    if record.kind == "flag":
        yield from _flag(record, before)
    elif record.kind == "text":
        yield from _swallowed(record)
    if record.kind != "string":
        yield from _separators(record)
    if at_top and record.kind in ("flag", "text"):
        yield from _surplus(record)


def _foreign(text: Traced, offset: int) -> bool:
    """Return whether a character was not written in a file, or was substituted for a variable."""
    place = text.place(offset, offset + 1)
    return place.source.name == COMMAND_LINE or place.end - place.start != 1


# After a closed value.


def _follows(before: Record, record: Record) -> bool:
    """Return whether a record directly follows another one, apparently by mistake."""
    between = record.text.text[before.whole[1] : record.key[0]]
    if between.strip(b" \t") or before.whole[1] > record.key[0] or before.kind == "flag":
        return False
    return record.kind == "flag" or _IDENTIFIER.match(record.name) is None


def _chain(found: list[Record], number: int) -> int:
    """Return the number of the first record after `number` that does not follow the one before."""
    end = number + 1
    while end < len(found) and _follows(found[end - 1], found[end]):
        end += 1
    return end


def _after(before: Record, chain: list[Record]) -> Iterator[Finding]:
    first = chain[0]
    if _foreign(first.text, first.key[0]) or b"#" in first.name or first.name.startswith(b"//"):
        return
    whole = first.text.place(first.key[0], chain[-1].whole[1])
    closer = before.text.text[before.whole[1] - 1 : before.whole[1]].decode("utf-8", "replace")
    words = whole.text.decode("utf-8", "replace")
    message = (
        f"'{words}' follows a value that '{closer}' has closed: '{_name(before)}' ends "
        "there, and the rest is a key of its own."
    )
    repair = None
    if words.startswith(":"):
        message += " Put the array in parentheses."
        start = before.text.place(*before.whole).start
        name = whole.source.name
        changes = [
            Change(Place(name, start, start), "("),
            Change(Place(name, whole.end, whole.end), ")"),
        ]
        repair = Repair("Put the array in parentheses", changes, safe=False)
    else:
        message += " Quote the whole value, or remove the rest."
    yield Finding("CK007", placed(whole), message, repair=repair)


def _name(record: Record) -> str:
    return record.name.decode("utf-8", "replace")


# Keys without a value.


def _flag(record: Record, before: Record | None) -> Iterator[Finding]:
    name = record.name
    place = placed(record.text.place(*record.key))
    below = _BLOCK_BELOW.match(record.text.text, record.key[1])
    if name == PLACEHOLDER:
        message = "'...' stands for omitted text: CNTK reads it as a key with the value true."
        yield Finding("CK034", place, message)
    elif name.startswith((b"//", b"/*")) or b"#" in name:
        return
    elif before is not None and _continues(before, record):
        yield _broken_array(record, before, place)
    elif below is not None and _IDENTIFIER.match(name):
        yield _block_below(record, below, place)
    elif (almost := _ALMOST.match(name)) is not None:
        yield _almost(record, almost, place)


def _continues(before: Record, record: Record) -> bool:
    """Return whether a flag looks like the rest of an array on the line before."""
    ends = before.kind == "text" and before.text.text[: before.value[1]].endswith((b":", b"*"))
    return ends or record.name.startswith((b":", b"*"))


def _broken_array(record: Record, before: Record, place: Place) -> Finding:
    message = (
        f"'{_name(record)}' does not continue '{_name(before)}': a value ends with its line, and "
        "this is a key of its own. Write the array on one line."
    )
    gap = before.text.place(before.whole[1], before.whole[1])
    repair = None
    if gap.source.name == place.source:
        between = gap.source.text[gap.start : place.start]
        if not between.strip():
            change = Change(Place(place.source, gap.start, place.start), "")
            repair = Repair("Join the lines", [change], safe=False)
    return Finding("CK037", place, message, repair=repair)


def _block_below(record: Record, below: re.Match[bytes], place: Place) -> Finding:
    bracket = below.group(1).decode()
    name = _name(record)
    message = (
        f"The block on the next line does not belong to '{name}', which is true by itself: CNTK "
        f"ignores the block. Write '{name} = {bracket}' on one line."
    )
    source = record.text.place(*record.key).source
    end = record.text.place(below.start(1), below.end(1))
    repair = None
    if end.source is source and not source.text[place.end : end.start].strip():
        change = Change(Place(place.source, place.end, end.start), " = ")
        repair = Repair(f"Write '{name} = {bracket}'", [change], safe=False)
    return Finding("CK037", place, message, repair=repair)


def _almost(record: Record, almost: re.Match[bytes], place: Place) -> Finding:
    key = almost.group(1).decode()
    value = record.name[almost.end() :].decode("utf-8", "replace")
    message = (
        f"'{_name(record)}' is read as a key with the value true, because it has no '='. Did you "
        f"mean '{key} = {value}'?"
    )
    gap = Place(place.source, place.start + almost.start(2), place.start + almost.end(2))
    repair = Repair(f"Write '{key} = {value}'", [Change(gap, " = ")], safe=False)
    return Finding("CK035", place, message, repair=repair)


# Numbers after a comma.


def _is_lost(before: Record, record: Record) -> bool:
    """Return whether a record is a number separated by a comma from the numbers before it."""
    if record.kind != "flag" or before.text is not record.text:
        return False
    numbers = before.name if before.kind == "flag" else before.content.text
    between = record.text.text[before.whole[1] : record.key[0]]
    return (
        between.strip(b" \t") == b","
        and _NUMBERS.match(record.name) is not None
        and _NUMBERS.match(numbers) is not None
    )


def _lost_numbers(found: list[Record], number: int) -> list[Record]:
    """Return the records from `number` on that are each separated from the one before by a
    comma.
    """
    end = number + 1
    while end < len(found) and _is_lost(found[end - 1], found[end]):
        end += 1
    return found[number:end]


def _lost(before: Record, numbers: list[Record]) -> Iterator[Finding]:
    first, last = numbers[0], numbers[-1]
    if _foreign(first.text, before.value[0]) or _foreign(first.text, first.key[0]):
        return
    whole = first.text.place(before.value[0], last.key[1])
    if whole.text != first.text.text[before.value[0] : last.key[1]]:
        return
    name, count = _name(before), len(numbers)
    kept = before.content.text.decode("utf-8", "replace")
    lost = "number after it is read as a key"
    if count > 1:
        lost = f"{count} numbers after it are read as keys"
    array = ":".join((kept, *map(_name, numbers)))
    message = (
        f"A comma ends the value: '{name}' is {kept}, and the {lost}. Write '{array}' for an array"
    )
    repair = None
    if _THOUSANDS.match(whole.text):
        message += f", or '{whole.text.replace(b',', b'').decode()}' for one number"
    else:
        ends = [before.whole[1], *(one.key[1] for one in numbers)]
        gaps = [first.text.place(end, one.key[0]) for end, one in zip(ends, numbers, strict=False)]
        changes = [Change(placed(gap), ":") for gap in gaps]
        repair = Repair(f"Write '{array}'", changes, safe=False)
    place = placed(first.text.place(first.key[0], last.key[1]))
    yield Finding("CK120", place, f"{message}.", repair=repair)


# Values.


def _swallowed(record: Record) -> Iterator[Finding]:
    """Report an assignment within a bare value."""
    text = record.text.text
    found = _SWALLOWED.search(text, *record.value)
    if found is None or any(mark in text[record.value[0] : found.start()] for mark in b'"([{;'):
        return
    name = found.group(2).decode()
    value = text[record.value[0] : record.value[1]].decode("utf-8", "replace")
    message = (
        f"'{_name(record)}' extends to the end of its line: its value is '{value}', and '{name}' "
        "is not a key. Put ';' between the two."
    )
    place = record.text.place(*found.span(2))
    if place.end - place.start != len(name):
        return
    gap = Change(Place(place.source.name, place.start - len(found.group(1)), place.start), " ; ")
    repair = Repair("Put ';' between them", [gap], safe=False)
    yield Finding("CK038", placed(place), message, repair=repair)


def _separators(record: Record) -> Iterator[Finding]:
    """Report brackets whose first character is read as a separator."""
    text = record.text.text
    start, end = record.value
    if record.kind == "block":
        end = min(end, start + 2)
    for found in _BRACKET.finditer(text, start, end):
        at = found.end()
        if text.startswith(PATHS, at) or not _is_swallowed(text, at, record.value[1]):
            continue
        mark = found.group(1).decode()
        bracket = found.group().decode()
        place = record.text.place(at, at + 1)
        if place.end - place.start != 1:
            continue
        message = (
            f"'{mark}' directly after '{bracket}' is read as the separator of elements, not as "
            f"part of the first one. Put a blank between: '{bracket} {mark}'."
        )
        change = Change(Place(place.source.name, place.start, place.start), " ")
        repair = Repair("Put a blank between", [change], safe=False)
        yield Finding("CK033", placed(place), message, repair=repair)


def _is_swallowed(text: bytes, at: int, end: int) -> bool:
    """Return whether a separator is hardly intended: it begins a number or a name, and separates
    nothing.
    """
    assert text[at] in CUSTOM_SEPARATORS
    following = text[at + 1 : at + 2]
    if text[at] in b"-+." and following.isdigit():
        return True
    again = text.find(text[at : at + 1], at + 1, end) >= 0
    return (
        not again
        and text[at] in b"_~%@!^&*-+."
        and (following.isalnum() or following in (b"/", b"\\", b"_"))
    )


def _surplus(record: Record) -> Iterator[Finding]:
    """Report closing brackets in a bare value at the top level."""
    text = record.text.text
    depth = 0
    for found in _CLOSER.finditer(text, *record.value):
        mark = found.group()
        if mark in (b"[", b"{", b"("):
            depth += 1
        elif mark in (b"]", b"}", b")"):
            depth -= 1
        if depth < 0:
            place = record.text.place(found.start(), record.value[1])
            rest = place.text.decode("utf-8", "replace")
            yield _in_value(record, placed(place), rest)
            return


def _in_value(record: Record, place: Place, rest: str) -> Finding:
    if rest.strip(")]} \t"):
        place = Place(place.source, place.start, place.start + 1)
        rest = rest[:1]
    finding = surplus(place, rest)
    message = f"'{rest}' closes no bracket and is part of '{_name(record)}'. Remove it."
    repair = Repair("Delete the bracket", [Change(place, "")], safe=False)
    return Finding(finding.code, place, message, repair=repair)
