"""Replaces the units of an edit: in lists, dictionaries and indexes of a network.

It resolves nothing; it returns the units that depend on names that were added, removed or moved.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.units import Names, Unit
from netsharp_lsp.netsharp.reading.syntax import ShareItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.spelling import Spellings
    from netsharp_lsp.netsharp.reading.incremental import Delta


class Exchange:
    """One splice of declarations: the units that are removed and those that are added.

    `renamed`: whether names, or kinds of layers, were added, removed or moved.
    """

    def __init__(self, network: Network, delta: Delta) -> None:
        self.network = network
        self.removed = [network.units[declaration] for declaration in delta.removed]
        self.added = [Unit(declaration) for declaration in delta.added]
        self.names = {unit: Names.of(unit) for unit in (*self.removed, *self.added)}
        self.renamed = False
        self._after = delta.position + len(self.added)

    def make(self) -> Iterator[Unit]:
        """Replace them; return the other units to be resolved again because of names."""
        network = self.network
        first = not network.units
        used = set() if first else self._constants_used()
        meant = {} if first else self._meant()
        for unit in self.removed:
            self._forget(unit)
        for unit in self.added:
            network.units[unit.declaration] = unit
            self._enter(unit, out=False)
        moved = [self._exchange_layers(), self._exchange_constants()]
        self.renamed = any(moved)
        self._note_unknown()
        if first:
            return iter(())
        names = used ^ self._constants_used() | (shared_by(self.removed) ^ shared_by(self.added))
        if self.renamed:
            names.update(name for one in self.names.values() for name in one.declared)
        return self._depending(names, self._newly_first(meant))

    def _depending(self, names: set[str], overtaken: set[str]) -> Iterator[Unit]:
        network = self.network
        for name in names:
            yield from network.declaring[name]
        for name in overtaken:
            for index in (network.reading, network.using, network.sharing):
                yield from index[name]
        for name, units in self.network.following.items():
            if any(name in one.used for one in self.names.values()):
                yield from units

    def _meant(self) -> dict[str, tuple[Constant | None, Layer | None]]:
        """Return what the names of the added units referred to."""
        network = self.network
        names = (name for unit in self.added for name in self.names[unit].declared)
        return {name: (network.constants.get(name), network.layers.get(name)) for name in names}

    def _newly_first(self, meant: dict[str, tuple[Constant | None, Layer | None]]) -> set[str]:
        """Return the names whose first declaration is now another, while the former remains."""
        network = self.network
        return {
            name
            for name, pair in meant.items()
            for one in pair
            if one is not None
            and one.declaration in network.units
            and one not in (network.constants.get(name), network.layers.get(name))
        }

    def _forget(self, unit: Unit) -> None:
        network = self.network
        del network.units[unit.declaration]
        self._enter(unit, out=True)
        network.asking.discard(unit)
        network.resigned.discard(unit)
        network.troubles.pop(unit, None)
        network.parameters.removed(unit.layers)
        for name, units in [*network.following.items()]:
            units.discard(unit)
            if not units:
                del network.following[name]

    def _enter(self, unit: Unit, *, out: bool) -> None:
        """Add a unit's names to the network's indexes, or remove them."""
        network, names = self.network, self.names[unit]
        lists = (
            (network.declaring, names.declared),
            (network.reading, names.sources),
            (network.using, names.constants),
            (network.sharing, names.shared),
        )
        for index, mentioned in lists:
            change = index.remove if out else index.add
            for name in mentioned:
                change(name, unit)

    def _constants_used(self) -> set[str]:
        """Return the names in the units that are used as constants anywhere."""
        names = (name for one in self.names.values() for name in one.constants)
        return {name for name in names if name in self.network.using}

    def _note_unknown(self) -> None:
        network = self.network
        constants, layers = network.unknown_constants, network.unknown_layers
        for names in self.names.values():
            for name in (*names.constants, *names.declared):
                unknown = name in network.using and name not in network.constants
                (constants.add if unknown else constants.discard)(name)
            for name in (*names.sources, *names.declared):
                unknown = name in network.reading and name not in network.layers
                (layers.add if unknown else layers.discard)(name)

    # Lists and dictionaries in the order of the text.

    def _exchange_layers(self) -> bool:
        network = self.network
        old = [layer for unit in self.removed for layer in unit.layers]
        new = [layer for unit in self.added for layer in unit.layers]
        if not (old or new):
            return False
        network.forget_kinds({layer.kind for layer in (*old, *new)})
        at = old[0].order if old else self._following("layers", len(network.all_layers))
        network.all_layers[at : at + len(old)] = new
        if [(one.name, one.kind) for one in old] == [(one.name, one.kind) for one in new]:
            for before, after in zip(old, new, strict=True):
                after.order, after.first = before.order, before.first
                if after.first:
                    network.layers[after.name] = after
            return False
        names = {*network.layers}
        network.layers.clear()
        for order, layer in enumerate(network.all_layers):
            layer.order = order
            layer.first = network.layers.setdefault(layer.name, layer) is layer
        self._respell(network.layer_spellings, names ^ network.layers.keys())
        return True

    def _exchange_constants(self) -> bool:
        network = self.network
        old = [constant for unit in self.removed for constant in unit.constants]
        new = [constant for unit in self.added for constant in unit.constants]
        if not (old or new):
            return False
        at = old[0].order if old else self._following("constants", len(network.all_constants))
        network.all_constants[at : at + len(old)] = new
        names = {*network.constants}
        network.constants.clear()
        for order, constant in enumerate(network.all_constants):
            constant.order = order
            network.constants.setdefault(constant.name, constant)
        self._respell(network.constant_spellings, names ^ network.constants.keys())
        return [one.name for one in old] != [one.name for one in new]

    def _following(self, what: str, end: int) -> int:
        """Return the number of the first layer or constant after the edit, or `end`."""
        if not end:
            return 0
        declarations = self.network.specification.declarations
        for at in range(self._after, len(declarations)):
            found = getattr(self.network.units[declarations[at]], what)
            if found:
                order: int = found[0].order
                return order
        return end

    def _respell(self, spellings: Spellings, changed: set[str]) -> None:
        """Add names that are new and remove those that are gone."""
        network = self.network
        both = network.constant_spellings, network.layer_spellings
        for name in changed:
            lowered = name.lower()
            if name in spellings.spelt(lowered):
                spellings.remove(name)
            else:
                spellings.add(name)
            clashing = len({*both[0].spelt(lowered), *both[1].spelt(lowered)}) > 1
            (network.clashing.add if clashing else network.clashing.discard)(lowered)


def shared_by(units: Iterable[Unit]) -> set[str]:
    """Return the layers whose parameters units share."""
    shares = (unit.declaration for unit in units if unit.declaration.kind == "share")
    items = (item for declaration in shares for item in declaration.items)
    return {item.name.text for item in items if isinstance(item, ShareItem)}
