"""Substitution of `$names$`, as text and in any number of steps.

Works as CNTK does, line by line, except where that stops or would never end: there the name is
kept, marked, and a fault explains why.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.faults import TextFault, TextFaults
from netsharp_lsp.cntk.configuration.traced import Traced, Use, Weaver
from netsharp_lsp.cntk.vocabulary import VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.sources import SourcePlace

    class View(Protocol):
        """The source of variables."""

        @property
        def opened(self) -> Iterable[Entry]:
            """Return the entries that wait for this one, in the order in which they led to it."""
            ...

        def is_hole(self, name: str) -> bool:
            """Return whether a variable was undefined further out."""
            ...

        def find(self, name: str) -> tuple[Entry, Traced | None] | None:
            """Return the entry of a variable, with its text unless it is still being
            substituted.
            """
            ...

        def spend(self, length: int) -> bool:
            """Return whether there is room for this number of bytes."""
            ...


_MAYBE = re.compile(b"(?=" + VARIABLE.pattern + b")")
_LINE = re.compile(rb"[^\n]+\n?")
_BEGINNING = re.compile(rb"[A-Za-z_]")
#: A value that grows beyond this number of bytes by its variables cannot be intended.
LONGEST = 4 * 1024 * 1024
#: What a piece of a text, which knows where it comes from, counts in characters.
PIECE = 100
#: As many bytes may come from variables in a whole configuration.
MOST = 64 * 1024 * 1024
#: Of a variable's value with more variables than that, only this number is kept.
_MANY = 100


class Budget:
    """The remaining room for the values of variables."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST

    def spend(self, length: int) -> bool:
        """Reserve a number of bytes, if there is room."""
        if length > self._left:
            return False
        self._left -= length
        return True


def variable_names(text: bytes) -> Iterable[bytes]:
    """Return every name in a text that may be a variable's; some may not be."""
    if b"$" not in text:
        return ()
    return dict.fromkeys(found.group(1) for found in _MAYBE.finditer(text))


def dollars(text: bytes, start: int, end: int) -> Iterator[tuple[int, re.Match[bytes] | None]]:
    """Yield the dollar signs of a line in CNTK's order, with the variable that each begins: None
    where it begins none and is kept.
    """
    dollar = text.find(b"$", start, end)
    while dollar >= 0:
        name = VARIABLE.match(text, dollar, end)
        yield dollar, name
        if name is not None:
            following = name.end()
        elif dollar + 1 < end and not _BEGINNING.match(text, dollar + 1):
            following = dollar + 2
        else:
            following = dollar + 1
        dollar = text.find(b"$", following, end)


def substituted_text(text: Traced, view: View, faults: TextFaults) -> Traced:
    """Return a value's text without comments and after substitution."""
    if b"$" not in text.text and b"#" not in text.text:
        return text
    return _Putting(text, view, faults).run()


class _Putting:
    __slots__ = ("_faults", "_text", "_view", "_weaver")

    def __init__(self, text: Traced, view: View, faults: TextFaults) -> None:
        self._text = text
        self._view = view
        self._faults = faults
        self._weaver = Weaver()

    def run(self) -> Traced:
        text = self._text.text
        for line in _LINE.finditer(text):
            start, end = line.span()
            code_end = end - 1 if text[end - 1] == 0x0A else end
            low, high = code_span(text[start:code_end])
            self._line(start + low, start + high)
            self._weaver.take(self._text, code_end, end)
        return self._weaver.done()

    def _line(self, start: int, end: int) -> None:
        """Copy one line, variable by variable."""
        copied = start
        for dollar, name in dollars(self._text.text, start, end):
            if name is not None:
                self._weaver.take(self._text, copied, dollar)
                self._variable(name.group(1).decode("utf-8", "replace"), dollar, name.end())
                copied = name.end()
        self._weaver.take(self._text, copied, end)

    def _variable(self, name: str, start: int, end: int) -> None:
        place = self._text.place(start, end)
        found = None if self._view.is_hole(name) else self._view.find(name)
        entry, value = found if found is not None else (None, None)
        problem = self._problem(name, entry, value)
        if entry is not None and value is not None and problem is None:
            self._put(name, entry, value, place)
            return
        kind, message = problem or ("undefined", "")
        if kind == "cycle" and entry is not None:
            self._cycle(entry, place)
        elif not self._view.is_hole(name):
            defined = () if entry is None else (("It is defined here.", entry.parts[-1].key),)
            self._faults.add(TextFault(kind, message, place, defined, name=name))
        self._keep(name, entry, kind, (start, end))

    def _problem(
        self, name: str, entry: Entry | None, value: Traced | None
    ) -> tuple[str, str] | None:
        """Return why a variable cannot be substituted: the kind of the fault, and a sentence."""
        if entry is None:
            return "undefined", f"The variable '{name}' is not defined here; CNTK stops."
        if entry.text.text == b"default":
            stop = "which counts as not defined; CNTK stops"
            return "undefined", f"The variable '{name}' is 'default', {stop}."
        if value is None:
            return "cycle", ""
        if b"\n" in value.text:
            return (
                "newline-in-variable",
                f"'{name}' has several lines: ${name}$ cannot be used here.",
            )
        fits = len(self._weaver) + len(value) <= LONGEST
        if not fits or not self._view.spend(len(value) + PIECE * len(value.pieces)):
            return "long", f"With ${name}$ the text exceeds the length limit. Use it less."
        return None

    def _cycle(self, first: Entry, place: SourcePlace) -> None:
        opened = list(self._view.opened)
        loop = opened[opened.index(first) :]
        names = [entry.key.decode("utf-8", "replace") for entry in (*loop, loop[0])]
        definitions = tuple(
            (f"'{entry.key.decode('utf-8', 'replace')}' is defined here.", entry.parts[0].value)
            for entry in loop
        )
        message = f"Variables refer to each other in a cycle: {' -> '.join(names)}. CNTK hangs."
        if len(loop) == 1:
            message = f"{message} Give '{names[0]}' a value after this one."
        self._faults.add(TextFault("cycle", message, place, definitions))

    def _put(self, name: str, entry: Entry, value: Traced, place: SourcePlace) -> None:
        at = len(self._weaver)
        self._weaver.add_placeholder(value.text, place)
        definition = entry.parts[-1].value
        self._weaver.use(Use(at, len(self._weaver), name, definition, None))
        for use in value.uses if len(value.uses) <= _MANY else _each_once(value):
            self._weaver.use(use.moved(at, at, len(self._weaver)))

    def _keep(self, name: str, entry: Entry | None, problem: str, span: tuple[int, int]) -> None:
        at = len(self._weaver)
        self._weaver.take(self._text, *span)
        definition = None if entry is None else entry.parts[-1].value
        self._weaver.use(Use(at, len(self._weaver), name, definition, problem))


def _each_once(text: Traced) -> list[Use]:
    """Return the first variables of a text, each once, as if used throughout it.

    Those without a value are first: an unknown value must never be taken for a known one.
    """
    kinds = {(use.name.lower(), use.problem): use for use in text.uses}
    first = sorted(kinds.values(), key=lambda use: use.problem is None)[:_MANY]
    return [Use(0, len(text), it.name, it.definition, it.problem) for it in first]
