"""The models that a text of MEL has loaded, and the look-up of their nodes.  Knows no function of
MEL.

Names of nodes are case-insensitive; a pattern with `*` is case-sensitive.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel.reading import word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.followed import Followed

#: What a statement of NDL defines: a number, a node, or nodes below a name.
CONSTANT, NODE, MACRO = "constant", "node", "macro"


class Model:
    """One model: its nodes with their operations (empty: unknown) by their names.

    `nodes` is None if the contents of a file are unknown.  `symbols` are the names that NDL
    defined. Nodes change through methods, which keep the look-up of names; `network` has the
    connections as far as they are known.
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
        #: The names of nodes by their lower-case form, in order.
        self._spellings: dict[str, dict[str, None]] = {}
        for one in nodes or ():
            self._spellings.setdefault(one.lower(), {})[one] = None
        self.origin = origin
        self.symbols: dict[str, str] = {}
        self._macros: dict[str, None] = {}
        self.changed: Traced | None = None
        self.saved = False

    def spelt(self, name: str) -> str | None:
        """Return a node's name as the model spells it; None if there is none."""
        if self.nodes is None:
            return None
        if name in self.nodes:
            return name
        return next(iter(self._spellings.get(name.lower(), ())), None)

    def operation(self, name: str) -> str:
        """Return the operation of a node, empty if it is unknown."""
        found = self.spelt(name)
        return "" if found is None or self.nodes is None else self.nodes[found]

    def matches(self, pattern: str) -> list[str] | None:
        """Return the nodes that a name or pattern refers to; None if they are unknown."""
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
        """Return whether a pattern may match nodes that a macro of NDL created."""
        pattern = pattern.lower()
        if "*" not in pattern:
            return pattern in self._macros or self._holds(pattern)
        head = pattern.partition("*")[0]
        return self._holds(head) or any(f"{macro}.".startswith(head) for macro in self._macros)

    def _holds(self, name: str) -> bool:
        """Return whether a name begins with that of a macro and a point."""
        if name.count(".") > len(self._macros):
            return any(name.startswith(f"{macro}.") for macro in self._macros)
        ends = (at for at, letter in enumerate(name) if letter == ".")
        return any(name[:end] in self._macros for end in ends)

    @property
    def has_macros(self) -> bool:
        """Return whether a macro of NDL created nodes that are not known one by one."""
        return bool(self._macros)

    def define(self, name: str, kind: str) -> None:
        """Add a name that NDL defines."""
        self.symbols[name.lower()] = kind
        self._macros.pop(name.lower(), None)
        if kind == MACRO:
            self._macros[name.lower()] = None

    def add(self, name: str, operation: str) -> None:
        """Add a node under its own name."""
        if self.nodes is not None and self.spelt(name) is None:
            self.nodes[name] = operation
            self._spellings.setdefault(name.lower(), {})[name] = None

    def rename(self, old: str, new: str) -> None:
        """Rename a node to a name that no other one has."""
        if self.nodes is not None:
            operation = self.nodes.get(old, "")
            self._drop(old)
            self.add(new, operation)

    def remove(self, names: list[str]) -> None:
        """Remove nodes."""
        for name in names:
            self._drop(name)
            self.symbols.pop(name.lower(), None)
            self._macros.pop(name.lower(), None)

    def forget(self) -> None:
        """Make the nodes unknown."""
        self.nodes = None
        self._spellings = {}
        self.network.forget()

    def _drop(self, name: str) -> None:
        if self.nodes is not None and self.nodes.pop(name, None) is not None:
            self._spellings[name.lower()].pop(name)


class Models:
    """The loaded models by name, and the default one."""

    __slots__ = ("by_name", "default", "gone")

    def __init__(self) -> None:
        self.by_name: dict[str, Model] = {}
        self.default: Model | None = None
        #: Statements that unloaded a model, by its name.
        self.gone: dict[str, Traced] = {}

    def find(self, name: str) -> Model | None:
        """Return a model by its name, compared without case."""
        return self.by_name.get(name.lower())

    def take(self, model: Model) -> Model | None:
        """Add a model; return the one that had its name before."""
        before = self.by_name.get(model.name.lower())
        self.by_name[model.name.lower()] = model
        if self.default is None or self.default is before:
            self.default = model
        return before

    def unload(self, model: Model, text: Traced) -> None:
        """Unload a model."""
        del self.by_name[model.name.lower()]
        self.gone[model.name.lower()] = text
        if self.default is model:
            self.default = None

    def split(self, name: Traced) -> tuple[Model | None, Traced]:
        """Return the model that a name refers to, and the rest of the name; an empty rest means all
        nodes.
        """
        text = name.text
        end = next((at for at, byte in enumerate(text) if byte in b".*"), len(text))
        found = self.find(word(name.slice(0, end)))
        if found is None:
            return self.default, name
        return found, name.slice(min(end + 1, len(text)), len(text))
