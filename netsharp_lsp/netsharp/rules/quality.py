"""Rules about networks that are lawful and yet seldom what was meant."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Finding, Note, Place
from netsharp_lsp.netsharp.meaning.connections import consumers
from netsharp_lsp.netsharp.meaning.predicates import EVALUATION_LIMIT, count_edges
from netsharp_lsp.netsharp.meaning.sharing import shared_groups
from netsharp_lsp.netsharp.rules import rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: Above this many parameters (400 MB as float32) a network is called large.
LARGE = 100_000_000
#: A map is called large from this many nodes on, and a connection dominant from this share.
LARGE_MAP = 4096
DOMINANT = 0.8
#: Connections below this many weights dominate nothing worth a word.
DOMINANT_WEIGHTS = 1_000_000

#: Bundles whose contribution is a weighted sum of their source.
WEIGHTED_SUMS = ("all", "where", "convolve")


@rule("NS088", "warning", on="layer")
def hidden_softmax(layer: Layer, network: Network) -> Iterator[Finding]:
    """Softmax in a hidden layer."""
    written = layer.item.activation
    if layer.kind == "hidden" and written is not None and layer.activation == "softmax":
        message = f"softmax in hidden layer '{layer.name}' makes its nodes compete."
        yield Finding("NS088", Place.of(layer.declaration, written), message)


@rule("NS090", "warning", on="layer")
def clipping_root(layer: Layer, network: Network) -> Iterator[Finding]:
    """The activation sqrt, which has no gradient for negative sums."""
    written = layer.item.activation
    if written is not None and layer.activation == "sqrt":
        message = "sqrt clips negative sums to 0 and stops learning there."
        yield Finding("NS090", Place.of(layer.declaration, written), message)


@rule("NS117", "hint", on="network")
def linear_before_full(network: Network, _network: Network) -> Iterator[Finding]:
    """A linear hidden layer in front of a full one, unless it narrows what passes."""
    linear = [
        layer
        for layer in network.all_layers
        if layer.kind == "hidden" and layer.activation == "linear" and sums_only(layer)
    ]
    readers = consumers(network) if linear else {}
    for layer in linear:
        full = next((bundle for bundle in readers[layer] if bundle.kind == "all"), None)
        if full is None or narrows(layer, full):
            continue
        written = layer.item.activation
        place = layer.place if written is None else Place.of(layer.declaration, written)
        message = (
            f"Linear hidden layer '{layer.name}' adds no capacity to the next full layer "
            f"'{full.layer.name}'."
        )
        note = Note(f"'{full.layer.name}' sums it up again here.", full.source_place)
        yield Finding("NS117", place, message, [note])


def sums_only(layer: Layer) -> bool:
    """Whether everything that feeds a layer is a weighted sum."""
    return bool(layer.bundles) and all(bundle.kind in WEIGHTED_SUMS for bundle in layer.bundles)


def narrows(layer: Layer, reader: Bundle) -> bool:
    """Whether a layer is smaller than its sources together and than its reader."""
    sources = [bundle.source.nodes if bundle.source else None for bundle in layer.bundles]
    known = [nodes for nodes in sources if nodes is not None]
    if layer.nodes is None or reader.layer.nodes is None or len(known) < len(sources):
        return False
    return layer.nodes < sum(known) and layer.nodes < reader.layer.nodes


# Parameters.


def trained_numbers(bundle: Bundle, network: Network) -> int:
    """The parameters of a bundle, 0 while they are unknown or too many edges to count."""
    if bundle.kind == "where":
        edges = count_edges(bundle, network)
        return edges.count or 0 if edges is not None else 0
    if bundle.kind == "all":
        source = bundle.source.nodes if bundle.source is not None else None
        return (source or 0) * (bundle.layer.nodes or 0)
    geometry = bundle.geometry
    return 0 if geometry is None else geometry.kernels * geometry.weights_per_kernel


def parameters_by_layer(network: Network) -> dict[Layer, int]:
    """The parameters of each layer, shared ones counted where they come first."""
    groups = shared_groups(network, EVALUATION_LIMIT) if network.shares else None
    bundle_leader = groups.bundle_leader if groups else {}
    bias_leader = groups.bias_leader if groups else {}
    found = {}
    for layer in network.all_layers:
        own = bias_leader.get(layer, layer) is layer and layer.has_biases
        total = (layer.nodes or 0) if own else 0
        for bundle in layer.bundles:
            if bundle_leader.get(bundle, bundle) is bundle:
                total += trained_numbers(bundle, network)
        found[layer] = total
    return found


@rule("NS110", "warning", on="network")
def many_parameters(network: Network, _network: Network) -> Iterator[Finding]:
    """A network of more parameters than most machines train."""
    counts = parameters_by_layer(network)
    total = sum(counts.values())
    if total <= LARGE:
        return
    largest = max(counts, key=lambda layer: counts[layer])
    share = 100 * counts[largest] // total
    message = (
        f"{total // 1_000_000:,} million parameters; layer '{largest.name}' has {share} percent."
    )
    yield Finding("NS110", largest.size_place, message)


@rule("NS123", "hint", on="network")
def full_from_large_map(network: Network, _network: Network) -> Iterator[Finding]:
    """A full connection from a large feature map that holds most of the parameters."""
    large = [bundle for bundle in network.bundles() if reads_large_map(bundle)]
    if not large:
        return
    total = sum(parameters_by_layer(network).values())
    for bundle in large:
        weights = trained_numbers(bundle, network)
        if weights < DOMINANT_WEIGHTS or weights < DOMINANT * total:
            continue
        assert bundle.source is not None
        message = (
            f"'all' from the large feature map '{bundle.source.name}' dominates: {weights:,} of "
            f"{total:,} parameters; consider pooling first."
        )
        yield Finding("NS123", bundle.place, message)


def reads_large_map(bundle: Bundle) -> bool:
    """Whether a full connection reads the maps of a convolution."""
    source = bundle.source
    if bundle.kind != "all" or source is None or (source.nodes or 0) < LARGE_MAP:
        return False
    return any(feeder.kind == "convolve" for feeder in source.bundles)
