"""The differences between two configurations after everything in them is resolved."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.cntk.configuration.meaning.tree import Value

#: What a value of several begins with.
_OPENS = ("(", "[", "{")
#: A text in quotes; a bracket, a sign or the end of a line with the blanks that belong to it.
_BLANKS = re.compile(
    r"(\"[^\"]*\")|([(\[{])\s*|\s*([)\]}])[ \t\r]*|[ \t\r]*([=:*;,])[ \t\r]*|\s*(\n)\s*|\s+"
)


class Change:
    """A key that differs between two configurations: `before` or `after` is None where it is
    missing.
    """

    __slots__ = ("after", "before")

    def __init__(self, before: Value | None, after: Value | None) -> None:
        self.before = before
        self.after = after

    @property
    def kind(self) -> str:
        """Return `added`, `removed` or `changed`."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def path(self) -> str:
        """Return the path, as the later configuration spells it where it has the key."""
        value = self.after or self.before
        return value.path if value is not None else ""


def changes(before: Configuration, after: Configuration) -> list[Change]:
    """Compare the values that contain no others, by path, case-insensitively.

    Those of the later configuration are in its order, removed ones after them.
    """
    old, new = _leaves(before), _leaves(after)
    found = [
        Change(old.get(path), value)
        for path, value in new.items()
        if path not in old or _meaning(old[path]) != _meaning(value)
    ]
    return [*found, *(Change(value, None) for path, value in old.items() if path not in new)]


def _leaves(configuration: Configuration) -> dict[str, Value]:
    return {it.path.lower(): it for it in configuration.values() if it.inside is None}


def _meaning(value: Value) -> tuple[bool, str]:
    """Return a value, or its source text where a variable in it is unknown.

    Blanks separate the items of a bracket and are otherwise ignored, except in quotes.
    """
    known = value.value
    text = value.raw if known is None else known
    if text[:1] in _OPENS:
        text = _BLANKS.sub(_without_blanks, text).strip()
    return known is not None, text


def _without_blanks(found: re.Match[str]) -> str:
    """Return the replacement of a match: a quoted text, a sign without the blanks beside it, or one
    blank.
    """
    return next(filter(None, found.groups()), " ")
