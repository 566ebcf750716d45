"""Stretches of an edited text, parsed alone for what is asked of a screen at each keystroke.

Knows the trees of whole texts and no meaning.  A stretch ends at declarations that an edit left
alone; it counts where the parser gives them again as they were in the version before.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Query, QueryCursor

from netsharp_lsp.text.edits import common

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Tree

    Parse = Callable[[bytes], Tree]
    #: The span of a declaration, and its type in the tree.
    Mark = tuple[int, int, str]

#: Declarations on each side of a stretch that are parsed with it: the outermost must be as they
#: were, and those next to it have a say in what it is.
BESIDE = 4
#: Longer stretches are not worth it: the text is parsed as a whole.
LONGEST = 40_000
#: What is typed and deleted without opening, closing or hiding anything behind it.
_QUIET = re.compile(rb"[\w \t.,;:=+<>&|^%!-]*\Z")
#: Marks that the parser supplies or misses, so that what is read may rest on text far away.
_FAR = re.compile(r"missing_(?!operand)|unclosed_|wrong_")
_COMMENTS = frozenset(("comment", "block_comment", "\n"))


class Stretch(NamedTuple):
    """Bytes of a text from `start` on."""

    data: bytes
    start: int


class ParsedVersion:
    """A version of a text that was parsed as a whole."""

    def __init__(self, data: bytes, tree: Tree, parse: Parse) -> None:
        self.data = data
        self._parse = parse
        self._sound: bool | None = None
        self.tree = tree

    def stretch(self, data: bytes, start: int, end: int) -> Stretch | None:
        """What has to be parsed of a later version for its bytes from start to end.

        None where only the whole text says what they are.
        """
        old = self.data
        head = common(min(len(old), len(data)), lambda a, b: old[a:b] == data[a:b])
        rest = min(len(old), len(data)) - head
        tail = common(
            rest,
            lambda a, b: old[len(old) - b : len(old) - a] == data[len(data) - b : len(data) - a],
        )
        grown = len(data) - len(old)
        typed, deleted = data[head : len(data) - tail], old[head : len(old) - tail]
        if not (_QUIET.match(typed) and _QUIET.match(deleted)):
            return None
        low, high = start, end
        if typed or deleted:
            low, high = min(start, head), max(end - grown, len(old) - tail)
        if self._sound is None:
            self._sound = _is_sound(self.tree)
        if not self._sound:
            return None
        first, last = self._beside(low, step=False), self._beside(high, step=True)
        begin = first[0] if first is not None else 0
        stop = last[1] if last is not None else len(old)
        if stop - begin > LONGEST:
            return None
        found = Stretch(data[begin : stop + grown], begin)
        tree = self._parse(found.data)
        if not _is_sound(tree):
            return None
        again = _declarations(tree)
        if first is not None and again[:1] != [_moved(first, -begin)]:
            return None
        if last is not None and again[-1:] != [_moved(last, grown - begin)]:
            return None
        return found if again else None

    def _beside(self, at: int, *, step: bool) -> Mark | None:
        """The declaration so many before or behind a byte that it can end a stretch; None where
        the text begins or ends before.
        """
        cursor = self.tree.walk()
        inside = cursor.goto_first_child_for_byte(at) is not None
        if not inside and (step or not cursor.goto_last_child()):
            return None
        left = BESIDE
        while True:
            node = cursor.node
            assert node is not None
            outside = node.start_byte > at if step else node.end_byte < at
            left -= outside and node.type not in _COMMENTS
            if not left:
                return node.start_byte, node.end_byte, node.type
            if not (cursor.goto_next_sibling() if step else cursor.goto_previous_sibling()):
                return None


def _moved(mark: Mark, by: int) -> Mark:
    return mark[0] + by, mark[1] + by, mark[2]


def _is_sound(tree: Tree) -> bool:
    """Whether what a declaration says rests on no text far behind it."""
    root = tree.root_node
    return not (root.has_error or QueryCursor(_far(tree.language)).captures(root))


def _declarations(tree: Tree) -> list[Mark]:
    """What stands at the top of a tree: span and type of each."""
    nodes = (node for node in tree.root_node.children if node.type not in _COMMENTS)
    return [(node.start_byte, node.end_byte, node.type) for node in nodes]


@cache
def _far(language: Language) -> Query:
    """What finds marks that the parser supplied."""
    kinds = {language.node_kind_for_id(number) for number in range(language.node_kind_count)}
    named = sorted(kind for kind in kinds if kind is not None and _FAR.match(kind))
    return Query(language, f"[{' '.join(f'({kind})' for kind in named)}] @far")
