"""The symbols of NDL: entries of symbol tables, one table for each script and for each call of a
macro.  Knows how names are resolved, but not the attributes of nodes.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.syntax import Array, NdlCall, Option, Word, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.syntax import NdlScript, Value
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.networks.node import Node

#: The kinds of entries: a number, a list, an option of a call, a call of a function or of a macro,
#: a macro, a parameter of a macro, a name that is not defined yet, or a variable without a value.
NUMBER, ARRAY, OPTION, FUNCTION, CALL = "number", "array", "option", "function", "call"
MACRO, PARAMETER, UNDETERMINED, HOLE = "macro", "parameter", "undetermined", "hole"
#: Kinds that may be redefined later.
_OPEN = (UNDETERMINED, PARAMETER)


class Item:
    """An entry: `name` may change, `value` does not: the text, the function or the macro.

    `home` is the table that it belongs to, `inner` that of a macro or of its call, `formals` are
    the macro's parameters, `arguments` those of a call or list, `node` is its result.
    """

    __slots__ = (
        "_uses",
        "arguments",
        "done",
        "formals",
        "home",
        "inner",
        "inputs",
        "kind",
        "name",
        "node",
        "script",
        "syntax",
        "value",
    )

    def __init__(self, kind: str, value: str, syntax: Value, home: Frame) -> None:
        self.kind = kind
        self.name = value
        self.value = value
        self.syntax = syntax
        self.home = home
        self.script: NdlScript = home.script
        self.inner: Frame | None = None
        self.formals: tuple[str, ...] = ()
        self.arguments: list[Item] = []
        self.node: Node | None = None
        #: The arguments that are inputs of its node.
        self.inputs: list[Item] = []
        #: Whether they are connected.
        self.done = False
        #: The number of arguments, and what is written for each of them.
        self._uses: tuple[int, dict[int, Value]] | None = None

    @property
    def place(self) -> Place:
        """Return where it is written."""
        return place_of(self.script.text, self.syntax.start, self.syntax.end)

    def use(self, argument: Item) -> Place:
        """Return the place of an argument in the call or list, where a name is written that refers
        to it.
        """
        if self._uses is None or self._uses[0] != len(self.arguments):
            self._uses = len(self.arguments), self._written()
        value = self._uses[1].get(id(argument))
        if value is None:
            return argument.place
        return place_of(self.script.text, value.start, value.end)

    def _written(self) -> dict[int, Value]:
        """Return the syntax of each argument, by its identity; the first occurrence if it is
        repeated.
        """
        written: tuple[Value, ...] = ()
        if isinstance(self.syntax, NdlCall):
            written = self.syntax.arguments
        elif isinstance(self.syntax, Array):
            written = self.syntax.items
        found: dict[int, Value] = {}
        for item, value in zip(self.arguments, written, strict=False):
            found.setdefault(id(item), value)
        return found

    @property
    def positional(self) -> list[Item]:
        """Return the arguments that are not options."""
        return [one for one in self.arguments if one.kind != OPTION]


class Frame:
    """A case-insensitive symbol table, and the calls that are evaluated, in order.

    `macro`: it belongs to a macro.  `defining`: the macro is being parsed.
    """

    __slots__ = ("base", "defining", "given", "items", "macro", "script", "symbols")

    def __init__(self, script: NdlScript, macro: bool = False, defining: bool = False) -> None:
        self.script = script
        self.macro = macro
        self.defining = defining
        #: The prefix of the names of its nodes.
        self.base = ""
        self.symbols: dict[str, Item] = {}
        self.items: list[Item] = []
        #: The call and the argument of each parameter of a macro.
        self.given: dict[str, tuple[Item, Item]] = {}

    def find(self, name: str) -> Item | None:
        """Return the entry of a name; with dots, of a member of a macro's call.

        If the owner is not a call, it has no members: CNTK then uses the owner itself.
        """
        frame, rest = self, name.lower()
        while True:
            found = frame.symbols.get(rest)
            if found is not None:
                return found
            head, dot, rest = rest.partition(".")
            found = frame.symbols.get(head) if dot else None
            if found is None or found.inner is None:
                return found
            frame = found.inner

    def origin(self, name: str) -> tuple[str, Place] | None:
        """Return the argument of a macro's parameter and where it is written, outside of all
        macros.
        """
        found: tuple[str, Place] | None = None
        frame = self
        while (pair := frame.given.get(name.lower())) is not None:
            call, argument = pair
            found = text_of(argument.syntax), call.use(argument)
            frame, name = call.home, argument.name
        return found

    def owner_of(self, name: str) -> tuple[Item, str] | None:
        """Return the first part of a dotted name if it is defined, and the rest of the name."""
        head, dot, rest = name.partition(".")
        found = self.symbols.get(head.lower()) if dot else None
        return None if found is None else (found, rest)

    def add(self, name: str, item: Item) -> Item | None:
        """Enter an item; return the one that already has the name and keeps it, if there is one."""
        key = name.lower()
        known = self.symbols.get(key)
        if known is not None and known.kind not in _OPEN:
            return known
        self.symbols[key] = item
        return None


def result_of(call: Item) -> Node | None:
    """Return the result of a macro's call: the variable of the macro's name, otherwise the last
    call.
    """
    inner = call.inner
    if inner is None:
        return None
    named = inner.find(call.value)
    if named is not None:
        return named.node
    return inner.items[-1].node if inner.items else None


def text_of(syntax: Value) -> str:
    """Return a short form of a value, for messages."""
    if isinstance(syntax, Word):
        return syntax.text
    if isinstance(syntax, Option):
        return f"{syntax.name.text}=.."
    return "{..}" if isinstance(syntax, Array) else f"{_named(syntax)}(..)"


def _named(call: NdlCall) -> str:
    return call.name.text
