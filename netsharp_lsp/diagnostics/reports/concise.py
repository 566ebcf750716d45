"""The concise report: one line per diagnostic, as compilers write them."""

from __future__ import annotations

from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.reports import FileFindings, Style


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield `file:line:column: severity CODE message`, with [*] where a safe fix exists."""
    for found in files:
        for diagnostic in found.diagnostics:
            line, column = found.lines.position(diagnostic.start)
            mark = " [*]" if diagnostic.fix is not None and diagnostic.fix.safe else ""
            text = (
                f"{_name(found.file)}:{line}:{column}: {diagnostic.severity} "
                f"{diagnostic.code} {diagnostic.message}{mark}"
            )
            yield f"{visible(text)}\n"


def _name(file: str) -> str:
    """Return a file's name; one that would begin a line as a command to a CI service is escaped."""
    return f"./{file}" if file.startswith(("::", "##")) else file
