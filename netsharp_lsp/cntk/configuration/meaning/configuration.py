"""A configuration as a command line gives it: what the layers say, ready to be looked up in."""

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
    """All layers read: `root` to look up in, `layers` with its sources, `faults` so far.

    Looking up may find more faults: variables are put in place only then.
    """

    __slots__ = ("_values", "faults", "layers", "root")

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.faults = layers.faults
        self.root = Scope(layers.text, layers.faults)
        self._values: list[Value] | None = None

    def values(self) -> list[Value]:
        """Every value, in the order of the text."""
        if self._values is None:
            self._values = list(values(self.root, self.faults))
        return self._values

    def get(self, path: str, climb: bool = True) -> Found | None:
        """Look up a path of keys with dots, each from the record that the one before gave."""
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
        """Whether a layer is outside, of which nobody knows what it says."""
        return any(fault.kind == "outside" for fault in self.faults)

    @property
    def readable(self) -> bool:
        """Whether the program would get through the text."""
        return not any(fault.kind in UNREADABLE for fault in self.faults)


def resolve(
    items: Sequence[str], files: Files, holes: Sequence[Hole] = (), started: str = ""
) -> Configuration:
    """Read a command line's items: files, layers of them, assignments, in order.

    Never raises: what is wrong is in the configuration's `faults`. Paths are relative to the
    working directory of `files`; `started` is the folder that the program is started in, where that
    is another. `holes` are what is open in the items.
    """
    return resolve_items(read_items(items), files, started, holes)


def resolve_items(
    items: Sequence[Item], files: Files, started: str = "", holes: Sequence[Hole] = ()
) -> Configuration:
    """Read items whose kinds are known already."""
    layers = Layers(files, started)
    layers.add_all(items, holes)
    return Configuration(layers)
