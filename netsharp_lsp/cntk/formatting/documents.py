"""Conversion of the tokens of one line that is too long to a document: where the line may break.

No added line end has a meaning: those that separate records are added after what separates them
already, and no line begins with what could end the one before.
"""

from __future__ import annotations

from netsharp_lsp.cntk.formatting.tokens import (
    ASSIGN,
    BLOCK,
    BRANCH,
    CLOSERS,
    CUSTOM_SEPARATORS,
    HELD,
    OPENERS,
    OPERATOR,
    PADDED_OPEN,
    SEPARATORS,
    TIGHT,
    gap,
    open_choices,
)
from netsharp_lsp.layout.document import LINE, SOFTLINE, Concat, Fill, Group, Nest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from netsharp_lsp.cntk.formatting.tokens import Token
    from netsharp_lsp.layout.document import Document

    _Item: TypeAlias = "Token | _Bracket"

INDENT = 4
#: Lines with more brackets within brackets stay as long as they are.
DEEPEST = 30
#: Operators after which a line may break, those that bind least first.
_LEVELS = (":", "<< >>", "||", "&&", "== != < <= > >=", "+ - with", "* / .* ** %")
_LEVEL = {
    operator.encode(): level
    for level, operators in enumerate(_LEVELS, 2)
    for operator in operators.split()
}
_ELSE_LEVEL, _THEN_LEVEL = 0, 1
_NEVER = 9
_NUMBER_SIGN = 0x23


class _Bracket:
    """An opening bracket, its contents, and its end if that is on the line."""

    __slots__ = ("closer", "items", "opener")

    def __init__(self, opener: Token) -> None:
        self.opener = opener
        self.items: list[_Item] = []
        self.closer: Token | None = None


class LineLayout:
    """The possible breaks in the lines of one text; `kept` are the brackets that stay on their
    line.
    """

    __slots__ = ("_kept", "_text")

    def __init__(self, text: bytes, kept: frozenset[int]) -> None:
        self._text = text
        self._kept = kept

    def document(self, tokens: Sequence[Token], *, hang: bool) -> Document:
        """Return the document of a line of statements; `hang`: continuations are indented
        further.
        """
        return self._statements(_nested(tokens), hang)

    def inner_document(self, tokens: Sequence[Token]) -> Document:
        """Return the document of a line of elements, some of which may share a line."""
        return Fill(self._parts(_nested(tokens)))

    def _statements(self, items: list[_Item], hang: bool) -> Document:
        """Return statements that share a line, or each on a line of its own."""
        return Concat(self._members(items, hang))

    def _members(self, items: list[_Item], hang: bool) -> list[Document]:
        parts: list[list[_Item]] = []
        for number, item in enumerate(items):
            token = _first(item)
            apart = token.starts and number > 0
            if not parts or (apart and (token.free or _last(items[number - 1]).role in SEPARATORS)):
                parts.append([])
            parts[-1].append(item)
        documents: list[Document] = []
        for number, part in enumerate(parts):
            if number:
                documents.append(self._break(parts[number - 1][-1], part[0], LINE))
            documents.append(self._expression(part, hang))
        return documents

    def _parts(self, items: list[_Item]) -> list[Document]:
        """Return elements with their separators, and what is between them."""
        documents: list[Document] = []
        start = 0
        for number, item in enumerate(items, 1):
            if number == len(items) or (not isinstance(item, _Bracket) and _separates(item)):
                if start:
                    documents.append(self._break(items[start - 1], items[start], LINE))
                documents.append(self._expression(items[start:number], hang=False))
                start = number
        return documents

    def _expression(self, items: list[_Item], hang: bool) -> Document:
        """Return operands on one line, or with a line end after each operator that binds least."""
        levels = _levels(items)[1:-1]
        least = min(levels, default=_NEVER)
        if least == _NEVER:
            return self._joined(items)
        documents: list[Document] = []
        start = 0
        for number in range(1, len(items) - 1):
            if levels[number - 1] != least:
                continue
            stop = number if least <= _THEN_LEVEL else number + 1
            documents += (self._expression(items[start:stop], hang=False), self._edge(items, stop))
            start = stop
        documents.append(self._expression(items[start:], hang=False))
        first, *others = documents
        rest: Document = Concat(others)
        # The indentation separates the branches of a choice within a branch from those around.
        hang = hang or (least <= _THEN_LEVEL and _first(items[0]).text == b"then")
        return Group(Concat((first, Nest(INDENT, rest) if hang else rest)))

    def _edge(self, items: list[_Item], number: int) -> Document:
        """Return the break before an item: the usual gap while the line is not broken."""
        between = self._gap(_last(items[number - 1]), _first(items[number]))
        return self._break(items[number - 1], items[number], LINE if between else SOFTLINE)

    def _joined(self, items: Sequence[_Item]) -> Document:
        documents: list[Document] = []
        before: Token | None = None
        for item in items:
            if before is not None:
                documents.append(self._gap(before, _first(item)))
            documents.append(self._bracket(item) if isinstance(item, _Bracket) else item.text)
            before = _last(item)
        return Concat(documents)

    def _bracket(self, bracket: _Bracket) -> Document:
        opener, closer, items = bracket.opener, bracket.closer, bracket.items
        if not items:
            if closer is None:
                return opener.text
            return Concat((opener.text, self._gap(opener, closer), closer.text))
        if opener.role in HELD or opener.start in self._kept:
            end: list[Document] = []
            if closer is not None:
                end = [self._gap(_last(items[-1]), closer), closer.text]
            before = self._gap(opener, _first(items[0]))
            return Concat((opener.text, before, self._joined(items), *end))
        return self._breaking(bracket)

    def _breaking(self, bracket: _Bracket) -> Document:
        opener, closer, items = bracket.opener, bracket.closer, bracket.items
        block = opener.role == BLOCK
        # What could be a separator keeps its distance from the bracket.
        held = _first(items[0]).text[0] in CUSTOM_SEPARATORS
        if closer is not None and not block and _is_alone(items, held):
            ends = (self._gap(opener, _first(items[0])), self._gap(_last(items[-1]), closer))
            return Concat((opener.text, ends[0], self._joined(items), ends[1], closer.text))
        first, *others = self._members(items, hang=True) if block else self._parts(items)
        edge: Document = LINE if block or opener.role == PADDED_OPEN else SOFTLINE
        inner: Document = Nest(
            INDENT, Concat((self._break(opener, items[0], edge), first, *others))
        )
        if held:
            # On the bracket's line all is indented as that is.
            begin = self._gap(opener, _first(items[0]))
            inner = Concat((begin, first, Nest(INDENT, Concat(others))))
        if closer is None:
            return Group(Concat((opener.text, inner)))
        return Group(Concat((opener.text, inner, edge, closer.text)))

    def _break(self, before: _Item, after: _Item, usual: Document) -> Document:
        """Return a break, but none before `#`, which would begin a comment there."""
        if _first(after).text[0] == _NUMBER_SIGN:
            return self._gap(_last(before), _first(after))
        return usual

    def _gap(self, before: Token, after: Token) -> bytes:
        return gap(before, after, self._text)


def may_break(tokens: Sequence[Token]) -> bool:
    """Return whether a line has a place to break at all, and does not nest too deep for that."""
    depth = deepest = 0
    for token in tokens:
        depth += (token.role in OPENERS) - (token.role in CLOSERS)
        deepest = max(deepest, depth)
    return deepest <= DEEPEST and any(
        (token.role in OPENERS and token.role not in HELD)
        or token.role in SEPARATORS
        or _level(token) < _NEVER
        for token in tokens
    )


def _nested(tokens: Sequence[Token]) -> list[_Item]:
    """Return tokens with those between brackets put into one item."""
    levels: list[list[_Item]] = [[]]
    open_ones: list[_Bracket] = []
    for token in tokens:
        if token.role in OPENERS:
            bracket = _Bracket(token)
            levels[-1].append(bracket)
            open_ones.append(bracket)
            levels.append(bracket.items)
        elif token.role in CLOSERS and open_ones:
            open_ones.pop().closer = token
            levels.pop()
        else:
            levels[-1].append(token)
    return levels[0]


def _first(item: _Item) -> Token:
    return item.opener if isinstance(item, _Bracket) else item


def _last(item: _Item) -> Token:
    while isinstance(item, _Bracket):
        if item.closer is not None:
            return item.closer
        if not item.items:
            return item.opener
        item = item.items[-1]
    return item


def _is_alone(items: Sequence[_Item], held: bool) -> bool:
    """Return whether a bracket contains only one lambda that ends in a bracket, or the like that
    must begin there.

    It begins and ends where the bracket does: `(x => f (`, and `))` at the end.
    """
    if not (held or any(_is_arrow(item) for item in items)):
        return False
    if any(not isinstance(item, _Bracket) and _separates(item) for item in items):
        return False
    return any(isinstance(item, _Bracket) for item in items) and min(_levels(items)) == _NEVER


def _is_arrow(item: _Item) -> bool:
    return not isinstance(item, _Bracket) and item.role == ASSIGN and item.text == b"=>"


def _separates(token: Token) -> bool:
    return token.role in SEPARATORS


def _levels(items: Sequence[_Item]) -> list[int]:
    """Return the precedence level of each item, a lower one for looser binding; the branches of a
    choice within a branch bind like operands.
    """
    levels = []
    choices = 0
    for item in items:
        token = _first(item)
        within = token.role == BRANCH and choices > 1
        levels.append(_NEVER if within else _level(item))
        choices = open_choices(choices, token)
    return levels


def _level(item: _Item) -> int:
    """Return the precedence level of a token, a lower one for looser binding."""
    if isinstance(item, _Bracket):
        return _NEVER
    if item.role == OPERATOR or (item.role == TIGHT and item.text == b":"):
        return _LEVEL.get(item.text, _NEVER)
    if item.role != BRANCH:
        return _NEVER
    return _ELSE_LEVEL if item.text == b"else" else _THEN_LEVEL
