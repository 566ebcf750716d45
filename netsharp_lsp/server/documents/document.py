"""One version of an open document: UTF-8 bytes with their lines; immutable, and knows no meaning.

A change is applied to bytes; what it did comes back as edits of the version before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_lsp.text.edits import Edit, apply_edits, compose, difference
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.server.documents.positions import Ruler


class Document:
    """A text that a client has open: who it is, which version, and in which language."""

    __slots__ = ("language_id", "lines", "uri", "version")

    def __init__(self, uri: str, language_id: str, version: int | None, lines: LineIndex) -> None:
        self.uri = uri
        self.language_id = language_id
        self.version = version
        self.lines = lines

    @classmethod
    def opened(cls, uri: str, language_id: str, version: int | None, text: str) -> Document:
        """Take a text from a client; half a surrogate pair becomes a question mark."""
        return cls(uri, language_id, version, LineIndex(text.encode("utf-8", "replace")))

    @property
    def text(self) -> bytes:
        """The text, UTF-8."""
        return self.lines.text

    def changed(
        self, version: int | None, changes: Sequence[dict[str, Any]], ruler: Ruler
    ) -> tuple[Document, list[Edit]]:
        """Return the next version, and the edits that lead to it from this one.

        Changes are the protocol's: in order, each about the text that the one before left.
        """
        lines = self.lines
        edits: list[Edit] = []
        for change in changes:
            made = _read_change(lines, change, ruler)
            lines = lines.edited(apply_edits(lines.text, [made]), made)
            edits = compose(edits, [made]) if edits else [made]
        return Document(self.uri, self.language_id, version, lines), edits


def _read_change(lines: LineIndex, change: dict[str, Any], ruler: Ruler) -> Edit:
    """One change as an edit; a whole new text becomes the one stretch that differs."""
    text = change["text"].encode("utf-8", "replace").decode("utf-8")
    place = change.get("range")
    if place is None:
        return difference(lines.text, text.encode("utf-8"))
    first, last = place["start"], place["end"]
    start = ruler.offset(lines, first["line"], first["character"])
    end = ruler.offset(lines, last["line"], last["character"])
    return Edit(min(start, end), max(start, end), text)
