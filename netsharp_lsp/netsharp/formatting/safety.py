"""Proves that a formatted text has the tokens of its source; has no part in making it.

Reads both with a scanner of its own, so that a fault of the formatter cannot hide itself.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from operator import itemgetter

from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# An unclosed comment reaches to the end; nothing is tried twice, however many there are.
_COMMENT = rb"//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|\#[^\r\n]*+|<!--(?:[^-]++|-[^-])*+-->"
# The blanks after a lexeme are part of its match, and the most frequent kind is tried first.
_LEXEMES = late(
    rb"([A-Za-z_]\w*+|[,;\[\](){}]"
    rb"|(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)[eE][-+][0-9]+|\.?[0-9][\w.]*|"
    + _COMMENT
    + rb"|=>|->|:=|==|!=|<=|>=|&&|\|\||[\x80-\xff]+|[^\s])\s*+"
)
_COMMENTS = re.compile(_COMMENT)
#: Longer texts are read one by one, which is slower and takes a tenth of the memory; in bytes.
_LONG = 1 << 20
_COMMENT_STARTS = (b"//", b"/*", b"#", b"<!--")
_KEYWORDS = frozenset(
    b"const input hidden output share from auto all where convolve max mean pool response norm "
    b"true false".split()
)


def find_difference(before: bytes, after: bytes) -> str | None:
    """Return in words the first token or comment that two texts do not share, None if all are.

    Keywords and activations may be written in lower case after. Comments and tokens are each
    compared in their order; how they are mixed, and where lines end, may differ.
    """
    pairs = zip_longest(_lexemes(before), _lexemes(after))
    if all(_same(old, new) for old, new in pairs if old != new):
        return None
    old, new = _lexemes(before), _lexemes(after)
    tokens = _first_difference(_tokens(old), _tokens(new), _same_token)
    if tokens is not None:
        return tokens
    old, new = _lexemes(before), _lexemes(after)
    return _first_difference(_comments(old), _comments(new), _same_comment)


def locate_comments(text: bytes) -> list[tuple[int, int]]:
    """Return the spans of all comments in order."""
    return [match.span() for match in _COMMENTS.finditer(text)]


def locate_tokens(text: bytes) -> list[int]:
    """Return the offsets of all tokens in order."""
    lexemes = _LEXEMES.finditer(text)
    return [match.start(1) for match in lexemes if not _is_comment(match[1])]


def count_tokens(text: bytes, start: int, end: int) -> int:
    """Return the number of tokens between two offsets."""
    lexemes = _LEXEMES.findall(text, start, end)
    return len(lexemes) - sum(map(_is_comment, lexemes))


def _lexemes(text: bytes) -> Iterator[bytes]:
    """Return the tokens and comments of a text; those of a long one are not all kept at once."""
    if len(text) < _LONG:
        return iter(_LEXEMES.findall(text))
    return map(itemgetter(1), _LEXEMES.finditer(text))


def _tokens(lexemes: Iterator[bytes]) -> Iterator[bytes]:
    return (lexeme for lexeme in lexemes if not _is_comment(lexeme))


def _comments(lexemes: Iterator[bytes]) -> Iterator[bytes]:
    return filter(_is_comment, lexemes)


def _is_comment(lexeme: bytes) -> bool:
    return lexeme.startswith(_COMMENT_STARTS)


def _first_difference(
    old: Iterator[bytes], new: Iterator[bytes], same: Callable[[bytes, bytes], bool]
) -> str | None:
    while True:
        before, after = next(old, None), next(new, None)
        if before is None and after is None:
            return None
        if before is None or after is None or not same(before, after):
            return f"{_shown(before)} would become {_shown(after)}"


def _same(before: bytes | None, after: bytes | None) -> bool:
    if before is None or after is None or _is_comment(before) != _is_comment(after):
        return False
    return (_same_comment if _is_comment(before) else _same_token)(before, after)


def _same_token(before: bytes, after: bytes) -> bool:
    if before == after:
        return True
    return before.lower() == after and (after in _KEYWORDS or _is_activation(after))


def _is_activation(word: bytes) -> bool:
    from netsharp_engine.activations import NAMES

    return word.decode("utf-8", "replace") in NAMES


def _same_comment(before: bytes, after: bytes) -> bool:
    return before == after or before.splitlines() == after.splitlines()


def _shown(lexeme: bytes | None) -> str:
    return "nothing" if lexeme is None else f"'{lexeme.decode('utf-8', 'replace')}'"
