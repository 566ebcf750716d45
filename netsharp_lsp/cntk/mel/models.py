"""The models that a text of MEL has in hand, and the names of their nodes as they are looked up.

A node is found whatever the case of its name; a pattern with `*` counts the case.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel.reading import word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.followed import Followed

#: What NDL's statements leave behind: a number, a node, or nodes below a name.
CONSTANT, NODE, MACRO = "constant", "node", "macro"


class Model:
    """One model: its nodes with their operations (empty: not known) by the names they have.

    `nodes` is None where nobody knows what a file holds.  `symbols` are the names that NDL gave.
    Nodes change through methods, which keep their names as they are looked up; `network` is what
    is known of how they are connected.
    """

    __slots__ = (
        "_macros",
        "_spellings",
        "changed",
        "name",
        "network",
        "nodes",
        "origin",
        "saved",
        "symbols",
        "text",
    )

    def __init__(
        self,
        name: str,
        text: Traced,
        nodes: Mapping[str, str] | None,
        origin: str,
        network: Followed,
    ) -> None:
        self.name = name
        self.network = network
        self.text = text
        self.nodes = None if nodes is None else dict(nodes)
        #: The names of nodes by how they are without case, in order.
        self._spellings: dict[str, dict[str, None]] = {}
        for one in nodes or ():
            self._spellings.setdefault(one.lower(), {})[one] = None
        self.origin = origin
        self.symbols: dict[str, str] = {}
        self._macros: dict[str, None] = {}
        self.changed: Traced | None = None
        self.saved = False

    def spelt(self, name: str) -> str | None:
        """A node's name as the model spells it; None where it has none of that name."""
        if self.nodes is None:
            return None
        if name in self.nodes:
            return name
        return next(iter(self._spellings.get(name.lower(), ())), None)

    def operation(self, name: str) -> str:
        """What a node computes, empty where that is not known."""
        found = self.spelt(name)
        return "" if found is None or self.nodes is None else self.nodes[found]

    def matches(self, pattern: str) -> list[str] | None:
        """The nodes that a name or pattern means; None where that cannot be known."""
        if "$" in pattern or self.nodes is None or self._may_be_inside(pattern):
            return None
        if "*" not in pattern:
            found = self.spelt(pattern)
            if found is None and pattern.lower() in self.symbols:
                return [pattern]
            return [] if found is None else [found]
        head, _, tail = pattern.partition("*")
        shortest = len(head) + len(tail)
        return [
            name
            for name in self.nodes
            if name.startswith(head) and name.endswith(tail) and len(name) >= min(shortest, 1)
        ]

    def _may_be_inside(self, pattern: str) -> bool:
        """Whether a pattern may mean nodes that a macro of NDL has made."""
        pattern = pattern.lower()
        if "*" not in pattern:
            return pattern in self._macros or self._holds(pattern)
        head = pattern.partition("*")[0]
        return self._holds(head) or any(f"{macro}.".startswith(head) for macro in self._macros)

    def _holds(self, name: str) -> bool:
        """Whether a name begins with that of a macro and a point."""
        if name.count(".") > len(self._macros):
            return any(name.startswith(f"{macro}.") for macro in self._macros)
        ends = (at for at, letter in enumerate(name) if letter == ".")
        return any(name[:end] in self._macros for end in ends)

    @property
    def has_macros(self) -> bool:
        """Whether a macro of NDL has made nodes that are not known one by one."""
        return bool(self._macros)

    def define(self, name: str, kind: str) -> None:
        """Take in a name that NDL gives."""
        self.symbols[name.lower()] = kind
        self._macros.pop(name.lower(), None)
        if kind == MACRO:
            self._macros[name.lower()] = None

    def add(self, name: str, operation: str) -> None:
        """Take a node in, under its own name."""
        if self.nodes is not None and self.spelt(name) is None:
            self.nodes[name] = operation
            self._spellings.setdefault(name.lower(), {})[name] = None

    def rename(self, old: str, new: str) -> None:
        """Give a node a name that no other one has."""
        if self.nodes is not None:
            operation = self.nodes.get(old, "")
            self._drop(old)
            self.add(new, operation)

    def remove(self, names: list[str]) -> None:
        """Take nodes out."""
        for name in names:
            self._drop(name)
            self.symbols.pop(name.lower(), None)
            self._macros.pop(name.lower(), None)

    def forget(self) -> None:
        """Know nothing of the nodes any more."""
        self.nodes = None
        self._spellings = {}
        self.network.forget()

    def _drop(self, name: str) -> None:
        if self.nodes is not None and self.nodes.pop(name, None) is not None:
            self._spellings[name.lower()].pop(name)


class Models:
    """Every model in hand by its name, and the default one."""

    __slots__ = ("by_name", "default", "gone")

    def __init__(self) -> None:
        self.by_name: dict[str, Model] = {}
        self.default: Model | None = None
        #: Statements that unloaded a model, by its name.
        self.gone: dict[str, Traced] = {}

    def find(self, name: str) -> Model | None:
        """A model by its name, compared without case."""
        return self.by_name.get(name.lower())

    def take(self, model: Model) -> Model | None:
        """Take a model in; the one that had its name before is returned."""
        before = self.by_name.get(model.name.lower())
        self.by_name[model.name.lower()] = model
        if self.default is None or self.default is before:
            self.default = model
        return before

    def unload(self, model: Model, text: Traced) -> None:
        """Forget a model."""
        del self.by_name[model.name.lower()]
        self.gone[model.name.lower()] = text
        if self.default is model:
            self.default = None

    def split(self, name: Traced) -> tuple[Model | None, Traced]:
        """The model that a name means, and what is left of the name: nothing means all nodes."""
        text = name.text
        end = next((at for at, byte in enumerate(text) if byte in b".*"), len(text))
        found = self.find(word(name.slice(0, end)))
        if found is None:
            return self.default, name
        return found, name.slice(min(end + 1, len(text)), len(text))
