"""The SARIF 2.1.0 report, as code scanning services read it."""

from __future__ import annotations

from functools import lru_cache

from netsharp_lsp.diagnostics.reports.gitlab import fingerprints
from netsharp_lsp.text.json_text import listed, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.reports import FileFindings, Style
    from netsharp_lsp.text.lines import LineIndex

_LEVELS = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one SARIF log with one run."""
    codes = sorted({d.code for found in files for d in found.diagnostics})
    rules = [
        {"id": code, "name": code, "shortDescription": {"text": style.title_of(code)}}
        for code in codes
    ]
    numbers = {code: number for number, code in enumerate(codes)}
    results = (
        _result(found, diagnostic, numbers[diagnostic.code], fingerprint)
        for found in files
        for diagnostic, fingerprint in zip(found.diagnostics, fingerprints(found), strict=True)
    )
    driver = {"name": "netsharp", "version": style.version, "rules": rules}
    yield (
        f'{{\n  "$schema": {to_json(_SCHEMA)},\n  "version": "2.1.0",\n  "runs": [\n    {{\n'
        f'      "tool": {_indented({"driver": driver})},\n'
        '      "columnKind": "unicodeCodePoints",\n'
        '      "artifacts": '
    )
    yield from listed(({"location": {"uri": _uri(found.file)}} for found in files), 3)
    yield ',\n      "results": '
    yield from listed(results, 3)
    yield "\n    }\n  ]\n}\n"


def _indented(value: object) -> str:
    """Return a value of the run as JSON, at its depth."""
    return to_json(value, indent=2).replace("\n", "\n      ")


def _result(
    found: FileFindings, diagnostic: Diagnostic, rule: int, fingerprint: str
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message},
        "locations": [_location(found.file, found.lines, diagnostic.start, diagnostic.end)],
        "partialFingerprints": {"netsharpLine/v1": fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": place.message},
                **_location(*found.place_of(place), place.start, place.end),
            }
            for number, place in enumerate(diagnostic.related)
        ]
    if diagnostic.fix is not None:
        replacements = [
            {
                "deletedRegion": _region(found.lines, edit.start, edit.end),
                "insertedContent": {"text": edit.text},
            }
            for edit in diagnostic.fix.edits
        ]
        change = {"artifactLocation": {"uri": _uri(found.file)}, "replacements": replacements}
        result["fixes"] = [
            {"description": {"text": diagnostic.fix.title}, "artifactChanges": [change]}
        ]
    return result


def _location(file: str, lines: LineIndex, start: int, end: int) -> dict[str, Any]:
    physical = {"artifactLocation": {"uri": _uri(file)}, "region": _region(lines, start, end)}
    return {"physicalLocation": physical}


def _region(lines: LineIndex, start: int, end: int) -> dict[str, int]:
    line, column = lines.position(start)
    end_line, end_column = lines.position(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _quoted(character: str) -> str:
    """Return a character of a path, or the byte of one that is not UTF-8, percent-encoded."""
    from urllib.parse import quote

    lone = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return quote(character.encode("utf-8", lone))


@lru_cache(maxsize=1)
def _uri(file: str) -> str:
    """Return a relative or absolute path as the URI reference that SARIF requires."""
    path = "".join(map(_quoted, file.replace("\\", "/")))
    return f"file://{path}" if path.startswith("/") else path.removeprefix("./")
