"""Inlay hints: shapes, counts and values that the text does not give, at most one per layer.

Only declarations in the requested range are read.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import InlayHint
from netsharp_lsp.netsharp.arithmetic import positions
from netsharp_lsp.netsharp.ide.hover.layers import size_text
from netsharp_lsp.netsharp.ide.hover.values import derivation, shown, value_in_force
from netsharp_lsp.netsharp.ide.meanings.counting import (
    explained,
    layer_equation,
    node_product,
    rounded,
)
from netsharp_lsp.netsharp.ide.meanings.formulas import layer_parameters, nodes_of
from netsharp_lsp.netsharp.ide.places.subjects import constant_of, index_at, layer_of
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    Blob,
    Boolean,
    ConstantItem,
    LayerItem,
    Number,
    Numbers,
    Tuple,
)
from netsharp_lsp.netsharp.repairs.proposals import shapes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import HintOptions
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Expression, Item

#: The longest label, in characters.
LONGEST = 30
#: The defaults that are shown, by kind of connection; pads of 0 are not shown.
DEFAULTS = {
    "convolve": ("Stride", "Padding", "Sharing", "MapCount"),
    "max pool": ("Stride", "Padding"),
    "mean pool": ("Stride", "Padding"),
    "response norm": ("Stride", "Padding", "Offset"),
}
SYMBOL_LABELS = {"input": "features", "hidden": "nodes", "output": "outputs"}


def hints_in(network: Network, start: int, end: int, options: HintOptions) -> list[InlayHint]:
    """Return the hints of a range, in text order."""
    specification = network.specification
    first = max(0, index_at(specification, start))
    last = index_at(specification, end)
    found: list[InlayHint] = []
    for declaration in specification.declarations[first : last + 1]:
        base = specification.starts[declaration]
        for item in declaration.items:
            if base + item.start <= end and start <= base + item.end:
                found += _Hints(network, declaration, options).of(item)
    return [hint for hint in found if start <= hint.offset <= end]


class _Hints:
    """The hints of one declaration."""

    def __init__(self, network: Network, declaration: Declaration, options: HintOptions) -> None:
        self.network = network
        self.declaration = declaration
        self.options = options
        self.base = network.specification.starts[declaration]

    def of(self, item: Item) -> Iterator[InlayHint]:
        """Yield the hints of an item."""
        if isinstance(item, ConstantItem):
            if self.options.constants:
                yield from self.constant(item)
        elif isinstance(item, LayerItem):
            layer = layer_of(self.network, item)
            if layer is not None:
                yield from self.layer(layer)
                for bundle in layer.bundles:
                    yield from self.bundle(bundle)

    def hint(self, offset: int, label: str, kind: str, tooltip: str = "") -> InlayHint:
        """Return a hint at an offset of the declaration; a long label is cut."""
        short = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        return InlayHint(self.base + offset, short, kind, tooltip)  # type: ignore[arg-type]

    # Layers.

    def layer(self, layer: Layer) -> Iterator[InlayHint]:
        """Yield a layer's shape and parameters after its size; its default activation if wanted."""
        size = layer.item.size
        if size is None:
            return
        shape = shape_label(layer, self.network) if self.options.shapes else ""
        count = parameter_label(layer, self.network) if self.options.parameters else ""
        label = joined(shape, count)
        if label:
            yield self.hint(size.end, label, "shape", tooltip(layer, self.network))
        silent = layer.trainable and layer.item.activation is None and layer.item.bundles
        if self.options.defaults and silent and layer.activation is not None:
            yield self.hint(size.end, layer.activation, "default", "The default activation.")

    # Attributes.

    def bundle(self, bundle: Bundle) -> Iterator[InlayHint]:
        """Yield values of expressions and, if requested, defaults in force."""
        if self.options.constants:
            for attribute in bundle.item.attributes:
                yield from self.attribute(bundle, attribute)
        block = bundle.item.block
        if self.options.defaults and block is not None and bundle.has_kernel:
            end = bundle.item.attributes[-1].end if bundle.item.attributes else block[0] + 1
            for text in default_texts(bundle):
                yield self.hint(end, text, "default", "In force by default.")

    def attribute(self, bundle: Bundle, attribute: Attribute) -> Iterator[InlayHint]:
        """Yield the value of an attribute that is an expression."""
        value = attribute.value
        given = bundle.given.get(attribute.name.text)
        if value is None or given is None or given.value is None or is_literal(value):
            return
        way = derivation(self.declaration, value, given.value, self.network)
        yield self.hint(value.end, f"= {shown(given.value)}", "constant", way)

    def constant(self, item: ConstantItem) -> Iterator[InlayHint]:
        """Yield the value of a constant that is an expression."""
        constant = constant_of(self.network, item)
        if constant is None or constant.value is None or item.value is None:
            return
        if not is_literal(item.value):
            way = derivation(self.declaration, item.value, constant.value, self.network)
            yield self.hint(item.value.end, f"= {shown(constant.value)}", "constant", way)


def is_literal(node: Expression) -> bool:
    """Return whether an expression is its value already."""
    if isinstance(node, Tuple):
        return all(is_literal(item) for item in node.items)
    return isinstance(node, Number | Boolean | Numbers | Blob)


def default_texts(bundle: Bundle) -> Iterator[str]:
    """Yield the attributes in force that are not given, as they would be written."""
    for name in DEFAULTS.get(bundle.kind or "", ()):
        padded = name == "Padding" and ("LowerPad" in bundle.given or "UpperPad" in bundle.given)
        value = in_short(value_in_force(bundle, name))
        if value and not padded and name not in bundle.given:
            yield f"{name} = {value}"


def in_short(value: str) -> str:
    """Return a tuple of equal entries as one of them: defaults are always so."""
    entries = set(value.strip("[]").split(", "))
    return entries.pop() if len(entries) == 1 else value


def joined(shape: str, count: str) -> str:
    """Return both parts of a label if there is room, else the more informative one."""
    parts = [part for part in (shape, count) if part]
    label = " · ".join(parts)
    if len(label) <= LONGEST:
        return label
    fitting = [part for part in parts if len(part) <= LONGEST]
    return fitting[0] if fitting else ""


def shape_label(layer: Layer, network: Network) -> str:
    """Return a layer's shape where its text does not give it."""
    size = layer.item.size
    if isinstance(size, Auto):
        return auto_label(layer, network)
    if layer.shape is None or size is None:
        return ""
    computed = computed_shape(layer)
    if computed and layer.shape not in computed:
        return show(computed[0])
    return "" if is_literal(size) else show(layer.shape)


def auto_label(layer: Layer, network: Network) -> str:
    """Return the number or symbol for `auto`; the size from kernels, if there are any."""
    computed = computed_shape(layer)
    if computed:
        return show(computed[0])
    nodes = nodes_of(layer, network)
    if nodes is None:
        return ""
    return f"[{nodes}]" if nodes.known is not None else f"{nodes} {SYMBOL_LABELS[layer.kind]}"


def computed_shape(layer: Layer) -> list[tuple[int, ...]]:
    """Return the forms of the shape that the layer's kernels give; none without kernels."""
    geometries = (bundle.geometry for bundle in layer.bundles)
    return next((shapes_of(geometry) for geometry in geometries if geometry is not None), [])


def parameter_label(layer: Layer, network: Network) -> str:
    """Return a layer's parameters, if it has any and they are known."""
    count = layer_parameters(layer, network) if layer.trainable and layer.bundles else None
    if count is None or count.known == 0:
        return ""
    number = str(count) if count.known is None else rounded(count.known)
    return f"{number} {'param' if count.known == 1 else 'params'}"


def tooltip(layer: Layer, network: Network) -> str:
    """Return the arithmetic of a layer's hint, in Markdown."""
    lines = [f"**{layer.name}** {size_text(layer, network)}"]
    for bundle in layer.bundles:
        if bundle.geometry is not None:
            steps = (f"`{positions(axis)}`" for axis in bundle.geometry.axes)
            output = bundle.geometry.output
            lines.append(f"- from `{bundle.source_name}`: {', '.join(steps)}")
            lines.append(f"- `{show(output)}`: {node_product(output)} nodes")
    count = layer_parameters(layer, network) if layer.trainable else nodes_of(layer, network)
    if layer.trainable and count is not None and count.known != 0:
        lines.append(f"- parameters: {layer_equation(layer, network)}")
    meaning = explained(count)
    return "\n".join((*lines, *((f"\n*{meaning}*",) if meaning else ())))
