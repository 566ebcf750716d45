"""Changes that move, remove or rename whole declarations, layers, bundles and constants.

What to change is the rules' business; this knows how a specification's text is built.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Place
from netsharp_lsp.netsharp.syntax import (
    BundleItem,
    ConstantItem,
    LayerItem,
    Name,
    ShareItem,
    Tuple,
    names_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.model import Layer
    from netsharp_lsp.netsharp.network import Network
    from netsharp_lsp.netsharp.syntax import Declaration, Item, Node


def removed(network: Network, declaration: Declaration, start: int, end: int) -> Change:
    """Take a span out, with its line where nothing else stands there, else with the blank before.

    ``start`` and ``end`` are relative to the declaration, as the change's place is.
    """
    data = network.specification.data
    base = network.specification.starts[declaration]
    first, last = base + start, base + end
    while first > 0 and data[first - 1 : first] in (b" ", b"\t"):
        first -= 1
    behind = last
    while data[behind : behind + 1] in (b" ", b"\t", b"\r"):
        behind += 1
    begins = first == 0 or data[first - 1 : first] == b"\n"
    if begins and data[behind : behind + 1] == b"\n":
        last = behind + 1
    elif begins:
        first, last = base + start, behind
    return Change(Place(declaration, first - base, last - base), "")


def removed_item(network: Network, declaration: Declaration, item: Item) -> Change:
    """Take a constant or layer out; its declaration too where it holds nothing else."""
    if len(declaration.items) == 1:
        return removed(network, declaration, 0, declaration.end)
    return removed(network, declaration, item.start, item.end)


def turned(network: Network, layer: Layer, kind: str) -> tuple[Change, ...] | None:
    """Make a layer an output or a hidden one; None where its declaration has no keyword.

    A layer of a group leaves it for a declaration of its own behind the group.
    """
    declaration = layer.declaration
    keyword = declaration.keyword
    if keyword is None:
        return None
    if declaration.group is None or len(declaration.items) == 1:
        return (Change(Place.of(declaration, keyword), kind),)
    text = network.text(Place.of(declaration, layer.item))
    end = Place(declaration, declaration.end, declaration.end)
    cut = removed(network, declaration, layer.item.start, layer.item.end)
    return (cut, Change(end, f"{network.specification.line_end}{kind} {text}"))


def fresh_name(network: Network, name: str) -> str:
    """A name like ``name`` that nothing has, in whatever case."""
    if not network.taken_names:
        network.taken_names.update(known.lower() for known in (*network.constants, *network.layers))
    if name not in network.free_names:
        number = 2
        while f"{name}{number}".lower() in network.taken_names:
            number += 1
        network.free_names[name] = f"{name}{number}"
    return network.free_names[name]


def renamed_constant(network: Network, name: str, new: str) -> list[Change]:
    """Rename a constant wherever it is defined or used."""
    places = [constant.place for constant in network.all_constants if constant.name == name]
    for declaration, item in network.specification.items():
        places += [Place.of(declaration, use) for use in constant_uses(item) if use.text == name]
    return [Change(place, new) for place in places]


def renamed_layer(network: Network, name: str, new: str) -> list[Change]:
    """Rename a layer wherever it is declared, read or shared."""
    places: list[Place] = []
    for declaration, item in network.specification.items():
        names: list[Node] = []
        if isinstance(item, LayerItem):
            names = [item.name, *(bundle.source for bundle in item.bundles)]
        elif isinstance(item, ShareItem):
            names = [item.name] if item.source is None else [item.source, item.name]
        elif isinstance(item, BundleItem):
            names = [item.source]
        places += [
            Place.of(declaration, node)
            for node in names
            if isinstance(node, Name) and node.text == name
        ]
    return [Change(place, new) for place in places]


def constant_uses(item: Item) -> Iterator[Name]:
    """Every name in an item that means a constant; a condition's parameters do not."""
    if isinstance(item, ConstantItem):
        yield from names_in(item.value)
    elif isinstance(item, BundleItem):
        yield from bundle_uses(item)
    elif isinstance(item, LayerItem):
        if isinstance(item.size, Tuple):
            yield from names_in(item.size)
        for attribute in item.attributes:
            yield from names_in(attribute.value)
        for bundle in item.bundles:
            yield from bundle_uses(bundle)


def bundle_uses(item: BundleItem) -> Iterator[Name]:
    """Every name in a bundle that means a constant."""
    for attribute in item.attributes:
        yield from names_in(attribute.value)
    yield from condition_uses(item)


def condition_uses(item: BundleItem) -> Iterator[Name]:
    """Every name in a bundle's condition that means a constant."""
    predicate = item.predicate
    if predicate is not None:
        parameters = (predicate.source.text, predicate.destination.text)
        yield from (n for n in names_in(predicate.condition) if n.text not in parameters)
