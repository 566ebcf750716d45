"""What stands at a place of a Net# text: which word, and of which layer, bundle or attribute.

Every feature that begins with a cursor starts here.  It looks into one declaration only and says
nothing about what it finds.
"""

from __future__ import annotations

from bisect import bisect_right

from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    Binary,
    BundleItem,
    Call,
    ConstantItem,
    Index,
    LayerItem,
    Name,
    ShareItem,
    Tuple,
    Unary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        Comment,
        Declaration,
        Expression,
        Node,
        Predicate,
        Specification,
    )


class Subject:
    """What stands at a place; `start` and `end` are offsets in the text.

    `kind`: "keyword", "layer", "constant", "activation", "auto", "size", "bundle", "attribute",
    "value", "function", "parameter" (of a condition), "one" (of a shared bias), "comment".
    `text` is the word as written.  `layer` and `bundle` are those it stands in, `named` the layer
    or constant that a name means (None: no such).  `dimension`: which entry of a tuple.
    """

    __slots__ = (
        "attribute",
        "bundle",
        "declaration",
        "dimension",
        "end",
        "expression",
        "kind",
        "layer",
        "named",
        "predicate",
        "start",
        "text",
    )

    def __init__(self, kind: str, declaration: Declaration | None, start: int, end: int) -> None:
        self.kind = kind
        self.declaration = declaration
        self.start = start
        self.end = end
        self.text = ""
        self.layer: Layer | None = None
        self.bundle: Bundle | None = None
        self.named: Layer | Constant | None = None
        self.attribute: Attribute | None = None
        self.predicate: Predicate | None = None
        self.expression: Expression | None = None
        self.dimension: int | None = None


def index_at(specification: Specification, offset: int) -> int:
    """The last declaration that starts at or before an offset, by number; -1 for none."""
    return bisect_right(specification.offsets, offset) - 1


def declaration_at(specification: Specification, offset: int) -> Declaration | None:
    """The declaration that holds an offset, its end included."""
    found = specification.declaration_at(offset)
    if found is None or offset > specification.starts[found] + found.end:
        return None
    return found


def comment_at(specification: Specification, offset: int) -> Comment | None:
    """The comment that a cursor stands in; behind one that ends with its line is inside, too."""
    found = specification.comments.around(offset - 1)
    if found is not None and found.kind in ("block", "html") and offset == found.end:
        return None
    return found


def layer_of(network: Network, item: LayerItem) -> Layer | None:
    """The layer that an item declares, also where it is not the first of its name."""
    layer = network.layers.get(item.name.text)
    if layer is not None and layer.item is item:
        return layer
    return next((other for other in network.all_layers if other.item is item), None)


def constant_of(network: Network, item: ConstantItem) -> Constant | None:
    """The constant that an item declares, also where it is not the first of its name."""
    constant = network.constants.get(item.name.text)
    if constant is not None and constant.item is item:
        return constant
    return next((other for other in network.all_constants if other.item is item), None)


def subject_at(network: Network, offset: int) -> Subject | None:
    """What stands at an offset, or else right before it; None between things."""
    specification = network.specification
    comment = specification.comments.around(offset) or comment_at(specification, offset)
    if comment is not None:
        return Subject("comment", None, comment.start, comment.end)
    for place in (offset, offset - 1):
        declaration = declaration_at(specification, place)
        if declaration is not None:
            found = _Finder(network, declaration, place).found()
            if found is not None:
                return found
    return None


class _Finder:
    """Looks for what stands at one offset of one declaration."""

    def __init__(self, network: Network, declaration: Declaration, offset: int) -> None:
        self.network = network
        self.declaration = declaration
        self.base = network.specification.starts[declaration]
        self.at = offset - self.base
        self.subject = Subject("", declaration, 0, 0)

    def covers(self, node: Node | None) -> bool:
        """Whether a node holds the offset."""
        return node is not None and node.start <= self.at < node.end

    def say(self, kind: str, node: Node) -> Subject:
        """The subject, now that it is found."""
        subject = self.subject
        subject.kind = kind
        subject.start, subject.end = self.base + node.start, self.base + node.end
        text = self.network.specification.data[subject.start : subject.end]
        subject.text = text.decode("utf-8", "replace")
        return subject

    def found(self) -> Subject | None:
        """What stands there: a name or value first, else a keyword."""
        keyword = self.declaration.keyword
        if keyword is not None and self.covers(keyword):
            return self.say("keyword", keyword)
        for item in self.declaration.items:
            if self.covers(item):
                found = self.in_item(item)
                if found is not None:
                    return found
        words = (word for word in self.declaration.keywords if self.covers(word))
        return next((self.say("keyword", word) for word in words), None)

    def in_item(self, item: Node) -> Subject | None:
        """What stands in an item of the declaration."""
        if isinstance(item, ConstantItem):
            return self.in_constant(item)
        if isinstance(item, LayerItem):
            return self.in_layer(item)
        if isinstance(item, ShareItem):
            return self.in_share(item)
        return None

    def in_constant(self, item: ConstantItem) -> Subject | None:
        """A constant's name or value."""
        constant = constant_of(self.network, item)
        if self.covers(item.name):
            self.subject.named = constant
            return self.say("constant", item.name)
        return self.in_expression(item.value)

    def in_share(self, item: ShareItem) -> Subject | None:
        """An entry of a share."""
        for part in (item.source, item.name):
            if part is not None and self.covers(part):
                if isinstance(part, Name):
                    return self.layer_name(part)
                return self.say("one", part)
        return None

    def layer_name(self, name: Name) -> Subject:
        """The use of a layer's name."""
        self.subject.named = self.network.layers.get(name.text)
        return self.say("layer", name)

    def in_layer(self, item: LayerItem) -> Subject | None:
        """A part of a layer."""
        layer = self.subject.layer = layer_of(self.network, item)
        if self.covers(item.name):
            self.subject.named = layer
            return self.say("layer", item.name)
        if item.activation is not None and self.covers(item.activation):
            return self.say("activation", item.activation)
        if item.size is not None and self.covers(item.size):
            if isinstance(item.size, Auto):
                return self.say("auto", item.size)
            return self.in_expression(item.size) or self.say("size", item.size)
        for number, bundle in enumerate(item.bundles):
            if self.covers(bundle):
                bundles = layer.bundles if layer is not None else []
                self.subject.bundle = bundles[number] if number < len(bundles) else None
                return self.in_bundle(bundle)
        return self.in_attributes(item.attributes)

    def in_bundle(self, item: BundleItem) -> Subject | None:
        """A part of a connection."""
        start, end = item.kind_span
        if self.covers(item.keyword) or start <= self.at < end:
            found = self.say("bundle", item.keyword)
            if not self.covers(item.keyword):
                found.start, found.end = self.base + start, self.base + end
                found.text = item.kind_text
            return found
        if self.covers(item.source):
            return self.layer_name(item.source)
        predicate = item.predicate
        if predicate is not None and self.covers(predicate):
            self.subject.predicate = predicate
            for name in (predicate.source, predicate.destination):
                if self.covers(name):
                    return self.say("parameter", name)
            return self.in_expression(predicate.condition)
        return self.in_attributes(item.attributes)

    def in_attributes(self, attributes: Iterable[Attribute]) -> Subject | None:
        """An attribute's name or value."""
        for attribute in attributes:
            if self.covers(attribute):
                self.subject.attribute = attribute
                if self.covers(attribute.name):
                    return self.say("attribute", attribute.name)
                return self.in_value(attribute.value)
        return None

    def in_value(self, value: Expression | None) -> Subject | None:
        """A value of an attribute; its entry where it is a tuple."""
        if value is None or not self.covers(value):
            return None
        if isinstance(value, Tuple):
            for dimension, entry in enumerate(value.items):
                if self.covers(entry):
                    self.subject.dimension = dimension
                    return self.in_expression(entry) or self.say("value", entry)
        return self.in_expression(value) or self.say("value", value)

    def in_expression(self, expression: Expression | None) -> Subject | None:
        """A name or a function inside an expression."""
        self.subject.expression = expression
        while expression is not None and self.covers(expression):
            if isinstance(expression, Name):
                return self.name(expression)
            if isinstance(expression, Call) and self.covers(expression.function):
                return self.say("function", expression.function)
            expression = next(filter(self.covers, _parts(expression)), None)
        return None

    def name(self, name: Name) -> Subject:
        """A name in an expression: a condition's parameter, else a constant."""
        predicate = self.subject.predicate
        if predicate is not None and name.text in (
            predicate.source.text,
            predicate.destination.text,
        ):
            return self.say("parameter", name)
        self.subject.named = self.network.constants.get(name.text)
        return self.say("constant", name)


def _parts(node: Expression) -> Iterator[Expression]:
    """The expressions right inside an expression."""
    if isinstance(node, Tuple):
        yield from node.items
    elif isinstance(node, Unary):
        yield node.operand
    elif isinstance(node, Binary):
        yield from (node.left, node.right)
    elif isinstance(node, Index):
        yield from (node.target, node.position)
    elif isinstance(node, Call):
        yield from node.arguments
