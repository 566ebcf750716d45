"""Networks as people look at them, tables or a picture; only of specifications without errors.

It is also imported by the process that works on large texts, so it imports no protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_lsp.context import Context
    from netsharp_lsp.ide.answers import Graph
    from netsharp_lsp.interface import Language, Snapshot


class FaultyError(Exception):
    """Why a specification is not shown, as a sentence."""


def depicted(snapshot: Snapshot, form: str) -> str:
    """Return a network as `markdown` or `svg`; FaultyError where it has errors."""
    errors = sum(found.severity == "error" for found in snapshot.check().diagnostics)
    if errors:
        noun = "an error" if errors == 1 else f"{errors} errors"
        raise FaultyError(
            f"The specification has {noun}, so its numbers would mean nothing. Repair it first."
        )
    description = snapshot.graph().description
    if form == "svg":
        from netsharp_lsp.description.svg import render_svg

        return render_svg(description)
    from netsharp_lsp.description.tables import render_markdown

    return render_markdown(description)


def depicted_from_text(
    language: Language, text: bytes, context: Context, form: str
) -> str | FaultyError:
    """Return the same of a text, an error included: for another process."""
    try:
        return depicted(language.open(text, context), form)
    except FaultyError as error:
        return error


def graph_from_text(language: Language, text: bytes, context: Context) -> Graph:
    """Return the graph of a text: for another process."""
    return language.open(text, context).graph()
