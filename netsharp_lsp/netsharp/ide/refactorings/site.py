"""The site of a refactoring: the range, the nodes there, and the layout of the text."""

from __future__ import annotations

import re

from netsharp_lsp.netsharp.ide.places.node_paths import node_path_at
from netsharp_lsp.netsharp.reading.mistakes import KEYWORDS, SECTION_WORDS
from netsharp_lsp.netsharp.reading.syntax import BundleItem, LayerItem
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.netsharp.findings import Change
    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Node

BLANKS = b" \t"
#: More bytes are not rewritten: actions are computed, and sent, at each cursor move.
LONGEST = 20_000
BLANK_LINE = re.compile(rb"[ \t]*\r?\n")
BLANK_LINE_ABOVE = re.compile(rb"(?<=\n)[ \t]*\r?\n\Z")
#: How far around a line blank ones are looked for.
NEAR = 200
#: What begins a comment; Net# has no strings, so text without faults has it nowhere else.
COMMENTS = (b"//", b"/*", b"#", b"<!--")


class Site:
    """A range of a text and the declaration that it begins in; spans are absolute.

    Only declarations without faults are sites: unparsed text is not rewritten.
    """

    __slots__ = ("data", "end", "network", "node_path", "start")

    def __init__(self, network: Network, node_path: NodePath, start: int, end: int) -> None:
        self.network = network
        self.data = network.specification.data
        self.node_path = node_path
        self.start = start
        self.end = end

    @property
    def declaration(self) -> Declaration:
        """Return the declaration at the start of the range."""
        return self.node_path.declaration

    def holding(self, kind: type[Any]) -> Any:
        """Return the innermost node of a kind around the start of the range, None without one."""
        return self.node_path.holding(kind)

    def span(self, node: Node) -> tuple[int, int]:
        """Return the absolute bytes of a node of the declaration."""
        return self.node_path.span(node)

    def text(self, start: int, end: int) -> str:
        """Return the text of a span."""
        return self.data[start:end].decode("utf-8", "replace")

    def has_comment(self, start: int, end: int) -> bool:
        """Return whether a span contains a comment."""
        inside = self.data[start:end]
        return any(mark in inside for mark in COMMENTS)

    def is_silenced(self, start: int, end: int) -> bool:
        """Return whether a suppression acts on a line of a span: it would not if lines moved."""
        line_end = self.data.find(b"\n", end)
        last = line_end if line_end >= 0 else len(self.data)
        return b"netsharp:" in self.data[self.attached(start) : last]

    def indent_of(self, offset: int) -> str:
        """Return the blanks at the start of the line of an offset."""
        start = self.line_start(offset)
        line = self.data[start:offset]
        return line[: len(line) - len(line.lstrip(BLANKS))].decode("ascii")

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset starts."""
        return max(self.data.rfind(b"\n", 0, offset), self.data.rfind(b"\r", 0, offset)) + 1

    def begins_line(self, offset: int) -> bool:
        """Return whether only blanks are before an offset on its line."""
        return not self.data[self.line_start(offset) : offset].strip(BLANKS)

    def above(self, offset: int) -> tuple[int, str]:
        """Return where text is inserted above a declaration, and what separates the two.

        Comments on the lines right above belong to the declaration, unless the text begins with
        them; a suppression does in any case.
        """
        if not self.begins_line(offset):
            return offset, " "
        line_end = self.network.specification.line_end
        top = self.attached(offset)
        heads = top == 0 and b"netsharp:" not in self.data[:offset]
        if heads or top == self.line_start(offset):
            return offset, line_end + self.indent_of(offset)
        first = top + len(self.data[top:offset]) - len(self.data[top:offset].lstrip(BLANKS))
        return first, line_end + self.indent_of(first)

    def attached(self, offset: int) -> int:
        """Return where the run of comments on the lines right above an offset's starts."""
        top = self.line_start(offset)
        while top > 0:
            start = self.line_start(top - 1)
            if not self.data[start:top].lstrip(BLANKS).startswith(b"//"):
                break
            top = start
        return top

    def layer(self) -> Layer | None:
        """Return the layer around the start of the range; None for one whose name is another's."""
        item = self.holding(LayerItem)
        layer = None if item is None else self.network.layers.get(item.name.text)
        return layer if layer is not None and layer.item is item else None

    def bundle(self) -> Bundle | None:
        """Return the bundle around the start of the range."""
        item, layer = self.holding(BundleItem), self.layer()
        if item is None or layer is None:
            return None
        return next((bundle for bundle in layer.bundles if bundle.item is item), None)

    def edit(self, change: Change) -> Edit:
        """Return a change as an edit of the text."""
        specification = self.network.specification
        return Edit(*change.place.offsets(specification), change.written(specification))

    def removal(self, change: Change) -> Edit:
        """Return a change that removes whole lines, with a blank line that is superfluous then."""
        edit = self.edit(change)
        above = self.data[max(0, edit.start - NEAR) : edit.start]
        below = self.data[edit.end : edit.end + NEAR]
        whole = not above or above.endswith(b"\n")
        if edit.text or not whole or (below.strip() and not BLANK_LINE.match(below)):
            return edit
        if not above.strip():
            gap = BLANK_LINE.match(below)
            return Edit(edit.start, edit.end + (gap.end() if gap else 0), "")
        gap = BLANK_LINE_ABOVE.search(above)
        return Edit(edit.start - (len(gap[0]) if gap else 0), edit.end, "")

    def free_name(self, wanted: str) -> str:
        """Return a name like `wanted` that neither a layer nor a constant has, nor a keyword."""
        taken = self.network.layers, self.network.constants
        number, name = 1, wanted
        while name in KEYWORDS or any(name in names for names in taken):
            number += 1
            name = f"{wanted}{number}"
        return name


def site_at(network: Network, start: int, end: int) -> Site | None:
    """Return the site of a range; None between declarations and in one with faults."""
    node_path = node_path_at(network.specification, start)
    if node_path is None or node_path.declaration.faults:
        return None
    if node_path.declaration.kind not in SECTION_WORDS:
        return None
    return Site(network, node_path, start, end)


def moved_lines(text: str, before: str, after: str) -> str:
    """Return a text whose lines except the first move from indent `before` to `after`."""
    if before == after:
        return text
    first, *rest = text.split("\n")
    lines = (after + line[len(before) :] if line.startswith(before) else line for line in rest)
    return "\n".join((first, *lines))
