"""Translates findings about a specification to its host: places, fixes, lines in sentences."""

from __future__ import annotations

import re

from netsharp_lsp.diagnostics.model import Diagnostic, Fix, Related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.text.lines import LineIndex

#: How a sentence names a line of the text that it is about.
_LINE = re.compile(r"(?<=\bat line )\d+")


def outer_diagnostics(
    region: Region, diagnostics: Iterable[Diagnostic], host: LineIndex
) -> list[Diagnostic]:
    """Return diagnostics of a specification with the offsets of its host.

    A fix that cannot be written in the host is dropped.
    """
    return [
        Diagnostic(
            diagnostic.code,
            diagnostic.severity,
            outer_message(region, diagnostic.message, host),
            *region.outer_span(diagnostic.start, diagnostic.end),
            [_outer_related(region, place) for place in diagnostic.related],
            _outer_fix(region, diagnostic.fix),
        )
        for diagnostic in diagnostics
    ]


def outer_message(region: Region, message: str, host: LineIndex) -> str:
    """Return a sentence about a specification with the line numbers of its host."""

    def host_line(found: re.Match[str]) -> str:
        inner = region.lines.offset(int(found.group()), 1)
        return str(host.line_at(region.outer(inner)) + 1)

    return _LINE.sub(host_line, message)


def _outer_related(region: Region, place: Related) -> Related:
    if place.file is not None:
        return place
    return Related(place.message, *region.outer_span(place.start, place.end))


def _outer_fix(region: Region, fix: Fix | None) -> Fix | None:
    edits = region.outer_edits(fix.edits) if fix is not None else None
    return Fix(fix.title, fix.safe, edits) if fix is not None and edits is not None else None
