"""One step of a network from a text to the next: what depends on an edit is worked out anew.

The invariant: afterwards the network is what it would be were the text read for the first time.
Whatever a rule reads of another declaration must be found here as a reason to judge anew.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.constants import evaluate_constants, same_constant
from netsharp_lsp.netsharp.meaning.model import Share, ShareEntry
from netsharp_lsp.netsharp.meaning.resolving import Resolver, give_features
from netsharp_lsp.netsharp.meaning.units import Names, Unit, readings
from netsharp_lsp.netsharp.reading.syntax import ShareItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.netsharp.meaning.evaluate import Value
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.spelling import Spellings
    from netsharp_lsp.netsharp.reading.incremental import Delta
    from netsharp_lsp.netsharp.reading.syntax import Declaration

    #: What others may ask of a layer: see `facts`.
    Facts = tuple[object, ...]

#: What may be wrong with connections: an unknown source, a layer's own, none, one from below.
UNKNOWN, OWN, BARE, FORWARD = 1, 2, 4, 8


class Revision:
    """One edit of a network.  `stale` gathers the units that are to be resolved anew."""

    def __init__(self, network: Network, delta: Delta) -> None:
        self.network = network
        self.delta = delta
        #: Nothing was there before, so nothing can have changed.
        self.first = not network.units
        self.gone = [network.units[declaration] for declaration in delta.removed]
        self.come = [Unit(declaration) for declaration in delta.added]
        self.names = {unit: Names(unit) for unit in (*self.gone, *self.come)}
        self.stale: dict[Unit, None] = {}
        self.resolved: dict[Unit, None] = {}
        self.before = Before(network)

    def run(self, also: Iterable[Declaration]) -> list[Unit]:
        """Do it; return the units that were resolved anew."""
        network = self.network
        sought = network.seeks
        if not self.first:
            self.before.exchange(self.gone, self.come)
        renamed = self._exchange()
        if renamed or sought != network.seeks:
            network.forget_hints()
            self._take(network.asking)
        self._take(network.units[one] for one in also if one in network.units)
        self._take(self.come)
        self._resolve()
        pointed = set() if self.first else self._point()
        changed = False if self.first else self._follow()
        self._resolve_shares()
        self._look_for_troubles(pointed)
        network.forget_circles(all_of_them=renamed or changed)
        network.parameters.resolved(layer for unit in self.resolved for layer in unit.layers)
        for unit in self.gone:
            unit.part()
        network.subject = None
        return [*self.resolved]

    def _take(self, units: Iterable[Unit]) -> None:
        self.stale.update((unit, None) for unit in units if unit not in self.resolved)

    # Declarations that go and come.

    def _exchange(self) -> bool:
        """Put the new units in the place of the old; whether names came, went or moved."""
        network = self.network
        touched = {name for names in self.names.values() for name in names.constants}
        used = {name for name in touched if name in network.using}
        for unit in self.gone:
            del network.units[unit.declaration]
            self._enter(unit, out=True)
            network.asking.discard(unit)
            network.troubles.pop(unit, None)
            network.parameters.gone(unit.layers)
        for unit in self.come:
            network.units[unit.declaration] = unit
            self._enter(unit, out=False)
        moved = [exchange_layers(self), exchange_constants(self)]
        self._note_unknown()
        if not self.first:
            shared = shared_names(self.gone) ^ shared_names(self.come)
            for name in shared | (used ^ {name for name in touched if name in network.using}):
                self._take(network.declaring[name])
            if any(moved):
                for names in self.names.values():
                    for name in names.declared:
                        self._take(network.declaring[name])
        return any(moved)

    def _enter(self, unit: Unit, *, out: bool) -> None:
        """Enter a unit's names into the network's indexes, or take them out."""
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

    def _note_unknown(self) -> None:
        network = self.network
        for names in self.names.values():
            for name in (*names.constants, *names.declared):
                unknown = name in network.using and name not in network.constants
                known = network.unknown_constants
                (known.add if unknown else known.discard)(name)
            for name in (*names.sources, *names.declared):
                unknown = name in network.reading and name not in network.layers
                known = network.unknown_layers
                (known.add if unknown else known.discard)(name)

    # Working out.

    def _resolve(self) -> None:
        """Work the stale units out, and every constant that refers to theirs."""
        network = self.network
        waiting = self._waiting()
        self.stale.update(dict.fromkeys(waiting))
        if not self.first:
            self.before.keep(unit for unit in self.stale if unit not in self.names)
        for unit in self.stale:
            unit.faults = ()
            network.asking.discard(unit)
        if waiting or network.circular:
            self._evaluate(waiting)
        for unit in self.stale:
            network.subject = unit
            resolver = Resolver(unit.declaration, network, unit.report)
            for layer in unit.layers:
                resolver.size(layer)
                resolver.bundles(layer)
        self._give_features()
        self.resolved.update(self.stale)
        self.stale.clear()

    def _waiting(self) -> set[Unit]:
        """The stale units with constants, and all those whose constants refer to them."""
        network = self.network
        found = {unit for unit in self.stale if unit.constants}
        gone = () if self.resolved else self.gone
        pending = [one.name for unit in (*found, *gone) for one in unit.constants]
        while pending:
            for unit in network.using[pending.pop()]:
                if unit.constants and unit not in found:
                    found.add(unit)
                    pending.extend(constant.name for constant in unit.constants)
        return found

    def _evaluate(self, waiting: set[Unit]) -> None:
        network = self.network
        units = ((circle, network.units.get(circle[0].declaration)) for circle in network.circular)
        network.circular[:] = [
            circle for circle, unit in units if unit is not None and unit not in waiting
        ]
        constants = [constant for unit in waiting for constant in unit.constants]
        evaluate_constants(sorted(constants, key=lambda constant: constant.order), network)

    def _give_features(self) -> None:
        """Work out `auto` inputs if any input changed; whose size is another is stale again."""
        network = self.network
        units = (*self.stale, *(() if self.resolved else self.gone))
        if not any(layer.kind == "input" for unit in units for layer in unit.layers):
            return
        autos = [layer for layer in network.inputs if layer.auto]
        if not self.first:
            owners = (network.units[layer.declaration] for layer in autos)
            self.before.keep(unit for unit in owners if unit not in self.names)
        give_features(network.inputs, network.context)

    # What follows from it.

    def _point(self) -> set[Unit]:
        """Lead connections from names that were declared anew to the layers that now have them."""
        network = self.network
        found = set()
        for name in {layer.name for unit in self.names for layer in unit.layers}:
            for unit in network.reading[name]:
                found.add(unit)
                for bundle in (bundle for layer in unit.layers for bundle in layer.bundles):
                    if bundle.source_name == name:
                        bundle.source = network.layers.get(name)
        return found

    def _follow(self) -> bool:
        """Resolve what refers to something that changed; whether connections did."""
        network = self.network
        connections = False
        while True:
            for name in self.before.changed_names(self.resolved):
                for index in (network.declaring, network.reading, network.using, network.sharing):
                    self._take(index[name])
            for name in self.before.changed_readings(self.gone, self.come):
                connections = True
                self._take(network.declaring[name])
                self._take(unit for unit in network.reading[name] if unit.has_filter)
            if not self.stale:
                return connections
            self._resolve()

    def _resolve_shares(self) -> None:
        """Work out the shares that are new, and those that name a layer resolved anew."""
        network = self.network
        names = {one.name for unit in (*self.gone, *self.resolved) for one in unit.layers}
        units = {unit for name in names for unit in network.sharing[name]} if names else set()
        units.update(self.resolved)
        units = {unit for unit in units if unit.declaration.kind == "share"}
        if not units and not any(unit.share for unit in self.gone):
            return
        for unit in units:
            unit.share = share_of(unit.declaration, network.layers)
            self.resolved[unit] = None
        shares = (network.units[one].share for one in network.specification.declarations)
        network.shares[:] = [share for share in shares if share is not None]
        network.parameters.shares_changed()

    def _look_for_troubles(self, pointed: set[Unit]) -> None:
        troubles = self.network.troubles
        for unit in (*self.resolved, *pointed):
            found = troubles_of(unit)
            if found:
                troubles[unit] = found
            else:
                troubles.pop(unit, None)


class Before:
    """What others knew of units before they changed."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._constants: dict[str, Value | None] = {}
        self._facts: dict[str, Facts | None] = {}
        self._readings: dict[str, list[object]] = {}
        self._kept: dict[Unit, list[tuple[str, object]]] = {}

    def exchange(self, gone: Iterable[Unit], come: Iterable[Unit]) -> None:
        """Keep what is known of units that go, and of names that those declare which come."""
        for unit in gone:
            self._keep_names(unit)
            for name, reading in readings(unit):
                self._readings.setdefault(name, []).append(reading)
        for unit in come:
            self._keep_names(unit)

    def keep(self, units: Iterable[Unit]) -> None:
        """Keep what is known of units that stay."""
        for unit in units:
            if unit not in self._kept:
                self._keep_names(unit)
                self._kept[unit] = [*readings(unit)]

    def _keep_names(self, unit: Unit) -> None:
        network = self.network
        for constant in unit.constants:
            known = network.constants.get(constant.name)
            if known is not None:
                self._constants.setdefault(constant.name, known.value)
        for layer in unit.layers:
            self._facts.setdefault(layer.name, facts(network.layers.get(layer.name)))

    def changed_names(self, units: Iterable[Unit]) -> set[str]:
        """The names that no longer stand for what they stood for."""
        network = self.network
        constants = {one.name for unit in units for one in unit.constants} | {*self._constants}
        changed = {one for one in constants if not same_constant(one, self._constants, network)}
        for name, known in self._facts.items():
            if known != facts(network.layers.get(name)):
                changed.add(name)
        return changed

    def changed_readings(self, gone: Iterable[Unit], come: Iterable[Unit]) -> set[str]:
        """The layers that are no longer read as they were."""
        now: dict[str, list[object]] = {}
        for unit in come:
            for name, reading in readings(unit):
                now.setdefault(name, []).append(reading)
        changed = {
            name for name in {*now, *self._readings} if now.get(name) != self._readings.get(name)
        }
        for unit, before in self._kept.items():
            pairs = zip(before, readings(unit), strict=True)
            changed.update(old[0] for old, new in pairs if old != new)
        return changed


def facts(layer: Layer | None) -> Facts | None:
    """What others may ask of a layer, all but where it stands and who reads it."""
    if layer is None:
        return None
    maps = any(bundle.kind == "convolve" for bundle in layer.bundles)
    return layer.kind, layer.auto, layer.shape, layer.origin, maps


def troubles_of(unit: Unit) -> int:
    """What is wrong with the connections of a unit."""
    found = 0
    for layer in unit.layers:
        if layer.trainable and not layer.bundles:
            found |= BARE
        for bundle in layer.bundles:
            if bundle.source is None:
                found |= UNKNOWN
            elif bundle.source is layer:
                found |= OWN
            elif bundle.source.order > layer.order:
                found |= FORWARD
    return found


def share_of(declaration: Declaration, layers: Mapping[str, Layer]) -> Share:
    """The share that a declaration is."""
    items = (item for item in declaration.items if isinstance(item, ShareItem))
    entries = (ShareEntry(declaration, item, layers.get(item.name.text)) for item in items)
    return Share(declaration, tuple(entries))


def shared_names(units: Iterable[Unit]) -> set[str]:
    """The layers that share anything by some declarations."""
    shares = (unit.declaration for unit in units if unit.declaration.kind == "share")
    items = (item for declaration in shares for item in declaration.items)
    return {item.name.text for item in items if isinstance(item, ShareItem)}


def exchange_layers(revision: Revision) -> bool:
    """Put new layers in the place of old ones; whether names or kinds came, went or moved."""
    network = revision.network
    old = [layer for unit in revision.gone for layer in unit.layers]
    new = [layer for unit in revision.come for layer in unit.layers]
    if not (old or new):
        return False
    network.forget_kinds({layer.kind for layer in (*old, *new)})
    at = old[0].order if old else _following(revision, "layers", len(network.all_layers))
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
    _respell(network, network.layer_spellings, names ^ network.layers.keys())
    return True


def exchange_constants(revision: Revision) -> bool:
    """Put new constants in the place of old ones; whether names came, went or moved."""
    network = revision.network
    old = [constant for unit in revision.gone for constant in unit.constants]
    new = [constant for unit in revision.come for constant in unit.constants]
    if not (old or new):
        return False
    at = old[0].order if old else _following(revision, "constants", len(network.all_constants))
    network.all_constants[at : at + len(old)] = new
    names = {*network.constants}
    network.constants.clear()
    for order, constant in enumerate(network.all_constants):
        constant.order = order
        network.constants.setdefault(constant.name, constant)
    _respell(network, network.constant_spellings, names ^ network.constants.keys())
    return [one.name for one in old] != [one.name for one in new]


def _following(revision: Revision, what: str, end: int) -> int:
    """The number of the first layer or constant behind the edit, `end` where there is none."""
    declarations = revision.network.specification.declarations
    if revision.first:
        return end
    for at in range(revision.delta.position + len(revision.come), len(declarations)):
        found = getattr(revision.network.units[declarations[at]], what)
        if found:
            order: int = found[0].order
            return order
    return end


def _respell(network: Network, spellings: Spellings, changed: set[str]) -> None:
    """Enter names that came and take out those that went."""
    both = network.constant_spellings, network.layer_spellings
    for name in changed:
        lowered = name.lower()
        if name in spellings.spelt(lowered):
            spellings.remove(name)
        else:
            spellings.add(name)
        if len({*both[0].spelt(lowered), *both[1].spelt(lowered)}) > 1:
            network.clashing.add(lowered)
        else:
            network.clashing.discard(lowered)
