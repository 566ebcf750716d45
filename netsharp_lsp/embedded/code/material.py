"""The variables of a piece of code that are parts or templates of another text.

Scans a text once for all of its names; knows a host language only by its marks.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = rb"(?:[\w.\x80-\xff]++|`[^`\r\n]*+`)"
#: `a`, `a.b` and `a$b`; what is longer counts as several.
_CHAIN = _WORD + rb"(?:[$@]" + _WORD + rb"){0,8}+"
_METHOD = rb"(?:format\w*|replace|join|substitute)"
#: A name, whether `+` comes before it, and whether what follows turns it into another text.
_NAME = re.compile(
    rb"(\+\s*+)?+(" + _CHAIN + rb")(?:(?=\s*+(?:[%+]|\.\s*+" + _METHOD + rb"\b))())?+"
)
#: `name.format`: the name before it is the material.
_CALLED = re.compile(rb"\.\s*" + _METHOD + rb"\b")
#: What is given to a function that puts texts together, as far as the next bracket.
_GIVEN = re.compile(
    rb"\b(?:sprintf|g?sub|gsubfn|paste0?|glue|str_\w++|stri_\w++|Template|join)\s*+\((?=([^()]*+))"
)
_JOINTS = re.compile(rb"([$@])")


def materials(text: bytes) -> set[str]:
    """Return the names in a text from which another text is made."""
    return {name.decode("utf-8", "replace") for name in _materials(text)}


def _materials(text: bytes) -> Iterator[bytes]:
    for found in _NAME.finditer(text):
        added, chain, followed = found.groups()
        called = _CALLED.search(chain)
        if called is not None:
            yield from _parts(chain[: called.start()], to_end=True)
        elif followed is not None:
            yield from _parts(chain, to_end=True)
        if added is not None:
            yield from _parts(chain, from_start=True)
    for found in _GIVEN.finditer(text):
        for name in _NAME.finditer(found.group(1)):
            yield from _parts(name.group(2))


def _parts(chain: bytes, *, from_start: bool = False, to_end: bool = False) -> Iterator[bytes]:
    """Yield the names in `a$b$c` that begin with its first word, or end with its last."""
    pieces = _JOINTS.split(chain)
    count = len(pieces)
    for start in range(0, 1 if from_start else count, 2):
        for end in range(count if to_end else start + 1, count + 1, 2):
            yield b"".join(pieces[start:end])
