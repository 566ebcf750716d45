"""Strings, variables and calls of a piece of code, and which strings are specifications.

The same for every host language; its reader fills in a `Code`, a text may have several.
"""

from __future__ import annotations

from netsharp_lsp.embedded.code.calls import common_context
from netsharp_lsp.embedded.code.evidence import is_evident
from netsharp_lsp.embedded.code.material import materials
from netsharp_lsp.embedded.regions import Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.context import Context
    from netsharp_lsp.embedded.passage import Passage

    #: The functions around a place, from the outside; empty at the top.
    Scope = tuple[int, ...]


#: The functions around a place that are distinguished; programs do not nest deeper.
DEEPEST = 300


class Value:
    """A string in code: its text, and, where it cannot be edited, why."""

    __slots__ = ("passage", "reason")

    def __init__(self, passage: Passage, reason: str = "") -> None:
        self.passage = passage
        self.reason = reason


class Binding:
    """A variable that is given a value; None for anything except a known string."""

    __slots__ = ("name", "scope", "value")

    def __init__(self, name: str, scope: Scope, value: Value | None) -> None:
        self.name = name
        self.scope = scope
        self.value = value


class Argument:
    """The specification that a call is given: a variable by `name`, or a `value`.

    `target` is the variable that the call's result is assigned to.
    """

    __slots__ = ("context", "name", "scope", "target", "value")

    def __init__(
        self, scope: Scope, context: Context, name: str | None = None, value: Value | None = None
    ) -> None:
        self.scope = scope
        self.context = context
        self.name = name
        self.value = value
        self.target: str | None = None


class Code:
    """The contents of one piece of code; `open_names` are variables changed in place.

    `marked` has the strings that a comment marks as specifications.
    """

    __slots__ = ("arguments", "bindings", "marked", "open_names", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.bindings: list[Binding] = []
        self.arguments: list[Argument] = []
        self.marked: list[Value] = []
        self.open_names: set[str] = set()


def regions_of(codes: Sequence[Code]) -> list[Region]:
    """Return the specifications of all pieces of a text's code, which share their variables."""
    found = _Found()
    for code in codes:
        for argument in code.arguments:
            if argument.value is not None:
                found.add(argument.value, argument.target, argument.context)
    bindings = [binding for code in codes for binding in code.bindings]
    _follow_variables(codes, bindings, found)
    named = {id(binding.value): binding.name for binding in bindings}
    for code in codes:
        for value in code.marked:
            found.add(value, named.get(id(value)))
    changed = {name for code in codes for name in code.open_names}
    evident = [
        (binding.name, binding.value)
        for binding in bindings
        if binding.value is not None
        and binding.name not in changed
        and is_evident(binding.value.passage.text)
    ]
    material = {name for code in codes for name in materials(code.text)} if evident else set()
    for name, value in evident:
        if name not in material:
            found.add(value, name)
    return found.regions()


class _Found:
    """The values found to be specifications, each with its name and the contexts of its calls."""

    __slots__ = ("_contexts", "_names", "_values")

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}
        self._names: dict[int, str | None] = {}
        self._contexts: dict[int, list[Context]] = {}

    def add(self, value: Value, name: str | None, context: Context | None = None) -> None:
        key = id(value)
        self._values[key] = value
        self._names[key] = self._names.get(key) or name
        if context is not None:
            self._contexts.setdefault(key, []).append(context)

    def regions(self) -> list[Region]:
        return [
            Region(
                value.passage,
                self._names[key],
                common_context(self._contexts.get(key, ())),
                value.reason,
            )
            for key, value in self._values.items()
        ]


def _follow_variables(codes: Sequence[Code], bindings: Sequence[Binding], found: _Found) -> None:
    """Add the strings of variables that are passed on as specifications.

    A variable counts where it is given a value once in the innermost scope that has it.
    """
    by_place: dict[tuple[str, Scope], list[Binding]] = {}
    for binding in bindings:
        by_place.setdefault((binding.name, binding.scope), []).append(binding)
    changed = {name for code in codes for name in code.open_names}
    for code in codes:
        for argument in code.arguments:
            if argument.name is None or argument.name in changed:
                continue
            for scope in _outwards(argument.scope):
                known = by_place.get((argument.name, scope))
                if known is not None:
                    if len(known) == 1 and known[0].value is not None:
                        found.add(known[0].value, argument.name, argument.context)
                    break


def _outwards(scope: Scope) -> Iterator[Scope]:
    for length in range(len(scope), -1, -1):
        yield scope[:length]
