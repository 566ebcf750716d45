"""Which layer feeds which, in one network, and where that runs in a circle.

Pure questions about a resolved network; it reports nothing and recurses nowhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network


def consumers(network: Network) -> dict[Layer, list[Bundle]]:
    """For each layer the bundles that read it, its own left out, in the order of the text."""
    found: dict[Layer, list[Bundle]] = {layer: [] for layer in network.all_layers}
    for bundle in network.bundles():
        if bundle.source is not None and bundle.source is not bundle.layer:
            found[bundle.source].append(bundle)
    return found


def circles(network: Network) -> list[list[Bundle]]:
    """Circles of layers that feed each other, each as its bundles in the direction of flow.

    Of circles that share a layer only the first is given, and a layer that feeds itself is
    none.  Each begins with the bundle of its first layer in the text.
    """
    readers = consumers(network)
    state: dict[Layer, int] = {}
    tangled: set[Layer] = set()
    found: list[list[Bundle]] = []
    for start in network.all_layers:
        if start in state:
            continue
        state[start] = 1
        path: list[Bundle] = []
        pending = [iter(readers[start])]
        while pending:
            bundle = next(pending[-1], None)
            if bundle is None:
                pending.pop()
                state[path.pop().layer if path else start] = 2
                continue
            layer, source = bundle.layer, bundle.source
            if layer not in state:
                state[layer] = 1
                path.append(bundle)
                pending.append(iter(readers[layer]))
            elif state[layer] == 1 and not {layer, source} & tangled:
                circle = _closed(path, bundle)
                tangled.update(edge.layer for edge in circle)
                found.append(_from_first(circle))
    return found


def _closed(path: list[Bundle], last: Bundle) -> list[Bundle]:
    """The end of a path, from the layer to which ``last`` leads back."""
    circle = [last]
    for bundle in reversed(path):
        if circle[-1].source is last.layer:
            break
        circle.append(bundle)
    return circle[::-1]


def _from_first(circle: list[Bundle]) -> list[Bundle]:
    """The same circle, turned so that its first layer in the text stands first."""
    first = min(range(len(circle)), key=lambda position: circle[position].layer.order)
    return circle[first:] + circle[:first]
