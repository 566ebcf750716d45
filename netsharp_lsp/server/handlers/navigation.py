"""Where a name is declared and used: definition, declaration, references, highlights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import Elsewhere
from netsharp_lsp.server.elsewhere import lines_of, location

if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Target
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

_HIGHLIGHTS = {"read": lsp.DocumentHighlightKind.Read, "write": lsp.DocumentHighlightKind.Write}


def definition(
    session: Session, params: lsp.DefinitionParams
) -> lsp.Location | list[lsp.LocationLink] | None:
    """Return where the name at a position is declared."""
    return _declared(session, params, "textDocument.definition.linkSupport")


def declaration(
    session: Session, params: lsp.DeclarationParams
) -> lsp.Location | list[lsp.LocationLink] | None:
    """Return the same as `definition`: a name is declared where it is defined."""
    return _declared(session, params, "textDocument.declaration.linkSupport")


def references(session: Session, params: lsp.ReferenceParams) -> list[Plain] | None:
    """Return where the name at a position is used."""
    uri = params.text_document.uri
    place = session.place(uri, params.position)
    if place is None:
        return None
    declared = params.context.include_declaration
    found = place.view.snapshot.references(place.offset, declared)
    places = [
        location(session, one.file, one.start, one.end)
        if isinstance(one, Elsewhere)
        else {"uri": uri, "range": place.view.span(*one)}
        for one in found
    ]
    return [one for one in places if one is not None]


def highlights(
    session: Session, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight] | None:
    """Return where what stands at a position stands elsewhere."""
    place = session.place(params.text_document.uri, params.position)
    if place is None:
        return None
    return [
        lsp.DocumentHighlight(place.view.range(found.start, found.end), _HIGHLIGHTS[found.kind])
        for found in place.view.snapshot.highlights(place.offset)
    ]


def _declared(
    session: Session, params: lsp.DefinitionParams | lsp.DeclarationParams, links: str
) -> lsp.Location | list[lsp.LocationLink] | None:
    uri = params.text_document.uri
    place = session.place(uri, params.position)
    found = place.view.snapshot.definition(place.offset) if place is not None else None
    if place is None or found is None:
        return None
    if found.file is not None:
        return _declared_elsewhere(session, found, links)
    name = place.view.range(found.name_start, found.name_end)
    if not session.client.can(links):
        return lsp.Location(uri, name)
    return [lsp.LocationLink(uri, place.view.range(found.start, found.end), name)]


def _declared_elsewhere(
    session: Session, found: Target, links: str
) -> lsp.Location | list[lsp.LocationLink] | None:
    assert found.file is not None
    known = lines_of(session, found.file)
    if known is None:
        return None
    uri, lines = known
    name = session.ruler.range(lines, found.name_start, found.name_end)
    if not session.client.can(links):
        return lsp.Location(uri, name)
    return [lsp.LocationLink(uri, session.ruler.range(lines, found.start, found.end), name)]
