"""textDocument/documentSymbol and workspace/symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.server.answers.outlines import outline_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Symbol
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.transport.protocol import Written

#: Numbers of the protocol's SymbolKind.
KINDS = {
    "constant": 14,
    "input": 11,
    "hidden": 5,
    "output": 23,
    "bundle": 6,
    "attribute": 7,
    "share": 19,
    "command": 24,
    "section": 3,
    "key": 7,
    "function": 12,
    "node": 13,
}
#: The same for a client that does not declare newer numbers: it knows those up to 18.
_OLDER_KINDS = {**KINDS, "output": 5, "share": 13, "command": 12}
_MODULE = 2
#: Kinds of symbols that are left out of a search by name in a whole workspace.
_MINOR = ("attribute", "bundle", "key")
#: The most symbols of an answer.
MOST = 500


def kinds_for(session: Session, ability: str) -> dict[str, int]:
    """Return the numbers of kinds of symbols that a client knows."""
    return KINDS if session.client.names_kinds(f"{ability}.symbolKind") else _OLDER_KINDS


def document_symbols(
    session: Session, params: lsp.DocumentSymbolParams
) -> list[dict[str, Any]] | Written:
    """Return the outline: as a tree where the client shows trees."""
    trees = session.client.can("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport")
    kinds = kinds_for(session, "textDocument.documentSymbol")
    views = [view for view, _, _ in session.places(params.text_document.uri, None)]
    if trees and len(views) == 1 and views[0].region is None:
        return outline_written(views[0], kinds)
    outline = _trees if trees else _flat_rows
    return [row for view in views for row in outline(view, kinds)]


def _trees(view: View, kinds: Mapping[str, int]) -> Iterable[dict[str, Any]]:
    """Return the outline of a view as a tree."""
    return _named(view, [_tree(view, symbol, kinds) for symbol in view.snapshot.symbols()])


def _flat_rows(view: View, kinds: Mapping[str, int]) -> Iterable[dict[str, Any]]:
    """Return the outline of a view as rows, each with the name of its container."""
    return (_flat(view, symbol, within, kinds) for symbol, within in walk(view.snapshot.symbols()))


async def workspace_symbols(
    session: Session, params: lsp.WorkspaceSymbolParams
) -> list[dict[str, Any]]:
    """Return the declarations of the workspace whose names hold the query's letters in order."""
    kinds = kinds_for(session, "workspace.symbol")
    found: list[dict[str, Any]] = []
    async for document in session.workspace.documents():
        for view in document.views:
            for symbol, within in walk(view.snapshot.symbols()):
                if symbol.kind not in _MINOR and _matches(params.query, symbol.name):
                    found.append(_flat(view, symbol, within, kinds))
        if len(found) >= MOST:
            break
    return found[:MOST]


def walk(
    symbols: tuple[Symbol, ...] | list[Symbol], within: str = ""
) -> Iterator[tuple[Symbol, str]]:
    """Yield symbols and those inside them, each with the name of the one around it."""
    for symbol in symbols:
        yield symbol, within
        yield from walk(symbol.children, symbol.name)


def _tree(view: View, symbol: Symbol, kinds: Mapping[str, int]) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "name": symbol.name or "?",
        "kind": kinds[symbol.kind],
        "range": view.span(symbol.start, symbol.end),
        "selectionRange": view.span(symbol.name_start, symbol.name_end),
    }
    if symbol.detail:
        tree["detail"] = symbol.detail
    if symbol.children:
        tree["children"] = [_tree(view, child, kinds) for child in symbol.children]
    return tree


def _flat(view: View, symbol: Symbol, within: str, kinds: Mapping[str, int]) -> dict[str, Any]:
    flat: dict[str, Any] = {
        "name": symbol.name or "?",
        "kind": kinds[symbol.kind],
        "location": {
            "uri": view.document.uri,
            "range": view.span(symbol.name_start, symbol.name_end),
        },
    }
    if within:
        flat["containerName"] = within
    return flat


def _named(view: View, trees: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the outline of a named specification in a host under its name."""
    if view.region is None or not view.region.name or not trees:
        return trees
    place = view.span(0, len(view.lines.text))
    name = view.region.name
    around = {"name": name, "kind": _MODULE, "range": place, "selectionRange": place}
    return [{**around, "children": trees}]


def _matches(query: str, name: str) -> bool:
    """Return whether a name holds the letters of a query in their order, in either case."""
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())
