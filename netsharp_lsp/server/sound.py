"""Descriptions of networks that people look at: only of specifications without errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsharp_lsp.server.views import View


def described(view: View) -> dict[str, Any] | str:
    """Return the JSON of `netsharp describe`, or say that errors stand in its way."""
    errors = sum(found.severity == "error" for found in view.snapshot.check().diagnostics)
    if errors:
        noun = "an error" if errors == 1 else f"{errors} errors"
        return f"The specification has {noun}, so its numbers would mean nothing. Repair it first."
    return view.language.describe(view.lines.text, view.context)
