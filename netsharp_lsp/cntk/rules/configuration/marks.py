"""Number signs and slashes that do not begin a comment, and lines that fail to include a file."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.lines import (
    builder_spans,
    inside,
    kept_signs,
    without_comments,
)
from netsharp_lsp.cntk.rules import CONFIGURATION, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Place, Repair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.run.experiment import Experiment

_LATER_COMMENT = re.compile(rb"(?<![ \t])[ \t]++(#[^\r\n]*)")
_BLANKS = re.compile(rb"[ \t]*+")
_SLASHES = re.compile(
    rb"^[ \t]*(//|/\*)|[^\s=:+;,(\[{][ \t]+(//|/\*)(?=[ \t]|[^\W\d]|\Z)", re.MULTILINE
)
_INCLUDE = re.compile(
    rb"^(?!(?-i:include=))[ \t\"]*include[ \t]*=[ \t]*\"?([^\r\n\"=;,#]*[^\s\"=;,#])\"?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)


@rule("CK009", "warning", on=CONFIGURATION)
def kept_number_signs(subject: Source, experiment: Experiment) -> Iterator[Finding]:
    """Report lines whose first number sign has no blank before it, so that they are not cut."""
    networks = builder_spans(subject.text)
    for start, sign, end in kept_signs(subject.text):
        if inside(networks, sign):
            continue
        later = _LATER_COMMENT.search(subject.text, sign, end)
        if later is not None:
            yield _kept_comment(subject, (start, sign), later)
        elif _is_comment(subject.text, start, sign, end):
            yield _glued_comment(subject, sign, end)


def _is_comment(text: bytes, start: int, sign: int, end: int) -> bool:
    """Return whether the text after a sign reads like a comment and not like part of a value."""
    if text.count(b'"', start, sign) % 2:
        return False
    return text[sign - 1] in b';)]}"' or text[sign + 1 : sign + 2] in (b" ", b"\t", b"#")


def _kept_comment(source: Source, line: tuple[int, int], later: re.Match[bytes]) -> Finding:
    start, sign = line
    words = later.group(1).decode("utf-8", "replace")
    column = source.lines.position(sign)[1]
    message = (
        f"'{words}' is not a comment but part of the line: CNTK looks only at the first '#', and "
        f"the one in column {column} has no blank before it. Put the comment on a line of its own."
    )
    indent = _BLANKS.match(source.text, start).group()  # type: ignore[union-attr]
    name = source.name
    changes = [
        Change(Place(name, start, start), f"{indent.decode()}{words}\n"),
        Change(Place(name, *later.span()), ""),
    ]
    repair = Repair("Put the comment on a line of its own", changes, safe=False)
    return Finding("CK009", Place(name, *later.span(1)), message, repair=repair)


def _glued_comment(source: Source, sign: int, end: int) -> Finding:
    message = (
        "This '#' does not begin a comment: no blank precedes it, so the whole line is read. Put a "
        "blank before it."
    )
    change = Change(Place(source.name, sign, sign), " ")
    repair = Repair("Put a blank before '#'", [change], safe=False)
    return Finding("CK009", Place(source.name, sign, end), message, repair=repair)


@rule("CK011", "warning", on=CONFIGURATION)
def slashes(subject: Source, experiment: Experiment) -> Iterator[Finding]:
    """Report comments of other languages outside networks of BrainScript."""
    if b"//" not in subject.text and b"/*" not in subject.text:
        return
    code = without_comments(subject.text)
    networks = builder_spans(subject.text)
    counted, quotes = 0, 0
    for found in _SLASHES.finditer(code):
        group = 1 if found.group(1) else 2
        start, end = found.span(group)
        line = code.rfind(b"\n", counted, start)
        quotes = code.count(b'"', max(line, counted), start) + (quotes if line < 0 else 0)
        counted = start
        if inside(networks, start) or quotes % 2:
            continue
        mark = found.group(group).decode()
        message = (
            f"'{mark}' does not begin a comment in a configuration: the text after it is read as "
            "keys and values. Write '#'."
        )
        repair = None
        if mark == "//":
            change = Change(Place(subject.name, start, end), "#")
            repair = Repair("Write '#'", [change], safe=False)
        yield Finding("CK011", Place(subject.name, start, end), message, repair=repair)


@rule("CK028", "warning", on=CONFIGURATION)
def no_includes(subject: Source, experiment: Experiment) -> Iterator[Finding]:
    """Report lines that look like an include but are an assignment."""
    networks = builder_spans(subject.text)
    for found in _INCLUDE.finditer(without_comments(subject.text)):
        if inside(networks, found.start()):
            continue
        place = Place(subject.name, *found.span())
        path = found.group(1).decode("utf-8", "replace")
        message = (
            "This line does not include a file but sets the key 'include': CNTK includes one "
            f"only where a line begins with 'include=' in column 1. Write 'include={path}'."
        )
        change = Change(place, f"include={path}")
        repair = Repair(f"Write 'include={path}'", [change], safe=False)
        yield Finding("CK028", place, message, repair=repair)
