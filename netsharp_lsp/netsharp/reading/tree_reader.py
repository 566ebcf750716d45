"""Reading one top-level node of the tree: spans, names, keywords, and faults.

It knows tokens, comments and placeholders of missing text; no declaration and no expression.
"""

from __future__ import annotations

from sys import intern

from netsharp_lsp.netsharp.reading.grammar import passing
from netsharp_lsp.netsharp.reading.syntax import Fault, Keyword, Name, Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node as TreeNode

    from netsharp_lsp.netsharp.reading.comments import Span

COMMENTS = {
    "comment": "line",
    "block_comment": "block",
    "unclosed_comment": "unclosed",
    "hash_comment": "hash",
    "html_comment": "html",
}

#: Keyword tokens below the level of a declaration's own keyword.
INNER_KEYWORDS = frozenset(
    "from auto all where convolve max mean pool response norm true false".split()  # noqa: SIM905
)

MISSING = {
    "missing_semicolon": ";",
    "missing_brace": "}",
    "missing_open": "{",
    "missing_bracket": "]",
    "missing_parenthesis": ")",
    "missing_operand": "",
}
#: What `missing_open` means where it is not a brace.
MISSING_OPEN = {"tuple": "[", "where": "("}

OPENINGS = frozenset("{[(")
#: One object for each usual offset, as `intern` has one for each word: a long text has 600,000.
OFFSETS = tuple(range(2048))
OPENERS = {"}": "{", "]": "[", ")": "("}


def first_byte(node: TreeNode) -> int:
    """Return where the text of a node starts: a token without text may be before the blanks."""
    inner: TreeNode | None = node
    while inner is not None:
        node = inner
        inner = next((one for one in node.children if one.end_byte > one.start_byte), None)
    return node.start_byte


#: A node with more children is not asked for all at once: it would keep them as long as it lives.
MANY = 1024
#: The most tokens of an unplaced text that are kept one by one; of a long one, together.
FEW = 32


def children_of(node: TreeNode) -> Iterable[TreeNode]:
    """Return the children of a node; those of a large one are not kept alive."""
    return node.children if node.child_count <= MANY else passing(node)


class TreeReader:
    """Reads one top-level node; collects its keywords, faults and comments on the way."""

    def __init__(self, data: bytes, node: TreeNode, comments: list[Span]) -> None:
        self.data = data
        self.base = first_byte(node)
        self.comments = comments
        self.keywords: list[Keyword] = []
        self.semicolons: list[tuple[int, int]] = []
        self.faults: list[Fault] = []
        #: The unplaced text that may continue: its tokens, and its bytes.
        self.tokens: list[tuple[str, int, int]] | Tokens = []
        self.lost: tuple[int, int] | None = None

    def span(self, node: TreeNode) -> tuple[int, int]:
        """Return the bytes of a node, relative to the top-level node."""
        start, end = node.start_byte - self.base, node.end_byte - self.base
        return (OFFSETS[start], OFFSETS[end]) if end < len(OFFSETS) else (start, end)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return a span of the text, relative to the top-level node."""
        start, end = start - self.base, end - self.base
        return (OFFSETS[start], OFFSETS[end]) if end < len(OFFSETS) else (start, end)

    def text(self, node: TreeNode) -> str:
        """Return the text of a node."""
        return intern(self.data[node.start_byte : node.end_byte].decode("utf-8", "replace"))

    def name(self, node: TreeNode) -> Name:
        """Return a node as a name."""
        return Name(*self.span(node), self.text(node))

    def named(self, node: TreeNode, parts: list[TreeNode]) -> Name:
        """Return the name that a node starts with; an empty one where it is missing."""
        if parts and parts[0].type in ("identifier", "digit_name"):
            return self.name(parts[0])
        start, _ = self.span(node)
        return Name(start, start, "")

    def keyword(self, node: TreeNode) -> Keyword:
        """Return a node as a keyword, which is noted."""
        keyword = Keyword(*self.span(node), self.text(node))
        self.keywords.append(keyword)
        return keyword

    def parts(self, node: TreeNode) -> list[TreeNode]:
        """Return the children that carry meaning; comments and faults are noted and left out."""
        opener: tuple[int, int] | None = None
        found = []
        last: TreeNode | None = None
        for child in children_of(node):
            # A node itself would look for the one before it from the root on.
            before, last = last or child, child
            kind = child.type
            if kind in ("ERROR", "stray"):
                self.add_unplaced(child)
                continue
            if kind in COMMENTS:
                self.comment(child)
                continue
            self.unexpected()
            if child.is_missing:
                self.missing(child, kind, opener)
                continue
            found.append(child)
            if kind in MISSING:
                self.supplied(child, before, node.type, opener)
            elif kind in OPENINGS:
                opener = self.span(child)
            elif kind in INNER_KEYWORDS and not child.is_named:
                self.keyword(child)
        self.unexpected()
        return found

    def comment(self, node: TreeNode) -> None:
        """Note a comment; its offsets are those in the bytes read."""
        self.comments.append((node.start_byte, node.end_byte, COMMENTS[node.type]))

    def supplied(
        self, node: TreeNode, before: TreeNode, parent: str, opener: tuple[int, int] | None
    ) -> None:
        """Note what is missing where the scanner put an empty token after another node."""
        mark = MISSING[node.type]
        if mark == "{":
            mark = MISSING_OPEN.get(parent, mark)
        if mark:
            self.missing(node, mark, opener)
        else:
            self.incomplete(*self.span(before), "operand")

    def incomplete(self, start: int, end: int, what: str) -> None:
        """Note that a construct was begun and not finished, unless its rest is unparsed."""
        known = any(
            what == "declaration" or (fault.start <= end + 1 and start <= fault.end)
            for fault in self.unreadable()
        )
        if not known:
            self.faults.append(Fault(start, end, "incomplete", what))

    def unreadable(self) -> Iterator[Fault]:
        """Yield the unplaced texts noted so far."""
        return (fault for fault in self.faults if fault.kind == "unexpected")

    def missing(self, node: TreeNode, mark: str, opener: tuple[int, int] | None) -> None:
        """Note a missing mark, and what opened the bracket that it would close."""
        start = node.start_byte - self.base
        self.faults.append(
            Fault(start, start, "missing", mark, opener if mark in OPENERS else None)
        )

    def add_unplaced(self, node: TreeNode) -> None:
        """Add an unplaced node to the unplaced text, if there is one already."""
        start = first_byte(node) if self.lost is None else self.lost[0]
        self.lost = (start, node.end_byte)
        stack = [iter((node,))]
        while stack:
            current = next(stack[-1], None)
            if current is None:
                stack.pop()
            elif current.type in COMMENTS:
                self.comment(current)
            elif current.child_count:
                stack.append(passing(current))
            elif current.end_byte > current.start_byte:
                if len(self.tokens) == FEW:
                    self.tokens = Tokens(self.tokens)
                self.tokens.append((intern(current.type), *self.span(current)))

    def unexpected(self) -> None:
        """Note the unplaced text up to here, if any, with its tokens."""
        if self.lost is None:
            return
        (start, end), tokens = self.lost, self.tokens
        self.lost, self.tokens = None, []
        text = self.data[start:end].decode("utf-8", "replace")
        kept = tokens if isinstance(tokens, Tokens) else tuple(tokens)
        self.faults.append(
            Fault(start - self.base, end - self.base, "unexpected", text, None, kept)
        )
