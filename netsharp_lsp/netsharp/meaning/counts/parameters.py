"""The number of parameters of each layer, kept up to date; reports nothing."""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.counts.predicates import EVALUATION_LIMIT, count_edges
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.meaning.counts.surroundings import Values, Whole
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer


#: The nodes from which on a map is large, and the weights from which on a reader is heavy.
LARGE_MAP = 4096
HEAVY = 1_000_000


class Parameters:
    """The parameters of a network's layers.

    Layers that were resolved again are counted at the next query.
    """

    __slots__ = ("_heavy", "_network", "_own", "_shared", "_total", "_waiting")

    def __init__(self, network: Whole) -> None:
        self._network = network
        #: The parameters of each layer as if it shared none.
        self._own: dict[Layer, int] = {}
        self._heavy: dict[Layer, tuple[tuple[Bundle, int], ...]] = {}
        self._total = 0
        self._waiting: dict[Layer, None] = {}
        #: What each layer has in common with an earlier one; None while not computed.
        self._shared: dict[Layer, int] | None = None

    def resolved(self, layers: Iterable[Layer]) -> None:
        """Note layers that were resolved again."""
        self._waiting.update(dict.fromkeys(layers))

    def removed(self, layers: Iterable[Layer]) -> None:
        """Note layers that were removed."""
        for layer in layers:
            self._total -= self._own.pop(layer, 0)
            self._waiting.pop(layer, None)
            self._heavy.pop(layer, None)

    def shares_changed(self) -> None:
        """Note that the groups that share have to be computed again."""
        self._shared = None

    @property
    def total(self) -> int:
        """Return the parameters of the network, shared ones counted once."""
        self._count()
        return self._total - sum(self._in_common().values())

    def largest(self) -> tuple[Layer, int]:
        """Return the first layer of those with the most parameters, and its number."""
        self._count()
        common = self._in_common()
        own = self._own
        layers = self._network.all_layers
        if not common:
            largest = max(layers, key=own.__getitem__)
            return largest, own[largest]
        largest = max(layers, key=lambda layer: own[layer] - common.get(layer, 0))
        return largest, own[largest] - common.get(largest, 0)

    def heavy(self) -> list[tuple[Bundle, int]]:
        """Return full connections from large maps that have many weights, and their numbers."""
        self._count()
        return [entry for entries in self._heavy.values() for entry in entries]

    def _count(self) -> None:
        for layer in self._waiting:
            number = parameters_of(layer, self._network)
            self._total += number - self._own.get(layer, 0)
            self._own[layer] = number
            heavy = tuple((b, trained_numbers(b, self._network)) for b in heavy_bundles(layer))
            if heavy:
                self._heavy[layer] = heavy
            else:
                self._heavy.pop(layer, None)
        self._waiting.clear()

    def _in_common(self) -> dict[Layer, int]:
        if self._shared is None:
            self._shared = {}
            if self._network.shares:
                self._compare()
        return self._shared

    def _compare(self) -> None:
        """Count members that share: their parameters are their leader's."""
        assert self._shared is not None
        groups = shared_groups(self._network, EVALUATION_LIMIT)
        for bundle, leader in groups.bundle_leader.items():
            if bundle is not leader:
                number = trained_numbers(bundle, self._network)
                self._shared[bundle.layer] = self._shared.get(bundle.layer, 0) + number
        for layer, first in groups.bias_leader.items():
            if layer is not first and layer.has_biases:
                self._shared[layer] = self._shared.get(layer, 0) + (layer.nodes or 0)


def parameters_of(layer: Layer, network: Values) -> int:
    """Return the parameters of a layer as if it shared none; unknown ones count as none."""
    biases = (layer.nodes or 0) if layer.has_biases else 0
    return biases + sum(trained_numbers(bundle, network) for bundle in layer.bundles)


def heavy_bundles(layer: Layer) -> Iterator[Bundle]:
    """Yield the full connections of a layer that read the maps of a convolution, many by many."""
    for bundle in layer.bundles:
        source = bundle.source
        if bundle.kind != "all" or source is None or (source.nodes or 0) < LARGE_MAP:
            continue
        weights = (source.nodes or 0) * (layer.nodes or 0)
        if weights >= HEAVY and any(feeder.kind == "convolve" for feeder in source.bundles):
            yield bundle


def trained_numbers(bundle: Bundle, network: Values) -> int:
    """Return the parameters of a bundle, 0 while they are unknown or too many edges to count."""
    if bundle.kind == "where":
        edges = count_edges(bundle, network)
        return edges.count or 0 if edges is not None else 0
    if bundle.kind == "all":
        source = bundle.source.nodes if bundle.source is not None else None
        return (source or 0) * (bundle.layer.nodes or 0)
    geometry = bundle.geometry
    return 0 if geometry is None else geometry.kernels * geometry.weights_per_kernel
