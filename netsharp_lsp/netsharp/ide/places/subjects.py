"""The subject of the words at a place: which layer, bundle, attribute or constant of a network.

It adds meaning to the node there and does not describe it; costs one declaration.
"""

from __future__ import annotations

from bisect import bisect_right

from netsharp_lsp.netsharp.ide.places.standing import comment_at, standing_at
from netsharp_lsp.netsharp.reading.syntax import (
    Attribute,
    Auto,
    BundleItem,
    ConstantItem,
    Keyword,
    LayerItem,
    Number,
    Predicate,
    ShareItem,
    Tuple,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.ide.places.standing import Standing
    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Node


class Subject:
    """The subject at a place; `start` and `end` are offsets in the text.

    `kind`: "keyword", "layer", "constant", "activation", "auto", "size", "bundle", "attribute",
    "value", "function", "parameter" (of a condition), "one" (of a shared bias), "comment". `text`
    is the word as written. `layer` and `bundle` are those it is in, `named` the layer or constant
    that a name means (None: no such). `dimension`: which entry of a tuple.
    """

    __slots__ = (
        "attribute",
        "bundle",
        "dimension",
        "end",
        "kind",
        "layer",
        "named",
        "predicate",
        "start",
        "text",
    )

    def __init__(self, kind: str, start: int, end: int, text: str) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.layer: Layer | None = None
        self.bundle: Bundle | None = None
        self.named: Layer | Constant | None = None
        self.attribute: Attribute | None = None
        self.predicate: Predicate | None = None
        self.dimension: int | None = None


def index_at(specification: Specification, offset: int) -> int:
    """Return the last declaration that starts at or before an offset, by number; -1 for none."""
    return bisect_right(specification.offsets, offset) - 1


def layer_of(network: Network, item: LayerItem) -> Layer | None:
    """Return the layer that an item declares, also where it is not the first of its name."""
    layer = network.layers.get(item.name.text)
    if layer is not None and layer.item is item:
        return layer
    return next((other for other in network.all_layers if other.item is item), None)


def constant_of(network: Network, item: ConstantItem) -> Constant | None:
    """Return the constant that an item declares, also where it is not the first of its name."""
    constant = network.constants.get(item.name.text)
    if constant is not None and constant.item is item:
        return constant
    return next((other for other in network.all_constants if other.item is item), None)


def subject_at(network: Network, offset: int) -> Subject | None:
    """Return the subject at an offset, or else right before it; None between subjects."""
    specification = network.specification
    comment = comment_at(specification, offset)
    if comment is not None:
        return Subject("comment", comment.start, comment.end, "")
    standing = standing_at(specification, offset)
    if standing is None:
        return None
    kind, start, end = _kind_and_span(standing, offset - standing.base)
    if not kind:
        return None
    base = standing.base
    text = specification.data[base + start : base + end].decode("utf-8", "replace")
    subject = Subject(kind, base + start, base + end, text)
    _place(subject, standing, network)
    if kind in ("layer", "constant"):
        subject.named = _meant(kind, subject, standing, network)
    return subject


def _kind_and_span(standing: Standing, at: int) -> tuple[str, int, int]:
    """Return the kind of the node at a place of its declaration, and its bytes there."""
    leaf = standing.leaf
    role = standing.role
    bundle = standing.holding(BundleItem)
    kind_span = bundle.kind_span if bundle is not None and bundle.kind_text else (0, -1)
    if isinstance(leaf, Keyword) and bundle is not None:
        role = "bundle"
    elif isinstance(leaf, BundleItem | Predicate) and kind_span[0] <= at <= kind_span[1]:
        return ("bundle", *kind_span)
    elif isinstance(leaf, Auto):
        role = "auto"
    elif isinstance(leaf, Number) and isinstance(standing.path[-2], ShareItem):
        role = "one"
    if role:
        return role, leaf.start, leaf.end
    return _value_or_size(standing)


def _value_or_size(standing: Standing) -> tuple[str, int, int]:
    """Return a part of an attribute's value or of a size that is not a name."""
    path = standing.path
    attribute, layer = standing.holding(Attribute), standing.holding(LayerItem)
    if attribute is not None:
        node = _entry(standing) or attribute.value
        return ("value", node.start, node.end) if attribute.value in path else ("", 0, 0)
    if layer is not None and layer.size is not None and layer.size in path:
        return "size", layer.size.start, layer.size.end
    return "", 0, 0


def _entry(standing: Standing) -> Node | None:
    """Return the entry of an attribute's tuple that contains the place."""
    attribute = standing.holding(Attribute)
    path = standing.path
    if attribute is None or not isinstance(attribute.value, Tuple) or attribute.value not in path:
        return None
    inside = path[path.index(attribute.value) + 1 :]
    return inside[0] if inside else None


def _place(subject: Subject, standing: Standing, network: Network) -> None:
    """Note the layer, bundle, attribute and condition that a subject is in."""
    item, bundle = standing.holding(LayerItem), standing.holding(BundleItem)
    subject.attribute = standing.holding(Attribute)
    subject.predicate = standing.holding(Predicate)
    subject.layer = layer_of(network, item) if item is not None else None
    if subject.layer is not None and bundle is not None:
        subject.bundle = next((b for b in subject.layer.bundles if b.item is bundle), None)
    entry = _entry(standing)
    if entry is not None and subject.attribute is not None:
        value = subject.attribute.value
        subject.dimension = value.items.index(entry) if isinstance(value, Tuple) else None


def _meant(
    kind: str, subject: Subject, standing: Standing, network: Network
) -> Layer | Constant | None:
    """Return the layer or constant that a name declares or means."""
    holder = standing.path[-2]
    if isinstance(holder, LayerItem) and standing.leaf is holder.name:
        return subject.layer
    if isinstance(holder, ConstantItem) and standing.leaf is holder.name:
        return constant_of(network, holder)
    names = network.layers if kind == "layer" else network.constants
    return names.get(subject.text)
