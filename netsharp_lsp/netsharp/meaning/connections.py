"""Which layer feeds which, in one network, and where the connections form a cycle.

Pure queries on a resolved network; it reports nothing and recurses nowhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer


#: The depth of a layer that the search has left, or of a missing one.
DONE = -1


def consumers(layers: Sequence[Layer]) -> dict[Layer, list[Bundle]]:
    """Return for each layer the bundles that read it, without its own, in text order."""
    found: dict[Layer, list[Bundle]] = {layer: [] for layer in layers}
    for bundle in (bundle for layer in layers for bundle in layer.bundles):
        if bundle.source is not None and bundle.source is not bundle.layer:
            found[bundle.source].append(bundle)
    return found


def circles(layers: Sequence[Layer]) -> list[list[Bundle]]:
    """Return cycles of layers that feed each other, each as its bundles in the direction of flow.

    Of cycles that share a layer only the first is returned, and a layer that feeds itself is not a
    cycle. Each begins with the bundle of its first layer in the text.
    """
    readers = consumers(layers)
    #: How deep each layer lies on the path, or `DONE`.
    depths: dict[Layer, int] = {}
    found: list[list[Bundle]] = []
    for start in layers:
        if start in depths:
            continue
        depths[start] = 0
        path: list[Bundle] = []
        #: For each layer of the path: how deep the last one up to it lies that is in a circle.
        tangled = [DONE]
        pending = [iter(readers[start])]
        while pending:
            bundle = next(pending[-1], None)
            if bundle is None:
                pending.pop()
                tangled.pop()
                depths[path.pop().layer if path else start] = DONE
                continue
            depth = depths.get(bundle.layer)
            if depth is None:
                path.append(bundle)
                depths[bundle.layer] = len(path)
                tangled.append(tangled[-1])
                pending.append(iter(readers[bundle.layer]))
            elif depth != DONE and tangled[-1] < depth:
                tangled[depth:] = range(depth, len(tangled))
                found.append(_from_first([*path[depth:], bundle]))
    return found


def _from_first(circle: list[Bundle]) -> list[Bundle]:
    """Return the same cycle, rotated so that its first layer in the text is first."""
    first = min(range(len(circle)), key=lambda position: circle[position].layer.order)
    return circle[first:] + circle[:first]
