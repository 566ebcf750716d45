"""The names of MEL in the edits of a run: models, what their statements of NDL declare, and nodes
of the networks that were loaded.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.naming.ndl_names import Model
from netsharp_lsp.cntk.ide.naming.occurrence import Key, Occurrence
from netsharp_lsp.cntk.mel.functions import MODEL, NEW_NODE, NODE, meant
from netsharp_lsp.cntk.mel.reading import parameter, unquoted
from netsharp_lsp.cntk.ndl.reading import read_script
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlScript, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.ide.naming.ndl_names import NdlNames, Symbols
    from netsharp_lsp.cntk.mel.reading import Statement
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Functions whose first argument is the name of a new model.
_NAMING = frozenset(("CreateModelWithName", "LoadModelWithName", "LoadNDLSnippet"))


def mel_occurrences(
    experiment: Experiment, names: NdlNames, nodes: Mapping[str, Occurrence]
) -> Iterator[Occurrence]:
    """Yield every name with a meaning in the edits of a run; `nodes` are those of networks."""
    for edit in experiment.edits:
        if edit.text.traced is None:
            continue
        symbols: Symbols = {name: (one.key, None) for name, one in nodes.items()}
        symbols |= names.tops
        reader = _MelReader(names, symbols)
        for statement in edit.text.mel.statements:
            yield from reader.statement(statement)


def _is_quoted(argument: Traced) -> bool:
    """Return whether an argument is in quotes, which may have been removed from it."""
    place = argument.place(0, len(argument))
    before = place.source.text[max(0, place.start - 1) : place.start]
    return b'"' in (before, argument.text[:1])


class _MelReader:
    """A reader of the statements of one edit; `symbols` are the names that have a meaning."""

    def __init__(self, names: NdlNames, symbols: Symbols) -> None:
        self.names = names
        self.symbols = symbols

    def statement(self, statement: Statement) -> Iterator[Occurrence]:
        """Yield the names of one statement."""
        if statement.kind in ("model", "snippet") and statement.key is not None:
            yield from self._declared(statement.key, "model")
        if statement.kind == "snippet" and statement.value is not None:
            script = read_script(statement.value)
            reader = self.names.reader(script)
            yield from reader.names(script.statements, dict(self.symbols))
            self.symbols |= reader.declared(script.statements)
        elif statement.kind == "ndl":
            yield from self._ndl(statement.text)
        elif statement.kind == "call":
            yield from self._call(statement)

    def _ndl(self, text: Traced) -> Iterator[Occurrence]:
        script = read_script(text)
        reader = self.names.reader(script)
        for one in script.statements:
            if not isinstance(one, NdlAssignment) or one.name is None:
                continue
            yield from reader.value(one.value, self.symbols)
            name = text.slice(one.name.start, one.name.end)
            yield from self._declared(name, "node")
            if one.name.text.lower() in self.symbols:
                key = self.symbols[one.name.text.lower()][0]
                self.symbols[one.name.text.lower()] = (key, one.value)

    def _call(self, statement: Statement) -> Iterator[Occurrence]:
        name = statement.function.text.decode("utf-8", "replace") if statement.function else ""
        function = meant(name)
        if function is None or not function.parameters:
            return
        names_new = any(kind == NEW_NODE for _, kind in function.parameters)
        if not (self.names.uses or names_new or function.name in _NAMING):
            return
        for number, argument in enumerate(statement.arguments):
            if parameter(argument) is not None:
                continue
            what = function.parameters[min(number, len(function.parameters) - 1)][1]
            names_model = number == 0 and function.name in _NAMING
            if not self.names.uses and what != NEW_NODE and not names_model:
                continue
            bare = unquoted(argument)
            if _is_quoted(argument) and what != NEW_NODE:
                # What is quoted is a path mostly, also where a model may be left out before it.
                what = ""
            is_new = what == NEW_NODE and self._is_new(bare)
            if names_model and not self._is_model(bare):
                yield from self._declared(bare, "model")
            elif names_model or (what in (MODEL, NODE, NEW_NODE) and not is_new):
                yield from self._path(bare)
            elif is_new:
                yield from self._declared(bare, "node")

    def _is_new(self, text: Traced) -> bool:
        """Return whether a name without a model before it is not known yet."""
        return b"." not in text.text and text.text.decode("utf-8", "replace") not in self.symbols

    def _is_model(self, text: Traced) -> bool:
        """Return whether a name is that of an existing model."""
        entry = self.symbols.get(text.text.decode("utf-8", "replace").lower())
        return entry is not None and isinstance(entry[1], Model)

    def _path(self, text: Traced) -> Iterator[Occurrence]:
        script = NdlScript(text, (), ())
        word = Word(text.text.decode("utf-8", "replace"), 0, len(text))
        yield from self.names.reader(script).word(word, self.symbols)

    def _declared(self, text: Traced, kind: str) -> Iterator[Occurrence]:
        """Declare a name; one that contains a variable belongs to no declaration."""
        place = text.place(0, len(text))
        name = text.text.decode("utf-8", "replace")
        if place.text != text.text or not name.replace("_", "a").isalnum():
            return
        file = self.names.file_of(place.source.name)
        key: Key = ("mel", file, place.start)
        self.symbols[name.lower()] = (key, Model() if kind == "model" else None)
        yield Occurrence(key, name, kind, file, place.start, place.end, True)
