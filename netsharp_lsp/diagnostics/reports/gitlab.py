"""The report for GitLab: a Code Quality artifact, an array of issues with fingerprints."""

from __future__ import annotations

from netsharp_lsp.diagnostics.baseline import keys_of
from netsharp_lsp.text.json_text import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from netsharp_lsp.diagnostics.reports import FileFindings, Style

_SEVERITIES = {"error": "critical", "warning": "major", "info": "minor", "hint": "info"}


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one JSON array."""
    yield from listed((issue for found in files for issue in _issues(found)), 0)
    yield "\n"


def _issues(found: FileFindings) -> Iterator[dict[str, Any]]:
    for diagnostic, fingerprint in zip(found.diagnostics, fingerprints(found), strict=True):
        line, column = found.lines.position(diagnostic.start)
        end_line, end_column = found.lines.position(diagnostic.end)
        positions = {
            "begin": {"line": line, "column": column},
            "end": {"line": end_line, "column": end_column},
        }
        yield {
            "type": "issue",
            "check_name": diagnostic.code,
            "description": f"{diagnostic.code}: {diagnostic.message}",
            "categories": ["Bug Risk"],
            "severity": _SEVERITIES[diagnostic.severity],
            "fingerprint": fingerprint,
            "location": {
                "path": found.file,
                "lines": {"begin": line, "end": end_line},
                "positions": positions,
            },
        }


def fingerprints(found: FileFindings) -> Iterator[str]:
    """Yield for each diagnostic a name that edits on other lines do not change."""
    from hashlib import sha256

    counts: dict[tuple[str, str], int] = {}
    # What findings of one code on one line have in common, which may be long, is hashed once.
    begun: dict[str, Any] = {}
    line = ""
    for key in keys_of(found.lines, found.diagnostics):
        if key[1] is not line:
            line = key[1]
            begun.clear()
        if key[0] not in begun:
            identity = "\0".join((found.file, *key, ""))
            begun[key[0]] = sha256(identity.encode("utf-8", "surrogatepass"))
        counts[key] = counts.get(key, 0) + 1
        name = begun[key[0]].copy()
        name.update(str(counts[key]).encode())
        yield name.hexdigest()
