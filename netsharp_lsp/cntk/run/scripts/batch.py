"""Batch files of Windows parsed as texts: their commands, word by word, with what is known of
variables. Starts nothing, opens nothing, and knows no program.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.run.scripts.words import OPEN, ScriptPart, ScriptWord, Started
from netsharp_lsp.limits import SCRIPT_CHARACTERS, SCRIPT_COMMANDS, SCRIPT_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_engine.limits import Limit

_WORD = re.compile(r"""(?:"[^"\n]*+"?+|[^\s"|&<>])++|[|&<>]+""")
_SETS = re.compile(r"\s*@?set\s+(/[ap]\s+)?\"?([A-Za-z_]\w*)=([^\"\r\n]*)(.*)", re.IGNORECASE)
_CALLS = re.compile(r"\s*@?call\s+:(\w+)", re.IGNORECASE)
_LABEL = re.compile(r"\s*:(\w+)")
_ENDS = re.compile(r"\s*@?(?:exit\s+/b|goto\s+:eof)", re.IGNORECASE)
_OPENS = re.compile(r"\(\s*\Z")
_CLOSES = re.compile(r"\s*\)")
_NAME = re.compile(r"%%(~?\w)|%(~[a-z]*[0-9]|[0-9*])|%([A-Za-z_]\w*)%|!([A-Za-z_]\w*)!")
_OPERATORS = frozenset("|&<>")


class _Line:
    __slots__ = ("start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start


def batch_commands(text: str, passed: Callable[[Limit], object]) -> list[Started]:
    """Find the commands of a batch file in the order of its lines, subroutines at their calls;
    `passed` is called with limits.
    """
    batch = _Batch(text, passed)
    batch.follow(0, None, None)
    return batch.found


def _lines(text: str) -> Iterator[_Line]:
    """Yield lines; a continued line includes its continuations, at the same offsets."""
    begun, start, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if not begun:
            start = at
        at += len(line)
        if bare.endswith("^"):
            begun += bare[:-1] + " " * (len(line) - len(bare) + 1)
            continue
        yield _Line(begun + line.rstrip("\r\n"), start)
        begun = ""
    if begun:
        yield _Line(begun, start)


class _Batch:
    def __init__(self, text: str, passed: Callable[[Limit], object]) -> None:
        self.found: list[Started] = []
        self._passed = passed
        self._lines = list(_lines(text))
        self._variables: dict[str, tuple[ScriptPart, ...]] = {}
        self._labels: dict[str, int] = {}
        for number, line in enumerate(self._lines):
            label = _LABEL.match(line.text)
            if label is not None:
                self._labels.setdefault(label.group(1).lower(), number)
        self._left = SCRIPT_COMMANDS.most
        self._room = SCRIPT_CHARACTERS.most
        self._depth = 0

    def follow(
        self, first: int, given: list[tuple[ScriptPart, ...]] | None, called: tuple[int, int] | None
    ) -> None:
        """Follow lines from one on: to the end, or to that of a subroutine."""
        blocks = 0
        for number in range(first, len(self._lines)):
            line = self._lines[number]
            self._left -= 1
            if self._left < 0:
                self._passed(SCRIPT_COMMANDS)
                return
            if not blocks and _ENDS.match(line.text):
                return
            if _CLOSES.match(line.text):
                blocks = max(0, blocks - 1)
            sets = _SETS.match(line.text)
            if sets is not None and sets.group(4).strip() in ("", '"'):
                self._set(sets, given, maybe=blocks > 0)
            elif not re.match(r"\s*@?(?:rem\s|::|:\w)", line.text, re.IGNORECASE):
                self._line(line, given, called)
            blocks += _OPENS.search(line.text) is not None

    def _set(
        self, found: re.Match[str], given: list[tuple[ScriptPart, ...]] | None, *, maybe: bool
    ) -> None:
        name = found.group(2)
        folded = name.lower()
        value = self._put(found.group(3) if found.group(4) else found.group(3).rstrip(), given)
        if maybe or found.group(1):
            before = self._variables.get(folded, value)
            guess = OPEN if found.group(1) else "".join(part.guess for part in before)
            value = (ScriptPart(f"%{name}%", name, guess),)
        self._variables[folded] = value

    def _line(
        self,
        line: _Line,
        given: list[tuple[ScriptPart, ...]] | None,
        called: tuple[int, int] | None,
    ) -> None:
        for words in self._commands(line, given, called):
            calls = _CALLS.match(" ".join(word.text for word in words[:2]))
            if calls is None:
                self.found.append(Started(words, ""))
            elif calls.group(1).lower() not in self._labels:
                continue
            elif self._depth >= SCRIPT_DEPTH.most:
                self._passed(SCRIPT_DEPTH)
            else:
                self._depth += 1
                span = called or (words[0].span[0], words[-1].span[1])
                handed = [tuple(word.parts) for word in words[2:]]
                self.follow(self._labels[calls.group(1).lower()] + 1, handed, span)
                self._depth -= 1

    def _commands(
        self,
        line: _Line,
        given: list[tuple[ScriptPart, ...]] | None,
        called: tuple[int, int] | None,
    ) -> Iterator[list[ScriptWord]]:
        """Yield the words of each command of a line, without redirections."""
        words: list[ScriptWord] = []
        skips = False
        for found in _WORD.finditer(line.text):
            word = found.group()
            if not set(word) <= _OPERATORS:
                follows = line.text[found.end() : found.end() + 1]
                if not skips and not (word.isdigit() and follows == ">"):
                    span = (line.start + found.start(), line.start + found.end())
                    parts = self._put(word.replace('"', ""), given)
                    words.append(ScriptWord(parts, called or span))
                skips = False
            elif word[0] in "<>":
                skips = True
            else:
                if words:
                    yield words
                words = []
        if words:
            yield words

    def _put(self, text: str, given: list[tuple[ScriptPart, ...]] | None) -> tuple[ScriptPart, ...]:
        """Return a text with the variables substituted."""
        parts: list[ScriptPart] = []
        at = 0
        for found in _NAME.finditer(text):
            parts.append(ScriptPart(text[at : found.start()]))
            at = found.end()
            each, own, name, late = found.groups()
            parts += self._value(each or own or name or late, found.group(), own is not None, given)
        parts.append(ScriptPart(text[at:]))
        return tuple(part for part in parts if part.text or part.name)

    def _value(
        self, name: str, written: str, own: bool, given: list[tuple[ScriptPart, ...]] | None
    ) -> Sequence[ScriptPart]:
        value: Sequence[ScriptPart] = (ScriptPart(written, name),)
        number = name.lstrip("~")
        if own and given is not None and number.isdigit() and number != "0":
            value = given[int(number) - 1] if int(number) <= len(given) else ()
        elif own and given is not None and name == "*":
            value = [piece for one in given for piece in (*one, ScriptPart(" "))]
        elif not own:
            value = self._variables.get(name.lower(), value)
        self._room -= sum(len(part.text) + 1 for part in value)
        if self._room > 0:
            return value
        self._passed(SCRIPT_CHARACTERS)
        return (ScriptPart(written, name),)
