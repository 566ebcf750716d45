"""A configuration as given by a command line: its layers, ready for look-up."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.faults import UNREADABLE
from netsharp_lsp.cntk.configuration.items import read_items
from netsharp_lsp.cntk.configuration.layers import Layers
from netsharp_lsp.cntk.configuration.meaning.tree import values
from netsharp_lsp.cntk.configuration.scope import Scope
from netsharp_lsp.text.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.configuration.items import Item
    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.workspace import Files, Hole


class Configuration:
    """The parsed layers: `root` to look up in, `layers` with its sources, `faults` so far.

    Look-up may add faults: variables are substituted only then.
    """

    __slots__ = ("_values", "faults", "layers", "root")

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.faults = layers.faults
        self.root = Scope(layers.text, layers.faults)
        self._values: list[Value] | None = None

    def values(self) -> list[Value]:
        """Return every value, in the order of the text."""
        if self._values is None:
            self._values = list(values(self.root, self.faults))
        return self._values

    def get(self, path: str, climb: bool = True) -> Found | None:
        """Look up a path of keys with dots, each in the record found by the one before."""
        scope = self.root
        found = None
        for key in path.split("."):
            if found is not None:
                scope = scope.inside(found)
            found = scope.look_up(encodable(key).encode(), climb)
            if found is None:
                return None
        return found

    @property
    def is_open(self) -> bool:
        """Return whether a layer is outside the roots, so that its contents are unknown."""
        return any(fault.kind == "outside" for fault in self.faults)

    @property
    def readable(self) -> bool:
        """Return whether CNTK could read the whole text."""
        return not any(fault.kind in UNREADABLE for fault in self.faults)


def resolve(
    items: Sequence[str], files: Files, holes: Sequence[Hole] = (), started: str = ""
) -> Configuration:
    """Resolve a command line's items: files, layers of them, assignments, in order.

    Never raises: faults are in the configuration's `faults`. Paths are relative to the working
    directory of `files`; `started` is the folder that CNTK is started in, where that is another.
    `holes` are the open parts of the items.
    """
    return resolve_items(read_items(items), files, started, holes)


def resolve_items(
    items: Sequence[Item], files: Files, started: str = "", holes: Sequence[Hole] = ()
) -> Configuration:
    """Resolve items whose kinds are known already."""
    layers = Layers(files, started)
    layers.add_all(items, holes)
    return Configuration(layers)
