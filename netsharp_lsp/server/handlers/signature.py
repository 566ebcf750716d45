"""textDocument/signatureHelp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from netsharp_lsp.ide.answers import Parameter, Signature
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

_ABILITY = "textDocument.signatureHelp.signatureInformation"


def signature_help(session: Session, params: lsp.SignatureHelpParams) -> Plain | None:
    """Return the form of the attribute block or call at a position."""
    place = session.place(params.text_document.uri, params.position)
    found = place.view.snapshot.signature(place.offset) if place is not None else None
    if found is None:
        return None
    signature = {
        "label": found.label,
        "documentation": _documentation(session, found.documentation),
        "parameters": [_parameter(session, found, each) for each in found.parameters],
    }
    # A number after the last parameter means none; clients that do not accept null accept it.
    active = len(found.parameters) if found.active is None else found.active
    return {"signatures": [signature], "activeSignature": 0, "activeParameter": active}


def _parameter(session: Session, of: Signature, found: Parameter) -> Plain:
    """Return a parameter by its offsets in the label, or its text for clients without offsets."""
    label: str | list[int] = of.label[found.start : found.end]
    if session.client.can(f"{_ABILITY}.parameterInformation.labelOffsetSupport"):
        label = [_units(of.label[: found.start]), _units(of.label[: found.end])]
    if not found.documentation:
        return {"label": label}
    return {"label": label, "documentation": _documentation(session, found.documentation)}


def _documentation(session: Session, markdown: str) -> Plain:
    contents = session.markup(markdown, f"{_ABILITY}.documentationFormat")
    return {"kind": contents.kind.value, "value": contents.value}


def _units(text: str) -> int:
    """Return the length in UTF-16 units, in which the protocol counts within labels."""
    return len(text.encode("utf-16-le")) // 2
