"""Declarations and uses of a name: definition, implementation, references, highlights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import Elsewhere
from netsharp_lsp.server.answers.elsewhere import lines_of, location

if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Target
    from netsharp_lsp.server.session import Session, ViewOffset

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


def implementation(
    session: Session, params: lsp.ImplementationParams
) -> list[lsp.Location] | list[lsp.LocationLink] | None:
    """Return the target of the name at a position, None where there is none."""
    uri = params.text_document.uri
    place = session.place(uri, params.position)
    if place is None:
        return None
    found = place.view.snapshot.implementations(place.offset)
    links = [one for each in found if (one := _link(session, uri, place, each)) is not None]
    if session.client.can("textDocument.implementation.linkSupport"):
        return links or None
    return [_as_location(one) for one in links] or None


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
    """Return the other places of the name at a position."""
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
    place = session.place(params.text_document.uri, params.position)
    found = place.view.snapshot.definition(place.offset) if place is not None else None
    if place is None or found is None:
        return None
    link = _link(session, params.text_document.uri, place, found)
    if link is None:
        return None
    return [link] if session.client.can(links) else _as_location(link)


def _link(session: Session, uri: str, place: ViewOffset, found: Target) -> lsp.LocationLink | None:
    """Return where a target is; None where its file cannot be read."""
    whole, name = (found.start, found.end), (found.name_start, found.name_end)
    if found.file is None:
        return lsp.LocationLink(uri, place.view.range(*whole), place.view.range(*name))
    known = lines_of(session, found.file)
    if known is None:
        return None
    uri, lines = known
    ruler = session.ruler
    return lsp.LocationLink(uri, ruler.range(lines, *whole), ruler.range(lines, *name))


def _as_location(link: lsp.LocationLink) -> lsp.Location:
    return lsp.Location(link.target_uri, link.target_selection_range)
