"""Tells whether a text is evidently Net#, and whether a comment says that one is.

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
_INPUT = re.compile(
    rb"(?:\A|[;}]|^)\s*input(?:\s+\w+|\s*\{\s*\w+)\s*" + _SIZE + rb"\s*;", re.MULTILINE
)
_LAYER = re.compile(
    rb"(?:\A|[;}]|^)\s*(?:hidden|output)(?:\s+\w+|\s*\{\s*\w+)\s*(?:\[|auto\b)[^;{]*"
    rb"(?:\{[^}]*?)?\bfrom\s+\w",
    re.MULTILINE,
)
#: What a template leaves open: `%d`, `%(n)s`, `{n}`, `${n}`, `<%`.
_OPEN = re.compile(rb"%[sdfgir](?![\w\[])|%\(\w+\)|\{\w*\}|\$|<%|\{\{")

#: Blanks as literals may write them.
_GAP = rb"(?:\s|\\[nrt])"
#: What must occur in a host for anything to be found in it.
HINT = re.compile(
    rb"[nN]et_?[dD]efinition|NET_?DEFINITION"
    rb"|[lL][aA][nN][gG][uU][aA][gG][eE]\s*[=:]\s*[nN][eE][tT]"
    rb"|input" + _GAP + rb"+\w+" + _GAP + rb"*(?:\[[^\]]{0,200}\]|auto)" + _GAP + rb"*;"
    rb"|input" + _GAP + rb"*\{" + _GAP + rb"*\w+" + _GAP + rb"*(?:\[|auto)"
)
#: A comment that says what language the next string is in.
MARKER = re.compile(rb"#\s*language\s*[=:]\s*(?:net#|netsharp)(?![\w#])", re.IGNORECASE)


_INK = re.compile(rb"\S")


def is_evident(text: bytes) -> bool:
    """Whether a text is a specification by its look: input, a connected layer, no template."""
    if b"input" not in text:
        return False
    bare = _without_comments(text)
    return (
        _BEGINNING.match(bare) is not None
        and _INPUT.search(bare) is not None
        and _LAYER.search(bare) is not None
        and _OPEN.search(text) is None
    )


def is_one_line(text: bytes, start: int, end: int) -> bool:
    """Whether what stands from one offset to another, but for blanks at its ends, is on one line.

    Looks no further than it must.
    """
    first = _INK.search(text, start, end)
    line_end = text.find(b"\n", first.start(), end) if first is not None else -1
    return line_end < 0 or _INK.search(text, line_end, end) is None


def _without_comments(text: bytes) -> bytes:
    return re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.DOTALL)
