"""Makes foreign text safe to show in terminals, logs and reports of lines.

Control characters would clear a screen or begin a line of their own, marks of direction would
reverse a line; each is shown as Python escapes it. Knows no stream and no language.
"""

from __future__ import annotations

#: Bytes of file names that are not UTF-8 come as these characters, 0xDC00 above the byte.
_BYTES_OF_NAMES = range(0xDC80, 0xDD00)
#: What is escaped: controls, invisible formats (bidi marks are among them), surrogates, and the
#: separators that some programs take for the end of a line.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Return text in one line with control characters escaped, such as ``a\x1b[2J``."""
    if text.isprintable():
        return text
    return "".join(map(visible_character, text))


def visible_character(character: str) -> str:
    r"""Return a character, or its escape if a terminal would act on it instead of showing it."""
    if character.isprintable():
        return character
    from unicodedata import category

    return _escape(character) if category(character) in _HIDDEN else character


def visible_lines(text: str) -> str:
    """Return text with its line ends and tabs, and with all other control characters escaped."""
    if text.isprintable():
        return text
    return "".join(one if one in "\n\t" else visible_character(one) for one in text)


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can hold: bytes of a file name that are not become ``\xff``."""
    if text.isascii():
        return text
    return "".join(_escape(one) if "\ud800" <= one <= "\udfff" else one for one in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code in _BYTES_OF_NAMES:
        code -= 0xDC00
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
