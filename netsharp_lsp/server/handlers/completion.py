"""textDocument/completion and completionItem/resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.writing import text_edits
from netsharp_lsp.server.transport.parameters import brought_back
from netsharp_lsp.text.edits import Edit

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Completion
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

_ABILITY = "textDocument.completion.completionItem"
#: Numbers of the protocol's CompletionItemKind.
_KINDS = {
    "keyword": 14,
    "layer": 7,
    "constant": 21,
    "attribute": 10,
    "activation": 20,
    "function": 3,
    "value": 12,
    "snippet": 15,
    "node": 6,
    "section": 9,
    "file": 17,
}
#: What stands for the newer kinds with a client that says nothing of them.
_OLDER_KINDS = {20: 12, 21: 12}
_SNIPPET = 2


def completion(session: Session, params: lsp.CompletionParams) -> dict[str, Any] | None:
    """Return what may be written at a position."""
    place = session.place(params.text_document.uri, params.position)
    if place is None:
        return None
    snippets = session.client.can(f"{_ABILITY}.snippetSupport")
    older = not session.client.names_kinds("textDocument.completion.completionItemKind")
    found = place.view.snapshot.complete(place.offset)
    items = [_plain(place.view, proposal, snippets, older) for proposal in found.items]
    row = params.position.line
    return {
        "isIncomplete": found.incomplete,
        "items": [item for item in items if item is not None and _is_on(row, item["textEdit"])],
    }


def resolve(session: Session, item: dict[str, Any]) -> dict[str, Any]:
    """Add a proposal's documentation; one that has none came without data."""
    if item.get("data") is None:
        return item
    data = brought_back("completionItem/resolve", item["data"])
    view = session.view(data["uri"], data["view"])
    text = view.snapshot.document(data["topic"]) if view is not None else ""
    if text:
        contents = session.markup(text, f"{_ABILITY}.documentationFormat")
        item["documentation"] = {"kind": contents.kind.value, "value": contents.value}
    return item


def _is_on(row: int, edit: dict[str, Any]) -> bool:
    """Whether a change lies on the cursor's line, as it must: between literals it may not."""
    place = edit["range"]
    return bool(place["start"]["line"] == row == place["end"]["line"])


def _plain(view: View, proposal: Completion, snippets: bool, older: bool) -> dict[str, Any] | None:
    """A proposal as JSON; None where it cannot be written into the text around."""
    as_snippet = proposal.snippet and snippets
    text = proposal.insert if as_snippet else proposal.plain
    outer = view.outer_edits([Edit(proposal.start, proposal.end, text)])
    if outer is None or len(outer) != 1:
        return None
    kind = _KINDS[proposal.kind]
    item: dict[str, Any] = {
        "label": proposal.label,
        "kind": _OLDER_KINDS.get(kind, kind) if older else kind,
        "sortText": f"{proposal.rank:04d}{proposal.label}",
        "textEdit": text_edits(view.document, outer)[0],
    }
    if proposal.sought != proposal.label:
        item["filterText"] = proposal.sought
    if as_snippet:
        item["insertTextFormat"] = _SNIPPET
    if proposal.detail:
        item["detail"] = proposal.detail
    if proposal.topic:
        item["data"] = {**view.address, "topic": proposal.topic}
    return item
