"""The flow of data between layers, one layer at a time: what feeds it, what it feeds."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Flow
from netsharp_lsp.netsharp.ide.navigation.names import target_of
from netsharp_lsp.netsharp.ide.places.node_paths import node_path_at
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import LayerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Range, SymbolKind
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

KINDS: dict[str, SymbolKind] = {"input": "input", "hidden": "hidden", "output": "output"}


def flow_at(network: Network, offset: int) -> Flow | None:
    """Return the layer that is named at an offset, else the one whose declaration contains it."""
    node_path = node_path_at(network.specification, offset)
    if node_path is None:
        return None
    name = node_path.name
    if name is None or node_path.role != "layer":
        item = node_path.holding(LayerItem)
        name = item.name if item is not None else None
    layer = network.layers.get(name.text) if name is not None else None
    return None if layer is None else flow_of(network, layer)


def feeds(network: Network, name: str, *, backwards: bool) -> list[Flow]:
    """Return the layers that a layer's values go to, or (`backwards`) come from.

    `places` are the sources named in the connections between the two.
    """
    layer = network.layers.get(name)
    if layer is None:
        return []
    found: dict[Layer, list[Range]] = {}
    bundles = layer.bundles if backwards else _readers(network, layer)
    for bundle in bundles:
        end = bundle.source if backwards else bundle.layer
        if end is not None:
            place = bundle.source_place.offsets(network.specification)
            found.setdefault(end, []).append(place)
    return [flow_of(network, end, tuple(places)) for end, places in found.items()]


def _readers(network: Network, layer: Layer) -> list[Bundle]:
    """Return the bundles that read a layer, its own included, in text order."""
    return sorted(
        network.reads_of(layer), key=lambda bundle: (bundle.layer.order, bundle.item.start)
    )


def flow_of(network: Network, layer: Layer, places: tuple[Range, ...] = ()) -> Flow:
    """Return a layer as a part of the flow."""
    detail = summary(network, layer)
    return Flow(target_of(network, layer), layer.name, detail, KINDS[layer.kind], places)


def summary(network: Network, layer: Layer) -> str:
    """Return a layer's shape and activation in a few words; its size as written if unknown."""
    shape = "auto" if layer.auto else ""
    if layer.shape is not None:
        shape = f"auto = {show(layer.shape[0])}" if layer.auto else show(layer.shape)
    elif layer.item.size is not None:
        shape = network.text(layer.size_place)
    return " ".join(word for word in (shape, layer.activation or "") if word)
