"""One text and its syntax: its declarations and comments, and their offsets.

It knows how to look them up and nothing of the contents of declarations.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from netsharp_lsp.netsharp.reading.characters import foreign_marks
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.reading.characters import Mark
    from netsharp_lsp.netsharp.reading.comments import Comments
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Item


class Specification:
    """One parsed text: its bytes, its declarations in order, where each starts, its comments.

    `offsets` are the starts in the order of the declarations.
    """

    __slots__ = (
        "comments",
        "data",
        "declarations",
        "known_doubtful",
        "known_lines",
        "known_marks",
        "known_misnamed",
        "offsets",
        "starts",
    )

    def __init__(
        self,
        data: bytes,
        declarations: tuple[Declaration, ...],
        offsets: list[int],
        comments: Comments,
    ) -> None:
        self.data = data
        self.declarations = declarations
        self.offsets = offsets
        self.starts = dict(zip(declarations, offsets, strict=True))
        self.comments = comments
        #: None until `marks`, `lines`, `doubtful` and `misnamed` are first read.
        self.known_marks: list[Mark] | None = None
        self.known_lines: LineIndex | None = None
        self.known_doubtful: list[Declaration] | None = None
        self.known_misnamed: list[Declaration] | None = None

    @property
    def marks(self) -> list[Mark]:
        """Return the characters that Net# does not use, in order, without those in comments."""
        if self.known_marks is None:
            self.known_marks = foreign_marks(self.data, self.comments)
        return self.known_marks

    @property
    def doubtful(self) -> list[Declaration]:
        """Return the declarations that are doubtful, in order."""
        if self.known_doubtful is None:
            self.known_doubtful = [one for one in self.declarations if one.doubtful]
        return self.known_doubtful

    @property
    def misnamed(self) -> list[Declaration]:
        """Return the declarations that are misnamed, in order."""
        if self.known_misnamed is None:
            self.known_misnamed = [one for one in self.declarations if one.misnamed]
        return self.known_misnamed

    @property
    def lines(self) -> LineIndex:
        """Return the lines of the text."""
        if self.known_lines is None:
            self.known_lines = LineIndex(self.data)
        return self.known_lines

    def index(self, declaration: Declaration) -> int:
        """Return the position of a declaration among all."""
        position = bisect_left(self.offsets, self.starts[declaration])
        # A missing part may be reported where the next declaration starts.
        while self.declarations[position] is not declaration:
            position += 1
        return position

    def before(self, declaration: Declaration) -> Declaration | None:
        """Return the declaration before another."""
        position = self.index(declaration)
        return self.declarations[position - 1] if position else None

    def declaration_at(self, offset: int) -> Declaration | None:
        """Return the last declaration to start at or before a byte offset, if there is one."""
        before = bisect_right(self.offsets, offset)
        return self.declarations[before - 1] if before else None

    @property
    def line_end(self) -> str:
        """Return the end of the first line, for lines that are inserted."""
        end = self.data.find(b"\n")
        return "\r\n" if end > 0 and self.data[end - 1 : end] == b"\r" else "\n"

    def text(self, declaration: Declaration, start: int, end: int) -> str:
        """Return the text of a span of a declaration."""
        base = self.starts[declaration]
        return self.data[base + start : base + end].decode("utf-8", "replace")

    def items(self) -> Iterator[tuple[Declaration, Item]]:
        """Yield every item with its declaration, in text order."""
        for declaration in self.declarations:
            for item in declaration.items:
                yield declaration, item
