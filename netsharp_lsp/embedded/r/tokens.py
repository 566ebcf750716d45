"""Splits R code into tokens, exactly for strings and comments, and roughly for the rest."""

from __future__ import annotations

import re

from netsharp_lsp.embedded.r.strings import RAW_OPENING, raw_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Kind = Literal["string", "comment", "name", "number", "line", "mark"]

_TOKEN = re.compile(
    rb"[ \t\f]*(?:(?P<end>\Z)|(?P<raw>[rR][\"']-*[(\[{])|(?P<line>\r\n?|\n)|(?P<comment>#[^\r\n]*)"
    rb"|(?P<string>\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+')|(?P<quoted>`(?:[^`\\]++|\\.)*+`)"
    rb"|(?P<number>0[xX][0-9A-Fa-f]+[Li]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[Li]?)"
    rb"|(?P<name>(?:[A-Za-z\x80-\xff]|\.(?!\d))[\w.\x80-\xff]*)"
    rb"|(?P<mark><<-|->>|<-|->|:=|[=!<>]=|\|>|%[^%\r\n]*%|:::?|.))",
    re.DOTALL,
)
OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(OPENING.values())
_OPENED = {closing: opening for opening, closing in OPENING.items()}
#: The kinds of tokens whose pattern has another name.
_KINDS: dict[str, Kind] = {"raw": "string", "quoted": "name"}


class Token:
    """A piece of R code; `around` is the number of the bracket that it is in, -1 for none.

    `partner` is the number of the bracket that a closing one closes, and of the token at which an
    opening one is no longer open; -1 where there is none.
    """

    __slots__ = ("around", "end", "kind", "partner", "start", "text")

    def __init__(self, kind: Kind, start: int, end: int, text: str, around: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.around = around
        self.partner = -1


def cut(source: bytes) -> tuple[list[Token], list[Token]]:
    """Return the tokens and, apart, the comments; a line end that ends an expression is a token."""
    tokens: list[Token] = []
    comments: list[Token] = []
    brackets = _OpenBrackets(tokens)
    for kind, start, end in _pieces(source):
        text = source[start:end].decode("utf-8", "replace")
        token = Token(kind, start, end, text, brackets.around)
        if kind == "comment":
            comments.append(token)
            continue
        if kind == "line":
            if token.around >= 0 and tokens[token.around].text != "{":
                continue
            token.text = "\n"
        elif kind == "mark" and text in OPENING:
            brackets.open(text)
        elif kind == "mark" and text in _CLOSING:
            token.partner = brackets.close(text)
            token.around = brackets.around
        tokens.append(token)
    brackets.end()
    return tokens, comments


class _OpenBrackets:
    """The brackets that are open after the last token, and the number of each kind."""

    __slots__ = ("_counts", "_numbers", "_tokens")

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._numbers: list[int] = []
        self._counts = dict.fromkeys(OPENING, 0)

    @property
    def around(self) -> int:
        """Return the innermost one, -1 for none."""
        return self._numbers[-1] if self._numbers else -1

    def open(self, text: str) -> None:
        """Open one with the next token."""
        self._numbers.append(len(self._tokens))
        self._counts[text] += 1

    def close(self, text: str) -> int:
        """Close the one that the next token belongs to, with those left open in it; return it."""
        opening = _OPENED[text]
        if not self._counts[opening]:
            return -1
        while (number := self._pop()) >= 0 and self._tokens[number].text != opening:
            pass
        return number

    def end(self) -> None:
        """Close them all, at the end of the text."""
        while self._numbers:
            self._pop()

    def _pop(self) -> int:
        number = self._numbers.pop()
        token = self._tokens[number]
        token.partner = len(self._tokens)
        self._counts[token.text] -= 1
        return number


def _pieces(source: bytes) -> Iterator[tuple[Kind, int, int]]:
    """Yield each piece of a text except blanks: its kind and its span."""
    scanner = _TOKEN.scanner(source)  # type: ignore[attr-defined]
    endless: set[bytes] = set()
    while (found := scanner.match()) is not None:
        kind = found.lastgroup
        start, end = found.span(kind)
        if kind == "end":
            return
        if kind == "raw":
            raw = RAW_OPENING.match(source, start)
            known = raw is None or raw.group() in endless
            ended = raw_end(source, raw) if raw is not None and not known else None
            if ended is None:
                endless.add(raw.group() if raw is not None else b"")
                yield "name", start, start + 1
                scanner = _TOKEN.scanner(source, start + 1)  # type: ignore[attr-defined]
                continue
            end = ended[0] + len(ended[1])
            scanner = _TOKEN.scanner(source, end)  # type: ignore[attr-defined]
        yield _KINDS.get(kind, kind), start, end
