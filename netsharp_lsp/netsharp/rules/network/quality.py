"""Rules about networks that are valid and yet seldom meant."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Finding, Note, RelativeSpan
from netsharp_lsp.netsharp.rules import LAYER, NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: Above this many parameters (400 MB as float32) a network is called large.
LARGE = 100_000_000
#: A connection is called dominant from this share of all parameters on.
DOMINANT = 0.8

#: Bundles whose contribution is a weighted sum of their source.
WEIGHTED_SUMS = ("all", "where", "convolve")


@rule("NS088", "warning", on=LAYER)
def hidden_softmax(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report softmax in a hidden layer."""
    written = layer.item.activation
    if layer.kind == "hidden" and written is not None and layer.activation == "softmax":
        message = f"softmax in hidden layer '{layer.name}' makes its nodes compete."
        yield Finding("NS088", RelativeSpan.of(layer.declaration, written), message)


@rule("NS090", "warning", on=LAYER)
def clipping_root(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report the activation sqrt, which has no gradient for negative sums."""
    written = layer.item.activation
    if written is not None and layer.activation == "sqrt":
        message = "sqrt clips negative sums to 0 and stops learning there."
        yield Finding("NS090", RelativeSpan.of(layer.declaration, written), message)


@rule("NS117", "hint", on=LAYER)
def linear_before_full(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report a linear hidden layer before a full one, unless it is a bottleneck."""
    if layer.kind != "hidden" or layer.activation != "linear" or not sums_only(layer):
        return
    full = next((bundle for bundle in network.readers(layer) if bundle.kind == "all"), None)
    if full is None or narrows(layer, full):
        return
    written = layer.item.activation
    place = layer.place if written is None else RelativeSpan.of(layer.declaration, written)
    message = (
        f"Linear hidden layer '{layer.name}' adds no capacity to the next full layer "
        f"'{full.layer.name}'."
    )
    note = Note(f"'{full.layer.name}' sums it up again here.", full.source_place)
    sources = (bundle.source for bundle in layer.bundles if bundle.source is not None)
    also = [one.place for one in (layer, full.layer, *sources)]
    yield Finding("NS117", place, message, [note], also=also)


def sums_only(layer: Layer) -> bool:
    """Return whether everything that feeds a layer is a weighted sum."""
    return bool(layer.bundles) and all(bundle.kind in WEIGHTED_SUMS for bundle in layer.bundles)


def narrows(layer: Layer, reader: Bundle) -> bool:
    """Return whether a layer is smaller than its sources together and than its reader."""
    sources = [bundle.source.nodes if bundle.source else None for bundle in layer.bundles]
    known = [nodes for nodes in sources if nodes is not None]
    if layer.nodes is None or reader.layer.nodes is None or len(known) < len(sources):
        return False
    return layer.nodes < sum(known) and layer.nodes < reader.layer.nodes


# Parameters.


@rule("NS110", "warning", on=NETWORK)
def many_parameters(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a network of more parameters than most machines train."""
    total = network.parameters.total
    if total <= LARGE:
        return
    largest, count = network.parameters.largest()
    share = 100 * count // total
    message = (
        f"{total // 1_000_000:,} million parameters; layer '{largest.name}' has {share} percent."
    )
    yield Finding("NS110", largest.size_place, message)


@rule("NS123", "hint", on=NETWORK)
def full_from_large_map(network: Network, _network: Network) -> Iterator[Finding]:
    """Report a full connection from a large feature map with most of the parameters."""
    heavy = network.parameters.heavy()
    total = network.parameters.total if heavy else 0
    for bundle, weights in heavy:
        if weights < DOMINANT * total or bundle.source is None:
            continue
        message = (
            f"'all' from the large feature map '{bundle.source.name}' dominates: {weights:,} of "
            f"{total:,} parameters; consider pooling first."
        )
        yield Finding("NS123", bundle.place, message)
