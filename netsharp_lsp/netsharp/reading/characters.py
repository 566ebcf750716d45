"""Characters that Net# does not use, found in bytes outside comments; knows no syntax tree.

Net# has no strings, so the meaning of a character never depends on its surroundings.
"""

from __future__ import annotations

import re

from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.reading.comments import Comments

#: The bytes of the tokens of Net# and of blanks; `#` is part of a comment.
HARMLESS = (
    b"\t\n\x0b\x0c\r {}[](),;=+-*/%^<>!&|.:#_0123456789"
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
#: Runs of all other bytes.
FOREIGN = late(rb"[^%b]+" % re.escape(HARMLESS))

#: What belongs to the program or page around a specification: quoted words, R and Python line
#: ends, HTML entities, Markdown fences.
HOST_TEXT = late(
    rb"""(?P<quote>"[^"\r\n;{}=]*"|'[^'\r\n;{}=]*'|["']+)"""
    rb"""|(?P<backslash>\\+[nrt"']*\\?)"""
    rb"""|(?P<entity>&(?:gt|lt|amp|nbsp|quot);)"""
    rb"""|(?P<fence>```+[A-Za-z#]*)"""
)
ENTITY = late(rb"&(?:gt|lt|amp|nbsp|quot);")
ENTITIES = {"&gt;": ">", "&lt;": "<", "&amp;": "&", "&nbsp;": " ", "&quot;": '"'}

#: Characters outside ASCII and what was meant by them; the full-width block is computed.
LOOKALIKES = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("\u00d7\u22c5\u00b7\u2217", "*"),
    **dict.fromkeys("\u2192\u21d2\u27f9", "=>"),
    "\u00f7": "/",
    "\u2044": "/",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u3001": ",",
    "\u3002": ".",
    "\u037e": ";",
    "\u3010": "[",
    "\u3011": "]",
    "\u3014": "[",
    "\u3015": "]",
    **dict(zip("АВЕКМНОРСТУХаеорсух", "ABEKMHOPCTYXaeopcyx", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True)),
}
#: The grammar reads this one as `...`.
ELLIPSIS = "\u2026"


class Mark:
    """A run of such characters: `kind` is lookalike, illegal, quote, backslash, entity or fence."""

    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, start: int, end: int, kind: str, text: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.text = text

    def moved(self, shift: int) -> Mark:
        """Return the same mark some bytes further on."""
        return Mark(self.start + shift, self.end + shift, self.kind, self.text) if shift else self


def foreign_marks(
    data: bytes, comments: Comments, start: int = 0, end: int | None = None
) -> list[Mark]:
    """Return every foreign run of some whole lines of a text in order, without comments.

    No mark extends over the end of a line.
    """
    marks: list[Mark] = []
    passed = start
    for run in _candidates(data, start, len(data) if end is None else end):
        if run.start() < passed or comments.hold(run.start()):
            continue
        found = list(_classify(data, run))
        marks.extend(found)
        passed = found[-1].end if found else passed
    return marks


def _candidates(data: bytes, start: int, end: int) -> list[re.Match[bytes]]:
    """Return characters that may be foreign, in text order."""
    lines = data if end - start == len(data) else data[start:end]
    found: list[re.Match[bytes]] = []
    if lines.translate(None, HARMLESS):
        found += FOREIGN.finditer(data, start, end)
    if b"&" in lines:
        found += ENTITY.finditer(data, start, end)
        found.sort(key=re.Match.start)
    return found


def _classify(data: bytes, run: re.Match[bytes]) -> Iterator[Mark]:
    host = HOST_TEXT.match(data, run.start())
    if host is not None:
        yield Mark(host.start(), host.end(), host.lastgroup or "", _decoded(host[0]))
        return
    start = run.start()
    text = _decoded(run[0])
    for kind, part in _split(text):
        end = start + len(part.encode("utf-8"))
        if kind:
            yield Mark(start, end, kind, part)
        start = end


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield runs of neighbours of one kind; the kind is empty for characters of the grammar."""
    kind, part = "", ""
    for character in text:
        own = _kind(character)
        if own != kind and part:
            yield kind, part
            part = ""
        kind = own
        part += character
    yield kind, part


def _kind(character: str) -> str:
    if character in LOOKALIKES:
        return "lookalike"
    if character == ELLIPSIS or character.isspace() or character == "\ufeff":
        return ""
    return "quote" if character in "\"'" else "backslash" if character == "\\" else "illegal"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def replacement(text: str) -> str:
    """Return the intended text for a run of look-alikes."""
    return "".join(LOOKALIKES.get(character, character) for character in text)
