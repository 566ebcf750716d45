"""Places and changes in files other than the document that a client asks about.

A file that is open is what the client says it is, any other what the disk says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import netsharp_lsp
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.server.surroundings.workspace_files import path_of, uri_of
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.ide.answers import FileEdits
    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

#: Bytes of a file above which no place in it is resolved.
LARGEST = 16 * 1024 * 1024


def open_document(session: Session, path: str) -> OpenDocument | None:
    """Return the open document of a file; None where the client has it not open."""
    for uri, document in session.documents.items():
        if path_of(uri) == path:
            return document
    return None


def lines_of(session: Session, path: str) -> tuple[str, LineIndex] | None:
    """Return the URI and the lines of a file; None where it cannot be read as text."""
    document = open_document(session, path)
    if document is not None:
        return document.uri, document.lines
    place = path if _is_own(path) else session.roots.place(path)
    if place is None:
        return None
    try:
        with open_plain(place, follow=False) as stream:
            source = decode(stream.read(LARGEST))
    except (OSError, ValueError):
        return None
    return (uri_of(path), LineIndex(source.text)) if isinstance(source, Source) else None


def _is_own(path: str) -> bool:
    """Return whether a file is one of this package: a definition in the library leads there."""
    return path.startswith(os.path.dirname(netsharp_lsp.__file__) + os.sep)


def location(session: Session, path: str, start: int, end: int) -> Plain | None:
    """Return a Location in a file; None where the file cannot be read."""
    found = lines_of(session, path)
    if found is None:
        return None
    uri, lines = found
    return {"uri": uri, "range": session.ruler.span(lines, start, end)}


def document_changes(session: Session, changes: Sequence[FileEdits]) -> list[Plain]:
    """Return changes of other files for `documentChanges`; a file that cannot be read has none."""
    plain: list[Plain] = []
    for change in changes:
        if change.creates:
            plain.append(_first_text(change))
            continue
        found = lines_of(session, change.file)
        if found is None:
            continue
        uri, lines = found
        document = open_document(session, change.file)
        edits = [
            {"range": session.ruler.span(lines, edit.start, edit.end), "newText": edit.text}
            for edit in change.edits
        ]
        identity = {"uri": uri, "version": None if document is None else document.version}
        plain.append({"textDocument": identity, "edits": edits})
    return plain


def creations(changes: Sequence[FileEdits]) -> list[Plain]:
    """Return the operations that make the files that are new, still empty."""
    return [
        {"kind": "create", "uri": uri_of(change.file), "options": {"ignoreIfExists": False}}
        for change in changes
        if change.creates
    ]


def _first_text(change: FileEdits) -> Plain:
    nowhere = {"line": 0, "character": 0}
    text = "".join(edit.text for edit in change.edits)
    return {
        "textDocument": {"uri": uri_of(change.file), "version": None},
        "edits": [{"range": {"start": nowhere, "end": nowhere}, "newText": text}],
    }
