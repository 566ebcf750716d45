"""The errors of a specification on stderr, for the commands that need one without any."""

from __future__ import annotations

import sys

from netsharp_lsp.cli.console.terminal import give, source_width, uses_color
from netsharp_lsp.diagnostics.reports import FileFindings, Style, render
from netsharp_lsp.language import language_for
from netsharp_lsp.memory import uncollected
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cli.inputs.embedded import Embedded
    from netsharp_lsp.context import Context


def show_errors(name: str, text: bytes, context: Context, embedded: Embedded | None = None) -> bool:
    """Write a specification's errors to stderr, and return whether there are any.

    `embedded`: its place in a host file, whose lines are then given.
    """
    result = uncollected(lambda: language_for(name).check(text, context))
    errors = [found for found in result.diagnostics if found.severity == "error"]
    if errors:
        lines = LineIndex(text)
        if embedded is not None:
            errors, lines, name = embedded.places(errors), embedded.lines, embedded.file
        style = Style(color=uses_color(sys.stderr), width=source_width(sys.stderr))
        give(render("text", [FileFindings(name, lines, errors)], style), sys.stderr)
    return bool(errors)
