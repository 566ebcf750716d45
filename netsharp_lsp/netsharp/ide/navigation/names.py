"""Declarations and uses of names: layers, constants, parameters of conditions."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Highlight, Target
from netsharp_lsp.netsharp.ide.places.node_paths import node_path_at, occurrences
from netsharp_lsp.netsharp.reading.expressions import names_in
from netsharp_lsp.netsharp.reading.syntax import BundleItem, ConstantItem, LayerItem, Predicate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Name

#: The roles of names that are declared somewhere.
DECLARED = ("layer", "constant", "parameter")


def definition_at(network: Network, offset: int) -> Target | None:
    """Return the first declaration of the layer, constant or parameter named at an offset."""
    node_path = node_path_at(network.specification, offset)
    return None if node_path is None else definition_of(network, node_path)


def definition_of(network: Network, node_path: NodePath) -> Target | None:
    """Return the first declaration of the name at a node, None where there is none."""
    name = node_path.name
    if name is None:
        return None
    if node_path.role == "parameter":
        return _parameter_target(node_path, name)
    one = declared(network, node_path.role, name.text)
    return None if one is None else target_of(network, one)


def declared(network: Network, role: str, name: str) -> Layer | Constant | None:
    """Return the layer or constant that a name means."""
    if role == "layer":
        return network.layers.get(name)
    return network.constants.get(name) if role == "constant" else None


def target_of(network: Network, one: Layer | Constant) -> Target:
    """Return the place of a layer or constant; all of its declaration unless that is a group."""
    base = network.specification.starts[one.declaration]
    whole = one.item if one.declaration.group is not None else one.declaration
    name = one.item.name
    return Target(base + whole.start, base + whole.end, base + name.start, base + name.end)


def _parameter_target(node_path: NodePath, name: Name) -> Target | None:
    predicate = node_path.holding(Predicate)
    first = predicate.source if predicate.source.text == name.text else predicate.destination
    return Target(*node_path.span(predicate), *node_path.span(first))


def places_of(network: Network, node_path: NodePath) -> Iterator[Highlight]:
    """Yield every occurrence of the name at a node, in text order."""
    name = node_path.name
    if name is None or node_path.role not in DECLARED:
        return
    if node_path.role == "parameter":
        yield from _parameter_places(node_path, name.text)
        return
    for found in occurrences(network.specification, name.text):
        if found.role == node_path.role and found.name is not None:
            yield Highlight(*found.span(found.name), "write" if is_declaration(found) else "read")


def is_declaration(node_path: NodePath) -> bool:
    """Return whether a layer's or constant's name is at its declaration."""
    holder = node_path.path[-2]
    return isinstance(holder, LayerItem | ConstantItem) and holder.name is node_path.leaf


def _parameter_places(node_path: NodePath, text: str) -> Iterator[Highlight]:
    predicate = node_path.holding(Predicate)
    for declared_name in (predicate.source, predicate.destination):
        if declared_name.text == text:
            yield Highlight(*node_path.span(declared_name), "write")
    names = sorted(names_in(predicate.condition), key=lambda name: name.start)
    for name in names:
        if name.text == text:
            yield Highlight(*node_path.span(name), "read")


def references_at(network: Network, offset: int, declaration: bool) -> list[Range]:
    """Return the uses of the name at an offset, with its declarations if requested."""
    node_path = node_path_at(network.specification, offset)
    if node_path is None:
        return []
    places = places_of(network, node_path)
    return [(place.start, place.end) for place in places if declaration or place.kind == "read"]


def highlights_at(network: Network, offset: int) -> list[Highlight]:
    """Return the occurrences of the name at an offset; on `from` or a kind, both words."""
    node_path = node_path_at(network.specification, offset)
    if node_path is None:
        return []
    return list(places_of(network, node_path)) or _connection_words(node_path, offset)


def _connection_words(node_path: NodePath, offset: int) -> list[Highlight]:
    bundle = node_path.holding(BundleItem)
    if bundle is None or node_path.leaf not in (bundle, bundle.keyword, bundle.predicate):
        return []
    words = [(bundle.keyword.start, bundle.keyword.end), bundle.kind_span]
    at = offset - node_path.base
    if not any(start <= at <= end for start, end in words):
        return []
    base = node_path.base
    return [Highlight(base + start, base + end, "read") for start, end in words if end > start]
