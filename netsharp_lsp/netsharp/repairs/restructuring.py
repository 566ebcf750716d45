"""Changes that move, remove or rename whole declarations, layers, bundles and constants.

What to change is the rules' business; this knows how a specification's text is built.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.expressions import Uses
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Item


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


def renamed(named: Constant | Layer, new: str, uses: Uses) -> list[Change]:
    """Rename a constant or layer where it is declared and wherever it is used."""
    places = [named.place, *(Place.of(*use) for use in uses.of(named.item))]
    return [Change(place, new) for place in places]
