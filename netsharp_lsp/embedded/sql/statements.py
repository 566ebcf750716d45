"""Statements of T-SQL: the texts that they compose, and what these are passed to.

Knows the functions that join texts and the procedure that runs scripts; no host language in them.
"""

from __future__ import annotations

from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from netsharp_lsp.embedded.sql.tokens import SqlToken

    #: A literal, a text that is known, or None for what is known only at run time.
    Part: TypeAlias = "SqlToken | bytes | None"

RUNS_SCRIPTS = "sp_execute_external_script"
#: Its first arguments, by place.
_PLACES = ("@language", "@script", "@input_data_1")
_CHARACTERS = ("char", "nchar")
_TYPED_FIRST = ("convert", "try_convert")
_TYPED_LAST = ("cast", "try_cast")
_LF, _CR = 10, 13
#: Tokens of the type of a variable that is declared: `AS schema.name(size)`.
_LONGEST_TYPE = 5


class SqlText:
    """A text that a statement writes, in parts, and its destination: `target` with its `@`."""

    __slots__ = ("parts", "start", "target")

    def __init__(self, parts: Sequence[Part], target: str | None, start: int) -> None:
        self.parts = parts
        self.target = target
        self.start = start


class SqlStatement:
    """A statement: its `texts`, and where it runs a script, the `language` and `script` of it, and
    the `query` of its rows.

    `script` and `query` are texts, names of variables, or None; `language` is a text or None.
    """

    __slots__ = (
        "_operands",
        "_partners",
        "_texts",
        "_tokens",
        "language",
        "query",
        "runs",
        "script",
        "start",
        "texts",
    )

    def __init__(self, tokens: Sequence[SqlToken]) -> None:
        self._tokens = tokens
        self._partners = _partners(tokens)
        self._operands: dict[int, tuple[Sequence[Part], int]] = {}
        self._texts: dict[int, SqlText] = {}
        self.start = tokens[0].start if tokens else 0
        self.runs = False
        self.language: SqlText | None = None
        self.script: SqlText | str | None = None
        self.query: SqlText | str | None = None
        at = 0
        while at < len(tokens):
            at = max(self._read(at), at + 1)
        self.texts = [text for _, text in sorted(self._texts.items())]
        self._find_call()

    def _word(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _read(self, at: int) -> int:
        """Read the expression at a token, where one may begin that is a text."""
        token = self._tokens[at]
        begins = (
            token.kind == "string"
            or (token.kind in ("name", "variable") and self._word(at + 1) in ("(", "+"))
            or (token.text == "(" and self._word(at - 1) in ("=", "+=", ","))
        )
        if not begins:
            return at
        parts, end = self._expression(at)
        if not any(part is not None and not isinstance(part, bytes) for part in parts):
            return at if token.text == "(" else end
        self._texts[at] = SqlText(parts, self._target(at), token.start)
        return end

    def _target(self, at: int) -> str | None:
        """Return the variable or argument that an expression is assigned to."""
        if self._word(at - 1) not in ("=", "+="):
            return None
        at -= 2
        for _ in range(_LONGEST_TYPE):
            if at <= 0 or self._tokens[at].kind == "variable":
                break
            if self._word(at) == ")" and self._partners.get(at) is not None:
                at = self._partners[at]
            elif self._tokens[at].kind != "name":
                return None
            at -= 1
        return self._tokens[at].text if at >= 0 and self._tokens[at].kind == "variable" else None

    # Expressions.

    def _expression(self, at: int) -> tuple[Sequence[Part], int]:
        """Return the parts of operands with `+` between them, and the token after them."""
        parts, at = self._operand(at)
        if self._word(at) != "+":
            return parts, at
        all_parts = list(parts)
        while self._word(at) == "+":
            more, at = self._operand(at + 1)
            all_parts += more
        return all_parts, at

    def _operand(self, at: int) -> tuple[Sequence[Part], int]:
        if at not in self._operands:
            self._operands[at] = self._read_operand(at)
        return self._operands[at]

    def _read_operand(self, at: int) -> tuple[Sequence[Part], int]:
        if at >= len(self._tokens):
            return [None], at
        token = self._tokens[at]
        if token.kind == "string":
            return [token], at + 1
        if token.text == "(":
            parts, end = self._expression(at + 1)
            if self._word(end) == ")":
                return parts, end + 1
            return [None], max(self._partners.get(at, at) + 1, at + 1)
        if token.kind == "name" and self._word(at + 1) == "(":
            return self._call(at)
        while self._word(at + 1) == "." and at + 2 < len(self._tokens):
            at += 2
        return [None], at + 1

    def _call(self, at: int) -> tuple[Sequence[Part], int]:
        """Return the value of a function of texts, where it only joins, casts or is a character."""
        name, opening = self._word(at), at + 1
        closing = self._partners.get(opening)
        if closing is None:
            return [None], at + 1
        if name == "concat":
            joined: list[Part] = []
            place = opening + 1
            while place < closing:
                more, end = self._expression(place)
                known = self._word(end) == "," or end == closing
                joined += more if known else [None]
                place = (end if known else self._argument_end(end, closing)) + 1
            return joined, closing + 1
        if name in _TYPED_LAST:
            parts, end = self._expression(opening + 1)
            return (parts if self._word(end) == "as" else [None]), closing + 1
        if name in _TYPED_FIRST:
            parts, end = self._expression(self._argument_end(opening + 1, closing) + 1)
            return (parts if end <= closing else [None]), closing + 1
        if name in _CHARACTERS and closing == opening + 2:
            return [_character(self._word(opening + 1))], closing + 1
        place = opening + 1
        while place < closing:
            place = max(self._read(place), place + 1)
        return [None], closing + 1

    def _argument_end(self, at: int, closing: int) -> int:
        """Return the comma after an argument of a call, or the call's closing bracket."""
        while at < closing and self._word(at) != ",":
            at = max(self._partners.get(at, at), at) + 1
        return min(at, closing)

    # Calls of the procedure.

    def _find_call(self) -> None:
        words = [token.text for token in self._tokens]
        if RUNS_SCRIPTS not in words:
            return
        self.runs = True
        at = words.index(RUNS_SCRIPTS)
        after = self._tokens[at].end
        named = {text.target: text for text in self.texts if text.start > after}
        given = [
            named.get(argument) or self._variable(argument, at) or by_place
            for argument, by_place in zip(_PLACES, self._by_place(at + 1), strict=True)
        ]
        language, self.script, self.query = given
        self.language = None if isinstance(language, str) else language

    def _by_place(self, at: int) -> list[SqlText | str | None]:
        """Return the values of the call's first positional arguments."""
        found: list[SqlText | str | None] = [None] * len(_PLACES)
        for number in range(len(_PLACES)):
            if at >= len(self._tokens) or self._word(at + 1) == "=":
                break
            text = self._texts.get(at)
            end = self._argument_end(at, len(self._tokens))
            if text is not None:
                found[number] = text
            elif self._tokens[at].kind == "variable" and self._word(at + 1) in (",", ";", ""):
                found[number] = self._word(at)
            if self._word(end) != ",":
                break
            at = end + 1
        return found

    def _variable(self, argument: str, at: int) -> str | None:
        """Return the variable that an argument of the call is given."""
        for place in range(at, len(self._tokens) - 2):
            value = self._tokens[place + 2]
            if self._word(place) == argument and self._word(place + 1) == "=":
                return value.text if value.kind == "variable" else None
        return None


def _partners(tokens: Sequence[SqlToken]) -> dict[int, int]:
    """Return the partner of each round bracket."""
    partners: dict[int, int] = {}
    open_ones: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind == "mark" and token.text == "(":
            open_ones.append(at)
        elif token.kind == "mark" and token.text == ")" and open_ones:
            opening = open_ones.pop()
            partners[opening], partners[at] = at, opening
    return partners


def _character(digits: str) -> bytes | None:
    number = whole_number(digits)
    if number == _LF:
        return b"\n"
    if number == _CR:
        # A line feed follows nearly always, and lines end by that alone here.
        return b""
    return chr(number).encode() if number is not None and 0 < number < 128 else None
