"""Puts values in the place of `$names$`, text for text and through any number of steps.

Does as the program does, line by line, except where that stops or would never end: there the
name stays, marked, and a fault tells why.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.faults import Fault, Faults
from netsharp_lsp.cntk.configuration.traced import Traced, Use, Weaver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from netsharp_lsp.cntk.configuration.scope import Entry
    from netsharp_lsp.cntk.configuration.sources import Place

    Chain: TypeAlias = tuple[Entry, ...]

    class View(Protocol):
        """Where variables come from."""

        chain: Chain

        def is_hole(self, name: str) -> bool:
            """Whether a variable was undefined further out."""
            ...

        def find(self, name: str) -> Entry | None:
            """The entry that a variable means."""
            ...

        def value(self, name: str) -> Traced:
            """The text of that entry with its own variables in place."""
            ...
else:
    Chain = tuple

#: A letter or `_`, then anything but these characters; whatever else `$` begins stays as it is.
_NAME = re.compile(rb"\$([A-Za-z_][^,/<>?;':\"\[\]{}\\|!@#%^&*()+=~` \t\n$]*)\$")
_LINE = re.compile(rb"[^\n]+\n?")
_BEGINNING = re.compile(rb"[A-Za-z_]")
#: A value that grows beyond so many bytes by its variables is not what anybody meant.
LONGEST = 4 * 1024 * 1024
#: Variables that lead to one another through more steps than that are not followed.
DEEPEST = 60
#: A value that holds more variables than that keeps each name once.
_MANY = 100


def put_variables(text: Traced, view: View, faults: Faults) -> Traced:
    """Return a value's text with its comments gone and its variables in place."""
    if b"$" not in text.text and b"#" not in text.text:
        return text
    return _Putting(text, view, faults).run()


class _Putting:
    __slots__ = ("_faults", "_text", "_view", "_weaver")

    def __init__(self, text: Traced, view: View, faults: Faults) -> None:
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
        text = self._text.text
        copied = start
        dollar = text.find(b"$", start, end)
        while dollar >= 0:
            if dollar + 1 < end and not _BEGINNING.match(text, dollar + 1):
                dollar = text.find(b"$", dollar + 2, end)
                continue
            name = _NAME.match(text, dollar, end)
            if name is None:
                dollar = text.find(b"$", dollar + 1, end)
                continue
            self._weaver.take(self._text, copied, dollar)
            self._variable(name.group(1).decode("utf-8", "replace"), dollar, name.end())
            copied = name.end()
            dollar = text.find(b"$", copied, end)
        self._weaver.take(self._text, copied, end)

    def _variable(self, name: str, start: int, end: int) -> None:
        place = self._text.place(start, end)
        entry = None if self._view.is_hole(name) else self._view.find(name)
        problem = self._problem(name, entry, place)
        if entry is None or problem is not None:
            self._keep(name, entry, problem or "undefined", (start, end))
            return
        value = self._view.value(name)
        if b"\n" in value.text:
            message = f"'{name}' has a value of several lines, which cannot stand for ${name}$."
            self._faults.add(Fault("newline-in-variable", message, place))
            self._keep(name, entry, "newline-in-variable", (start, end))
        elif len(self._weaver) + len(value) > LONGEST:
            message = f"With ${name}$ the value gets longer than {LONGEST >> 20} MiB."
            self._faults.add(Fault("long", message, place))
            self._keep(name, entry, "long", (start, end))
        else:
            self._put(name, entry, value, place)

    def _problem(self, name: str, entry: Entry | None, place: Place) -> str | None:
        """Why a variable cannot be put in place, with a fault unless there is one already."""
        if entry is None:
            if not self._view.is_hole(name):
                message = f"The variable '{name}' is not defined here; the program stops."
                self._faults.add(Fault("undefined", message, place))
            return "undefined"
        if entry.text.text == b"default":
            message = f"'{name}' is 'default', which counts as not defined; the program stops."
            self._faults.add(Fault("undefined", message, place))
            return "undefined"
        chain = self._view.chain
        if entry in chain:
            self._cycle(chain[chain.index(entry) :], place)
            return "cycle"
        if len(chain) >= DEEPEST:
            message = f"'{name}' is reached through {DEEPEST} other variables: not followed."
            self._faults.add(Fault("deep", message, place))
            return "deep"
        return None

    def _cycle(self, loop: Chain, place: Place) -> None:
        names = [entry.key.decode("utf-8", "replace") for entry in (*loop, loop[0])]
        definitions = tuple(
            (f"'{entry.key.decode('utf-8', 'replace')}' is defined here.", entry.parts[0].value)
            for entry in loop
        )
        message = f"Variables lead in a circle: {' -> '.join(names)}. The program never ends."
        self._faults.add(Fault("cycle", message, place, definitions))

    def _put(self, name: str, entry: Entry, value: Traced, place: Place) -> None:
        at = len(self._weaver)
        self._weaver.stand_in(value.text, place)
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
    """Every variable of a text once, as if it were used all over it."""
    kinds = {(use.name.lower(), use.problem): use for use in text.uses}
    return [Use(0, len(text), it.name, it.definition, it.problem) for it in kinds.values()]
