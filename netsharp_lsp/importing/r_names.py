"""Resolves names in R code to variables, with their assignments and changes.

Knows the forms of assignment of R and the functions that assign; evaluates nothing.
"""

from __future__ import annotations

from netsharp_lsp.importing.r_scopes import RRange, RStatement, end_of, first_after, ranges_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from netsharp_lsp.embedded.r.tokens import Token

    Place: TypeAlias = "tuple[RRange, str]"

_ASSIGNS = ("<-", "<<-", "=")
_RIGHT = ("->", "->>")
#: Functions that give the variable which their first argument names.
_GIVERS = ("assign", "delayedAssign", "makeActiveBinding")
#: Functions that change a table where it is.
_IN_PLACE = (
    *("set", "setnames", "setorder", "setorderv", "setcolorder", "setattr", "setkey", "setkeyv"),
    "fix",
)
_LONGEST = 30


class RNames:
    """The variables of a text of R; `ranges` has the innermost range of each token."""

    __slots__ = ("_elsewhere", "_tokens", "ranges")

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self.ranges = ranges_of(tokens)
        #: What `<<-` gives or changes: it is another scope's.
        self._elsewhere: list[tuple[str, RStatement]] = []
        for at in range(len(tokens)):
            self._take(at)
        for name, statement in self._elsewhere:
            self._give_above(name, statement)

    def variable(self, at: int) -> Place | None:
        """Return the scope that the name at a token belongs to, with the name."""
        return self._find(self.ranges[at], plain(self._tokens[at]))

    def value(self, at: int) -> tuple[int, int] | None:
        """Return the tokens of the expression assigned to the name at a token, half-open.

        None unless it is assigned once, by a plain assignment, before it is read where both are in
        one scope.
        """
        found = self.variable(at)
        given = [] if found is None else found[0].given.get(found[1], [])
        if found is None or len(given) != 1:
            return None
        late = self.ranges[at].scope() is found[0] and at < given[0].end
        return None if late else given[0].value

    def changes(self, at: int) -> list[tuple[RStatement, bool]]:
        """Return the changes of the variable at a token that may come before it is read there, each
        with whether it certainly does.
        """
        found = self.variable(at)
        if found is None:
            return []
        scope, name = found
        given = sorted(scope.given.get(name, ()), key=lambda one: one.start)
        changes = list(scope.changes.get(name, ()))
        changes += [
            one
            for one in given
            if one.rebinds and (one is not given[0] or self._extends_old_value(one, name))
        ]
        here = self.ranges[at]
        return [
            (one, one.end <= at and one.where.holds(here))
            for one in sorted(changes, key=lambda each: each.start)
            if one.end <= at or one.where.repeats_with(here)
        ]

    def function(self, at: int) -> str:
        """Return the name of a function in its package, "" for one of the script's own."""
        for _ in range(_LONGEST):
            if self._word(at - 1) in ("::", ":::") or self.variable(at) is None:
                return plain(self._tokens[at])
            value = self.value(at)
            if value is None:
                return ""
            at, end = value
            while self._word(at + 1) in ("::", ":::"):
                at += 2
            if at + 1 != end or self._tokens[at].kind != "name":
                return ""
        return ""

    def statement_start(self, at: int) -> int:
        """Return the first token of the statement that a token is in."""
        around = self._tokens[at].around if at >= 0 else -1
        while at > 0:
            before = self._tokens[at - 1]
            if before.around <= around and before.text in ("\n", ";", "{"):
                break
            at -= 1
        return max(at, 0)

    def _extends_old_value(self, statement: RStatement, name: str) -> bool:
        """Return whether a statement's new value of a name is made of its old one, if known."""
        if statement.value is None:
            return True
        first, last = statement.value
        return any(
            self._tokens[at].kind == "name"
            and plain(self._tokens[at]) == name
            and self._word(at - 1) not in ("$", "@")
            for at in range(first, last)
        )

    def _word(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _find(self, where: RRange | None, name: str) -> Place | None:
        while where is not None:
            if name in where.given or name in where.changes:
                return where, name
            where = where.above
        return None

    def _take(self, at: int) -> None:
        """Note the assignment or change of a name that begins at a token."""
        token = self._tokens[at]
        if token.kind not in ("name", "string", "mark") or self._word(at - 1) in ("$", "@"):
            return
        following = self._word(at + 1)
        if token.text in ("function", "\\") and following == "(":
            self._parameters(at + 1)
        elif token.text == "for" and following == "(":
            self._give(at + 2, RStatement(self.ranges[at], at, at + 3))
        elif token.text in _RIGHT:
            self._assignment(at + 1, self._chain(at + 1), at - 1, token.text)
        elif token.text in (":=", "`:=`"):
            self._by_reference(at)
        elif following == "%<>%" and token.kind == "name":
            self._change(at, RStatement(self.ranges[at], at, end_of(self._tokens, at)))
        elif token.text in _GIVERS and following == "(" and self._kind(at + 2) == "string":
            statement = RStatement(self.ranges[at], at, self._tokens[at + 1].partner + 1)
            statement.rebinds = True
            self._give(at + 2, statement)
        elif token.text in _IN_PLACE and following == "(" and self._kind(at + 2) == "name":
            end = self._tokens[at + 1].partner + 1
            self._change(at + 2, RStatement(self.ranges[at], at, end))
        elif token.kind != "mark" and self._word(at - 1) not in ("::", ":::"):
            end = self._chain(at)
            arrow = self._word(end)
            if arrow in _ASSIGNS and (arrow != "=" or self._is_statement(at)):
                self._assignment(at, end, end + 1, arrow)

    def _kind(self, at: int) -> str:
        return self._tokens[at].kind if at < len(self._tokens) else ""

    def _is_statement(self, at: int) -> bool:
        around = self._tokens[at].around
        return around < 0 or self._tokens[around].text == "{"

    def _chain(self, at: int) -> int:
        """Return the end of `a::b$c[...](...)` that begins at a token."""
        end = at + 1
        while end < len(self._tokens):
            text = self._tokens[end].text
            if text in ("$", "@", "::", ":::"):
                end += 2
            elif text in ("[", "("):
                end = self._tokens[end].partner + 1
            else:
                break
        return end

    def _assignment(self, at: int, end: int, value: int, arrow: str) -> None:
        """Note an assignment to the target from a token, before `end`."""
        if at >= len(self._tokens) or self._kind(at) not in ("name", "string"):
            return
        where = self.ranges[at]
        if arrow in _ASSIGNS:
            begin = first_after(self._tokens, value)
            given = begin, end_of(self._tokens, begin)
            statement = RStatement(where, at, given[1])
        else:
            given = self.statement_start(value), value + 1
            statement = RStatement(where, given[0], end)
        if end == at + 1:
            statement.rebinds = True
            is_plain = self._kind(at) == "name" and self._is_statement(at)
            own = arrow not in ("<<-", "->>") or where.scope().kind == "module"
            statement.value = given if is_plain and own else None
            self._note(at, statement, arrow, given=True)
            return
        base = self._base(at)
        if base is not None:
            if base == at:
                statement.column = self._column(at + 1, end)
                statement.value = given
            self._note(base, statement, arrow, given=False)

    def _note(self, at: int, statement: RStatement, arrow: str, *, given: bool) -> None:
        if arrow in ("<<-", "->>"):
            self._elsewhere.append((plain(self._tokens[at]), statement))
        elif given:
            self._give(at, statement)
        else:
            self._change(at, statement)

    def _give(self, at: int, statement: RStatement) -> None:
        if at < len(self._tokens):
            given = statement.where.scope().given
            given.setdefault(plain(self._tokens[at]), []).append(statement)

    def _change(self, at: int, statement: RStatement) -> None:
        changes = statement.where.scope().changes
        changes.setdefault(plain(self._tokens[at]), []).append(statement)

    def _give_above(self, name: str, statement: RStatement) -> None:
        """Note an assignment by `<<-` in the scope that has the name, else in the text's."""
        scope = statement.where.scope()
        found = self._find(scope.above, name) or (self.ranges[-1] if scope.above else scope, name)
        kept = found[0].given if statement.rebinds else found[0].changes
        kept.setdefault(name, []).append(statement)

    def _parameters(self, opening: int) -> None:
        closing = self._tokens[opening].partner
        for at in range(opening + 1, min(closing, len(self._tokens))):
            first = self._word(at - 1) in ("(", ",") and self._tokens[at].around == opening
            if first and self._tokens[at].kind == "name":
                self._give(at, RStatement(self.ranges[at], at, at + 1))

    def _by_reference(self, at: int) -> None:
        """Note `d[, a := ...]`, which changes `d` in place."""
        around = self._tokens[at].around
        while around >= 0 and self._word(around) not in ("[", "{"):
            around = self._tokens[around].around
        if around > 0 and self._word(around) == "[" and self._kind(around - 1) == "name":
            end = self._tokens[around].partner + 1
            self._change(around - 1, RStatement(self.ranges[at], around - 1, end))

    def _base(self, at: int) -> int | None:
        """Return the variable that an assignment to `a$b`, `a[...]` or `f(a, ...)` changes."""
        while True:
            while self._word(at + 1) in ("::", ":::"):
                at += 2
            if self._word(at + 1) != "(":
                return at if self._kind(at) == "name" else None
            at += 2

    def _column(self, at: int, end: int) -> str | None:
        """Return the column of `$a` or `[["a"]]` at a token; None for other than one column."""
        if self._word(at) == "$" and at + 2 == end:
            return self._tokens[at + 1].text.strip("`\"'")
        if self._word(at) != "[" or self._tokens[at].partner + 1 != end:
            return None
        inner = [one for one in self._tokens[at:end] if one.text not in ("[", "]", ",")]
        only = inner[0] if len(inner) == 1 and inner[0].kind == "string" else None
        return None if only is None else only.text.strip("\"'")


def plain(token: Token) -> str:
    """Return a name without its quotes."""
    return token.text.strip("\"'" if token.kind == "string" else "`")
