"""The outline of a specification: constants, layers with their connections, shares."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Symbol
from netsharp_lsp.netsharp.ide.navigation.flow import KINDS, summary
from netsharp_lsp.netsharp.ide.navigation.names import target_of
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.ide.answers import SymbolKind
    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer, Share
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Node

#: More entries of a tuple are counted, not shown.
ENTRIES = 6
#: More characters of a value that cannot be evaluated are cut off.
WIDTH = 40


def symbols_of(network: Network) -> list[Symbol]:
    """Return the outline in text order; items without a name are left out."""
    outline = _Outline(network)
    found = [outline.constant(one) for one in network.all_constants if one.name]
    found += [outline.layer(one) for one in network.all_layers if one.name]
    found += [outline.share(one) for one in network.shares if one.entries]
    return sorted(found, key=lambda symbol: symbol.start)


def value_in_brief(value: Value) -> str:
    """Return a value as Net# writes it; of a long tuple its first entries and their number."""
    if isinstance(value, tuple) and len(value) > ENTRIES:
        return f"[{', '.join(show(entry) for entry in value[:3])}, ... {len(value):,} values]"
    return show(value)


class _Outline:
    """Makes symbols of one network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.starts = network.specification.starts

    def constant(self, constant: Constant) -> Symbol:
        """Return a constant and its value."""
        detail = "" if constant.value is None else value_in_brief(constant.value)
        return self._declared(constant, detail, "constant")

    def layer(self, layer: Layer) -> Symbol:
        """Return a layer with its biases and connections."""
        detail, kind = summary(self.network, layer), KINDS[layer.kind]
        own = self._attributes(layer.declaration, layer.item.attributes)
        bundles = [self._bundle(bundle) for bundle in layer.bundles if bundle.source_name]
        children = sorted((*own, *bundles), key=lambda symbol: symbol.start)
        return self._declared(layer, detail, kind, tuple(children))

    def share(self, share: Share) -> Symbol:
        """Return a share; its name is the list of its entries."""
        base = self.starts[share.declaration]
        items = [entry.item for entry in share.entries]
        start, end = items[0].start, items[-1].end
        words = self.network.specification.text(share.declaration, start, end)
        name = " ".join(words.split())
        whole = (base, base + share.declaration.end)
        return Symbol(shortened(name), "share", "share", *whole, base + start, base + end)

    def _bundle(self, bundle: Bundle) -> Symbol:
        base, item = self.starts[bundle.declaration], bundle.item
        source = item.source
        detail = bundle.kind or bundle.item.kind_text
        if bundle.geometry is not None:
            detail += f" {show(bundle.geometry.output)}"
        return Symbol(
            f"from {bundle.source_name}",
            detail,
            "bundle",
            base + item.start,
            base + item.end,
            base + source.start,
            base + source.end,
            tuple(self._attributes(bundle.declaration, item.attributes)),
        )

    def _attributes(
        self, declaration: Declaration, attributes: Iterable[Attribute]
    ) -> list[Symbol]:
        base = self.starts[declaration]
        return [
            Symbol(
                one.name.text,
                self._words_of(declaration, one.value),
                "attribute",
                base + one.start,
                base + one.end,
                base + one.name.start,
                base + one.name.end,
            )
            for one in attributes
            if one.name.text
        ]

    def _words_of(self, declaration: Declaration, node: Node | None) -> str:
        if node is None:
            return ""
        end = min(node.end, node.start + 4 * WIDTH)
        words = self.network.specification.text(declaration, node.start, end).split()
        return shortened(" ".join(words))

    def _declared(
        self,
        one: Constant | Layer,
        detail: str,
        kind: SymbolKind,
        children: tuple[Symbol, ...] = (),
    ) -> Symbol:
        place = target_of(self.network, one)
        return Symbol(
            one.name,
            detail,
            kind,
            place.start,
            place.end,
            place.name_start,
            place.name_end,
            children,
        )


def shortened(text: str) -> str:
    """Return a text that fits a line of the outline."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 4]} ..."
