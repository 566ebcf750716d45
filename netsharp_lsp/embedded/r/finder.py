"""Finds specifications in R code: arguments of calls, values of variables, marked strings.

Reads R only as far as that needs; which strings are specifications is decided in `code`.
"""

from __future__ import annotations

from bisect import bisect_left

from netsharp_lsp.embedded.code.calls import DEFINITION, context_of, plain
from netsharp_lsp.embedded.code.evidence import MARKER, is_one_line
from netsharp_lsp.embedded.code.piece import DEEPEST, Argument, Binding, Code, Value
from netsharp_lsp.embedded.passage import Assembly
from netsharp_lsp.embedded.r.strings import read_literal
from netsharp_lsp.embedded.r.tokens import OPENING, Token, cut
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.embedded.code.piece import Scope
    from netsharp_lsp.embedded.passage import Passage

    #: A value and the number of the token after it.
    Read = tuple[Value | None, int]

_TO_THE_LEFT = ("<-", "<<-", "=", ":=")
_TO_THE_RIGHT = ("->", "->>")
_ENDS = ("\n", ",", ")", "}", ";", "", *_TO_THE_RIGHT)
_JOINING = {"paste0": b"", "paste": b" "}
_END = Token("line", 0, 0, "", -1)


def read_r(text: bytes, line_of: Callable[[int], int], parent: Passage | None = None) -> Code:
    """Read a piece of R: its strings, variables and calls.

    `line_of` returns the line in the host, from 1, of an offset in `text`; `parent` is the passage
    with `text`, None for a whole file.
    """
    return _Reader(text, line_of, parent).read()


class _Reader:
    """One reading of one text."""

    __slots__ = (
        "bare_functions",
        "bare_starts",
        "code",
        "comments",
        "line_of",
        "literals",
        "parent",
        "scopes",
        "text",
        "tokens",
        "values",
    )

    def __init__(self, text: bytes, line_of: Callable[[int], int], parent: Passage | None) -> None:
        self.text = text
        self.line_of = line_of
        self.parent = parent
        self.tokens, self.comments = cut(text)
        self.code = Code(text)
        self.values: dict[int, Read] = {}
        self.literals: dict[int, dict[str, str | int]] = {}
        self.scopes: dict[int, Scope] = {-1: ()}
        self.bare_functions = list(self._find_bare_functions())
        self.bare_starts = [start for start, _, _ in self.bare_functions]

    def read(self) -> Code:
        for at, token in enumerate(self.tokens):
            if token.kind == "name":
                self._name(at)
            elif token.kind == "mark" and token.text in _TO_THE_RIGHT:
                self._assign_to_the_right(at)
        self._find_marked()
        return self.code

    def _token(self, at: int) -> Token:
        return self.tokens[at] if 0 <= at < len(self.tokens) else _END

    # Names.

    def _name(self, at: int) -> None:
        token, after = self.tokens[at], self._token(at + 1).text
        in_call = self._token(token.around).text == "(" if token.around >= 0 else False
        if in_call and self._is_parameter(at):
            self.code.bindings.append(Binding(token.text, self._scope(at), None))
        if after == "=" and in_call:
            if plain(token.text.replace(".", "")) == DEFINITION:
                self._take(at + 2, token.around)
        elif after in _TO_THE_LEFT:
            value, _ = self._value(at + 2)
            self.code.bindings.append(Binding(self._dollar_name(at), self._scope(at), value))

    def _is_parameter(self, at: int) -> bool:
        """Return whether a name is one in the head of a function, or the variable of a loop."""
        opening = self.tokens[at].around
        head = self._token(opening - 1).text
        if head == "for":
            return at == opening + 1
        return head in ("function", "\\") and self._token(at - 1).text in ("(", ",")

    def _assign_to_the_right(self, at: int) -> None:
        name = self._token(at + 1)
        begin = self._beginning(at - 1)
        value, end = self._value(begin)
        if name.kind == "name":
            known = value if end == at else None
            self.code.bindings.append(Binding(name.text, self._scope(at), known))

    def _beginning(self, at: int) -> int:
        """Return the first token of the string, or of the call, that ends with a token."""
        opening = self._token(at).partner if self._token(at).text == ")" else -1
        if opening < 0:
            return at
        return opening - 1 if self._token(opening - 1).kind == "name" else opening

    def _dollar_name(self, at: int) -> str:
        """Return a name with what is before its `$`."""
        pieces = [self.tokens[at].text]
        while self._token(at - 1).text in ("$", "@") and self._token(at - 2).kind == "name":
            pieces += [self.tokens[at - 1].text, self.tokens[at - 2].text]
            at -= 2
        return "".join(reversed(pieces))

    def _scope(self, at: int) -> Scope:
        """Return the functions around a token, by their brackets; of very many the inner ones."""
        bare: list[int] = []
        number = bisect_left(self.bare_starts, at) - 1
        for _ in range(DEEPEST):
            if number < 0:
                break
            start, end, outer = self.bare_functions[number]
            if at < end:
                bare.append(start)
            number = outer
        around = self._functions_around(self.tokens[at].around)
        return tuple(sorted({*bare, *around})) if bare else around

    def _functions_around(self, bracket: int) -> Scope:
        """Return the functions whose heads or bodies a bracket and those around it open."""
        waiting = []
        while bracket not in self.scopes:
            waiting.append(bracket)
            bracket = self.tokens[bracket].around
        for bracket in reversed(waiting):
            scope = self.scopes[self.tokens[bracket].around]
            function = self._function_of(bracket)
            if function is not None:
                scope = tuple(sorted({*scope, function}))[-DEEPEST:]
            self.scopes[bracket] = scope
        return self.scopes[bracket]

    def _find_bare_functions(self) -> Iterator[tuple[int, int, int]]:
        """Yield functions whose body is not a block: token after it, the word, the outer one."""
        ends: dict[int, int] = {}
        open_ones: list[tuple[int, int]] = []
        for number, at in enumerate(self._bare_heads()):
            around = self.tokens[at].around
            end = self._skip_lines(self.tokens[at + 1].partner + 1)
            # A function in the body of another ends where that one does.
            end = max(end, ends.get(around, 0))
            while end < len(self.tokens) and not self._ends_expression(end, around):
                token = self.tokens[end]
                end = max(end + 1, token.partner) if token.text in OPENING else end + 1
            ends[around] = end
            while open_ones and open_ones[-1][1] <= at:
                open_ones.pop()
            yield at, end, open_ones[-1][0] if open_ones else -1
            open_ones.append((number, end))

    def _bare_heads(self) -> Iterator[int]:
        """Yield the words `function` whose body is not a block."""
        for at, token in enumerate(self.tokens):
            if token.text != "function" or self._token(at + 1).text != "(":
                continue
            body = self._skip_lines(self.tokens[at + 1].partner + 1)
            if self._token(body).text != "{":
                yield at

    def _ends_expression(self, at: int, around: int) -> bool:
        token = self.tokens[at]
        return token.around < around or (token.around == around and token.text in ("\n", ",", ";"))

    def _function_of(self, bracket: int) -> int | None:
        """Return the number of the word `function` whose head or body a bracket opens."""
        if self.tokens[bracket].text == "{" and self._token(bracket - 1).text == ")":
            bracket = self._beginning(bracket - 1) + 1
        is_head = self._token(bracket - 1).text in ("function", "\\")
        return bracket - 1 if is_head else None

    # Calls.

    def _take(self, at: int, opening: int) -> None:
        """Add the value that a call takes as its specification, with the context of the call."""
        context = context_of(*self._call(opening))
        token = self._token(at)
        if token.kind == "name" and self._name_end(at) is not None:
            end = self._name_end(at) or at
            argument = Argument(self._scope(at), context, self._dollar_name(end))
        else:
            value, _ = self._value(at)
            if value is None:
                return
            argument = Argument(self._scope(at), context, value=value)
            argument.target = self._target(opening)
        self.code.arguments.append(argument)

    def _name_end(self, at: int) -> int | None:
        """Return the last token of `a$b`, where that is a whole argument."""
        while self._token(at + 1).text in ("$", "@") and self._token(at + 2).kind == "name":
            at += 2
        return at if self._token(at + 1).text in (",", ")") else None

    def _call(self, opening: int) -> tuple[str, dict[str, str | int], int]:
        callee = self._token(opening - 1)
        if opening in self.literals:
            return callee.text, self.literals[opening], self.line_of(callee.start)
        literal = self.literals[opening] = {}
        at = opening + 1
        while at < len(self.tokens) - 3 and self.tokens[at].around >= opening:
            name, equals, value, after = self.tokens[at : at + 4]
            if name.around == opening and equals.text == "=" and after.text in (",", ")"):
                known = _literal(value)
                if known is not None:
                    literal[plain(name.text.replace(".", ""))] = known
            at = max(at + 1, name.partner) if name.text in OPENING else at + 1
        return callee.text, literal, self.line_of(callee.start)

    def _target(self, opening: int) -> str | None:
        """Return the variable that the result of a call is assigned to."""
        at = opening - 1
        while self._token(at - 1).text in ("::", ":::"):
            at -= 2
        if self._token(at - 1).text in _TO_THE_LEFT and self._token(at - 2).kind == "name":
            return self._dollar_name(at - 2)
        return None

    # Values.

    def _value(self, at: int) -> Read:
        """Return the text of the strings from a token on, where no operation is applied to them."""
        at = self._skip_lines(at)
        if at not in self.values:
            value, end = self._expression(at)
            ends = self._token(end).text in _ENDS
            self.values[at] = (value if ends else None), end
        return self.values[at]

    def _skip_lines(self, at: int) -> int:
        while self._token(at).text == "\n":
            at += 1
        return at

    def _expression(self, at: int) -> Read:
        token, after = self._token(at), self._token(at + 1).text
        if token.kind == "string":
            passage = read_literal(self.text, token.start, token.end, self.parent)
            return Value(passage) if passage is not None else None, at + 1
        if token.kind == "name" and after == "(":
            if token.text in _JOINING:
                return self._joined(at)
            if token.text == "trimws":
                return self._in_brackets(at + 1)
        if token.kind == "name" and after in ("<-", "<<-"):
            return self._value(at + 2)
        return self._in_brackets(at) if token.text == "(" else (None, at)

    def _in_brackets(self, at: int) -> Read:
        value, end = self._value(at + 1)
        return (value, end + 1) if self._token(end).text == ")" else (None, at)

    def _joined(self, at: int) -> Read:
        """Return `paste0` or `paste` of literals alone as one text."""
        between: bytes | None = _JOINING[self.tokens[at].text]
        parts: list[Passage] = []
        place = at + 2
        while self._token(place).text != ")":
            name, equals = self._token(place), self._token(place + 1).text
            named = name.kind == "name" and equals == "="
            value, end = self._value(place + 2 if named else place)
            if value is None or value.passage.form is None or (named and not _is_option(name)):
                return None, at
            if not named:
                parts.append(value.passage)
            elif name.text == "sep" and self.tokens[at].text == "paste":
                between = value.passage.text
            place = end + 1 if self._token(end).text == "," else end
        if not parts or between is None:
            return None, at
        return _join(self.text, parts, between, self.tokens[at].text), place + 1

    # Markers.

    def _find_marked(self) -> None:
        """Find the string that each comment `# language=Net#` refers to."""
        strings = [at for at, token in enumerate(self.tokens) if token.kind == "string"]
        starts = [self.tokens[at].start for at in strings]
        for comment in self.comments:
            if MARKER.match(comment.text.encode()) is not None:
                following = bisect_left(starts, comment.start)
                near = strings[max(0, following - 1) : following + 1]
                chosen = next((at for at in near if self._is_marked(at, comment)), None)
                if chosen is not None:
                    self._mark(chosen)

    def _is_marked(self, at: int, comment: Token) -> bool:
        """Return whether a comment refers to a string: one that ends on its line, or the next."""
        string = self.tokens[at]
        if string.start < comment.start:
            return self.text.find(b"\n", string.end, comment.start) < 0
        return is_one_line(self.text, comment.end, string.start)

    def _mark(self, at: int) -> None:
        opening = self.tokens[at].around
        if opening > 0 and self.tokens[opening - 1].text in _JOINING:
            at = opening - 1
        value, _ = self._value(at)
        if value is not None:
            self.code.marked.append(value)


def _is_option(name: Token) -> bool:
    return name.text in ("sep", "collapse", "recycle0")


def _literal(token: Token) -> str | int | None:
    """Return a string or a whole number as it is written."""
    if token.kind == "string":
        passage = read_literal(token.text.encode(), 0, len(token.text.encode()))
        return passage.text.decode() if passage is not None else None
    digits = token.text.removesuffix("L")
    return whole_number(digits) if token.kind == "number" else None


def _join(source: bytes, parts: list[Passage], between: bytes, function: str) -> Value:
    """Return one text of several literals; it cannot be laid out."""
    return Value(Assembly(source, parts, between), f"it is put together by {function}")
