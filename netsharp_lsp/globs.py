"""Patterns of paths in settings: `*` within a name, `**` across folders; knows no disk."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


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
        """Whether a path fits, written relative to the pattern's folder and with `/`."""
        if self._expression is None:
            import re

            self._expression = re.compile(_translate(self.pattern))
        return self._expression.fullmatch(path) is not None

    def __repr__(self) -> str:
        return f"Glob({self.pattern!r})"


def _translate(pattern: str) -> str:
    """The regular expression of a pattern."""
    import re

    anchored = pattern.removeprefix("./").strip("/")
    prefix = "" if "/" in pattern.removeprefix("./").rstrip("/") else "(?:.*/)?"
    pieces = []
    at = 0
    while at < len(anchored):
        if anchored.startswith("**/", at):
            pieces.append("(?:.*/)?")
            at += 3
        elif anchored.startswith("**", at):
            pieces.append(".*")
            at += 2
        elif anchored[at] == "[" and "]" in anchored[at + 2 :]:
            close = anchored.index("]", at + 2)
            pieces.append(_character_class(anchored[at + 1 : close]))
            at = close + 1
        else:
            pieces.append({"*": "[^/]*", "?": "[^/]"}.get(anchored[at], re.escape(anchored[at])))
            at += 1
    return f"(?s:{prefix}{''.join(pieces)}(?:/.*)?)"


def _character_class(content: str) -> str:
    """The regular expression of what stands between brackets."""
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
