"""The layers of a network as the compiler has them, for their memory on a device; no rule."""

from __future__ import annotations

from netsharp_engine.devices.footprint import REFUSALS, BundleShape, LayerShape
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.order import computing_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

_KINDS = {
    "all": "full",
    "where": "filtered",
    "convolve": "convolved",
    "max pool": "largest",
    "mean pool": "mean",
}


class DeviceNetwork:
    """The compiled part of a network: the number of features, each layer's shape, and the layer of
    the text that it comes from.
    """

    __slots__ = ("features", "layers", "shapes")

    def __init__(self, features: int, shapes: list[LayerShape], layers: list[Layer]) -> None:
        self.features = features
        self.shapes = shapes
        self.layers = layers


def refused(network: Network) -> list[tuple[Bundle | Layer, str]]:
    """Return the layers and bundles that are not compiled, and why."""
    found: list[tuple[Bundle | Layer, str]] = []
    for layer in network.all_layers:
        found += [
            (bundle, REFUSALS[bundle.kind]) for bundle in layer.bundles if bundle.kind in REFUSALS
        ]
        if layer.activation == "softmax" and layer.kind == "hidden":
            found.append((layer, REFUSALS["softmax"]))
    return found


def device_network(network: Network) -> DeviceNetwork | None:
    """Return the network as it is compiled; None where a size is unknown, or it is refused."""
    if not network.connected or (network.reads_ahead and network.circles) or refused(network):
        return None
    needed = _needed(network.outputs[0])
    # The features are operand 0, and each layer is one after it.
    operands: dict[Layer, int] = dict.fromkeys(network.inputs, 0)
    shapes: list[LayerShape] = []
    layers: list[Layer] = []
    for layer in computing_order(network):
        if layer.nodes is None:
            return None
        if not layer.trainable or layer not in needed:
            continue
        parts = []
        for bundle in layer.bundles:
            part = _part(bundle, operands, network)
            if part is None:
                return None
            if len(layer.bundles) > 1 and part.kind == "mean":
                edges = _taps(bundle)
                part = BundleShape(part.operand, part.size, "filtered", edges)
            elif len(layer.bundles) > 1 and part.kind == "largest":
                # It is computed before it is added.
                shapes.append(LayerShape(layer.name, layer.nodes, "linear", (part,)))
                layers.append(layer)
                part = BundleShape(len(shapes), layer.nodes, "filtered", layer.nodes)
            parts.append(part)
        shapes.append(LayerShape(layer.name, layer.nodes, layer.activation or "linear", parts))
        layers.append(layer)
        operands[layer] = len(shapes)
    features = sum(layer.nodes or 0 for layer in network.inputs)
    return DeviceNetwork(features, shapes, layers)


def _part(bundle: Bundle, operands: dict[Layer, int], network: Network) -> BundleShape | None:
    """Return the shape of a bundle; None where any of it is unknown."""
    kind, source, geometry = bundle.kind, bundle.source, bundle.geometry
    if source is None or source.nodes is None or source not in operands or kind not in _KINDS:
        return None
    operand, size = operands[source], source.nodes
    if kind == "all":
        return BundleShape(operand, size, "full")
    if kind == "where":
        edges = count_edges(bundle, network)
        if edges is None or edges.count is None:
            return None
        return BundleShape(operand, size, "filtered", edges.count)
    if geometry is None:
        return None
    named = _KINDS[str(kind)]
    return BundleShape(operand, size, named, 0, geometry.axes, geometry.sharing, geometry.maps)


def _taps(bundle: Bundle) -> int:
    """Return the number of pairs of a node and a value of a pool."""
    found = 1
    for axis in bundle.geometry.axes if bundle.geometry is not None else ():
        found *= axis.real_taps()
    return found


def _needed(output: Layer) -> set[Layer]:
    """Return the layers that lead to the output."""
    found: set[Layer] = set()
    waiting = [output]
    while waiting:
        layer = waiting.pop()
        if layer not in found:
            found.add(layer)
            waiting += [one.source for one in layer.bundles if one.source is not None]
    return found
