"""The language of CNTK's that a file is written in, by name and text; reads no disk."""

from __future__ import annotations

import os
import re

from netsharp_lsp.cntk.suffixes import SUFFIXES as LANGUAGES
from netsharp_lsp.interface import Foreign

__all__ = ["LANGUAGES", "Foreign", "language_of"]

_PROBE = 8192
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BASIC = re.compile(rb"\s*(?:sub|function)\s+[A-Za-z_]\w*\s*(?!\s*=)(?=[(\s]|\Z)", re.IGNORECASE)
_KEYS = re.compile(
    rb"^[ \t]*(?:command|action|reader|SGD|modelPath|\w*NetworkBuilder)[ \t]*(?:=|\[|\{)",
    re.IGNORECASE | re.MULTILINE,
)


def language_of(name: str, data: bytes) -> str | Foreign:
    """Return the language id of a file found in a folder; its name and its contents decide."""
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in LANGUAGES:
        return Foreign(f"its name does not end in {', '.join(LANGUAGES)}")
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if first.startswith(b"#!MLF!#"):
        return Foreign("it is a label file of HTK")
    if first.startswith((b"<?xml", b"<")):
        return Foreign("it is XML")
    if b"\0" in data[:_PROBE] and not data.startswith(_UTF16_MARKS):
        return Foreign("it is binary")
    if suffix == ".bs" and _is_brightscript(data):
        return Foreign("it is BrightScript")
    if suffix == ".config" and _KEYS.search(_outside_blocks(data)) is None:
        return Foreign("it has no key that CNTK runs a command by")
    return LANGUAGES[suffix]


def _is_brightscript(data: bytes) -> bool:
    """Return whether the first line that is not a comment opens a procedure."""
    for line in data.splitlines():
        code = line.strip()
        if (
            code
            and not code.startswith((b"'", b"#", b"//"))
            and not code.lower().startswith(b"rem ")
        ):
            found = _BASIC.match(code)
            return found is not None and not code[found.end() :].lstrip().startswith(b"=")
    return False


def _outside_blocks(data: bytes) -> bytes:
    """Return the text at the top level, without the contents of brackets and braces."""
    parts = []
    depth = 0
    at = 0
    for bracket in re.finditer(rb"[\[\]{}]", data):
        if depth == 0:
            parts.append(data[at : bracket.end()])
        at = bracket.end()
        depth = depth + 1 if bracket.group() in b"[{" else max(0, depth - 1)
    if depth == 0:
        parts.append(data[at:])
    return b"".join(parts)
