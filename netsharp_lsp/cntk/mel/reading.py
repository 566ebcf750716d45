"""Splits a text of MEL into statements as CNTK does; knows none of their meanings.

Every part is a traced text with the place where it was written.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.arrays import COMMA, elements
from netsharp_lsp.cntk.configuration.brackets import Brackets
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.records import records
from netsharp_lsp.cntk.configuration.splitting import CUSTOM_SEPARATORS, PATHS, Splitter
from netsharp_lsp.cntk.configuration.traced import Traced, Weaver, trim
from netsharp_lsp.cntk.mel.functions import MAKERS, fits

_SEMICOLON = 0x3B
_OPENING = re.compile(rb'[\[{("]')
_KEY_END = re.compile(rb'[\[{("=]')
#: A key of a text of sections may be here; the separator may be an underscore.
_SECTIONED = re.compile(rb"(?i)(?<![a-z0-9])(?:edit|load)(?![a-z0-9])")
_VARIABLE = re.compile(rb"\$[A-Za-z_]")


class Statement:
    """One statement.

    `kind`: "call" (a function of MEL), "model" (``m = LoadModel(...)``), "snippet" (``m = [...]``),
    "ndl" (any other assignment), "nothing" (neither a call nor an assignment).
    """

    __slots__ = ("_arguments", "function", "key", "kind", "list", "text", "value")

    def __init__(self, kind: str, text: Traced) -> None:
        self.kind = kind
        self.text = text
        self.key: Traced | None = None
        self.value: Traced | None = None
        self.function: Traced | None = None
        #: The arguments with their parentheses.
        self.list: Traced | None = None
        self._arguments: list[Traced] | None = None

    @property
    def arguments(self) -> list[Traced]:
        """Return the arguments one by one; none if they cannot be parsed."""
        if self._arguments is None:
            known = None if self.list is None else elements(_kept(self.list), COMMA, repeats=False)
            self._arguments = known or []
        return self._arguments

    def __repr__(self) -> str:
        return f"Statement({self.kind!r}, {self.text.text!r})"


class MelScript:
    """The statements of a text in order; `broken`: mismatched brackets make it invalid."""

    __slots__ = ("broken", "statements")

    def __init__(self, statements: list[Statement], broken: bool) -> None:
        self.statements = statements
        self.broken = broken


def read(text: Traced) -> MelScript:
    """Parse a text without comments whose variables are substituted."""
    faults = TextFaults()
    parts = _sections(text)
    if not parts:
        weaver = Weaver()
        start = text.place(0, 0)
        weaver.add_placeholder(b"[ ", start)
        weaver.take(text, 0, len(text))
        weaver.add_placeholder(b" ]", text.place(len(text), len(text)))
        parts = [weaver.done()] if len(text) else []
    found: list[Statement] = []
    for part in parts:
        reader = _Reader(part)
        Splitter(part, _SEMICOLON, Brackets(part, faults)).run(reader.take)
        found += reader.found
    return MelScript(found, any(fault.severity == "error" for fault in faults))


def _sections(text: Traced) -> list[Traced]:
    """Return the sections that `edit` names, if the text consists of sections."""
    if not _SECTIONED.search(text.text):
        return []
    found = {record.name.lower(): record for record in records(text, TextFaults())}
    edit, load = found.get(b"edit"), found.get(b"load")
    if edit is None or edit.kind == "flag":
        return [text.slice(0, 0)] if load is not None and load.kind != "flag" else []
    names = elements(edit.content) or []
    named = [found.get(name.text.lower()) for name in names]
    return [record.content for record in named if record is not None]


class _Reader:
    __slots__ = ("_text", "found")

    def __init__(self, text: Traced) -> None:
        self._text = text
        self.found: list[Statement] = []

    def take(self, start: int, end: int) -> int:
        """Parse one statement; return its end."""
        text = self._text.text
        low, high = trim(text, start, end)
        sign = _KEY_END.search(text, low, end)
        if low < high:
            assigns = sign is not None and sign.group() == b"="
            self.found.append(
                _assignment(self._text, (low, high), sign.start())
                if assigns and sign is not None
                else _call(self._text.slice(low, high))
            )
        return end


def _assignment(text: Traced, span: tuple[int, int], sign: int) -> Statement:
    value = text.slice(*trim(text.text, sign + 1, span[1]))
    statement = Statement("ndl", text.slice(*span))
    statement.key = text.slice(*trim(text.text, span[0], sign))
    statement.value = value
    opening = _OPENING.search(value.text)
    if opening is None:
        return statement
    if opening.start() == 0:
        statement.kind = "snippet"
        return statement
    _read_call(statement, value, opening.start())
    name = statement.function.text.decode("utf-8", "replace") if statement.function else ""
    if any(fits(name, maker) for maker in MAKERS):
        statement.kind = "model"
    return statement


def _call(text: Traced) -> Statement:
    opening = _OPENING.search(text.text)
    if opening is None:
        return Statement("nothing", text)
    statement = Statement("call", text)
    _read_call(statement, text, opening.start())
    return statement


def _read_call(statement: Statement, text: Traced, opening: int) -> None:
    statement.function = text.slice(*trim(text.text, 0, opening))
    statement.list = text.slice(opening, len(text))


def _kept(arguments: Traced) -> Traced:
    """Return arguments with a blank before an unknown variable: its `$` is not a separator."""
    if not _VARIABLE.match(arguments.text, 1):
        return arguments
    weaver = Weaver()
    weaver.take(arguments, 0, 1)
    weaver.add_placeholder(b" ", arguments.place(1, 1))
    weaver.take(arguments, 1, len(arguments))
    return weaver.done()


def dropped_character(arguments: Traced) -> Traced | None:
    """Return the character after an opening bracket that is read as a separator and dropped."""
    text = arguments.text
    if len(text) < 3 or text[1] not in CUSTOM_SEPARATORS or text[1] == COMMA:
        return None
    if text.startswith(PATHS, 1) or _VARIABLE.match(text, 1):
        return None
    return arguments.slice(1, 2)


class Parameter:
    """An argument as an optional parameter: ``name = value`` without quotes."""

    __slots__ = ("name", "value")

    def __init__(self, name: Traced, value: Traced) -> None:
        self.name = name
        self.value = value


def parameter(argument: Traced) -> Parameter | None:
    """Return an argument parsed as ``name = value``; None without an equals sign."""
    text = argument.text
    sign = text.find(b"=")
    if sign < 0:
        return None
    low, high = trim(text, sign + 1, len(text))
    if high - low > 1 and text[low] == text[high - 1] == 0x22:
        low, high = low + 1, high - 1
    return Parameter(argument.slice(*trim(text, 0, sign)), argument.slice(low, high))


def unquoted(argument: Traced) -> Traced:
    """Return an argument without quotes around it, as CNTK reads it."""
    text = argument.text
    if len(text) > 1 and text[0] == text[-1] == 0x22:
        return argument.slice(1, len(text) - 1)
    return argument


def word(text: Traced) -> str:
    """Return a traced text as a string."""
    return text.text.decode("utf-8", "replace")
