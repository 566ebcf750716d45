"""The order in which layers can be computed, sources first; knows no rule and no engine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network


def computing_order(network: Network) -> list[Layer]:
    """Return every first-named layer after its sources; layers on a cycle come last, as written.

    A layer follows as soon as the last of its sources is done; where one source completes several
    layers, they follow as written. The order is that of the text alone, so it is stable.
    """
    waiting = {layer: set(sources_of(layer)) for layer in network.layers.values()}
    feeds: dict[Layer, list[Layer]] = {layer: [] for layer in waiting}
    for layer, sources in waiting.items():
        for source in sources:
            feeds[source].append(layer)
    ready = [layer for layer, sources in waiting.items() if not sources]
    ordered: list[Layer] = []
    position = 0
    while position < len(ready):
        layer = ready[position]
        position += 1
        ordered.append(layer)
        for fed in feeds[layer]:
            waiting[fed].discard(layer)
            if not waiting[fed]:
                ready.append(fed)
    done = set(ordered)
    return ordered + [layer for layer in waiting if layer not in done]


def sources_of(layer: Layer) -> list[Layer]:
    """Return the existing layers that feed a layer, each once, without itself."""
    found = {bundle.source: None for bundle in layer.bundles if bundle.source is not None}
    return [source for source in found if source is not layer]
