"""Reads calls in R code: their arguments as values, through variables of literals.

Reads R by the tokens of `embedded`; knows no argument of the calls.
"""

from __future__ import annotations

from netsharp_lsp.embedded.r.strings import read_literal
from netsharp_lsp.embedded.r.tokens import OPENING, Token, cut
from netsharp_lsp.importing.values import (
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
    from netsharp_lsp.importing.values import HostValue

_WORDS: dict[str, bool | None] = {
    "TRUE": True,
    "T": True,
    "FALSE": False,
    "F": False,
    "NULL": None,
}
_ASSIGNS = ("<-", "<<-", "=")
#: Functions whose result says what their first argument says.
_SAME = ("as.formula", "formula", "trimws", "c", "list", "as.integer", "as.numeric", "I")
_FILE_READERS = ("readLines", "readChar", "read_file")
#: How many variables may stand for one another.
_DEEPEST = 30


def calls_in_r(code: CodePieces, names: Collection[str]) -> list[HostCall]:
    """Return the calls of functions with one of the names, in order."""
    return _RReader(code, names).read()


class _RReader:
    """One reading of one text."""

    __slots__ = ("code", "given", "names", "text", "tokens")

    def __init__(self, code: CodePieces, names: Collection[str]) -> None:
        self.code = code
        self.text = code.text
        self.names = names
        self.tokens = cut(code.text)[0]
        #: Where a variable is given a value: the numbers of the tokens behind its arrow.
        self.given: dict[str, list[int]] = {}
        for at, token in enumerate(self.tokens):
            outside = token.around < 0 or self.tokens[token.around].text == "{"
            outside = outside and self._word(at - 1) not in ("$", "@")
            if token.kind == "name" and outside and self._word(at + 1) in _ASSIGNS:
                self.given.setdefault(token.text, []).append(at + 2)

    def read(self) -> list[HostCall]:
        found = []
        changes = self._changes()
        for at, token in enumerate(self.tokens):
            if token.kind == "name" and token.text in self.names and self._word(at + 1) == "(":
                call = self._call(at, 0)
                around = self._around(at)
                call.target = self._target(at)
                if around is not None:
                    call.around = self._call(around, 0)
                    call.target = call.target or self._target(around)
                call.changes = changes
                found.append(call)
        return found

    def _word(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _target(self, at: int) -> str | None:
        while self._word(at - 1) in ("::", ":::"):
            at -= 2
        if self._word(at - 1) in _ASSIGNS and at >= 2 and self.tokens[at - 2].kind == "name":
            return self.tokens[at - 2].text
        return None

    def _changes(self) -> dict[str, list[ColumnChange]]:
        """The columns given to tables: `d$a <- ...`, `d[["a"]] <- ...`, and `d[...] <- ...`."""
        found: dict[str, list[ColumnChange]] = {}
        for at, token in enumerate(self.tokens):
            if token.kind != "name" or self._word(at - 1) in ("$", "@"):
                continue
            column, end = self._column(at + 1)
            inside = token.around >= 0 and self.tokens[token.around].text != "{"
            if inside or end <= at + 1 or self._word(end) not in _ASSIGNS:
                continue
            last = self._end(end + 1)
            value = self._value(end + 1, last, 0)
            change = ColumnChange(column, value, self._line(at), self._written(at, last))
            found.setdefault(token.text, []).append(change)
        return found

    def _column(self, at: int) -> tuple[str | None, int]:
        """What `$a` or `[...]` at a token means, None for more than a column; where it ends."""
        if self._word(at) == "$" and at + 1 < len(self.tokens):
            return self.tokens[at + 1].text.strip("`\"'"), at + 2
        if self._word(at) != "[":
            return None, at
        end = self.tokens[at].partner
        inner = [one for one in self.tokens[at:end] if one.text not in "[],"]
        only = inner[0] if len(inner) == 1 and inner[0].kind == "string" else None
        return (only.text.strip("\"'") if only is not None else None), end + 1

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
        arguments = [
            self._argument(first, last, depth)
            for first, last in self._parts(at + 1)
            if first < last
        ]
        return HostCall(self.tokens[at].text, arguments, self._line(at))

    def _line(self, at: int) -> int:
        return self.code.line_of(self.tokens[at].start)

    def _parts(self, opening: int) -> Iterator[tuple[int, int]]:
        """The stretches of tokens between the commas of a bracket."""
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
        if self._word(first + 1) == "=" and self.tokens[first].kind in ("name", "string"):
            name, begin = self.tokens[first].text.strip("\"'`"), first + 2
        written = self._written(begin, last)
        return GivenArgument(name, self._value(begin, last, depth), self._line(first), written)

    def _written(self, first: int, last: int) -> str:
        if first >= last:
            return ""
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        return self.text[start:end].decode("utf-8", "replace")

    def _is_known(self, first: int, last: int) -> bool:
        """Whether no host around the code puts something into a stretch of tokens."""
        return not self.code.has_unknown(self.tokens[first].start, self.tokens[last - 1].end)

    # Values.

    def _value(self, first: int, last: int, depth: int) -> HostValue:
        """The value of a stretch of tokens."""
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
        """Whether a bracket ends with the stretch."""
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
        if token.text in _WORDS:
            return _WORDS[token.text]
        places = [place for place in self.given.get(token.text, ()) if place < at]
        if token.kind == "name" and len(self.given.get(token.text, ())) == 1 and places:
            return self._value(places[0], self._end(places[0]), depth + 1)
        return Unknown(token.text)

    def _end(self, at: int) -> int:
        """The token behind an expression that begins at a token."""
        around = self.tokens[at].around if at < len(self.tokens) else -1
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.text in ("\n", ";", "}", "") and token.around <= around:
                break
            at = max(token.partner, at + 1) if token.text in OPENING else at + 1
        return at

    def _called(self, at: int, depth: int, unknown: Unknown) -> HostValue:
        call = self._call(at, depth)
        named = {one.name: one.value for one in call.arguments if one.name}
        plain = [one.value for one in call.arguments if not one.name]
        if call.name in ("paste0", "paste"):
            between = named.get("sep", "" if call.name == "paste0" else " ")
            collapse = named.get("collapse")
            if len(plain) == 1 and isinstance(plain[0], FileText):
                return plain[0]
            if isinstance(collapse, str) and len(plain) == 1 and isinstance(plain[0], list):
                return _text_or(joined(plain[0], collapse), unknown)
            flat = isinstance(between, str) and not any(isinstance(one, list) for one in plain)
            return _text_or(joined(plain, str(between)) if flat else None, unknown)
        if call.name in _FILE_READERS and plain and isinstance(plain[0], str):
            return FileText(plain[0])
        if call.name in ("c", "list"):
            values = [one.value for one in call.arguments]
            return NamedValues(values, [one.name for one in call.arguments]) if named else values
        if call.name in _SAME and len(plain) == 1:
            formula = call.name.endswith("formula") and isinstance(plain[0], str)
            return ModelFormula(str(plain[0])) if formula else plain[0]
        return call


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
