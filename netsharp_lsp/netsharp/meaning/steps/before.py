"""The state of declarations before an edit, to find what changed for those that depend on them."""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.steps.constants import same_constant
from netsharp_lsp.netsharp.meaning.units import readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.units import Unit
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

    #: The facts of a layer that others depend on: see `facts`.
    Facts = tuple[object, ...]


class Before:
    """The properties of units that others depend on, before they changed."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._constants: dict[str, Value | None] = {}
        self._facts: dict[str, Facts | None] = {}
        self._readings: dict[str, list[object]] = {}
        self._kept: dict[Unit, list[tuple[str, object]]] = {}

    def exchange(self, removed: Iterable[Unit], added: Iterable[Unit]) -> None:
        """Record the units that are removed, and the names that added units declare."""
        for unit in removed:
            self._keep_names(unit)
            for name, reading in readings(unit):
                self._readings.setdefault(name, []).append(reading)
        for unit in added:
            self._keep_names(unit)

    def keep(self, units: Iterable[Unit]) -> None:
        """Record units that stay."""
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
        """Return the names that refer to something else than before."""
        network = self.network
        constants = {one.name for unit in units for one in unit.constants} | {*self._constants}
        changed = {one for one in constants if not same_constant(one, self._constants, network)}
        for name, known in self._facts.items():
            if known != facts(network.layers.get(name)):
                changed.add(name)
        return changed

    def changed_readings(self, removed: Iterable[Unit], added: Iterable[Unit]) -> set[str]:
        """Return the layers whose readers changed."""
        now: dict[str, list[object]] = {}
        for unit in added:
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
    """Return the properties of a layer that others use, except its place and its readers."""
    if layer is None:
        return None
    maps = any(bundle.kind == "convolve" for bundle in layer.bundles)
    return layer.kind, layer.auto, layer.shape, layer.origin, maps
