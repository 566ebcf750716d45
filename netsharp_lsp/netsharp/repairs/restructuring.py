"""Changes that move, remove or rename whole declarations, layers, bundles and constants.

What to change is decided by rules; this knows how a specification's text is built.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, RelativeSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Item


class WithLine(RelativeSpan):
    """A span with its line where it is alone on that, else with the blank before.

    The surroundings of a declaration change without it, so the line is determined on request.
    """

    __slots__ = ()

    def offsets(self, specification: Specification) -> tuple[int, int]:
        """Return absolute offsets in the text of a snapshot."""
        data = specification.data
        start, end = super().offsets(specification)
        first, after = start, end
        while first > 0 and data[first - 1 : first] in (b" ", b"\t"):
            first -= 1
        while data[after : after + 1] in (b" ", b"\t", b"\r"):
            after += 1
        if first > 0 and data[first - 1 : first] != b"\n":
            return first, end
        if data[after : after + 1] == b"\n":
            return first, after + 1
        return start, after


def removed(declaration: Declaration, start: int, end: int) -> Change:
    """Remove a span of a declaration, and the remains of its line."""
    return Change(WithLine(declaration, start, end), "")


def removed_item(declaration: Declaration, item: Item) -> Change:
    """Remove a constant or layer; its declaration too where it has nothing else."""
    if len(declaration.items) == 1:
        return removed(declaration, 0, declaration.end)
    return removed(declaration, item.start, item.end)


def turned(network: Network, layer: Layer, kind: str) -> tuple[Change, ...] | None:
    """Make a layer an output or a hidden one; None where its declaration has no keyword.

    A layer of a group moves to a declaration of its own after the group.
    """
    declaration = layer.declaration
    keyword = declaration.keyword
    if keyword is None:
        return None
    if declaration.group is None or len(declaration.items) == 1:
        return (Change(RelativeSpan.of(declaration, keyword), kind),)
    text = network.text(RelativeSpan.of(declaration, layer.item))
    end = RelativeSpan(declaration, declaration.end, declaration.end)
    cut = removed(declaration, layer.item.start, layer.item.end)
    return (cut, Change(end, f"{network.specification.line_end}{kind} {text}"))


def fresh_name(network: Network, name: str) -> str:
    """Return a name like ``name`` that no layer or constant has, in any case."""
    network.depend_on_all_names()
    number = 2
    while network.is_taken(f"{name}{number}"):
        number += 1
    return f"{name}{number}"


def renamed(named: Constant | Layer, new: str, network: Network) -> list[Change]:
    """Rename a constant or layer where it is declared and wherever it is used."""
    places = [named.place, *(RelativeSpan.of(*use) for use in network.uses_of(named))]
    return [Change(place, new) for place in places]
