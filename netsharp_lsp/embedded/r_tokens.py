"""Cuts R code into tokens, exactly for strings and comments, and roughly for the rest."""

from __future__ import annotations

import re

from netsharp_lsp.embedded.r_strings import RAW_OPENING, raw_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["string", "comment", "name", "number", "line", "mark"]

_TOKEN = re.compile(
    rb"(?P<blank>[ \t\f]+)|(?P<line>\r\n?|\n)|(?P<comment>#[^\r\n]*)"
    rb"|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<quoted>`(?:[^`\\]|\\.)*`)"
    rb"|(?P<number>0[xX][0-9A-Fa-f]+[Li]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[Li]?)"
    rb"|(?P<name>(?:[A-Za-z\x80-\xff]|\.(?!\d))[\w.\x80-\xff]*)"
    rb"|(?P<mark><<-|->>|<-|->|:=|[=!<>]=|\|>|%[^%\r\n]*%|:::?|.)",
    re.DOTALL,
)
OPENING = {"(": ")", "[": "]", "{": "}"}


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
    at = 0
    while at < len(source):
        kind, end = _next(source, at)
        around = open_brackets[-1] if open_brackets else -1
        text = source[at:end].decode("utf-8", "replace")
        if kind == "comment":
            comments.append(Token(kind, at, end, text, around))
        elif kind == "line":
            if around < 0 or tokens[around].text == "{":
                tokens.append(Token(kind, at, end, "\n", around))
        elif kind is not None:
            if kind == "mark" and text in OPENING:
                open_brackets.append(len(tokens))
            elif kind == "mark" and text in OPENING.values():
                around = _close(tokens, open_brackets, text)
            tokens.append(Token(kind, at, end, text, around))
        at = end
    return tokens, comments


def _next(source: bytes, at: int) -> tuple[Kind | None, int]:
    """The kind of the next piece, None for blanks, and where it ends."""
    raw = RAW_OPENING.match(source, at)
    if raw is not None:
        ended = raw_end(source, raw)
        if ended is not None:
            return "string", ended[0] + len(ended[1])
    found = _TOKEN.match(source, at)
    assert found is not None  # its last alternative takes any byte
    group = found.lastgroup
    if group == "blank":
        return None, found.end()
    if group == "quoted":
        return "name", found.end()
    kind: Kind = group  # type: ignore[assignment]
    return kind, found.end()


def _close(tokens: list[Token], open_brackets: list[int], text: str) -> int:
    """Close the bracket that this one belongs to, with those left open in it."""
    for depth in range(len(open_brackets) - 1, -1, -1):
        if OPENING[tokens[open_brackets[depth]].text] == text:
            around = tokens[open_brackets[depth]].around
            del open_brackets[depth:]
            return around
    return open_brackets[-1] if open_brackets else -1
