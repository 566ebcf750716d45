"""The report for GitLab: a Code Quality artifact, an array of issues with fingerprints."""

from __future__ import annotations

from netsharp_lsp.diagnostics.baseline import key_of
from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.reports import FileFindings, Style

_SEVERITIES = {"error": "critical", "warning": "major", "info": "minor", "hint": "info"}


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one JSON array."""
    issues = []
    for found in files:
        for diagnostic, fingerprint in zip(found.diagnostics, fingerprints(found), strict=True):
            line, column = found.lines.position(diagnostic.start)
            end_line, end_column = found.lines.position(diagnostic.end)
            positions = {
                "begin": {"line": line, "column": column},
                "end": {"line": end_line, "column": end_column},
            }
            issues.append(
                {
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
            )
    yield to_json(issues, indent=2) + "\n"


def fingerprints(found: FileFindings) -> list[str]:
    """Return for each diagnostic a name that edits on other lines do not change."""
    from hashlib import sha256

    counts: dict[tuple[str, str], int] = {}
    names = []
    for diagnostic in found.diagnostics:
        key = key_of(found.lines, diagnostic)
        counts[key] = counts.get(key, 0) + 1
        identity = "\0".join((found.file, *key, str(counts[key])))
        names.append(sha256(identity.encode("utf-8", "surrogatepass")).hexdigest())
    return names
