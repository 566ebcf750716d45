"""The names of NDL in the texts of a run: variables, macros, their parameters, dotted members.

Names in NDL are case-insensitive; macros of all texts of a run are in one table.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.naming.occurrence import Key, Occurrence
from netsharp_lsp.cntk.ndl.syntax import Array, Definition, NdlAssignment, NdlCall, Option, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from netsharp_lsp.cntk.ndl.syntax import NdlScript, Statement, Value
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.run.experiment import Experiment

    #: A name in some scope: its declaration, and what it was assigned.
    Symbols = dict[str, tuple[Key, "Value | Model | None"]]


class Model:
    """A model of MEL: its name is followed by the names of its nodes."""


class MacroMembers:
    """A macro: its declaration, and the names inside it that a dot can reach."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.members: Symbols = {}


def scripts_of(experiment: Experiment) -> list[NdlScript]:
    """Return the texts of NDL in a run, and the parts of edits that define macros."""
    scripts = [text.ndl for text in experiment.ndl_texts]
    return scripts + [part.script for edit in experiment.edits for part in edit.macros]


class NdlNames:
    """The names of NDL in the texts of a run; `file_of` returns the canonical path of a source.
    Without `uses` only declarations are returned.
    """

    def __init__(
        self, experiment: Experiment, file_of: Callable[[str], str], *, uses: bool = True
    ) -> None:
        self.file_of = file_of
        self.uses = uses
        self.macros: dict[str, MacroMembers] = {}
        self.readers = [self.reader(one) for one in scripts_of(experiment)]

    def reader(self, script: NdlScript) -> Reader:
        """Return a reader of the names in a script."""
        return Reader(script, self.file_of, self.macros, uses=self.uses)

    def all(self) -> Iterator[Occurrence]:
        """Yield every name that means a declaration in the texts."""
        for reader in self.readers:
            yield from reader.macros_of(reader.script.statements)
        for reader in self.readers:
            yield from reader.names(reader.script.statements, {})

    @property
    def tops(self) -> Symbols:
        """Return the names that networks declare, as an edit of their models sees them."""
        found: Symbols = {}
        for reader in self.readers:
            for name, entry in reader.declared(reader.script.statements).items():
                found.setdefault(name, entry)
        return found


class Reader:
    """A reader of the names in one script; without `uses` of declarations only."""

    def __init__(
        self,
        script: NdlScript,
        file_of: Callable[[str], str],
        macros: dict[str, MacroMembers],
        *,
        uses: bool,
    ) -> None:
        self.script = script
        self._uses = uses
        self._places: dict[tuple[int, int], Place] = {}
        self.file_of = file_of
        self.macros = macros

    def macros_of(self, statements: Iterable[Statement]) -> Iterator[Occurrence]:
        """Declare the macros; the names in them follow later."""
        for statement in statements:
            if isinstance(statement, Definition):
                key = self._key(statement.name)
                self.macros.setdefault(statement.name.text.lower(), MacroMembers(key))
                yield self._occurrence(statement.name, key, "macro", declares=True)
                if statement.body is not None:
                    yield from self.macros_of(statement.body.statements)

    def names(
        self, statements: Iterable[Statement], outer: Symbols, kind: str = "node"
    ) -> Iterator[Occurrence]:
        """Yield the names of statements, which declare names of a kind; those around are in
        `outer`.
        """
        symbols: Symbols = {**self.declared(statements), **outer}
        for statement in statements:
            if isinstance(statement, Definition):
                yield from self._macro(statement)
                continue
            if statement.name is not None:
                key = symbols[statement.name.text.lower()][0]
                yield self._occurrence(statement.name, key, kind, declares=True)
            yield from self.value(statement.value, symbols)

    def declared(self, statements: Iterable[Statement]) -> Symbols:
        """Return the names that statements assign, each by its first assignment."""
        found: Symbols = {}
        for one in statements:
            if isinstance(one, NdlAssignment) and one.name is not None:
                found.setdefault(one.name.text.lower(), (self._key(one.name), one.value))
        return found

    def _macro(self, macro: Definition) -> Iterator[Occurrence]:
        symbols: Symbols = {}
        for parameter in macro.parameters:
            key = self._key(parameter)
            symbols[parameter.text.lower()] = (key, None)
            yield self._occurrence(parameter, key, "parameter", declares=True)
        if macro.body is None:
            return
        known = self.macros.get(macro.name.text.lower())
        for one in macro.body.statements:
            if isinstance(one, NdlAssignment) and one.name is not None and known is not None:
                entry = (self._key(one.name), one.value)
                known.members.setdefault(one.name.text.lower(), entry)
        yield from self.names(macro.body.statements, symbols, "local")

    def value(self, value: Value, symbols: Symbols) -> Iterator[Occurrence]:
        """Yield the names in a value."""
        waiting: list[Value] = [value] if self._uses else []
        while waiting:
            one = waiting.pop()
            if isinstance(one, Word):
                yield from self.word(one, symbols)
            elif isinstance(one, Option):
                waiting.append(one.value)
            elif isinstance(one, Array):
                waiting += one.items
            elif isinstance(one, NdlCall):
                macro = self.macros.get(one.name.text.lower())
                if macro is not None:
                    yield self._occurrence(one.name, macro.key, "macro")
                waiting += one.arguments

    def word(self, word: Word, symbols: Symbols) -> Iterator[Occurrence]:
        """Yield a name, and the names after its dots."""
        if not self._uses or word.is_number or word.is_hole:
            return
        at = word.start + (1 if word.quoted else 0)
        scope: Symbols | None = symbols
        for part in word.text.split("."):
            entry = scope.get(part.lower()) if scope is not None else None
            if entry is None:
                return
            key, value = entry
            kind = "model" if isinstance(value, Model) else "node"
            yield self._occurrence(Word(part, at, at + len(part.encode())), key, kind)
            at += len(part.encode()) + 1
            if isinstance(value, Model):
                scope = symbols
                continue
            called = value.name.text.lower() if isinstance(value, NdlCall) else ""
            scope = self.macros[called].members if called in self.macros else None

    def _place(self, word: Word) -> Place:
        span = (word.start, word.end)
        if span not in self._places:
            self._places[span] = self.script.place(*span)
        return self._places[span]

    def _key(self, word: Word) -> Key:
        place = self._place(word)
        return ("ndl", self.file_of(place.source), place.start)

    def _occurrence(self, word: Word, key: Key, kind: str, declares: bool = False) -> Occurrence:
        place = self._place(word)
        file = self.file_of(place.source)
        return Occurrence(key, word.text, kind, file, place.start, place.end, declares)
