"""A Net# network in numbers: the JSON of `netsharp describe`; renders nothing.

Public contract: names and meanings of the fields are fixed. None means that a value does not apply
or is unknown, and a total over an unknown value is None too.
"""

from __future__ import annotations

from netsharp_engine.geometry import product
from netsharp_lsp.limits import CONDITION_EVALUATIONS
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from netsharp_lsp.netsharp.meaning.counts.sharing import SharedGroups
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

BYTES_PER_NUMBER = 4
#: The kinds whose edges have weights: one multiply-add each.
MULTIPLYING = ("all", "where", "convolve")


def describe_network(network: Network, limit: int = CONDITION_EVALUATIONS.most) -> dict[str, Any]:
    """Describe a network; one with faults is described as far as it is known.

    ``limit`` bounds the evaluations of all costly conditions; counts that would need more are
    unknown.
    """
    groups = shared_groups(network, limit)
    layers = [layer for layer in network.all_layers if layer.first]
    described = [describe_layer(layer, network, groups, limit) for layer in layers]
    parameters = total_parameters(layers, described, groups)
    bundles = [bundle for layer in described for bundle in layer["bundles"]]
    activations = total(layer["nodes"] for layer in described)
    numbers = total((parameters, activations))
    return {
        "version": 1,
        "layers": described,
        "parameters": parameters,
        "connections": total(bundle["connections"] for bundle in bundles),
        "multiply_adds": total(bundle["multiply_adds"] for bundle in bundles),
        "memory_bytes": None if numbers is None else BYTES_PER_NUMBER * numbers,
    }


def describe_layer(
    layer: Layer, network: Network, groups: SharedGroups, limit: int = CONDITION_EVALUATIONS.most
) -> dict[str, Any]:
    """Return one layer with its bundles; `biases` counts its own."""
    bundles = [describe_bundle(bundle, network, groups, limit) for bundle in layer.bundles]
    biases = layer.nodes if layer.has_biases else 0
    leader = groups.bias_leader.get(layer, layer)
    return {
        "name": layer.name,
        "kind": layer.kind,
        "shape": None if layer.shape is None else list(layer.shape),
        "nodes": layer.nodes,
        "activation": layer.activation,
        "biases": biases,
        "parameters": total((biases, *(bundle["parameters"] for bundle in bundles))),
        "shared_with": None if leader is layer else leader.name,
        "bundles": bundles,
    }


def describe_bundle(
    bundle: Bundle, network: Network, groups: SharedGroups, limit: int = CONDITION_EVALUATIONS.most
) -> dict[str, Any]:
    """Return one bundle; shared parameters are shown at each place."""
    geometry = bundle.geometry
    leader = groups.bundle_leader.get(bundle, bundle)
    connections = count_connections(bundle, network, limit)
    convolution = geometry is not None and bundle.kind == "convolve"
    return {
        "source": bundle.source_name,
        "kind": bundle.kind,
        "output": None if geometry is None else list(geometry.output),
        "kernels": geometry.kernels if geometry is not None and convolution else None,
        "weights_per_kernel": (
            geometry.weights_per_kernel if geometry is not None and convolution else None
        ),
        "parameters": count_parameters(bundle, connections),
        "connections": connections,
        "multiply_adds": connections if bundle.kind in MULTIPLYING else 0,
        "shared_with": None if leader is bundle else f"{leader.source_name} => {leader.layer.name}",
    }


def count_connections(
    bundle: Bundle, network: Network, limit: int = CONDITION_EVALUATIONS.most
) -> int | None:
    """Return the number of edges from real source cells, without padding and biases."""
    if bundle.kind == "where":
        edges = count_edges(bundle, network, limit)
        return None if edges is None else edges.count
    if bundle.kind == "all":
        source, destination = bundle.source, bundle.layer.nodes
        if source is None or source.nodes is None or destination is None:
            return None
        return source.nodes * destination
    if bundle.geometry is None:
        return None
    taps = product(tuple(axis.real_taps() for axis in bundle.geometry.axes))
    return taps * product(bundle.geometry.maps)


def count_parameters(bundle: Bundle, connections: int | None) -> int | None:
    """Return the trained numbers of a bundle: a weight per edge, or kernels with their biases."""
    if bundle.kind in ("all", "where"):
        return connections
    if bundle.geometry is None:
        return None
    return bundle.geometry.kernels * bundle.geometry.weights_per_kernel


def total_parameters(
    layers: list[Layer], described: list[dict[str, Any]], groups: SharedGroups
) -> int | None:
    """Return the parameters of all layers, shared ones counted once."""
    counts: list[int | None] = []
    for layer, description in zip(layers, described, strict=True):
        if groups.bias_leader.get(layer, layer) is layer:
            counts.append(description["biases"])
        for bundle, figures in zip(layer.bundles, description["bundles"], strict=True):
            if groups.bundle_leader.get(bundle, bundle) is bundle:
                counts.append(figures["parameters"])
    return total(counts)


def total(counts: Iterable[int | None]) -> int | None:
    """Return the sum; None if any term is."""
    known = 0
    for count in counts:
        if count is None:
            return None
        known += count
    return known
