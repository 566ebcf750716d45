"""The subject of the words at a place: which layer, bundle, attribute or constant of a network.

It adds meaning to the node there and does not describe it; costs one declaration.
"""

from __future__ import annotations

from bisect import bisect_right

from netsharp_lsp.netsharp.ide.places.node_paths import comment_at, node_path_at
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
    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
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
    node_path = node_path_at(specification, offset)
    if node_path is None:
        return None
    kind, start, end = _kind_and_span(node_path, offset - node_path.base)
    if not kind:
        return None
    base = node_path.base
    text = specification.data[base + start : base + end].decode("utf-8", "replace")
    subject = Subject(kind, base + start, base + end, text)
    _place(subject, node_path, network)
    if kind in ("layer", "constant"):
        subject.named = _meant(kind, subject, node_path, network)
    return subject


def _kind_and_span(node_path: NodePath, at: int) -> tuple[str, int, int]:
    """Return the kind of the node at a place of its declaration, and its bytes there."""
    leaf = node_path.leaf
    role = node_path.role
    bundle = node_path.holding(BundleItem)
    kind_span = bundle.kind_span if bundle is not None and bundle.kind_text else (0, -1)
    if isinstance(leaf, Keyword) and bundle is not None:
        role = "bundle"
    elif isinstance(leaf, BundleItem | Predicate) and kind_span[0] <= at <= kind_span[1]:
        return ("bundle", *kind_span)
    elif isinstance(leaf, Auto):
        role = "auto"
    elif isinstance(leaf, Number) and isinstance(node_path.path[-2], ShareItem):
        role = "one"
    if role:
        return role, leaf.start, leaf.end
    return _value_or_size(node_path)


def _value_or_size(node_path: NodePath) -> tuple[str, int, int]:
    """Return a part of an attribute's value or of a size that is not a name."""
    path = node_path.path
    attribute, layer = node_path.holding(Attribute), node_path.holding(LayerItem)
    if attribute is not None:
        node = _entry(node_path) or attribute.value
        return ("value", node.start, node.end) if attribute.value in path else ("", 0, 0)
    if layer is not None and layer.size is not None and layer.size in path:
        return "size", layer.size.start, layer.size.end
    return "", 0, 0


def _entry(node_path: NodePath) -> Node | None:
    """Return the entry of an attribute's tuple that contains the place."""
    attribute = node_path.holding(Attribute)
    path = node_path.path
    if attribute is None or not isinstance(attribute.value, Tuple) or attribute.value not in path:
        return None
    inside = path[path.index(attribute.value) + 1 :]
    return inside[0] if inside else None


def _place(subject: Subject, node_path: NodePath, network: Network) -> None:
    """Note the layer, bundle, attribute and condition that a subject is in."""
    item, bundle = node_path.holding(LayerItem), node_path.holding(BundleItem)
    subject.attribute = node_path.holding(Attribute)
    subject.predicate = node_path.holding(Predicate)
    subject.layer = layer_of(network, item) if item is not None else None
    if subject.layer is not None and bundle is not None:
        subject.bundle = next((b for b in subject.layer.bundles if b.item is bundle), None)
    entry = _entry(node_path)
    if entry is not None and subject.attribute is not None:
        value = subject.attribute.value
        subject.dimension = value.items.index(entry) if isinstance(value, Tuple) else None


def _meant(
    kind: str, subject: Subject, node_path: NodePath, network: Network
) -> Layer | Constant | None:
    """Return the layer or constant that a name declares or means."""
    holder = node_path.path[-2]
    if isinstance(holder, LayerItem) and node_path.leaf is holder.name:
        return subject.layer
    if isinstance(holder, ConstantItem) and node_path.leaf is holder.name:
        return constant_of(network, holder)
    names = network.layers if kind == "layer" else network.constants
    return names.get(subject.text)
