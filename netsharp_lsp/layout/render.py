"""Prints a document within a width: each group on one line where it fits; knows no language.

Linear in the document for all practical texts: a group is measured only up to the width.
"""

from __future__ import annotations

from netsharp_lsp.layout.document import Break, Concat, Fill, Group, Nest, Trailing, is_forced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from netsharp_lsp.layout.document import Document

    # What is still to print: its indentation, whether its breaks are flat, the document.
    Command: TypeAlias = "tuple[int, bool, Document | _FillRest | _Later]"

#: The most parts that are measured together: a line has room for few of a million.
_MANY = 128
#: The most pieces that are joined at once.
_JOINED = 1 << 13


class _FillRest:
    """The rest of a fill: its parts from the break at `index` on."""

    __slots__ = ("index", "parts")

    def __init__(self, parts: Sequence[Document], index: int) -> None:
        self.parts = parts
        self.index = index


class _Later:
    """Parts from `index` on that are measured only if there is room left."""

    __slots__ = ("index", "parts")

    def __init__(self, parts: Sequence[Document], index: int) -> None:
        self.parts = parts
        self.index = index


def text_width(text: bytes) -> int:
    """Return the columns of a text of one line: one for every code point."""
    return len(text) if text.isascii() else len(text.decode("utf-8", "replace"))


def render(
    document: Document, width: int, indent: int = 0, column: int = 0, new_line: bytes = b"\n"
) -> bytes:
    """Return a document as text that starts at `column` and, where it can, ends before `width`.

    New lines are indented by `indent` columns and what the document nests.
    """
    printer = _Printer(width, column, new_line)
    printer.print((indent, False, document))
    return b"".join(printer.pieces)


class _Printer:
    """One printing: the output so far, the current column, and what is still to be printed."""

    __slots__ = ("column", "new_line", "pieces", "stack", "width")

    def __init__(self, width: int, column: int, new_line: bytes) -> None:
        self.width = width
        self.column = column
        self.new_line = new_line
        self.pieces: list[bytes] = []
        self.stack: list[Command] = []

    def print(self, command: Command) -> None:
        stack = self.stack
        stack.append(command)
        while stack:
            indent, flat, document = stack.pop()
            if isinstance(document, bytes):
                self.text(document)
            elif isinstance(document, Concat):
                stack.extend([(indent, flat, part) for part in reversed(document.parts)])
            elif isinstance(document, Nest):
                stack.append((indent + document.columns, flat, document.content))
            elif isinstance(document, Group):
                stack.append((indent, flat or self.fits(indent, document), document.content))
            elif isinstance(document, Fill):
                self.fill(indent, flat, document.parts)
            elif isinstance(document, _FillRest):
                self.fill_rest(indent, document.parts, document.index)
            elif isinstance(document, Break):
                self.line_break(indent, flat and not document.forced, document.flat)
            elif isinstance(document, Trailing):
                self.pieces.append(document.text)

    def text(self, text: bytes) -> None:
        self.pieces.append(text)
        last = max(text.rfind(b"\n"), text.rfind(b"\r"))
        if last < 0:
            self.column += text_width(text)
        else:
            self.column = text_width(text[last + 1 :])

    def line_break(self, indent: int, flat: bool, blank: bytes) -> None:
        if flat:
            self.pieces.append(blank)
            self.column += len(blank)
        else:
            self.pieces.append(self.new_line + b" " * indent)
            self.column = indent

    def fill(self, indent: int, flat: bool, parts: Sequence[Document]) -> None:
        if flat:
            self.stack.extend([(indent, True, part) for part in reversed(parts)])
        elif parts:
            if len(parts) > 1:
                self.stack.append((indent, False, _FillRest(parts, 1)))
            self.stack.append((indent, False, Group(parts[0])))

    def fill_rest(self, indent: int, parts: Sequence[Document], index: int) -> None:
        """Print the next break and content; the break is a new line if the content needs it."""
        index = self.fill_texts(indent, parts, index)
        between, content = parts[index], parts[index + 1]
        if index + 2 < len(parts):
            self.stack.append((indent, False, _FillRest(parts, index + 2)))
        if self.fits(indent, Concat((between, content))):
            self.stack += ((indent, True, content), (indent, True, between))
        else:
            self.stack += ((indent, False, Group(content)), (indent, False, between))

    def fill_texts(self, indent: int, parts: Sequence[Document], index: int) -> int:
        """Print breaks and plain texts at once, as `fill_rest` would; return where it stopped.

        Long tuples of numbers are all of this kind. The last content is left: what follows the fill
        must fit after it.
        """
        column, width = self.column, self.width
        pieces: list[bytes] = []
        broken = self.new_line + b" " * indent
        end_of_texts = len(parts) - 2
        while index < end_of_texts:
            between, content = parts[index], parts[index + 1]
            if (
                not isinstance(content, bytes)
                or not isinstance(between, Break)
                or is_forced(content)
            ):
                break
            size = text_width(content)
            column += len(between.flat) + size
            if column > width or between.forced:
                pieces.append(broken)
                column = indent + size
            else:
                pieces.append(between.flat)
            pieces.append(content)
            index += 2
            # To join takes some ten times the memory of a short piece.
            if len(pieces) > _JOINED:
                self.pieces.append(b"".join(pieces))
                pieces.clear()
        self.pieces.append(b"".join(pieces))
        self.column = column
        return index

    def fits(self, indent: int, document: Document) -> bool:
        """Return whether a document, and what must follow it on its line, ends within the width."""
        if is_forced(document):
            return False
        room = self.width - self.column
        rest = len(self.stack)
        todo: list[Command] = [(indent, True, document)]
        while room >= 0:
            if not todo:
                if not rest:
                    return True
                rest -= 1
                todo.append(self.stack[rest])
            indent, flat, part = todo.pop()
            if isinstance(part, bytes):
                room -= text_width(part)
            elif isinstance(part, Break):
                if not flat or part.forced:
                    return True
                room -= len(part.flat)
            elif isinstance(part, _FillRest):
                return True
            elif isinstance(part, (Concat, Fill, _Later)):
                start = part.index if isinstance(part, _Later) else 0
                if len(part.parts) > start + _MANY:
                    todo.append((indent, flat, _Later(part.parts, start + _MANY)))
                some = part.parts[start : start + _MANY]
                todo.extend([(indent, flat, inner) for inner in reversed(some)])
            elif isinstance(part, (Nest, Group)):
                todo.append((indent, flat, part.content))
        return False
