"""The JSON report: version 1 of the public contract (schemas/check.json)."""

from __future__ import annotations

from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.reports import FileFindings, Style
    from netsharp_lsp.text.lines import LineIndex

VERSION = 1


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one JSON document, a release and a diagnostic per line; without releases, none."""
    yield f'{{"version": {VERSION}, '
    if any(found.releases for found in files):
        releases = ({"file": found.file, **one} for found in files for one in found.releases)
        yield from _listed("releases", releases)
        yield ", "
    diagnostics = (diagnostic_data(found, one) for found in files for one in found.diagnostics)
    yield from _listed("diagnostics", diagnostics)
    yield "}\n"


def _listed(key: str, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a key and its array, a row per line."""
    yield f'"{key}": ['
    separator = "\n"
    for row in rows:
        yield separator + to_json(row)
        separator = ",\n"
    yield "]" if separator == "\n" else "\n]"


def diagnostic_data(found: FileFindings, diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as the contract's JSON object."""
    related = []
    for place in diagnostic.related:
        file, lines = found.place_of(place)
        span = span_data(lines, place.start, place.end)
        related.append({"file": file, "message": place.message, **span})
    return {
        "file": found.file,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **span_data(found.lines, diagnostic.start, diagnostic.end),
        "related": related,
        "fix": _fix_data(found.lines, diagnostic),
    }


def span_data(lines: LineIndex, start: int, end: int) -> dict[str, dict[str, int]]:
    """Return `start` and `end` as lines and columns from 1; the end is exclusive."""
    return {"start": _position(lines, start), "end": _position(lines, end)}


def _position(lines: LineIndex, offset: int) -> dict[str, int]:
    line, column = lines.position(offset)
    return {"line": line, "column": column}


def _fix_data(lines: LineIndex, diagnostic: Diagnostic) -> dict[str, Any] | None:
    fix = diagnostic.fix
    if fix is None:
        return None
    edits = [{**span_data(lines, edit.start, edit.end), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
