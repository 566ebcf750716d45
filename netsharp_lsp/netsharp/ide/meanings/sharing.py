"""The shares of a layer with others, in sentences; for one layer, only its own are compared."""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.counts.predicates import EVALUATION_LIMIT
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: The most others that are named.
MOST_NAMED = 4


def is_shared(layer: Layer, network: Network) -> bool:
    """Return whether any share names a layer."""
    return any(entry.layer is layer for share in network.shares for entry in share.entries)


def sharing_of(layer: Layer, network: Network) -> list[str]:
    """Return the shares of a layer, one sentence for its biases and for each of its bundles."""
    if not is_shared(layer, network):
        return []
    groups = shared_groups(network, EVALUATION_LIMIT)
    found = []
    for group in groups.layers:
        if layer in group:
            names = [other.name for other in group if other is not layer]
            found.append(f"biases with {_listed(names)}; counted once in the whole")
    for bundle in layer.bundles:
        found += _weights_shared(bundle, groups.bundles)
    return found


def bundle_sharing(bundle: Bundle, network: Network) -> list[str]:
    """Return the shares of one bundle."""
    if not is_shared(bundle.layer, network):
        return []
    return list(_weights_shared(bundle, shared_groups(network, EVALUATION_LIMIT).bundles))


def _weights_shared(bundle: Bundle, groups: list[list[Bundle]]) -> Iterator[str]:
    for group in groups:
        if bundle in group:
            others = (other for other in group if other is not bundle)
            names = _listed([f"{other.source_name} => {other.layer.name}" for other in others])
            yield f"weights from {bundle.source_name} with {names}; counted once in the whole"


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
