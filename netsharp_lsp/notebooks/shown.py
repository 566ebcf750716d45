"""A specification as a notebook shows it: its findings, and the picture of its network."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_lsp.context import Context
from netsharp_lsp.specification import findings, read_specification

if TYPE_CHECKING:
    from netsharp_lsp.specification import Diagnostic

#: The colours of findings by severity.
COLORS = {"error": "#c4314b", "warning": "#b5651d", "info": "#2c6fbb", "hint": "#6b7280"}


class Specification(str):
    """The text of a Net# network, which a notebook shows with its findings and its picture.

    It is a text and is taken wherever a specification is.

    Parameters
    ----------
    specification : str or path object
        A text, or the path of its file, which is read at once.

    Since
    -----
    0.1
    """

    __slots__ = ()

    def __new__(cls, specification: str | os.PathLike[str]) -> Specification:
        """Read the file of a path."""
        return super().__new__(cls, read_specification(specification).decode())

    def _findings(self) -> list[Diagnostic]:
        return findings(self.encode(), Context())

    def _repr_svg_(self) -> str | None:
        """Return the picture of the network; None where errors leave it unknown."""
        from netsharp_lsp.description.svg import render_svg
        from netsharp_lsp.language import language_by_id, main_language

        if any(found.severity == "error" for found in self._findings()):
            return None
        language = language_by_id(main_language())
        return render_svg(language.describe(self.encode(), Context()))

    def _repr_html_(self) -> str:
        """Return findings and picture as HTML without scripts."""
        from html import escape

        lines = []
        for found in self._findings():
            color = COLORS.get(found.severity, COLORS["hint"])
            place = f"line {found.line}, column {found.column}"
            message = escape(f"{place}: {found.code} {found.message}")
            mark = f'<span style="color:{color}">{found.severity}</span>'
            lines.append(f"<li>{mark} {message}</li>")
        listed = f"<ul>{''.join(lines)}</ul>" if lines else "<p>Nothing found.</p>"
        return f"<div>{listed}{self._repr_svg_() or ''}</div>"


Specification.__module__ = "netsharp"
