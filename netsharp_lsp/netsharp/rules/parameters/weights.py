"""Rules on initial values: how many weights and biases are needed, and which are numbers."""

from __future__ import annotations

from math import isfinite

from netsharp_lsp.netsharp.arithmetic import counted, kernel_weights
from netsharp_lsp.netsharp.findings import Finding, Note, RelativeSpan
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.values.attributes import POOLS, WEIGHTED_KINDS
from netsharp_lsp.netsharp.rules import BUNDLE, LAYER, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Given, Layer
    from netsharp_lsp.netsharp.meaning.network import Network


def needed_weights(bundle: Bundle, network: Network) -> tuple[int, str] | None:
    """Return the number of weights of a bundle and its arithmetic; None while unknown."""
    source, layer = bundle.source, bundle.layer
    if bundle.geometry is not None and bundle.kind == "convolve":
        total = bundle.geometry.kernels * bundle.geometry.weights_per_kernel
        return total, f"{kernel_weights(bundle.geometry)} values, the bias of each kernel last."
    if source is None or source.nodes is None or layer.nodes is None:
        return None
    if bundle.kind == "all":
        total = source.nodes * layer.nodes
        nodes = counted(layer.nodes, "node")
        return total, f"{nodes} of '{layer.name}' x {source.nodes} of '{source.name}' = {total}."
    edges = count_edges(bundle, network) if bundle.kind == "where" else None
    if edges is None or edges.count is None:
        return None
    return edges.count, f"The condition is true for {counted(edges.count, 'pair')} of nodes."


@rule("NS096", "error", on=BUNDLE)
def weight_count(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report initial weights that are not one per edge, or per cell and bias of each kernel."""
    given = bundle.given.get("Weights")
    if given is None or not isinstance(given.value, tuple) or bundle.kind not in WEIGHTED_KINDS:
        return
    needed = needed_weights(bundle, network)
    if needed is None or needed[0] == len(given.value):
        return
    place = bundle.value_place("Weights")
    message = f"Weights has {counted(len(given.value), 'value')}; this connection has {needed[0]}."
    yield Finding("NS096", place, message, [Note(needed[1], place)])


@rule("NS097", "error", on=LAYER)
def not_finite(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report initial values that are infinite or NaN, which only bytes and long tuples contain."""
    values = [bundle.given.get("Weights") for bundle in layer.bundles]
    for given in (*values, layer.given.get("Biases")):
        if given is None or not isinstance(given.value, tuple) or given.attribute.value is None:
            continue
        faulty = [
            number
            for number, entry in enumerate(given.value)
            if isinstance(entry, float) and not isfinite(entry)
        ]
        if faulty:
            message = (
                f"{given.form.name} must be finite numbers; value {faulty[0]} (from 0) is "
                f"{given.value[faulty[0]]}."
            )
            yield Finding(
                "NS097", RelativeSpan.of(layer.declaration, given.attribute.value), message
            )


@rule("NS098", "error", on=LAYER)
def bias_count(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report initial biases that are not one per node."""
    given = layer.given.get("Biases")
    if given is None or not isinstance(given.value, tuple) or not layer.has_biases:
        return
    if layer.nodes is None or layer.nodes == len(given.value):
        return
    message = (
        f"Biases has {counted(len(given.value), 'value')}; "
        f"the layer has {counted(layer.nodes, 'node')}."
    )
    note = Note(f"'{layer.name}' is declared here.", layer.size_place)
    yield Finding("NS098", biases_place(layer, given), message, [note])


@rule("NS099", "error", on=LAYER)
def no_biases(layer: Layer, network: Network) -> Iterator[Finding]:
    """Report biases on a layer that only kernels feed."""
    given = layer.given.get("Biases")
    if given is None or layer.has_biases or not layer.bundles:
        return
    if any(bundle.kind is None for bundle in layer.bundles):
        return
    place = RelativeSpan.of(layer.declaration, given.attribute.name)
    yield Finding(
        "NS099", place, f"Layer '{layer.name}' has no biases of its own {why_none(layer)}."
    )


def why_none(layer: Layer) -> str:
    """Return why a layer without full or filtered bundles has no biases."""
    if any(bundle.kind == "convolve" for bundle in layer.bundles):
        return "(convolution keeps them in its kernels)"
    if all(bundle.kind in POOLS for bundle in layer.bundles):
        return "(pooling trains nothing)"
    return "(pooling and response norm train nothing)"


def biases_place(layer: Layer, given: Given) -> RelativeSpan:
    """Return the place of the values of Biases."""
    return RelativeSpan.of(layer.declaration, given.attribute.value or given.attribute.name)
