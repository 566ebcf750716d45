"""Reads calls in R code: their arguments as values, through variables of literals.

Reads R by the tokens of `embedded`; knows no argument of the calls.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from netsharp_lsp.embedded.r.strings import read_literal
from netsharp_lsp.embedded.r.tokens import OPENING, Token, cut
from netsharp_lsp.importing.r_names import RNames, plain
from netsharp_lsp.importing.values import (
    LOOKS,
    REST,
    ChangedValue,
    ColumnChange,
    FileText,
    GivenArgument,
    HostCall,
    ModelFormula,
    NamedValues,
    Unknown,
    joined,
)
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from netsharp_lsp.importing.pieces import CodePieces
    from netsharp_lsp.importing.r_scopes import RStatement
    from netsharp_lsp.importing.values import HostValue

_WORDS: dict[str, bool | float | None] = {
    "TRUE": True,
    "T": True,
    "FALSE": False,
    "F": False,
    "NULL": None,
    "Inf": math.inf,
}
_ASSIGNS = ("<-", "<<-", "=")
_PIPES = ("|>", "%>%")
#: Functions whose result is their first argument.
_SAME = ("as.formula", "formula", "trimws", "c", "list", "as.integer", "as.numeric", "I")
_FILE_READERS = ("readLines", "readChar", "read_file")
#: The most variables in a chain of assignments that is followed.
_DEEPEST = 30


def calls_in_r(code: CodePieces, names: Collection[str]) -> list[HostCall]:
    """Return the calls of functions with one of the names, in order."""
    return _RReader(code, names).read()


class _RReader:
    """One reading of one text."""

    __slots__ = ("code", "comments", "in_change", "names", "text", "tokens", "wanted")

    def __init__(self, code: CodePieces, wanted: Collection[str]) -> None:
        self.code = code
        self.text = code.text
        self.wanted = wanted
        self.tokens, self.comments = cut(code.text)
        self.names = RNames(self.tokens)
        #: Whether a change is read: what it is made of is not followed through other changes.
        self.in_change = False

    def read(self) -> list[HostCall]:
        found = []
        for at, token in enumerate(self.tokens):
            if token.kind != "name" or self._word(at - 1) in ("$", "@"):
                continue
            called = self._word(at + 1) == "("
            call = self._trainer(at) if called else self._indirect_calls(at)
            if call is not None:
                around = self._around(at)
                call.target = self._target(at) if called else None
                if around is not None:
                    call.around = self._call(around, 0)
                    call.target = call.target or self._target(around)
                found.append(call)
        return found

    def _trainer(self, at: int) -> HostCall | None:
        """Return the call at a token where it trains, by its own name or through `do.call`."""
        if self.tokens[at].text == "do.call":
            return self._done_call(at)
        if self.names.function(at) not in self.wanted:
            return None
        call = self._call(at, 0)
        before = at
        while self._word(before - 1) in ("::", ":::"):
            before -= 2
        placed = any(one.written in (".", "_") for one in call.arguments)
        if self._word(before - 1) in _PIPES and not placed:
            first = self.names.statement_start(before)
            if self._word(first + 1) in _ASSIGNS:
                first += 2
            call.arguments.insert(0, self._argument(first, before - 1, 0))
        return call

    def _indirect_calls(self, at: int) -> HostCall | None:
        """Return the call that a function makes of a training function that is passed to it."""
        first = at
        while self._word(first - 1) in ("::", ":::"):
            first -= 2
        alone = self._word(first - 1) in ("(", ",", "=") and self._word(at + 1) in (")", ",")
        opening = self.tokens[at].around
        if not alone or opening < 1 or self.names.function(at) not in self.wanted:
            return None
        caller = self.tokens[opening - 1]
        if caller.kind != "name" or caller.text in (*LOOKS, "do.call", "function"):
            return None
        written = self._written(opening - 1, self.tokens[opening].partner + 1)
        rest = GivenArgument(REST, Unknown(written), self._line(at), written)
        return HostCall(self.names.function(at), [rest], self._line(at))

    def _done_call(self, at: int) -> HostCall | None:
        """Return the call that `do.call(f, list(...))` makes, where it trains."""
        parts = dict(zip(("what", "args"), self._parts(at + 1), strict=False))
        for first, last in list(parts.values()):
            if self._word(first + 1) == "=" and self._word(first) in parts:
                parts[self._word(first)] = first + 2, last
        first, last = parts.get("what", (0, 0))
        while self._word(first + 1) in ("::", ":::"):
            first += 2
        if last - first != 1:
            return None
        is_text = self.tokens[first].kind == "string"
        name = plain(self.tokens[first]) if is_text else self.names.function(first)
        if name not in self.wanted:
            return None
        return HostCall(name, self._listed(parts.get("args", (0, 0)), at), self._line(at))

    def _listed(self, part: tuple[int, int], at: int) -> list[GivenArgument]:
        """Return the arguments in a list, which is written there or is a variable's."""
        first, last = part
        for _ in range(_DEEPEST):
            if first >= last:
                return []
            if self._word(first) in ("list", "c") and self._closes(first + 1, last):
                return self._arguments(first + 1, 0)
            known = last - first == 1 and self.tokens[first].kind == "name"
            value = self.names.value(first) if known else None
            if value is None or self.names.changes(first):
                break
            first, last = value
        written = self._written(*part)
        return [GivenArgument(REST, Unknown(written), self._line(at), written)]

    def _word(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _target(self, at: int) -> str | None:
        while self._word(at - 1) in ("::", ":::"):
            at -= 2
        if self._word(at - 1) in _PIPES:
            at = self.names.statement_start(at) + 2
        if self._word(at - 1) in _ASSIGNS and at >= 2 and self.tokens[at - 2].kind == "name":
            return self.tokens[at - 2].text
        return None

    def _around(self, at: int) -> int | None:
        around = self.tokens[at].around
        while around >= 0:
            if self.tokens[around].text == "(" and around > 0:
                before = self.tokens[around - 1]
                if before.kind == "name" and before.text not in ("list", "c"):
                    return around - 1
            around = self.tokens[around].around
        return None

    def _call(self, at: int, depth: int) -> HostCall:
        return HostCall(self.names.function(at), self._arguments(at + 1, depth), self._line(at))

    def _arguments(self, opening: int, depth: int) -> list[GivenArgument]:
        return [
            self._argument(first, last, depth)
            for first, last in self._parts(opening)
            if first < last
        ]

    def _line(self, at: int) -> int:
        return self.code.line_of(self.tokens[at].start)

    def _parts(self, opening: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of tokens between the commas of a bracket."""
        closing = self.tokens[opening].partner
        first = at = opening + 1
        while at < closing:
            token = self.tokens[at]
            if token.text in OPENING and token.kind == "mark":
                at = max(token.partner, at + 1)
                continue
            if token.text == "," and token.around == opening:
                yield first, at
                first = at + 1
            at += 1
        end = closing
        if end > first and self._word(end - 1) in (")",) and self.tokens[end - 1].around < opening:
            end -= 1
        yield first, min(end, len(self.tokens))

    def _argument(self, first: int, last: int, depth: int) -> GivenArgument:
        name, begin = "", first
        if self._word(first) == "..." and last == first + 1:
            name = REST
        if self._word(first + 1) == "=" and self.tokens[first].kind in ("name", "string"):
            name, begin = self.tokens[first].text.strip("\"'`"), first + 2
        written = self._written(begin, last)
        return GivenArgument(name, self._value(begin, last, depth), self._line(first), written)

    def _written(self, first: int, last: int) -> str:
        if first >= last:
            return ""
        start, end = self.tokens[first].start, self.tokens[min(last, len(self.tokens)) - 1].end
        parts = []
        number = bisect_left(self.comments, start, key=lambda one: one.start)
        for comment in self.comments[number:]:
            if comment.start >= end:
                break
            parts.append(self.text[start : comment.start])
            start = comment.end
        return b" ".join([*parts, self.text[start:end]]).decode("utf-8", "replace")

    def _is_known(self, first: int, last: int) -> bool:
        """Return whether no host around the code inserts text into a span of tokens."""
        return not self.code.has_unknown(self.tokens[first].start, self.tokens[last - 1].end)

    # Values.

    def _value(self, first: int, last: int, depth: int) -> HostValue:
        """Return the value of a span of tokens."""
        unknown = Unknown(self._written(first, last))
        if first >= last or depth > _DEEPEST:
            return unknown
        token = self.tokens[first]
        if any(one.text == "~" and one.around == token.around for one in self.tokens[first:last]):
            whole = self._is_known(first, last)
            return ModelFormula(self._written(first, last)) if whole else unknown
        if last - first == 1:
            return self._single(first, depth)
        if token.text in ("-", "+") and last - first == 2:
            number = self._single(first + 1, depth)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return -number if token.text == "-" else number
            return unknown
        if token.text == "(" and self._closes(first, last):
            return self._value(first + 1, last - 1, depth + 1)
        while self._word(first + 1) in ("::", ":::"):
            first += 2
        if self._word(first + 1) == "(" and self._closes(first + 1, last):
            return self._called(first, depth + 1, unknown)
        return unknown

    def _closes(self, opening: int, last: int) -> bool:
        """Return whether a bracket ends with the span."""
        return self.tokens[last - 1].partner == opening

    def _single(self, at: int, depth: int) -> HostValue:
        token = self.tokens[at]
        if token.kind == "string" and not self._is_known(at, at + 1):
            return Unknown(token.text)
        if token.kind == "string":
            passage = read_literal(self.text, token.start, token.end)
            return passage.text.decode("utf-8", "replace") if passage else Unknown(token.text)
        if token.kind == "number":
            return _number(token)
        own = token.kind == "name" and self.names.variable(at) is not None
        if token.text in _WORDS and not own:
            return _WORDS[token.text]
        return self._variable(at, depth) if own else Unknown(token.text)

    def _variable(self, at: int, depth: int) -> HostValue:
        """Return the value of a name, with the changes made to it before it is read."""
        unknown = Unknown(self.tokens[at].text)
        given, changes = self.names.value(at), self.names.changes(at)
        if changes and self.in_change:
            return unknown
        value = unknown if given is None else self._value(*given, depth + 1)
        if not changes:
            return value
        self.in_change = True
        described = [self._change(at, one, depth, sure=sure) for one, sure in changes]
        self.in_change = False
        if isinstance(value, ChangedValue):
            return ChangedValue(value.value, value.changes + described)
        return ChangedValue(value, described)

    def _change(self, at: int, change: RStatement, depth: int, *, sure: bool) -> ColumnChange:
        given = change.value if sure and change.column is not None else None
        value = None if given is None else self._value(*given, depth + 1)
        column = change.column if sure else None
        written, line = self._written(change.start, change.end), self._line(change.start)
        return ColumnChange(self.tokens[at].text, column, value, line, written)

    def _called(self, at: int, depth: int, unknown: Unknown) -> HostValue:
        call = self._call(at, depth)
        if not call.name:
            return unknown
        if any(one.name == REST for one in call.arguments):
            return call
        named = {one.name: one.value for one in call.arguments if one.name}
        by_place = [one.value for one in call.arguments if not one.name]
        if call.name in ("paste0", "paste"):
            between = named.get("sep", "" if call.name == "paste0" else " ")
            collapse = named.get("collapse")
            if len(by_place) == 1 and isinstance(by_place[0], FileText):
                return by_place[0]
            if isinstance(collapse, str) and len(by_place) == 1 and isinstance(by_place[0], list):
                return _text_or(joined(by_place[0], collapse), unknown)
            flat = isinstance(between, str) and not any(isinstance(one, list) for one in by_place)
            return _text_or(joined(by_place, str(between)) if flat else None, unknown)
        if call.name in _FILE_READERS and by_place and isinstance(by_place[0], str):
            return FileText(by_place[0])
        if call.name in ("c", "list"):
            values = [one.value for one in call.arguments]
            return NamedValues(values, [one.name for one in call.arguments]) if named else values
        if call.name in _SAME and len(by_place) == 1:
            if call.name.endswith("formula") and isinstance(by_place[0], str):
                return ModelFormula(_without_comments(by_place[0]))
            return by_place[0]
        return call


def _without_comments(text: str) -> str:
    """Return R code in a string as R parses it."""
    source = text.encode()
    comments = cut(source)[1]
    ends = [0, *(one.end for one in comments)]
    starts = [*(one.start for one in comments), len(source)]
    kept = (source[end:start] for end, start in zip(ends, starts, strict=True))
    return b" ".join(kept).decode()


def _text_or(text: str | None, unknown: Unknown) -> HostValue:
    return unknown if text is None else text


def _number(token: Token) -> HostValue:
    digits = token.text.removesuffix("L").removesuffix("i")
    whole = whole_number(digits)
    if whole is not None:
        return whole
    try:
        return float(digits)
    except ValueError:
        return Unknown(token.text)
