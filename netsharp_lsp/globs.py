"""Patterns of paths in settings: `*` within a name, `**` across folders; knows no disk."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator


class Glob:
    """A pattern relative to a folder.

    `*` and `?` do not cross `/`, `**` does, `[a-c]` is one of several characters and `[!a-c]`
    another one; a range that runs backwards holds nothing. A pattern without `/` fits a name at
    any depth; a pattern that fits a folder fits all below it.
    """

    __slots__ = ("_expression", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._expression: re.Pattern[str] | None = None

    def matches(self, path: str) -> bool:
        """Return whether a path fits, written relative to the pattern's folder and with `/`."""
        if self._expression is None:
            import re

            self._expression = re.compile(_translate(self.pattern))
        return self._expression.fullmatch(path) is not None

    def __repr__(self) -> str:
        return f"Glob({self.pattern!r})"


#: What each wildcard takes in, as little as it can; `**/` may be nothing at all.
_LAZY = {"*": "[^/]*?", "**": ".*?", "**/": "(?:.*?/)??"}
_LAST = {"*": "[^/]*", "**": ".*", "**/": "(?:.*/)?"}


def _translate(pattern: str) -> str:
    """Return the regular expression of a pattern.

    The text between two wildcards of one kind is matched at its first occurrence only: if the
    rest does not match after that, it matches after no later one. So the time grows linearly
    with the number of wildcards.
    """
    anchored = pattern.removeprefix("./").strip("/")
    tokens = _joined(_tokens(anchored))
    if "/" not in pattern.removeprefix("./").rstrip("/"):
        tokens.insert(0, "**/")
    return f"(?s:{_across(tokens)}(?:/.*)?)"


def _across(tokens: list[str]) -> str:
    """Return the tokens between wildcards that cross folders."""
    at = [number for number, token in enumerate(tokens) if token in ("**", "**/")]
    pieces = [_within(tokens[: at[0]] if at else tokens, last=not at)]
    for start, end in pairwise([*at, len(tokens)]):
        last = end == len(tokens)
        inner = _within(tokens[start + 1 : end], last)
        pieces.append(
            f"{_LAST[tokens[start]]}{inner}" if last else f"(?>{_LAZY[tokens[start]]}{inner})"
        )
    return "".join(pieces)


def _within(tokens: list[str], last: bool) -> str:
    """Return the tokens between wildcards in a name; the last may end in several places."""
    at = [number for number, token in enumerate(tokens) if token == "*"]
    pieces = ["".join(tokens[: at[0]] if at else tokens)]
    for start, end in pairwise([*at, len(tokens)]):
        inner = "".join(tokens[start + 1 : end])
        final = last and end == len(tokens)
        pieces.append(f"{_LAST['*']}{inner}" if final else f"(?>{_LAZY['*']}{inner})")
    return "".join(pieces)


def _joined(tokens: Iterable[str]) -> list[str]:
    """Return the tokens with one wildcard in the place of several that stand together."""
    found: list[str] = []
    for token in tokens:
        before = found[-1] if found else ""
        if token in _LAST and before in _LAST and (before, token) != ("**/", "*"):
            found[-1] = "**" if "**" in (before, token) else token
        else:
            found.append(token)
    return found


def _tokens(anchored: str) -> Iterator[str]:
    """Yield each wildcard as it is written, and everything else as a regular expression."""
    import re

    at = 0
    while at < len(anchored):
        whole = at == 0 or anchored[at - 1] == "/"
        wildcards = ("**/", "**", "*") if whole else ("**", "*")
        wildcard = next((one for one in wildcards if anchored.startswith(one, at)), None)
        if wildcard is not None:
            yield wildcard
            at += len(wildcard)
        elif anchored[at] == "[" and "]" in anchored[at + 2 :]:
            close = anchored.index("]", at + 2)
            yield _character_class(anchored[at + 1 : close])
            at = close + 1
        else:
            yield "[^/]" if anchored[at] == "?" else re.escape(anchored[at])
            at += 1


def _character_class(content: str) -> str:
    """Return the regular expression of a bracket expression."""
    import re

    negated = content.startswith("!")
    body = content[negated:]
    pieces = []
    at = 0
    while at < len(body):
        low, high = body[at], body[at + 2 : at + 3]
        if high and body[at + 1] == "-":
            if low <= high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            pieces.append(re.escape(low))
            at += 1
    if negated:
        return f"[^/{''.join(pieces)}]"
    return f"[{''.join(pieces)}]" if pieces else "(?!)"
