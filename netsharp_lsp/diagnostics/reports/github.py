"""The report for GitHub Actions: workflow commands that annotate a change."""

from __future__ import annotations

from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.reports import FileFindings, Style

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice", "hint": "notice"}


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one workflow command per diagnostic."""
    for found in files:
        for diagnostic in found.diagnostics:
            line, column = found.lines.position(diagnostic.start)
            end_line, end_column = found.lines.position(diagnostic.end)
            properties = {
                "title": f"netsharp {diagnostic.code}",
                "file": found.file,
                "line": str(line),
                "col": str(column),
                "endLine": str(end_line),
                "endColumn": str(end_column),
            }
            fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
            command = _COMMANDS[diagnostic.severity]
            yield f"::{command} {fields}::{_data(f'{diagnostic.code} {diagnostic.message}')}\n"


def _data(text: str) -> str:
    # GitHub asks for line ends as %0A, but shows what else moves a terminal as it is.
    lines = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
