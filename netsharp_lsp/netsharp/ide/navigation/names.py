"""Where a name is declared and where it is used: layers, constants, parameters of conditions."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Highlight, Target
from netsharp_lsp.netsharp.ide.places.standing import occurrences, standing_at
from netsharp_lsp.netsharp.reading.expressions import names_in
from netsharp_lsp.netsharp.reading.syntax import BundleItem, ConstantItem, LayerItem, Predicate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.ide.places.standing import Standing
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Name

#: The roles of names that are declared somewhere.
DECLARED = ("layer", "constant", "parameter")


def definition_at(network: Network, offset: int) -> Target | None:
    """Where the layer, constant or parameter named at an offset is declared first."""
    standing = standing_at(network.specification, offset)
    return None if standing is None else definition_of(network, standing)


def definition_of(network: Network, standing: Standing) -> Target | None:
    """Where the name of a standing is declared first, None where nothing declares it."""
    name = standing.name
    if name is None:
        return None
    if standing.role == "parameter":
        return _parameter_target(standing, name)
    one = declared(network, standing.role, name.text)
    return None if one is None else target_of(network, one)


def declared(network: Network, role: str, name: str) -> Layer | Constant | None:
    """The layer or constant that a name means."""
    if role == "layer":
        return network.layers.get(name)
    return network.constants.get(name) if role == "constant" else None


def target_of(network: Network, one: Layer | Constant) -> Target:
    """Where a layer or constant stands; all of its declaration unless that is a group."""
    base = network.specification.starts[one.declaration]
    whole = one.item if one.declaration.group is not None else one.declaration
    name = one.item.name
    return Target(base + whole.start, base + whole.end, base + name.start, base + name.end)


def _parameter_target(standing: Standing, name: Name) -> Target | None:
    predicate = standing.holding(Predicate)
    first = predicate.source if predicate.source.text == name.text else predicate.destination
    return Target(*standing.span(predicate), *standing.span(first))


def places_of(network: Network, standing: Standing) -> Iterator[Highlight]:
    """Every place of the name of a standing, in the order of the text."""
    name = standing.name
    if name is None or standing.role not in DECLARED:
        return
    if standing.role == "parameter":
        yield from _parameter_places(standing, name.text)
        return
    for found in occurrences(network.specification, name.text):
        if found.role == standing.role and found.name is not None:
            yield Highlight(*found.span(found.name), "write" if is_declaration(found) else "read")


def is_declaration(standing: Standing) -> bool:
    """Whether a layer's or constant's name stands where it is declared."""
    holder = standing.path[-2]
    return isinstance(holder, LayerItem | ConstantItem) and holder.name is standing.leaf


def _parameter_places(standing: Standing, text: str) -> Iterator[Highlight]:
    predicate = standing.holding(Predicate)
    for declared_name in (predicate.source, predicate.destination):
        if declared_name.text == text:
            yield Highlight(*standing.span(declared_name), "write")
    names = sorted(names_in(predicate.condition), key=lambda name: name.start)
    for name in names:
        if name.text == text:
            yield Highlight(*standing.span(name), "read")


def references_at(network: Network, offset: int, declaration: bool) -> list[Range]:
    """Where the name at an offset is used, with its declarations if asked."""
    standing = standing_at(network.specification, offset)
    if standing is None:
        return []
    places = places_of(network, standing)
    return [(place.start, place.end) for place in places if declaration or place.kind == "read"]


def highlights_at(network: Network, offset: int) -> list[Highlight]:
    """Where the name at an offset stands; on `from` or a connection's kind, both of them."""
    standing = standing_at(network.specification, offset)
    if standing is None:
        return []
    return list(places_of(network, standing)) or _connection_words(standing, offset)


def _connection_words(standing: Standing, offset: int) -> list[Highlight]:
    bundle = standing.holding(BundleItem)
    if bundle is None or standing.leaf not in (bundle, bundle.keyword, bundle.predicate):
        return []
    words = [(bundle.keyword.start, bundle.keyword.end), bundle.kind_span]
    at = offset - standing.base
    if not any(start <= at <= end for start, end in words):
        return []
    base = standing.base
    return [Highlight(base + start, base + end, "read") for start, end in words if end > start]
