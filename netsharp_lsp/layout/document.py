"""The algebra of layouts: a document is text with the places where it may break into lines.

After Wadler ("A prettier printer") and Prettier's `fill`. A text is UTF-8 bytes, as everywhere in
the inner layers; nothing here knows a language or a width.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Document: TypeAlias = "bytes | Break | Concat | Nest | Group | Fill | Trailing"


class Break:
    """A place to break: `flat` is its text while its group is on one line.

    `forced` marks one that always breaks, and with it every group around it.
    """

    __slots__ = ("flat", "forced")

    def __init__(self, flat: bytes, forced: bool = False) -> None:
        self.flat = flat
        self.forced = forced


#: A space, or a new line.
LINE = Break(b" ")
#: Nothing, or a new line.
SOFTLINE = Break(b"")
#: A new line, whatever fits.
HARDLINE = Break(b"", forced=True)


class Concat:
    """Documents one after the other."""

    __slots__ = ("forced", "parts")

    def __init__(self, parts: Sequence[Document]) -> None:
        self.parts = parts
        self.forced = any(map(is_forced, parts))


class Nest:
    """A document whose new lines are indented by `columns` more."""

    __slots__ = ("columns", "content", "forced")

    def __init__(self, columns: int, content: Document) -> None:
        self.columns = columns
        self.content = content
        self.forced = is_forced(content)


class Group:
    """A document whose breaks all become new lines, or none of them."""

    __slots__ = ("content", "forced")

    def __init__(self, content: Document) -> None:
        self.content = content
        self.forced = is_forced(content)


class Fill:
    """Contents and breaks in turn; each break is a new line only where the next content needs it.

    `parts` starts and ends with a content, so its length is odd (or zero).
    """

    __slots__ = ("forced", "parts")

    def __init__(self, parts: Sequence[Document]) -> None:
        self.parts = parts
        self.forced = any(map(is_forced, parts))


class Trailing:
    """A comment up to the end of the line: it has no width, and breaks every group around it.

    It must be followed by a forced break.
    """

    __slots__ = ("forced", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.forced = True


def concat(*parts: Document) -> Document:
    """Return documents one after the other."""
    return parts[0] if len(parts) == 1 else Concat(parts)


def is_forced(document: Document) -> bool:
    """Return whether a document contains a forced break, so that no group around it is on one line.

    A text of several lines (a block comment) counts as one.
    """
    if isinstance(document, bytes):
        return b"\n" in document or b"\r" in document
    return document.forced
