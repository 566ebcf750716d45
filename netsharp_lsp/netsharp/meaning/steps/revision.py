"""One step of a network from a text to the next: what depends on an edit is resolved again.

The invariant: afterwards the network is what it would be were the text read for the first time.
Whatever a rule reads of another declaration must be found here as a reason to check again.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.model import Share, ShareEntry
from netsharp_lsp.netsharp.meaning.network import BARE, FORWARD, OWN, UNKNOWN, Network
from netsharp_lsp.netsharp.meaning.steps.before import Before
from netsharp_lsp.netsharp.meaning.steps.constants import evaluate_constants
from netsharp_lsp.netsharp.meaning.steps.exchange import Exchange
from netsharp_lsp.netsharp.meaning.steps.resolving import Resolver, give_features
from netsharp_lsp.netsharp.reading.incremental import Delta
from netsharp_lsp.netsharp.reading.syntax import ShareItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp.meaning.doubts import Doubts
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.units import Unit
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration


def resolve(specification: Specification, context: Context) -> Network:
    """Return the network that a text describes."""
    network = Network(specification, context)
    Revision(network, Delta(0, (), specification.declarations)).run(())
    return network


def revise(
    network: Network,
    specification: Specification,
    doubts: Doubts,
    delta: Delta,
    also: Iterable[Declaration] = (),
) -> list[Unit]:
    """Update a network to the next version; return the units to be checked again.

    ``also`` are declarations to be checked again whatever the edit did to them.
    """
    network.specification = specification
    network.evaluated = 0
    network.doubts = doubts
    return Revision(network, delta).run(also)


class Revision:
    """One edit of a network. `stale` has the units that are to be resolved again."""

    def __init__(self, network: Network, delta: Delta) -> None:
        self.network = network
        #: Nothing was there before, so nothing can have changed.
        self.first = not network.units
        self.exchange = Exchange(network, delta)
        self.stale: dict[Unit, None] = {}
        self.resolved: dict[Unit, None] = {}
        self.before = Before(network)

    @property
    def removed(self) -> list[Unit]:
        """Return the units that were removed."""
        return self.exchange.removed

    @property
    def added(self) -> list[Unit]:
        """Return the units that were added."""
        return self.exchange.added

    def run(self, also: Iterable[Declaration]) -> list[Unit]:
        """Apply it; return the units that were resolved again."""
        network = self.network
        sought = network.seeks
        if not self.first:
            self.before.exchange(self.removed, self.added)
        self._take(self.exchange.make())
        if self.exchange.renamed or sought != network.seeks:
            network.forget_hints()
            self._take(network.asking)
        if sought != network.seeks:
            self._take(network.resigned)
        self._take(network.units[one] for one in also if one in network.units)
        self._take(self.added)
        self._resolve()
        pointed = set() if self.first else self._point()
        changed = False if self.first else self._follow()
        self._resolve_shares()
        self._find_faulty_connections(pointed)
        network.forget_circles(all_of_them=self.exchange.renamed or changed)
        network.parameters.resolved(layer for unit in self.resolved for layer in unit.layers)
        for unit in self.removed:
            unit.part()
        network.subject = None
        return [*self.resolved]

    def _take(self, units: Iterable[Unit]) -> None:
        self.stale.update((unit, None) for unit in units if unit not in self.resolved)

    # Resolving.

    def _resolve(self) -> None:
        """Resolve the stale units, and evaluate every constant that refers to theirs."""
        network = self.network
        waiting = self._waiting()
        self.stale.update(dict.fromkeys(waiting))
        if not self.first:
            self.before.keep(unit for unit in self.stale if unit not in self.exchange.names)
        for unit in self.stale:
            unit.faults = ()
            network.asking.discard(unit)
            network.resigned.discard(unit)
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
        """Return the stale units with constants, and all those whose constants refer to them."""
        network = self.network
        found = {unit for unit in self.stale if unit.constants}
        removed = () if self.resolved else self.removed
        pending = [one.name for unit in (*found, *removed) for one in unit.constants]
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
        """Resolve `auto` inputs if any input changed; units with a changed size are stale again."""
        network = self.network
        units = (*self.stale, *(() if self.resolved else self.removed))
        if not any(layer.kind == "input" for unit in units for layer in unit.layers):
            return
        autos = [layer for layer in network.inputs if layer.auto]
        if not self.first:
            owners = (network.units[layer.declaration] for layer in autos)
            self.before.keep(unit for unit in owners if unit not in self.exchange.names)
        give_features(network.inputs, network.context)

    # What follows from it.

    def _point(self) -> set[Unit]:
        """Connect bundles to the layers that now have the names they read; return their units."""
        network = self.network
        found = set()
        for name in {layer.name for unit in self.exchange.names for layer in unit.layers}:
            for unit in network.reading[name]:
                found.add(unit)
                for layer in unit.layers:
                    for bundle in layer.bundles_from(name):
                        bundle.source = network.layers.get(name)
        return found

    def _follow(self) -> bool:
        """Resolve the units that refer to something changed; return whether connections did."""
        network = self.network
        connections = False
        while True:
            for name in self.before.changed_names(self.resolved):
                for index in (network.declaring, network.reading, network.using, network.sharing):
                    self._take(index[name])
            for name in self.before.changed_readings(self.removed, self.added):
                connections = True
                self._take(network.declaring[name])
                self._take(unit for unit in network.reading[name] if unit.has_filter)
            if not self.stale:
                return connections
            self._resolve()

    def _resolve_shares(self) -> None:
        """Resolve the shares that are new, and those that name a layer resolved again."""
        network = self.network
        names = {one.name for unit in (*self.removed, *self.resolved) for one in unit.layers}
        units = {unit for name in names for unit in network.sharing[name]} if names else set()
        units.update(self.resolved)
        units = {unit for unit in units if unit.declaration.kind == "share"}
        if not units and not any(unit.share for unit in self.removed):
            return
        for unit in units:
            unit.share = share_of(unit.declaration, network.layers)
            self.resolved[unit] = None
        shares = (network.units[one].share for one in network.specification.declarations)
        network.shares[:] = [share for share in shares if share is not None]
        network.parameters.shares_changed()

    def _find_faulty_connections(self, pointed: set[Unit]) -> None:
        troubles = self.network.troubles
        for unit in (*self.resolved, *pointed):
            found = troubles_of(unit)
            if found:
                troubles[unit] = found
            else:
                troubles.pop(unit, None)


def troubles_of(unit: Unit) -> int:
    """Return the kinds of faults of a unit's connections, as bits."""
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
    """Return the share of a declaration."""
    items = (item for item in declaration.items if isinstance(item, ShareItem))
    entries = (ShareEntry(declaration, item, layers.get(item.name.text)) for item in items)
    return Share(declaration, tuple(entries))
