"""Specifications inside named host files: which are meant, checked and formatted where they stand.

Imported for hosts alone; knows what to say to people, and no host language.
"""

from __future__ import annotations

from collections import Counter

from netsharp_lsp.cli.inputs.unformatted import about_unformatted
from netsharp_lsp.diagnostics.conflicts import undisputed, unresolved
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.embedded.answers.arrangement import arrange
from netsharp_lsp.embedded.answers.conflicts import host_conflicts, readings
from netsharp_lsp.embedded.answers.findings import outer_diagnostics
from netsharp_lsp.embedded.finding import find_regions, unknown_lines
from netsharp_lsp.embedded.hosts import SEPARATOR
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id, main_family, main_language
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.text.lines import LineIndex
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cli.inputs.files import Input
    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.embedded.answers.arrangement import Arrangement
    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.layout.options import LineRange

#: The most lines that are named of parts that are not read.
_MOST_LINES = 5


class Embedded:
    """A specification inside a host file, and the lines of the host."""

    __slots__ = ("file", "lines", "region")

    def __init__(self, file: str, region: Region, lines: LineIndex) -> None:
        self.file = file
        self.region = region
        self.lines = lines

    def places(self, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics of the specification with places in the host."""
        return outer_diagnostics(self.region, diagnostics, self.lines)


def specifications_in(item: Input, text: bytes) -> list[Region] | str:
    """Return the specifications of a host that its argument means, or why there are none.

    An argument means all of them, or those by the name, or at the line, after `::`.
    """
    regions = find_regions(item.host or "", text)
    if isinstance(regions, str):
        return f"{item.name}: {regions}"
    if item.part is None:
        return regions
    lines = LineIndex(text)
    number = whole_number(item.part)
    if number is not None:
        chosen = [one for one in regions if _is_at(one, number, lines)]
    else:
        chosen = [region for region in regions if region.name == item.part]
    if chosen:
        return chosen
    names = [region.name for region in regions if region.name is not None]
    hint = suggestion(item.part, names) or _listed(item, regions, lines)
    return f"{item.name}: holds no specification '{item.part}'.{hint}"


def one_specification(item: Input, text: bytes) -> Region | str:
    """Return the one specification that an argument means, or a sentence that asks for one."""
    regions = specifications_in(item, text)
    if isinstance(regions, str):
        return regions
    if not regions:
        return nothing_in(item, text)
    if len(regions) == 1:
        return regions[0]
    listed = _listed(item, regions, LineIndex(text))
    return f"{item.name}: {len(regions)} specifications are meant. Choose one.{listed}"


class ReadHost:
    """A host that was read: its conflicts, and for each of their sides the text with what was found
    of specifications in it, or why there are none.
    """

    __slots__ = ("conflicts", "sides")

    def __init__(self, item: Input, text: bytes) -> None:
        self.conflicts = host_conflicts(item.host or "", text)
        self.sides = [(one, specifications_in(item, one)) for one in readings(text, self.conflicts)]


def why_none(item: Input, text: bytes, host: ReadHost) -> tuple[bool, str]:
    """Return whether a host cannot be read, and the sentence; "" where it has the specification."""
    found = [regions for _, regions in host.sides]
    if any(regions for regions in found if isinstance(regions, list)):
        return False, ""
    refused = next((one for one in found if isinstance(one, str)), None)
    return (False, nothing_in(item, text)) if refused is None else (True, refused)


def nothing_in(item: Input, text: bytes) -> str:
    """Return the sentence on a host that holds no specification."""
    if item.host == "ipynb":
        conflicts = host_conflicts(item.host, text)
        if conflicts:
            line = LineIndex(text).line_at(conflicts[0].marks[0][1]) + 1
            return (
                f"{item.name}: is not a notebook: it holds a merge conflict, at line {line}, that"
                " is not resolved."
            )
        import json

        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"{item.name}: is not a notebook: {error}."
    sentence = f"{item.name}: holds no {main_family().title} specification."
    lines = unknown_lines(item.host or "", text)
    if lines:
        where = ", ".join(map(str, lines[:_MOST_LINES]))
        sentence += f" What is put together when the host runs is not read (line {where})."
    return sentence


def examine_host(
    host: ReadHost, contexts: tuple[Context, Context], selection: Selection
) -> list[Diagnostic]:
    """Check the specifications of a host: their diagnostics, with places in the host.

    `contexts`: what flags say, which outranks the call around a specification, and what run file
    and settings say, which the call outranks.
    """
    sides = [_examined(regions, text, contexts, selection) for text, regions in host.sides]
    found = sides[0]
    if host.conflicts:
        code = language_by_id(main_language()).conflict_code
        found = selection.filter([unresolved(one, code) for one in host.conflicts])
        found += undisputed(host.conflicts, *sides)
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)


def _examined(
    regions: list[Region] | str,
    text: bytes,
    contexts: tuple[Context, Context],
    selection: Selection,
) -> list[Diagnostic]:
    """Check the specifications of a host without conflicts, nothing where they cannot be read."""
    given, around = contexts
    lines = LineIndex(text)
    found: list[Diagnostic] = []
    for number, region in enumerate(regions if isinstance(regions, list) else ()):
        language = language_by_id(region.language)
        context = given.or_else(region.context).or_else(around)
        context = context if number == 0 else context.following()
        inner = examine(language, region.lines, context, selection)
        found += outer_diagnostics(region, inner, lines)
    return found


class HostText:
    """A host after formatting: its text, sentences on what stayed as it was, a fault of ours."""

    __slots__ = ("failure", "sentences", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.sentences: list[str] = []
        self.failure: str | None = None


def format_host(
    item: Input, text: bytes, regions: Sequence[Region], options: FormatOptions
) -> HostText:
    """Format specifications of a host where they stand; nothing else changes."""
    done = HostText(text)
    lines = LineIndex(text)
    edits = []
    for region in regions:
        ranges = [inner for r in options.ranges if (inner := _inner_range(region, r, lines))]
        if options.ranges and not ranges:
            continue
        own = FormatOptions("lf", ranges, options.self_check)
        arranged = arrange(region, language_by_id(region.language).format, own)
        if arranged.failure is not None:
            done.failure = arranged.failure
            return done
        edits += arranged.edits
        done.sentences += _sentences(item, region, arranged, lines)
    done.text = apply_edits(text, edits)
    return done


def _sentences(item: Input, region: Region, arranged: Arrangement, lines: LineIndex) -> list[str]:
    if arranged.reason:
        line = lines.line_at(region.start) + 1
        return [f"{item.name}:{line}: left as it is: {arranged.reason}."]
    if not arranged.broken:
        return []

    def line_at(offset: int) -> int:
        return lines.line_at(region.outer(offset))

    return about_unformatted(item.name, region.language, region.text, arranged.broken, line_at)


def _inner_range(region: Region, lines: LineRange, host: LineIndex) -> LineRange | None:
    """Lines of a host as lines of a specification in it, None where it has none of them."""
    first, last = host.offset(lines[0], 1), host.full_span(min(lines[1], host.count) - 1)[1]
    if last <= region.start or first > region.end:
        return None
    own = region.lines
    start = region.inner(max(first, region.start)) or 0
    end = region.inner(min(last, region.end)) or 0
    return own.line_at(start) + 1, own.line_at(max(start, end - 1)) + 1


def _is_at(region: Region, line: int, lines: LineIndex) -> bool:
    return lines.line_at(region.start) < line <= lines.line_at(max(region.start, region.end)) + 1


def _listed(item: Input, regions: Sequence[Region], lines: LineIndex) -> str:
    """Return the arguments that mean one specification each, as a sentence."""
    bearers = Counter(region.name for region in regions)
    shown = []
    for region in regions:
        line = lines.line_at(region.start) + 1
        name = region.name if bearers[region.name] == 1 and region.name else line
        shown.append(f"{item.name}{SEPARATOR}{name}")
    return f" There is {', '.join(shown)}." if shown else ""
