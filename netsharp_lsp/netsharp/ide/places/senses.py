"""The meanings of the words in a piece of text, from the syntax of the declarations around it.

It reads the items that overlap the piece; it knows spans and words, and no meaning of names.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from netsharp_engine.activations import NAMES
from netsharp_lsp.ide.answers import TOKEN_KINDS, TOKEN_MODIFIERS
from netsharp_lsp.netsharp.ide.places.node_paths import parameters_of
from netsharp_lsp.netsharp.reading.expressions import operands
from netsharp_lsp.netsharp.reading.syntax import (
    KIND_WORDS,
    Auto,
    Blob,
    BundleItem,
    Call,
    ConstantItem,
    LayerItem,
    Name,
    ShareItem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Expression, Node

    #: What a word is: its kind and its modifiers, as numbers.
    Sense = tuple[int, int]

HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{8}\Z")

KEYWORDS = frozenset(b"const input hidden output share from auto true false".split())
_KIND_WORDS = frozenset(word.encode() for word in KIND_WORDS)


def _sense(kind: str, *modifiers: str) -> Sense:
    return TOKEN_KINDS.index(kind), sum(1 << TOKEN_MODIFIERS.index(name) for name in modifiers)


KEYWORD = _sense("keyword")
KIND = _sense("enumMember")
COMMENT = _sense("comment")
NUMBER = _sense("number")
BUILT_IN = _sense("function", "defaultLibrary")
UNKNOWN_FUNCTION = _sense("function")
LAYER = _sense("class")
LAYER_DECLARED = _sense("class", "declaration")
CONSTANT = _sense("variable", "readonly")
CONSTANT_DECLARED = _sense("variable", "declaration", "readonly")
ATTRIBUTE = _sense("property")
PARAMETER = _sense("parameter")
PARAMETER_DECLARED = _sense("parameter", "declaration")
MACRO = _sense("macro")
PLAIN = {"number": NUMBER, "macro": MACRO, "operator": _sense("operator")}
UNUSED = 1 << TOKEN_MODIFIERS.index("unused")


class Senses:
    """The meanings of the words in a piece of a declaration, by where they begin.

    The piece goes from `start` to `end`, and all is relative to the declaration. `declared` has the
    items whose names the piece declares, by where these begin.
    """

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.declared: dict[int, ConstantItem | LayerItem] = {}
        self._senses: dict[int, Sense] = {}
        self._blobs: list[Range] = []
        self._parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, declaration: Declaration, start: int, end: int) -> Senses:
        """Return the meanings of the words between two offsets of a declaration."""
        senses = cls(start, end)
        senses._note(declaration)
        return senses

    def at(self, kind: str, word: bytes, start: int) -> Sense | None:
        """Return the meaning of a piece of code at a place; None for a word without one."""
        return PLAIN.get(kind) or self._senses.get(start) or self._reserved(word.lower(), start)

    def _reserved(self, word: bytes, at: int) -> Sense | None:
        if word in KEYWORDS:
            return KEYWORD
        if word in _KIND_WORDS:
            return KIND
        if any(start <= at < end for start, end in self._blobs):
            return NUMBER if HEXADECIMAL.match(word) else MACRO
        return None

    def _set_sense(self, name: Name | None, sense: Sense) -> None:
        if name is not None and name.end > name.start:
            self._senses[name.start] = sense

    def _declare(self, item: ConstantItem | LayerItem, sense: Sense) -> None:
        self._set_sense(item.name, sense)
        self.declared[item.name.start] = item

    def _near(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """Yield the nodes that overlap the range."""
        at = bisect_right(nodes, self.start, key=lambda node: node.start)
        for node in nodes[max(at - 1, 0) :]:
            if node.start >= self.end:
                break
            yield node

    def _note(self, declaration: Declaration) -> None:
        if declaration.kind == "unknown" and declaration.keyword is not None:
            self._set_sense(declaration.keyword, KEYWORD)
        for item in self._near(declaration.items):
            if isinstance(item, ConstantItem):
                self._constant(item)
            elif isinstance(item, LayerItem):
                self._layer(item)
            elif isinstance(item, BundleItem):
                self._bundle(item)
            elif isinstance(item, ShareItem):
                self._set_sense(item.source if isinstance(item.source, Name) else None, LAYER)
                self._set_sense(item.name, LAYER)

    def _constant(self, item: ConstantItem) -> None:
        self._declare(item, CONSTANT_DECLARED)
        self._expression(item.value)

    def _layer(self, item: LayerItem) -> None:
        self._declare(item, LAYER_DECLARED)
        if not isinstance(item.size, Auto):
            self._expression(item.size)
        self._function(item.activation)
        self._attributes(item.attributes)
        for bundle in self._near(item.bundles):
            if isinstance(bundle, BundleItem):
                self._bundle(bundle)

    def _bundle(self, item: BundleItem) -> None:
        self._set_sense(item.source, LAYER)
        self._function(item.misplaced)
        predicate = item.predicate
        if predicate is not None:
            self._set_sense(predicate.source, PARAMETER_DECLARED)
            self._set_sense(predicate.destination, PARAMETER_DECLARED)
            self._parameters = parameters_of(predicate)
            self._expression(predicate.condition)
            self._parameters = ()
        self._attributes(item.attributes)

    def _attributes(self, attributes: Sequence[Attribute]) -> None:
        for attribute in attributes:
            self._set_sense(attribute.name, ATTRIBUTE)
            self._expression(attribute.value)

    def _function(self, name: Name | None) -> None:
        known = name is not None and name.text.lower() in NAMES
        self._set_sense(name, BUILT_IN if known else UNKNOWN_FUNCTION)

    def _expression(self, expression: Expression | None) -> None:
        if expression is None:
            return
        for node in operands((expression,)):
            if isinstance(node, Name):
                self._set_sense(node, PARAMETER if node.text in self._parameters else CONSTANT)
            elif isinstance(node, Call):
                self._set_sense(node.function, BUILT_IN)
            elif isinstance(node, Blob):
                self._blobs.append((node.start, node.end))
