"""textDocument/codeLens and codeLens/resolve: a title that costs something comes later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.writing import command
from netsharp_lsp.server.transport.parameters import brought_back

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Lens
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session


def code_lenses(session: Session, params: lsp.CodeLensParams) -> list[dict[str, Any]]:
    """Return the lines above declarations."""
    uri = params.text_document.uri
    options = session.lens_options_of(uri)
    if options is None:
        return []
    # Which of several specifications of a text a model is of, only the model knows.
    inside = replace(options, trained=False)
    return [
        _plain(view, lens)
        for view, _, _ in session.places(uri, None)
        for lens in view.snapshot.lenses(options if view.region is None else inside)
    ]


def resolve(session: Session, lens: dict[str, Any]) -> dict[str, Any]:
    """Add the title of a lens that has none."""
    if lens.get("command") is not None:
        return lens
    data = brought_back("codeLens/resolve", lens.get("data"))
    view = session.view(data["uri"], data["view"])
    title = view.snapshot.lens_title(data["key"]) if view is not None else ""
    lens["command"] = {"title": title, "command": ""}
    return lens


def _plain(view: View, lens: Lens) -> dict[str, Any]:
    plain: dict[str, Any] = {"range": view.span(lens.start, lens.end)}
    if lens.command is not None:
        plain["command"] = command(lens.command, view)
    elif lens.title:
        plain["command"] = {"title": lens.title, "command": ""}
    else:
        plain["data"] = {**view.address, "key": lens.key}
    return plain
