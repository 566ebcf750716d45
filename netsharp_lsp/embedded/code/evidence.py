"""Recognises whether a text is evidently Net#, and comments that mark a text as Net#.

Strict on purpose: prose, SQL, JSON and templates must never pass. Knows only the outer form.
"""

from __future__ import annotations

import re

_SIZE = rb"(?:auto\b|\[[\w\s,.+\-*/()^]*\])"
#: How a specification may begin.
_BEGINNING = re.compile(
    rb"\s*(?:const\s*\{\s*\w+\s*=|const\s+\w+\s*=|input\s*\{\s*\w+\s*" + _SIZE + rb"\s*;"
    rb"|input\s+\w+\s*" + _SIZE + rb"\s*;|(?:hidden|output)\s+\w+\s*" + _SIZE + rb")"
)
#: Where a declaration may begin: at the start of a text, a statement or a line.
_START = rb"(?:\A|[;}\n])[^\S\n]*+"
_INPUT = re.compile(_START + rb"input(?:\s+\w+|\s*\{\s*\w+)\s*" + _SIZE + rb"\s*;")
_LAYER = re.compile(_START + rb"(?:hidden|output)(?:\s+\w+|\s*\{\s*\w+)\s*(?:\[|auto\b)")
_SOURCE = re.compile(rb"\bfrom\s+\w")
_HEAD_END = re.compile(rb"[;{]")
_BUNDLES_END = re.compile(rb"\}")
#: What a template leaves open: `%d`, `%(n)s`, `{n}`, `${n}`, `<%`.
_OPEN = re.compile(rb"%[sdfgir](?![\w\[])|%\(\w+\)|\{\w*\}|\$|<%|\{\{")

#: Blanks as literals may write them.
_GAP = rb"(?:\s|\\[nrt])"
#: Words of which one must occur in a host that contains a specification.
HINT = re.compile(
    rb"[nN]et_?[dD]efinition|NET_?DEFINITION"
    rb"|[lL][aA][nN][gG][uU][aA][gG][eE]\s*[=:]\s*[nN][eE][tT]"
    rb"|input" + _GAP + rb"++\w++" + _GAP + rb"*+(?:\[[^\]]{0,200}\]|auto)" + _GAP + rb"*+;"
    rb"|input" + _GAP + rb"*+\{" + _GAP + rb"*+\w++" + _GAP + rb"*+(?:\[|auto)"
)
#: A comment that says what language the next string is in.
MARKER = re.compile(rb"#\s*language\s*[=:]\s*(?:net#|netsharp)(?![\w#])", re.IGNORECASE)

_INK = re.compile(rb"\S")
_COMMENT = re.compile(rb"//|/\*")
_LINE_COMMENT = re.compile(rb"//")


def is_evident(text: bytes) -> bool:
    """Return whether a text looks like a specification: input, a connected layer, no template."""
    if b"input" not in text:
        return False
    bare = _without_comments(text)
    return (
        _BEGINNING.match(bare) is not None
        and _INPUT.search(bare) is not None
        and _has_connected_layer(bare)
        and _OPEN.search(text) is None
    )


def is_one_line(text: bytes, start: int, end: int) -> bool:
    """Return whether the text between two offsets, without blanks at its ends, is on one line.

    It reads no more than necessary.
    """
    first = _INK.search(text, start, end)
    line_end = text.find(b"\n", first.start(), end) if first is not None else -1
    return line_end < 0 or _INK.search(text, line_end, end) is None


class _Ahead:
    """The next match of a pattern from increasing places on: no byte is searched twice."""

    __slots__ = ("_at", "_pattern", "_text")

    def __init__(self, pattern: re.Pattern[bytes], text: bytes) -> None:
        self._pattern = pattern
        self._text = text
        self._at = -1

    def of(self, place: int) -> int:
        """Return the next match from a place on; the length of the text where there is none."""
        if self._at < place:
            found = self._pattern.search(self._text, place)
            self._at = len(self._text) if found is None else found.start()
        return self._at


def _has_connected_layer(text: bytes) -> bool:
    """Return whether some layer has a source, in its head or in the braces after it."""
    sources, ends = _Ahead(_SOURCE, text), _Ahead(_HEAD_END, text)
    closings = _Ahead(_BUNDLES_END, text)
    for layer in _LAYER.finditer(text):
        source, end = sources.of(layer.end()), ends.of(layer.end())
        if source == len(text):
            return False
        if source < end or (text[end : end + 1] == b"{" and source < closings.of(end)):
            return True
    return False


def _without_comments(text: bytes) -> bytes:
    pieces: list[bytes] = []
    done = at = 0
    opening = _COMMENT
    while (found := opening.search(text, at)) is not None:
        at = found.end()
        if found.group() == b"//":
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
        else:
            end = text.find(b"*/", at) + 2
            if end < 2:
                # Nor does any other end.
                opening = _LINE_COMMENT
                continue
        pieces += (text[done : found.start()], b" ")
        done = at = end
    return b"".join(pieces) + text[done:]
