"""The functions, loops and branches around tokens of R code, and where expressions end.

Knows the tokens of R and its keywords; evaluates nothing.
"""

from __future__ import annotations

from netsharp_lsp.embedded.r.tokens import OPENING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.embedded.r.tokens import Token

#: Functions whose argument is evaluated among names of its own.
_LOCAL = ("local", "with", "within", "evalq")
_BRANCHES = {"if": "branch", "for": "loop", "while": "loop", "switch": "branch"}


class RRange:
    """A range of tokens from `start`, before `end`.

    Its kind is "module", "function", "local", "loop" or "branch". `given` and `changes` are, where
    it is a scope, the assignments and the changes of each name.
    """

    __slots__ = ("above", "changes", "end", "given", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.above: RRange | None = None
        self.given: dict[str, list[RStatement]] = {}
        self.changes: dict[str, list[RStatement]] = {}

    def scope(self) -> RRange:
        """Return the innermost range around that is a scope."""
        found = self
        while found.kind in ("loop", "branch") and found.above is not None:
            found = found.above
        return found

    def loops(self) -> list[RRange]:
        """Return the loops around, within the function."""
        found, one = [], self
        while one.kind in ("loop", "branch") and one.above is not None:
            if one.kind == "loop":
                found.append(one)
            one = one.above
        return found

    def holds(self, other: RRange) -> bool:
        """Return whether another is inside this one, or is it, in the same function."""
        while other is not self and other.kind in ("loop", "branch") and other.above is not None:
            other = other.above
        return other is self

    def repeats_with(self, other: RRange) -> bool:
        """Return whether code that is later in the text may run earlier."""
        loops = other.loops()
        return self.scope() is not other.scope() or any(one in loops for one in self.loops())


class RStatement:
    """An assignment or change of a name, in the tokens from `start`, before `end`.

    `value` is the expression of a plain assignment, None for all else; `column` is the one item of
    a table that is set; `rebinds`: whether the name is given another value.
    """

    __slots__ = ("column", "end", "rebinds", "start", "value", "where")

    def __init__(self, where: RRange, start: int, end: int) -> None:
        self.where = where
        self.start = start
        self.end = end
        self.value: tuple[int, int] | None = None
        self.column: str | None = None
        self.rebinds = False


def ranges_of(tokens: Sequence[Token]) -> list[RRange]:
    """Return the innermost range of each token, and after these that of the whole text."""
    starting: dict[int, list[RRange]] = {}
    for at in range(len(tokens)):
        found = _range_at(tokens, at)
        if found is not None and found.start < found.end:
            starting.setdefault(found.start, []).append(found)
    module = innermost = RRange("module", 0, len(tokens) + 1)
    inner = []
    for at in range(len(tokens)):
        while innermost.end <= at and innermost.above is not None:
            innermost = innermost.above
        for one in sorted(starting.get(at, ()), key=lambda each: -each.end):
            one.above, innermost = innermost, one
        inner.append(innermost)
    return [*inner, module]


def _range_at(tokens: Sequence[Token], at: int) -> RRange | None:
    """Return the range that a token opens: a body, or the argument of a call with a scope."""
    text = tokens[at].text
    before = tokens[at - 1].text if at else ""
    if before in ("$", "@"):
        return None
    opening = at + 1
    called = opening < len(tokens) and tokens[opening].text == "("
    if text in ("function", "\\") and called:
        body = first_after(tokens, tokens[opening].partner + 1)
        return RRange("function", opening, end_of(tokens, body))
    if text in _LOCAL and called:
        return RRange("local", opening + 1, tokens[opening].partner)
    if text in _BRANCHES and called:
        if text == "switch":
            return RRange("branch", opening + 1, tokens[opening].partner)
        body = first_after(tokens, tokens[opening].partner + 1)
        return RRange(_BRANCHES[text], body, end_of(tokens, body))
    if text in ("else", "repeat"):
        body = first_after(tokens, opening)
        if body < len(tokens) and tokens[body].text != "if":
            kind = "loop" if text == "repeat" else "branch"
            return RRange(kind, body, end_of(tokens, body))
    return None


def first_after(tokens: Sequence[Token], at: int) -> int:
    """Return the first token from a place on that is not a line end."""
    while at < len(tokens) and tokens[at].text == "\n":
        at += 1
    return at


def end_of(tokens: Sequence[Token], at: int) -> int:
    """Return the token after an expression that begins at a token.

    Where it is one block, that after the block.
    """
    if at >= len(tokens):
        return len(tokens)
    if tokens[at].text == "{":
        return min(tokens[at].partner + 1, len(tokens))
    around, begin = tokens[at].around, at
    while at < len(tokens):
        token = tokens[at]
        if token.around < around:
            break
        if token.around == around and token.text in (";", ","):
            break
        if token.around == around and token.text == "\n" and not _continues(tokens, begin, at):
            break
        at = max(token.partner, at + 1) if token.text in OPENING else at + 1
    return min(at, len(tokens))


def _continues(tokens: Sequence[Token], begin: int, at: int) -> bool:
    """Return whether an expression continues after a line end: an operator is before it."""
    before = tokens[at - 1]
    return at == begin or (before.kind == "mark" and before.text not in (")", "]", "}"))
