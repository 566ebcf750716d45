"""Name resolution in the texts of one network: variables, parameters and macros by scope.

Names are case-insensitive; the spelling of the definition is kept.
"""

from __future__ import annotations

from netsharp_lsp.cntk.migration.editing.texts import CallArguments, is_name
from netsharp_lsp.cntk.migration.networks.functions import GROUPS
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.ndl.syntax import (
    Array,
    Definition,
    NdlAssignment,
    NdlCall,
    Option,
    Word,
    values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.migration.editing.texts import Text
    from netsharp_lsp.cntk.ndl.syntax import Statement, Value


class Symbol:
    """A variable, a parameter or an option of a macro, with the place of its definition."""

    __slots__ = ("frame", "kind", "text", "value", "word")

    def __init__(self, kind: str, word: Word, text: Text, frame: Frame) -> None:
        #: "variable", "parameter" or "option".
        self.kind = kind
        self.word = word
        self.text = text
        self.frame = frame
        self.value: Value | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Return its identity, which is the same in every network that reads its text."""
        return self.text.where(self.word.start, self.word.end)[:2]


class Frame:
    """The names of one scope: those of a macro, or of the network as a whole."""

    __slots__ = ("macro", "parent", "symbols")

    def __init__(self, parent: Frame | None, macro: ScopedMacro | None) -> None:
        self.parent = parent
        self.macro = macro
        self.symbols: dict[str, Symbol] = {}

    def find(self, name: str) -> Symbol | None:
        """Return the symbol of a name in this scope or an outer one, None if there is none."""
        frame: Frame | None = self
        while frame is not None:
            found = frame.symbols.get(name.lower())
            if found is not None:
                return found
            frame = frame.parent
        return None


class ScopedMacro:
    """A macro with its scope; `result` is the variable whose value it returns."""

    __slots__ = ("definition", "frame", "text")

    def __init__(self, definition: Definition, text: Text, outer: Frame) -> None:
        self.definition = definition
        self.text = text
        self.frame = Frame(outer, self)

    @property
    def name(self) -> str:
        """The name as it is defined."""
        return self.definition.name.text

    @property
    def place(self) -> tuple[str, int]:
        """Return its identity, which is the same in every network that reads its text."""
        return self.text.where(self.definition.name.start, self.definition.name.end)[:2]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the body."""
        return self.definition.body.statements if self.definition.body is not None else ()

    @property
    def is_record(self) -> bool:
        """Return whether the body is in brackets."""
        body = self.definition.body
        return body is not None and self.text.data[self.opening : self.opening + 1] in (b"[", b"{")

    @property
    def opening(self) -> int:
        """Return the offset of the body, after its equals sign."""
        body = self.definition.body
        at = body.start if body is not None else self.definition.end
        while self.text.data[at : at + 1] in (b"=", b" ", b"\t", b"\r", b"\n"):
            at += 1
        return at

    @property
    def result(self) -> Symbol | None:
        """Return the variable with the macro's name, or that of the last statement."""
        own = self.frame.symbols.get(self.name.lower())
        if own is not None and own.kind == "variable":
            return own
        named = [one for one in self.statements if isinstance(one, NdlAssignment) and one.name]
        return self.frame.find(named[-1].name.text) if named and named[-1].name else None


class CallSite:
    """A call: of a function of NDL, of a macro, or of neither."""

    __slots__ = ("arguments", "call", "frame", "function", "macro", "owner", "text")

    def __init__(self, names: Names, text: Text, frame: Frame, call: NdlCall) -> None:
        self.text = text
        self.frame = frame
        self.call = call
        self.owner: NdlAssignment | None = None
        self.macro = names.macros.get(call.name.text.lower())
        self.function = None if self.macro else function_of(call.name.text)
        self.arguments = CallArguments.of(text, call)

    @property
    def place(self) -> tuple[str, int]:
        """Return its identity, which is the same in every network that reads its text."""
        return self.text.where(self.call.start, self.call.end)[:2]


class Use:
    """A word that is a name: the parts between its dots, each with its symbol."""

    __slots__ = ("frame", "parts", "text", "word")

    def __init__(
        self, text: Text, frame: Frame, word: Word, parts: list[tuple[int, int, Symbol | None]]
    ) -> None:
        self.text = text
        self.frame = frame
        self.word = word
        self.parts = parts


class Names:
    """The scopes of one network, and every call and every use of a name in it."""

    def __init__(self, texts: list[Text]) -> None:
        self.texts = texts
        self.top = Frame(None, None)
        self.macros: dict[str, ScopedMacro] = {}
        self.calls: list[CallSite] = []
        self.uses: list[Use] = []

    @classmethod
    def of(cls, texts: Iterable[Text]) -> Names:
        """Return the names of the texts of one network: definitions first, then references."""
        names = cls(list(texts))
        for text in names.texts:
            names._define(text, text.script.statements, names.top)
        for text in names.texts:
            names._declare_options(text, text.script.statements)
        for text in names.texts:
            names._visit(text, text.script.statements, names.top)
        return names

    def _declare_options(self, text: Text, statements: Iterable[Statement]) -> None:
        """Declare the options that are passed to a macro as names in it."""
        for one in statements:
            if isinstance(one, Definition):
                self._declare_options(text, one.body.statements if one.body else ())
                continue
            for value in values(one.value):
                macro = (
                    self.macros.get(value.name.text.lower()) if isinstance(value, NdlCall) else None
                )
                if isinstance(value, NdlCall) and macro is not None:
                    self._declare(text, macro, value)

    def _declare(self, text: Text, macro: ScopedMacro, call: NdlCall) -> None:
        for option in call.arguments:
            if isinstance(option, Option):
                symbol = Symbol("option", option.name, text, macro.frame)
                symbol.value = option.value
                macro.frame.symbols.setdefault(option.name.text.lower(), symbol)

    def _define(self, text: Text, statements: Iterable[Statement], frame: Frame) -> None:
        for one in statements:
            if isinstance(one, Definition):
                macro = ScopedMacro(one, text, frame)
                self.macros[macro.name.lower()] = macro
                for word in one.parameters:
                    macro.frame.symbols[word.text.lower()] = Symbol(
                        "parameter", word, text, macro.frame
                    )
                self._define(text, macro.statements, macro.frame)
            elif one.name is not None and not self._is_special(one, frame):
                symbol = Symbol("variable", one.name, text, frame)
                symbol.value = one.value
                frame.symbols.setdefault(one.name.text.lower(), symbol)

    def _is_special(self, statement: NdlAssignment, frame: Frame) -> bool:
        assert statement.name is not None
        return frame is self.top and statement.name.text.lower() in GROUPS

    def _visit(self, text: Text, statements: Iterable[Statement], frame: Frame) -> None:
        for one in statements:
            if isinstance(one, Definition):
                macro = self.macros.get(one.name.text.lower())
                if macro is not None and macro.definition is one:
                    self._visit(text, macro.statements, macro.frame)
            else:
                self._value(text, one.value, frame, one)

    def _value(
        self, text: Text, value: Value, frame: Frame, owner: NdlAssignment | None = None
    ) -> None:
        if isinstance(value, Word):
            self._word(text, value, frame)
        elif isinstance(value, Array):
            for item in {id(one): one for one in value.items}.values():
                self._value(text, item, frame)
        elif isinstance(value, Option):
            self._value(text, value.value, frame)
        else:
            site = CallSite(self, text, frame, value)
            site.owner = owner
            self.calls.append(site)
            for argument in [*site.arguments.positional, *site.arguments.options]:
                self._value(text, argument, frame)

    def _word(self, text: Text, word: Word, frame: Frame) -> None:
        use = self.use_of(text, word, frame)
        if use is not None:
            self.uses.append(use)

    def use_of(self, text: Text, word: Word, frame: Frame) -> Use | None:
        """Return a word as a name; None where it is something else."""
        if not is_name(word) or not _beginning(word, frame):
            return None
        return Use(text, frame, word, list(self._parts(word, frame)))

    def _parts(self, word: Word, frame: Frame) -> Iterator[tuple[int, int, Symbol | None]]:
        at = word.start
        scope: Frame | None = frame
        for part in _divided(word, frame):
            end = at + len(part.encode())
            symbol = None
            if scope is not None:
                outermost = at == word.start
                symbol = scope.find(part) if outermost else scope.symbols.get(part.lower())
            yield at, end, symbol
            target = self.target(symbol) if symbol is not None else None
            scope = target.frame if target is not None else None
            at = end + 1

    def target(self, symbol: Symbol, depth: int = 0) -> ScopedMacro | None:
        """Return the macro whose call a variable is, None if it is not one."""
        value = symbol.value
        if isinstance(value, NdlCall):
            return self.macros.get(value.name.text.lower())
        if isinstance(value, Word) and is_name(value) and depth < 20:
            parts = list(self._parts(value, symbol.frame))
            last = parts[-1][2]
            return None if last is None or last is symbol else self.target(last, depth + 1)
        return None

    def words(self) -> set[str]:
        """Return every name that is used, as it is spelt."""
        found = {symbol.word.text for frame in self.frames() for symbol in frame.symbols.values()}
        found |= {macro.name for macro in self.macros.values()}
        return found

    def frames(self) -> list[Frame]:
        """Return all scopes."""
        return [self.top, *(macro.frame for macro in self.macros.values())]


def _beginning(word: Word, frame: Frame) -> str:
    """Return the longest prefix of a word that is a name here: a name may contain dots."""
    parts = word.text.split(".")
    beginnings = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((one for one in beginnings if frame.find(one) is not None), "")


def _divided(word: Word, frame: Frame) -> list[str]:
    """Split a word at its dots, except those within a name."""
    first = _beginning(word, frame) or word.text.split(".")[0]
    rest = word.text[len(first) + 1 :]
    return [first, *rest.split(".")] if rest else [first]
