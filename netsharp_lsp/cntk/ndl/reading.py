"""Parses a text of NDL as CNTK does: the records of the configuration, read as statements.

Knows no function: the text alone determines whether a value is a call.  Comments and variables are
processed before.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.arrays import COLON
from netsharp_lsp.cntk.configuration.brackets import QUOTE, Brackets
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.splitting import CUSTOM_SEPARATORS, PATHS, Splitter
from netsharp_lsp.cntk.configuration.traced import Traced, trim
from netsharp_lsp.cntk.ndl.syntax import (
    Array,
    Body,
    Definition,
    NdlAssignment,
    NdlCall,
    NdlScript,
    Option,
    Word,
    moved,
    place_of,
)
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.text.numbers import whole_number
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.ndl.syntax import Statement, Value

_SEMICOLON, _EQUALS, _OPEN = 0x3B, 0x3D, 0x28
_KEY_END = re.compile(rb'[=\[{("]')
_BRACKET = re.compile(rb'[\[{("]')
_COUNT = re.compile(rb"\s*[+-]?[0-9]+\Z")
#: The deepest nesting of calls, lists and macros that is parsed.
DEEPEST = 60
#: The most arguments that one `*` may repeat.
MOST_REPEATS = 10_000
#: The bytes of values that are kept, and the least size of one.
KEPT, LEAST = 4 << 20, 256
#: Values with the offset at which each was parsed, by all that they depend on.
_VALUES: Remembered[tuple[Value, int]] = Remembered(KEPT)


class _Window(Traced):
    """A range of another text, read as a text by itself."""

    __slots__ = ("_offset", "_whole")

    def __init__(self, whole: Traced, start: int, end: int) -> None:
        super().__init__(whole.text[start:end], [])
        self._whole = whole
        self._offset = start

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the place of a span of the window in its file."""
        return self._whole.place(start + self._offset, end + self._offset)


def read_script(text: Traced) -> NdlScript:
    """Return the statements of a text; faults are in the script's `faults`."""
    brackets = TextFaults()
    reader = _Reader(text, brackets)
    statements = reader.statements(0, len(text), short=False)
    for one in brackets:
        if one.place is not None:
            place = place_of(text, 0, 0)._replace(start=one.place.start, end=one.place.end)
            reader.faults.append(BuildingFault(one.kind, one.message, place))
    return NdlScript(text, statements, tuple(reader.faults))


class _Reader:
    """Parses one text; ranges of it are parsed as texts of their own."""

    __slots__ = ("_brackets", "_depth", "faults", "text")

    def __init__(self, text: Traced, brackets: TextFaults) -> None:
        self.text = text
        self.faults: list[BuildingFault] = []
        self._brackets = brackets
        self._depth = 0

    def statements(self, start: int, end: int, short: bool) -> tuple[Statement, ...]:
        """Return the statements of a range."""
        if self._too_deep(start, end):
            return ()
        self._depth += 1
        stretch = _Statements(self, start, end, short)
        stretch.read()
        self._depth -= 1
        return tuple(stretch.found)

    def fault(self, kind: str, message: str, start: int, end: int) -> None:
        """Record a fault."""
        self.faults.append(BuildingFault(kind, message, place_of(self.text, start, end)))

    def window(self, start: int, end: int) -> tuple[_Window, Brackets]:
        """Return a range, with its brackets."""
        window = _Window(self.text, start, end)
        return window, Brackets(window, self._brackets)

    def word(self, start: int, end: int, quoted: bool = False) -> Word:
        """Return a range as text."""
        return Word(self.text.text[start:end].decode("utf-8", "replace"), start, end, quoted)

    def statement_value(self, start: int, end: int, quoted: bool) -> Value:
        """Return the value of a statement, from a cache if it was parsed before without faults.

        It depends on its own bytes and on its depth, and not on the surrounding text.
        """
        data = self.text.text[start:end]
        known = _VALUES.find((data, quoted, self._depth))
        if known is not None:
            return moved(known[0], start - known[1])
        outer, before = self._brackets, len(self.faults)
        self._brackets = TextFaults()
        value = self.value(start, end, quoted)
        own, self._brackets = self._brackets, outer
        for one in own:
            outer.add(one)
        # The character after a bracket that ends the range would be one of the surrounding text.
        if not own and len(self.faults) == before and not data.endswith(b"("):
            _VALUES.keep((data, quoted, self._depth), (value, start), LEAST + len(data))
        return value

    def value(self, start: int, end: int, quoted: bool = False) -> Value:
        """Parse the value of a statement."""
        bracket = self.text.text.find(b"(", start, end)
        if bracket > start:
            return self._call(start, end)
        return self._plain(start, end, quoted)

    def _argument(self, start: int, end: int, quoted: bool) -> Value:
        """Return one argument of a call or element of a list: with `(` anywhere in it, it is a
        call.
        """
        if self.text.text.find(b"(", start, end) >= 0:
            return self._call(start, end)
        return self._plain(start, end, quoted)

    def _plain(self, start: int, end: int, quoted: bool = False) -> Word | Array | Option:
        """Return a value other than a call."""
        text = self.text.text
        if start < end and _BRACKET.match(text, start):
            return Array(self._items(start, end), start, end)
        word = self.word(start, end, quoted)
        sign = text.find(b"=", start, end)
        if sign < 0 or word.is_number:
            return word
        name = self.word(*trim(text, start, sign))
        low, high = trim(text, sign + 1, end)
        inner = high - low > 1 and text[low] == QUOTE == text[high - 1]
        value = self._option_value(low + inner, high - inner, inner)
        return Option(name, value, start, end)

    def _option_value(self, start: int, end: int, quoted: bool) -> Word | Array:
        if start < end and _BRACKET.match(self.text.text, start):
            return Array(self._items(start, end), start, end)
        return self.word(start, end, quoted)

    def _call(self, start: int, end: int) -> NdlCall:
        text = self.text.text
        found = _BRACKET.search(text, start, end)
        bracket = found.start() if found is not None else end
        name = self.word(*trim(text, start, bracket))
        after = bracket + 1
        lost = text[after : after + 1]
        swallowed = lost and lost in CUSTOM_SEPARATORS and not text.startswith(PATHS, after)
        arguments = self._items(bracket, end)
        return NdlCall(name, arguments, start, end, after if swallowed else None)

    def _items(self, start: int, end: int) -> tuple[Value, ...]:
        """Return the elements of a bracket, each repeated as written."""
        if self._too_deep(start, end):
            return ()
        self._depth += 1
        items = _Items(self, start, end)
        items.read()
        self._depth -= 1
        return tuple(items.found)

    def _too_deep(self, start: int, end: int) -> bool:
        if self._depth < DEEPEST:
            return False
        message = f"more than {DEEPEST} brackets are nested here; the inner ones are not read."
        self.fault("deep", message, start, end)
        return True

    def listed(self, start: int, end: int, quoted: bool) -> Value:
        """Return an element of a list."""
        return self._argument(start, end, quoted)


class _Items:
    """The elements of a list or of a call's arguments, split by colons and commas."""

    __slots__ = ("_brackets", "_offset", "_reader", "_window", "found")

    def __init__(self, reader: _Reader, start: int, end: int) -> None:
        self._reader = reader
        self._offset = start
        self._window, self._brackets = reader.window(start, end)
        self.found: list[Value] = []

    def read(self) -> None:
        """Split the range."""
        Splitter(self._window, COLON, self._brackets).run(self._take)

    def _take(self, start: int, end: int) -> int | None:
        """Take one element, which `*` may repeat; without a number after `*` the list ends."""
        text = self._window.text
        low = start
        while low < end and text[low] in b" \t":
            low += 1
        if low == end:
            return end
        star = -1 if self._brackets.partner(low) is not None else text.find(b"*", low, end)
        if star < 0:
            self._add(low, end, 1)
            return end
        return end if self._repeat(low, star, end) else None

    def _repeat(self, start: int, star: int, end: int) -> bool:
        written = self._window.text[star + 1 : end].strip(b" \t")
        offset = self._offset
        count = whole_number(written.lstrip(b"+-").decode("utf-8", "replace"))
        below = count and written.startswith(b"-")
        if not _COUNT.match(written) or count is None or below or count > MOST_REPEATS:
            message = "a number has to follow '*', which repeats an argument and does not multiply"
            self._reader.fault("repeat", message, start + offset, end + offset)
            return False
        self._add(start, star, count)
        return True

    def _add(self, start: int, end: int, count: int) -> None:
        text = self._window.text
        quoted = start > 0 and text[start - 1] == QUOTE and text[end : end + 1] == b'"'
        low, high = trim(text, start, end)
        offset = self._offset
        if high > low and count:
            value = self._reader.listed(low + offset, high + offset, quoted)
            self.found += [value] * count


class _Statements:
    """The statements of a range, split like the records of a configuration."""

    __slots__ = ("_brackets", "_head", "_offset", "_reader", "_short", "_window", "found")

    def __init__(self, reader: _Reader, start: int, end: int, short: bool) -> None:
        self._reader = reader
        self._offset = start
        self._window, self._brackets = reader.window(start, end)
        self._short = short
        #: The head of a macro whose body follows.
        self._head: Definition | None = None
        self.found: list[Statement] = []

    def read(self) -> None:
        """Split the range; a macro at its end may lack its body."""
        Splitter(self._window, _SEMICOLON, self._brackets).run(self._take)
        if self._head is not None:
            self._close(None)

    def _take(self, start: int, end: int) -> int | None:
        text = self._window.text
        while start < end and text[start] in b" \t":
            start += 1
        found = _KEY_END.search(text, start, end)
        at = found.start() if found is not None else end
        equals = at < end and text[at] == _EQUALS
        if self._head is not None:
            return self._body(start, end, equals and at == start)
        if start == end:
            return end
        if not equals and not self._short:
            return self._define(start, end, at)
        return self._assign(start, end, at if equals else None)

    def _define(self, start: int, end: int, at: int) -> int:
        offset = self._offset
        if at >= end:
            message = (
                "this is not a statement: 'name = value' or 'name (parameters) = { .. }' is "
                "expected."
            )
            self._reader.fault("no-statement", message, start + offset, end + offset)
            return end
        name = self._reader.word(*trim(self._reader.text.text, start + offset, at + offset))
        window, brackets = self._reader.window(at + offset, end + offset)
        parameters = _Words(self._reader, window, brackets, at + offset)
        Splitter(window, COLON, brackets).run(parameters.take)
        self._head = Definition(name, tuple(parameters.found), None, start + offset, end + offset)
        return end

    def _body(self, start: int, end: int, short: bool) -> int:
        """Take the text after the head of a macro as its body."""
        text = self._window.text
        if short:
            start += 1
            while start < end and text[start] in b" \t":
                start += 1
        statements = self._reader.statements(start + self._offset, end + self._offset, short)
        self._close(Body(statements, short, start + self._offset, end + self._offset))
        return end

    def _close(self, body: Body | None) -> None:
        head, self._head = self._head, None
        assert head is not None
        if body is None or body.start == body.end:
            message = (
                f"the macro '{head.name.text}' has no body. A body begins on the line of '=',"
                " or, without '=', anywhere after the parameters."
            )
            self._reader.fault("macro-without-body", message, head.start, head.end)
        end = head.end if body is None else body.end
        self.found.append(head._replace(body=body, end=end))

    def _assign(self, start: int, end: int, sign: int | None) -> int | None:
        """Take a statement; return None where CNTK ignores the rest."""
        text, offset = self._window.text, self._offset
        name, begin = None, start
        if sign is not None:
            name = self._reader.word(*trim(self._reader.text.text, start + offset, sign + offset))
            begin = sign + 1
            while begin < len(text) and text[begin] in b" \t":
                begin += 1
        closing = self._brackets.partner(begin)
        after, quoted = end, False
        if closing is not None:
            end = after = min(closing + 1, len(text))
            quoted = text[begin] == QUOTE
            begin, end = begin + quoted, end - quoted
        low, high = trim(text, begin, end) if begin < end else (begin, begin)
        if begin >= end:
            self._note_nothing(name, start, after)
            return None
        value = self._reader.statement_value(low + offset, high + offset, quoted)
        self.found.append(NdlAssignment(name, value, start + offset, after + offset))
        return after

    def _note_nothing(self, name: Word | None, start: int, end: int) -> None:
        what = f"'{name.text}'" if name is not None else "this"
        message = f"{what} has no value: CNTK ignores the rest of this text. Give it one."
        offset = self._offset
        self._reader.fault("empty-value", message, start + offset, max(end, start + 1) + offset)


class _Words:
    """The names of a macro's parameters."""

    __slots__ = ("_brackets", "_offset", "_reader", "_window", "found")

    def __init__(self, reader: _Reader, window: Traced, brackets: Brackets, offset: int) -> None:
        self._reader = reader
        self._window = window
        self._brackets = brackets
        self._offset = offset
        self.found: list[Word] = []

    def take(self, start: int, end: int) -> int:
        """Take one parameter."""
        low, high = trim(self._window.text, start, end)
        if high > low:
            self.found.append(self._reader.word(low + self._offset, high + self._offset))
        return end
