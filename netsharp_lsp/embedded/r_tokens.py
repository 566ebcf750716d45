"""Cuts R code into tokens, exactly for strings and comments, and roughly for the rest."""

from __future__ import annotations

import re

from netsharp_lsp.embedded.r_strings import RAW_OPENING, raw_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Kind = Literal["string", "comment", "name", "number", "line", "mark"]

_TOKEN = re.compile(
    rb"[ \t\f]*(?:(?P<end>\Z)|(?P<raw>[rR][\"']-*[(\[{])|(?P<line>\r\n?|\n)|(?P<comment>#[^\r\n]*)"
    rb"|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<quoted>`(?:[^`\\]|\\.)*`)"
    rb"|(?P<number>0[xX][0-9A-Fa-f]+[Li]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[Li]?)"
    rb"|(?P<name>(?:[A-Za-z\x80-\xff]|\.(?!\d))[\w.\x80-\xff]*)"
    rb"|(?P<mark><<-|->>|<-|->|:=|[=!<>]=|\|>|%[^%\r\n]*%|:::?|.))",
    re.DOTALL,
)
OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(OPENING.values())
#: What pieces are where they are not what they are called.
_KINDS: dict[str, Kind] = {"raw": "string", "quoted": "name"}


class Token:
    """A piece of R code; `around` is the number of the bracket that it stands in, -1 for none."""

    __slots__ = ("around", "end", "kind", "start", "text")

    def __init__(self, kind: Kind, start: int, end: int, text: str, around: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.around = around


def cut(source: bytes) -> tuple[list[Token], list[Token]]:
    """Return the tokens and, apart, the comments; line ends are tokens where they end something."""
    tokens: list[Token] = []
    comments: list[Token] = []
    open_brackets: list[int] = []
    for kind, start, end in _pieces(source):
        around = open_brackets[-1] if open_brackets else -1
        text = source[start:end].decode("utf-8", "replace")
        if kind == "comment":
            comments.append(Token(kind, start, end, text, around))
            continue
        if kind == "line":
            if around >= 0 and tokens[around].text != "{":
                continue
            text = "\n"
        elif kind == "mark" and text in OPENING:
            open_brackets.append(len(tokens))
        elif kind == "mark" and text in _CLOSING:
            around = _close(tokens, open_brackets, text)
        tokens.append(Token(kind, start, end, text, around))
    return tokens, comments


def _pieces(source: bytes) -> Iterator[tuple[Kind, int, int]]:
    """Each piece of a text but blanks: its kind and its span."""
    scanner = _TOKEN.scanner(source)  # type: ignore[attr-defined]
    while (found := scanner.match()) is not None:
        kind = found.lastgroup
        start, end = found.span(kind)
        if kind == "end":
            return
        if kind == "raw":
            raw = RAW_OPENING.match(source, start)
            ended = raw_end(source, raw) if raw is not None else None
            if ended is None:
                yield "name", start, start + 1
                scanner = _TOKEN.scanner(source, start + 1)  # type: ignore[attr-defined]
                continue
            end = ended[0] + len(ended[1])
            scanner = _TOKEN.scanner(source, end)  # type: ignore[attr-defined]
        yield _KINDS.get(kind, kind), start, end


def _close(tokens: list[Token], open_brackets: list[int], text: str) -> int:
    """Close the bracket that this one belongs to, with those left open in it."""
    for depth in range(len(open_brackets) - 1, -1, -1):
        if OPENING[tokens[open_brackets[depth]].text] == text:
            around = tokens[open_brackets[depth]].around
            del open_brackets[depth:]
            return around
    return open_brackets[-1] if open_brackets else -1
