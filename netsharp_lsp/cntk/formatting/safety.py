"""Proves that a formatted text has the meaning of its source; takes no part in formatting.

Both are read by separate scanners, so that a fault of the formatter cannot hide itself. In a
configuration line ends, brackets and number signs are counted as CNTK counts them.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    # The text of a token, its place, and whether it is a comment.
    _Token: TypeAlias = tuple[bytes, int, bool]

_SEPARATOR = rb"[`~!@$%^&*_\-+|:;,?.]"
_RECORDS = re.compile(
    rb'"[^"]*+"?|[\[{(]%b?|[\]})=;,:]|\r\n?|\n|[^ \t\r\n"\[\]{}()=;,:]+' % _SEPARATOR
)
# The end of a comment is looked for after each `*` and the next character, as in CNTK.
_BRAINSCRIPT_COMMENT = rb"//[^\r\n]*+|\#[^\r\n]*+|/\*(?:[^*]|\*[^/])*+(?:\*/|\*?\Z)"
_BRAINSCRIPT = re.compile(
    _BRAINSCRIPT_COMMENT + rb"|\"[^\"]*+\"?|'[^']*+'?"
    rb"|0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    rb"|[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*"
    rb"|\[\||\|\]|\.\*|\*\*|\|\||&&|<<|>>|>=|!=|<=|==|=>|\.\.|[^ \t\r\n]"
)
_BUILDER = re.compile(
    rb"\"[^\"]*+\"?|(?i:BrainScript|Experimental)(?i:NetworkBuilder)[ \t]*=?[ \t]*(?=[\[{(])"
)
_BRACKETS = re.compile(rb'[\[{(\]})"]')
#: A byte-order mark, which CNTK drops from the start of any line.
_MARK = b"\xef\xbb\xbf"
_ENDS = (b"\n", b"\r", b"\r\n")
#: Between the words of a digest; line ends that separate nothing, and several that are as one.
_BETWEEN = b"\x1f"
_IDLE_ENDS = re.compile(
    rb"((?:\A|\x1f)(?:[\[{(][^\x1f]?|[;,]))(?:\x1f[\r\n]{1,2}(?=\x1f|\Z))++"
    rb"|(?:\x1f[\r\n]{1,2})++(?:(?=\x1f[\]});,])|\Z)"
    rb"|\A(?:[\r\n]{1,2}(?:\x1f|\Z))++"
)
_MORE_ENDS = re.compile(rb"(?:\x1f[\r\n]{1,2}(?=\x1f))++")
_OPENING = b"[{("
_COMMENT_MARKS = (b"#", b"//", b"/*")


class Difference:
    """The first difference of two texts: its offset in the one before, and its description."""

    __slots__ = ("offset", "words")

    def __init__(self, offset: int, words: str) -> None:
        self.offset = offset
        self.words = words


def find_difference(before: bytes, after: bytes, language: str) -> Difference | None:
    """Return the first token or comment that two texts do not share, None if all are.

    A line end is a token of a configuration where it separates records. Comments and tokens are
    each compared in order.
    """
    if language == "brainscript":
        if _BRAINSCRIPT.findall(before) == _BRAINSCRIPT.findall(after):
            return None
        old, new = list(_network(before, 0)), list(_network(after, 0))
        return _compared(_tokens(old), _tokens(new)) or _compared(_comments(old), _comments(new))
    code_before, comments_before = _without_comments(before)
    code_after, comments_after = _without_comments(after)
    if _digest(code_before) == _digest(code_after):
        same = map(_words, (comments_before, comments_after))
        if next(same) == next(same):
            return _compared(_includes(before), _includes(after))
    old, new = list(_configuration(code_before)), list(_configuration(code_after))
    return (
        _compared(_tokens(old), _tokens(new))
        or _compared(comments_before + list(_comments(old)), comments_after + list(_comments(new)))
        or _compared(_includes(before), _includes(after))
    )


def _without_comments(text: bytes) -> tuple[bytes, list[_Token]]:
    """Return a configuration with blanks in place of its comments, and these."""
    if b"#" not in text:
        return text, []
    code: list[bytes] = []
    comments: list[_Token] = []
    done = 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip(b"\r\n")
        sign = body.find(b"#")
        alone = not body[:sign].removeprefix(_MARK).strip(b" \t") if sign >= 0 else False
        if sign >= 0 and (alone or body[sign - 1] in b" \t"):
            comments.append((body[sign:], done + sign, True))
            body = body[:sign] + b" " * (len(body) - sign)
            line = body + line[len(body) :]
        code.append(line)
        done += len(line)
    return b"".join(code), comments


def _digest(code: bytes) -> bytes:
    """Return the result of `_configuration` in one piece: quicker to compare, without places."""
    pieces: list[bytes] = []
    done = 0
    for start, end in _networks(code):
        pieces += (_separated_digest(code, done, start), *_BRAINSCRIPT.findall(code, start, end))
        done = end
    pieces.append(_separated_digest(code, done, len(code)))
    return _BETWEEN.join(pieces)


def _separated_digest(code: bytes, start: int, end: int) -> bytes:
    words = _BETWEEN.join(_RECORDS.findall(code, start, end))
    return _MORE_ENDS.sub(_BETWEEN + b"\n", _IDLE_ENDS.sub(_opening_of, words))


def _opening_of(match: re.Match[bytes]) -> bytes:
    return match[1] or b""


def _words(tokens: list[_Token]) -> list[bytes]:
    return [word for word, _, _ in tokens]


def _configuration(code: bytes) -> Iterator[_Token]:
    """Yield tokens of a configuration without comments, with those of the networks in it."""
    done = 0
    for start, end in _networks(code):
        yield from _separated(code, done, start)
        yield from _network(code[start:end], start)
        done = end
    yield from _separated(code, done, len(code))


def _separated(code: bytes, start: int, end: int) -> Iterator[_Token]:
    """Yield tokens, with a line end where only that separates its neighbours."""
    waiting: int | None = None
    idle = True
    for match in _RECORDS.finditer(code, start, end):
        word = match[0]
        if word in _ENDS:
            waiting = match.start()
            continue
        if waiting is not None and not idle and word[0] not in b"]});,":
            yield b"\n", waiting, False
        waiting = None
        idle = word[0] in b"[{(;,"
        yield word, match.start(), False


def _networks(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of the networks of BrainScript builders, by CNTK's rule for brackets."""
    at = 0
    while (found := _BUILDER.search(code, at)) is not None:
        at = found.end()
        if found[0][:1] != b'"':
            at = _partner(code, at)
            yield found.end(), at


def _partner(code: bytes, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`, or the end of the
    text.
    """
    depth = 0
    at = start
    while (found := _BRACKETS.search(code, at)) is not None:
        at = found.end()
        if found[0] == b'"':
            at = code.find(b'"', at) + 1 or len(code)
            continue
        depth += 1 if found[0] in _OPENING else -1
        if depth <= 0:
            return at
    return len(code)


def _network(text: bytes, base: int) -> Iterator[_Token]:
    for match in _BRAINSCRIPT.finditer(text):
        word = match[0]
        yield word, base + match.start(), word.startswith(_COMMENT_MARKS)


def _tokens(tokens: list[_Token]) -> Iterator[_Token]:
    return (one for one in tokens if not one[2])


def _comments(tokens: list[_Token]) -> Iterator[_Token]:
    return (one for one in tokens if one[2])


def _includes(text: bytes) -> list[_Token]:
    """Return the lines that name another file."""
    if b"include=" not in text:
        return []
    found = re.finditer(rb"^include=[^\r\n]*", text.replace(b"\r", b"\n"), re.MULTILINE)
    return [(match[0], match.start(), False) for match in found]


def _compared(old: Iterable[_Token], new: Iterable[_Token]) -> Difference | None:
    left, right = iter(old), iter(new)
    last = 0
    while True:
        before, after = next(left, None), next(right, None)
        if before is None and after is None:
            return None
        if before is None or after is None or before[0] != after[0]:
            offset = last if before is None else before[1]
            return Difference(offset, f"{_shown(before)} would become {_shown(after)}")
        last = before[1]


def _shown(token: _Token | None) -> str:
    if token is None:
        return "nothing"
    if token[0] == b"\n":
        return "the end of a line"
    return f"'{token[0].decode('utf-8', 'replace')}'"
