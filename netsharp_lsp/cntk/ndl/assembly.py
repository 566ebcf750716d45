"""Turns the statements of NDL into symbols: defines macros, and copies them for each call.

Follows CNTK's order, because it numbers unnamed nodes; faults are recorded, and an unknown node
takes the place of a faulty one.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import function_of, is_reserved
from netsharp_lsp.cntk.ndl.symbols import (
    ARRAY,
    CALL,
    FUNCTION,
    HOLE,
    MACRO,
    NUMBER,
    OPTION,
    PARAMETER,
    UNDETERMINED,
    Frame,
    Item,
    text_of,
)
from netsharp_lsp.cntk.ndl.syntax import Array, Definition, NdlCall, Option, Word, place_of
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.cntk.networks.node import OPAQUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlScript, Statement, Value
    from netsharp_lsp.cntk.networks.faults import Place

#: Kinds of faults with which CNTK still builds the network.
HARMLESS = frozenset(("renamed", "nested-parameter", "unknown-option", "group-name"))
#: The most symbols that are copied for calls of macros.
MOST = 100_000
#: The deepest nesting of macro calls that is followed.
DEEPEST = 100


class TooMuch(Exception):  # noqa: N818
    """The limit of symbols or of nested macros is reached; the outcome reports it."""


class Faults:
    """Faults in the order in which they were found, each once, with the calls that lead there."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Place], BuildingFault] = {}
        self.calls: list[Place] = []

    def add(self, kind: str, message: str, place: Place) -> None:
        """Record a fault unless it is known: macros are evaluated once per call."""
        fault = BuildingFault(kind, message, place, self._way(place))
        self._found.setdefault((kind, place), fault)

    def _way(self, place: Place) -> tuple[Place, ...]:
        """Return the calls that lead to a place, without those that contain it."""
        holding = (
            number
            for number, call in enumerate(self.calls)
            if call.source == place.source and call.start <= place.start and place.end <= call.end
        )
        return tuple(self.calls[: next(holding, None)])

    def take(self, faults: tuple[BuildingFault, ...]) -> None:
        """Record faults found elsewhere."""
        for fault in faults:
            self._found.setdefault((fault.kind, fault.place), fault)

    @property
    def found(self) -> tuple[BuildingFault, ...]:
        """Return all faults."""
        return tuple(self._found.values())


class Assembly:
    """The macros of one evaluation and the counter of unnamed calls."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.macros: dict[str, Item] = {}
        #: Macros that call themselves.
        self._endless: set[str] = set()
        self._count = 0
        self._copies = 0
        self._depth = 0

    def load(self, script: NdlScript, frame: Frame) -> None:
        """Enter the statements of a script."""
        self.faults.take(script.faults)
        frame.script = script
        for statement in script.statements:
            self._statement(frame, statement)

    def _statement(self, frame: Frame, statement: Statement) -> None:
        if isinstance(statement, Definition):
            self._define(frame, statement)
        else:
            self._assign(frame, statement)

    def note(self, frame: Frame, kind: str, message: str, syntax: Value) -> None:
        """Record a fault at a value in the script of a frame."""
        place = place_of(frame.script.text, syntax.start, syntax.end)
        self.faults.add(kind, message, place)

    def _nameless(self, kind: str, value: str, syntax: Value, home: Frame) -> Item:
        """Return an item that is named by its number."""
        self._count += 1
        item = Item(kind, value, syntax, home)
        item.name = f"unnamed{self._count}"
        return item

    def _define(self, frame: Frame, definition: Definition) -> None:
        name = definition.name
        if self.peek(frame, name.text):
            what = "a function" if is_reserved(name.text) else "already defined"
            message = f"'{name.text}' is {what}; give the macro a name of its own."
            self.note(frame, "macro-reserved" if "a f" in what else "redefined", message, name)
            return
        macro = Item(MACRO, name.text, name, frame)
        macro.formals = tuple(word.text for word in definition.parameters)
        self.macros[name.text.lower()] = macro
        body = definition.body
        if body is None:
            return
        inner = Frame(frame.script, macro=True, defining=True)
        for word in definition.parameters:
            self._check_parameter(frame, name.text, word)
            inner.add(word.text, Item(PARAMETER, word.text, word, inner))
        for statement in body.statements:
            self._statement(inner, statement)
        inner.defining = False
        macro.inner = inner

    def _check_parameter(self, frame: Frame, macro: str, word: Word) -> None:
        if is_reserved(word.text):
            message = (
                f"the parameter '{word.text}' of '{macro}' has the name of a function, which"
                " is reserved. Rename it."
            )
            self.note(frame, "reserved-parameter", message, word)
        elif "=" in word.text:
            message = (
                f"parameters of macros have no defaults: all of '{word.text}' is read as the"
                " name of one more required parameter."
            )
            self.note(frame, "parameter-default", message, word)

    def _assign(self, frame: Frame, statement: NdlAssignment) -> None:
        name = statement.name
        if name is not None:
            self._check_name(frame, name)
        if isinstance(statement.value, NdlCall):
            item = self._call(frame, statement.value)
            if name is not None:
                item.name = name.text
            if self._enter(frame, item.name, item, name or statement.value):
                frame.items.append(item)
            return
        self._check_value(frame, statement.value)
        item = self._variable(frame, statement.value, create=True) or self._lost(
            frame, statement.value
        )
        key = name.text if name is not None else ""
        self._enter(frame, key, item, name or statement.value)
        self._rename(frame, item, statement)

    def _rename(self, frame: Frame, item: Item, statement: NdlAssignment) -> None:
        """Rename a node to its second name, which replaces the first."""
        name = statement.name
        if item.kind in (FUNCTION, CALL) and name is not None and item.syntax != statement.value:
            message = (
                f"the node '{item.name}' is named '{name.text}' from here on: a second name"
                " replaces the first in the network."
            )
            self.note(frame, "renamed", message, name)
        item.name = name.text if name is not None else ""

    def _check_value(self, frame: Frame, value: Value) -> None:
        """Report a call without parentheses, which is read as a name."""
        if (
            isinstance(value, Word)
            and not value.quoted
            and ("[" in value.text or "{" in value.text)
        ):
            message = f"'{value.text}' is read as a name: the arguments of a call are in ( )."
            self.note(frame, "unknown-name", message, value)

    def _check_name(self, frame: Frame, name: Word) -> None:
        if is_reserved(name.text):
            message = (
                f"'{name.text}' is the name of a function; these are reserved in any"
                " capitalization. Rename it."
            )
            self.note(frame, "reserved-name", message, name)
        elif not name.text:
            message = "there is no name before '=': a macro cannot be defined in a short macro."
            self.note(frame, "no-name", message, name._replace(end=name.start + 1))

    def _enter(self, frame: Frame, name: str, item: Item, at: Value) -> bool:
        """Enter a symbol; return whether the name was free."""
        known = frame.add(name, item)
        if known is None or known is item:
            return True
        message = f"'{name}' already has a value, and a name gets one only once."
        self.note(frame, "reassigned", message, at)
        return False

    def peek(self, frame: Frame, name: str) -> bool:
        """Return whether a name is defined: as a symbol, a macro or a function."""
        return frame.find(name) is not None or name.lower() in self.macros or is_reserved(name)

    def _named(self, frame: Frame, name: str, syntax: Value) -> Item | None:
        """Return what a name refers to: a symbol, otherwise a new call of a macro or a function."""
        return frame.find(name) or self._fresh(frame, name, syntax)

    def _fresh(self, frame: Frame, name: str, syntax: Value) -> Item | None:
        macro = self.macros.get(name.lower())
        if macro is not None and (macro.inner is None or name.lower() in self._endless):
            return self._unfinished(frame, macro, syntax)
        if macro is not None and macro.inner is not None:
            item = self._nameless(CALL, macro.value, syntax, frame)
            item.formals = macro.formals
            item.inner = macro.inner if frame.defining else self._copied(macro.inner)
            return item
        function = function_of(name)
        if function is None:
            return None
        return self._nameless(FUNCTION, function.name, syntax, frame)

    def _unfinished(self, frame: Frame, macro: Item, syntax: Value) -> Item:
        """Return an unknown node for a call of a macro within itself, or of one without a body."""
        if frame.defining:
            message = f"'{macro.name}' calls itself, without end."
            self.note(frame, "recursion", message, syntax)
            self._endless.add(macro.name.lower())
        return self._nameless(FUNCTION, OPAQUE, syntax, frame)

    def _call(self, frame: Frame, call: NdlCall) -> Item:
        name = call.name.text
        if call.swallowed is not None:
            self._note_swallowed(frame, call)
        known = frame.find(name)
        if known is not None:
            message = (
                f"'{name}' is a variable here and cannot be called: a variable hides the macro"
                " of its name from its definition on. Rename it."
            )
            self.note(frame, "shadowed", message, call.name)
        item = self._fresh(frame, name, call)
        if item is None:
            if known is None:
                self._note_unknown(frame, call)
            item = self._nameless(FUNCTION, OPAQUE, call, frame)
        self._arguments(item, call.arguments, frame, create=False)
        return item

    def _note_swallowed(self, frame: Frame, call: NdlCall) -> None:
        at = call.swallowed or 0
        lost = frame.script.text.text[at : at + 1].decode("utf-8", "replace")
        message = (
            f"'{lost}' directly after a bracket is read as the separator of the list and"
            f" dropped. Write a blank before it: '( {lost}'."
        )
        self.note(frame, "swallowed", message, call.name._replace(start=at, end=at + 1))

    def _note_unknown(self, frame: Frame, call: NdlCall) -> None:
        name = call.name.text
        if "=" in name:
            message = (
                f"the value of an option cannot be a call or a list in ( ): '{name}' is read as"
                " the name of a function. Write lists in braces."
            )
            self.note(frame, "option-call", message, call.name)
            return
        message = f"there is no function or macro '{name}'; define a macro before its first use."
        self.note(frame, "unknown-function", message, call.name if name else call)

    def _lost(self, frame: Frame, syntax: Value) -> Item:
        return self._nameless(HOLE, "", syntax, frame)

    def _arguments(self, item: Item, values: tuple[Value, ...], frame: Frame, create: bool) -> None:
        """Enter the arguments of a call or the elements of a list."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooMuch
        for value in values:
            item.arguments.append(self._argument(frame, value, create))
        self._depth -= 1

    def _argument(self, frame: Frame, value: Value, create: bool) -> Item:
        if isinstance(value, NdlCall):
            return self._call(frame, value)
        found = self._variable(frame, value, create)
        if found is None:
            name = text_of(value)
            found = Item(UNDETERMINED, name, value, frame)
            frame.add(name, found)
        return found

    def _variable(self, frame: Frame, value: Value, create: bool) -> Item | None:
        """Return what a value other than a call refers to; None for an undefined name."""
        if isinstance(value, Array):
            item = self._nameless(ARRAY, "", value, frame)
            self._arguments(item, value.items, frame, create=False)
            return item
        if isinstance(value, Option):
            option = Item(OPTION, text_of(value.value), value, frame)
            option.name = value.name.text
            return option
        if isinstance(value, NdlCall) or value.is_hole:
            return self._lost(frame, value)
        if value.is_number:
            return self._nameless(NUMBER, value.text, value, frame)
        found = self._named(frame, value.text, value)
        if found is not None and "." in value.text:
            self._check_member(frame, value, found)
        if found is None and create:
            found = Item(PARAMETER, value.text, value, frame)
            frame.add(value.text, found)
        return found

    def _check_member(self, frame: Frame, word: Word, found: Item) -> None:
        """Report a member of a symbol that has none, which refers to the symbol itself."""
        owner = frame.owner_of(word.text)
        if owner is None or found is not owner[0] or word.text.lower() in frame.symbols:
            return
        message = (
            f"'{owner[1]}' is not found in '{owner[0].name}' and ignored: only calls of macros"
            " further up have members, and a macro's parameters have none."
        )
        self.note(frame, "member", message, word)

    def _copied(self, frame: Frame) -> Frame:
        """Return a copy of a macro's body for one call of it."""
        self._depth += 1
        self._copies += len(frame.symbols) + 1
        if self._depth > DEEPEST or self._copies > MOST:
            raise TooMuch
        copy = Frame(frame.script, macro=True)
        for item in frame.items:
            new = self._duplicate(item, copy)
            if copy.add(new.name, new) is None:
                copy.items.append(new)
            self._arguments(new, _arguments_of(item), copy, create=True)
        for key, item in sorted(frame.symbols.items()):
            if key not in copy.symbols:
                copy.add(key, self._duplicate(item, copy))
        self._depth -= 1
        return copy

    def _duplicate(self, item: Item, home: Frame) -> Item:
        new = Item(item.kind, item.value, item.syntax, home)
        new.name = item.name
        new.formals = item.formals
        if item.inner is not None:
            new.inner = self._copied(item.inner)
        return new


def _arguments_of(item: Item) -> tuple[Value, ...]:
    return item.syntax.arguments if isinstance(item.syntax, NdlCall) else ()
