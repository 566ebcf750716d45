"""Finds specifications in T-SQL, and the scripts of R, Python and T-SQL in its strings.

A script is read by the host of its language; knows those languages only by their look.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from netsharp_lsp.embedded.code.evidence import HINT, is_evident
from netsharp_lsp.embedded.layers import CodeGroup, Holding, HostLayer
from netsharp_lsp.embedded.passage import Assembly, Between
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.embedded.sql.statements import RUNS_SCRIPTS, SqlStatement
from netsharp_lsp.embedded.sql.strings import read_literal
from netsharp_lsp.embedded.sql.tokens import Cutter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.sql.statements import SqlText

#: What the procedure calls the languages that are hosts here.
_LANGUAGES = {"r": "r", "python": "python"}
_RUNS = re.compile(RUNS_SCRIPTS.encode(), re.IGNORECASE)
_JOINED_LINES = re.compile(rb"\\\r?\n")
_OF_PYTHON = re.compile(
    rb"net_definition|rx_neural_network|\w_optimizer\b|\"\"\"|^\s*(?:import|from|def|class)\s+\w",
    re.MULTILINE,
)
_OF_R = re.compile(
    rb"netDefinition|rxNeuralNet|mxNeuralNet|<-|\blibrary\s*\(|\bfunction\s*\(|\bTRUE\b|\bFALSE\b"
)
#: What is read for a part of a script that is known only at run time: a name in every language;
#: before and after a script, a line end.
_UNKNOWN = Between(b"unknown", known=False)
_OUTSIDE = Between(b"\n", known=False)
_NOTHING = Between()
_LEFT_OUT = b"..."
#: The most places of a variable before a call that are searched for its value.
_MENTIONS = 8
_VARIABLE = re.compile(rb"@[\w@#$\x80-\xff]+")


def read_sql(layer: HostLayer, hint: re.Pattern[bytes] = HINT) -> Holding:
    """Return the contents of a text of T-SQL: specifications in variables, and scripts.

    Strings are only read where `hint` matches.
    """
    held = Holding()
    source = layer.text
    points = [found.start() for found in hint.finditer(source)]
    if not points and (b"\\" not in source or not hint.search(_JOINED_LINES.sub(b"", source))):
        return held
    points += [found.start() for found in _RUNS.finditer(source)]
    points += [found.start() for found in _JOINED_LINES.finditer(source)]
    cutter = Cutter(source)
    statements = _statements(cutter, points)
    mentions = _mentions(source, statements)
    if mentions:
        statements = _statements(cutter, [*points, *mentions])
    used = _Used(source, statements)
    for statement in statements:
        for text in statement.texts:
            passage = _passage(layer, text)
            if passage is None or hint.search(passage.text) is None:
                continue
            if is_evident(passage.text):
                _add_specification(held, passage, text.target)
                continue
            call = used.call_of(statement, text)
            language = used.language_of(call, passage.text)
            if language is not None:
                query = None if call is None else used.query_of(call)
                rows = None if query is None else _shown(layer, query)
                code = [HostLayer(passage.text, passage)]
                held.programs.append(CodeGroup(language, code, rows))
    return held


def _statements(cutter: Cutter, points: Sequence[int]) -> list[SqlStatement]:
    """Return the statements around offsets, in order."""
    return [SqlStatement(one) for one in cutter.statements(sorted(points))]


def _mentions(source: bytes, statements: Sequence[SqlStatement]) -> list[int]:
    """Return the offsets of the variables with queries: the last ones before each call."""
    calls = [(one.query.encode(), one.start) for one in statements if isinstance(one.query, str)]
    places: dict[bytes, list[int]] = {name: [] for name, _ in calls}
    for found in _VARIABLE.finditer(source) if calls else ():
        if (name := found.group().lower()) in places:
            places[name].append(found.start())
    near: set[int] = set()
    for name, start in calls:
        before = bisect_left(places[name], start)
        near.update(places[name][max(before - _MENTIONS, 0) : before])
    return sorted(near)


class _Used:
    """Which variables are run as scripts, where, and in which language."""

    __slots__ = ("_calls", "_given", "_source", "_texts")

    def __init__(self, source: bytes, statements: Sequence[SqlStatement]) -> None:
        self._source = source
        self._calls: dict[str, list[SqlStatement]] = {}
        self._given: dict[str, list[int]] = {}
        self._texts: dict[str, list[SqlText]] = {}
        for statement in statements:
            if isinstance(statement.script, str):
                self._calls.setdefault(statement.script, []).append(statement)
            for text in statement.texts:
                if text.target is not None:
                    self._given.setdefault(text.target, []).append(text.start)
                    self._texts.setdefault(text.target, []).append(text)

    def language_of(self, call: SqlStatement | None, script: bytes) -> str | None:
        """Return the language of a text: the one that its call names, else one by its look."""
        known = self._declared_language(call) if call is not None else None
        return known or _guessed_language(script)

    def query_of(self, call: SqlStatement) -> SqlText | None:
        """Return the text of the query for a call's rows; a variable's last one before the call."""
        if not isinstance(call.query, str):
            return call.query
        number = bisect_left(self._given.get(call.query, []), call.start)
        return self._texts[call.query][number - 1] if number else None

    def call_of(self, statement: SqlStatement, text: SqlText) -> SqlStatement | None:
        """Return the call that runs a text of a statement; None where that is not known."""
        if statement.script is text:
            return statement
        if statement.runs or text.target is None:
            return None
        return self._next_call(text.target, text.start)

    def _next_call(self, variable: str, start: int) -> SqlStatement | None:
        """Return the next call that runs a variable given a text at `start`, and no other."""
        calls, given = self._calls.get(variable, []), self._given[variable]
        number = bisect_right(calls, start, key=lambda call: call.start)
        again = bisect_right(given, start)
        if number == len(calls) or (again < len(given) and given[again] < calls[number].start):
            return None
        return calls[number]

    def _declared_language(self, call: SqlStatement) -> str | None:
        """Return the language that a call names by a literal."""
        parts = call.language.parts if call.language is not None else ()
        if len(parts) != 1 or parts[0] is None or isinstance(parts[0], bytes):
            return None
        literal = read_literal(self._source, parts[0].start, parts[0].end)
        word = literal.text.strip().lower() if literal is not None else b""
        return _LANGUAGES.get(word.decode("utf-8", "replace"))


def _guessed_language(text: bytes) -> str | None:
    """Return the language that a text looks like, None where it looks like none."""
    if _RUNS.search(text) is not None:
        return "sql"
    python, r = len(_OF_PYTHON.findall(text)), len(_OF_R.findall(text))
    if not python and not r:
        return None
    return "python" if python > r else "r"


def _add_specification(held: Holding, passage: Passage, target: str | None) -> None:
    """Add a text that is a specification itself."""
    name = target.lstrip("@") if target is not None else None
    held.regions.append(Region(passage, name))


def _shown(layer: HostLayer, text: SqlText) -> bytes:
    """Return the text to show to people: parts known only at run time are visibly left out."""
    texts = []
    for part in text.parts:
        if part is None or isinstance(part, bytes):
            texts.append(_LEFT_OUT if part is None else part)
        else:
            literal = read_literal(layer.text, part.start, part.end, layer.passage)
            texts.append(_LEFT_OUT if literal is None else literal.text)
    return b"".join(texts)


def _passage(layer: HostLayer, text: SqlText) -> Passage | None:
    """Return the passage of a text: one literal, or several with the known text between them."""
    passages: list[Passage] = []
    gaps = [_NOTHING]
    for part in text.parts:
        if part is None:
            gaps[-1] = _UNKNOWN if passages else _OUTSIDE
        elif isinstance(part, bytes):
            gaps[-1] = Between(gaps[-1].text + part, known=gaps[-1].known)
        else:
            literal = read_literal(layer.text, part.start, part.end, layer.passage)
            if literal is None:
                return None
            passages.append(literal)
            gaps.append(_NOTHING)
    if not passages:
        return None
    if gaps[-1] is _UNKNOWN:
        gaps[-1] = _OUTSIDE
    if len(passages) == 1 and not any(gap.text for gap in gaps):
        return passages[0]
    return Assembly(layer.text, passages, gaps=gaps)
