"""The parts of a network: constants, layers, bundles, geometry, shares, as plain values.

Unknown values are None. Nothing here reads syntax trees or reports faults; `network.py` fills these
in and rules check them.
"""

from __future__ import annotations

from netsharp_engine.geometry import Axis, kernel_count, output_shape, product
from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.meaning.values.attributes import KERNEL_KINDS, POOLS
from netsharp_lsp.netsharp.reading.syntax import Auto, Name, Number, Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.netsharp.meaning.conditions.edges import Edges
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        BundleItem,
        ConstantItem,
        Declaration,
        LayerItem,
        ShareItem,
    )

#: Up to this many bundles of a layer are searched faster than a table of them.
_FEW = 4


class Constant:
    """A constant and its value.

    `state`: "new", "open" while those it refers to are evaluated, then "done". `order`: its number
    among all constants.
    """

    __slots__ = ("circular", "declaration", "item", "name", "order", "state", "value")

    def __init__(self, declaration: Declaration, item: ConstantItem) -> None:
        self.declaration = declaration
        self.item = item
        self.name = item.name.text
        self.value: Value | None = None
        self.state = "new"
        self.circular = False
        self.order = 0

    @property
    def place(self) -> RelativeSpan:
        """Return where its name is."""
        return RelativeSpan.of(self.declaration, self.item.name)


class Given:
    """An attribute as given: its form, its syntax and its value, None where that is faulty."""

    __slots__ = ("attribute", "form", "value")

    def __init__(self, form: AttributeForm, attribute: Attribute, value: Value | None) -> None:
        self.form = form
        self.attribute = attribute
        self.value = value


#: The attributes of bundles without any, shared by all; it is never written to.
NOTHING_GIVEN: dict[str, Given] = {}


class Geometry:
    """The kernels of one bundle: only built where every figure is valid.

    `axes`, `sharing`, `maps`: one entry per dimension. `output`: maps x positions.
    `weights_per_kernel` counts the kernel's own bias; pools and norms have none (0).
    """

    __slots__ = ("axes", "kernels", "maps", "output", "sharing", "weights_per_kernel")

    def __init__(
        self,
        axes: tuple[Axis, ...],
        sharing: tuple[bool, ...],
        maps: tuple[int, ...],
        trained: bool,
    ) -> None:
        self.axes = axes
        self.sharing = sharing
        self.maps = maps
        self.output = output_shape(axes, maps)
        self.kernels = kernel_count(axes, sharing, maps) if trained else 0
        self.weights_per_kernel = 1 + product(tuple(a.kernel for a in axes)) if trained else 0

    def key(self) -> tuple[object, ...]:
        """Return the values that must agree for two bundles to share."""
        return (tuple(axis.key() for axis in self.axes), self.sharing, self.maps)


class Bundle:
    """One connection bundle of a layer.

    `source` is None where no such layer exists. `given` has each attribute's first mention by its
    proper name. The figures in force (`input_shape`, `kernel_shape`, `stride`, ...) are None where
    they are missing or faulty; `geometry` is None unless all of them are valid. `edges`: those of a
    filtered bundle, kept by `predicates.count_edges`.
    """

    __slots__ = (
        "edges",
        "geometry",
        "given",
        "input_shape",
        "item",
        "kernel_shape",
        "kind",
        "layer",
        "lower_pad",
        "map_count",
        "number",
        "padding",
        "sharing",
        "source",
        "source_name",
        "stride",
        "upper_pad",
    )

    def __init__(self, layer: Layer, item: BundleItem, number: int) -> None:
        self.layer = layer
        self.item = item
        self.number = number
        self.kind = item.kind
        self.source_name = item.source.text
        self.source: Layer | None = None
        self.given = NOTHING_GIVEN
        self.edges: Edges | None = None
        self.input_shape: tuple[int, ...] | None = None
        self.kernel_shape: tuple[int, ...] | None = None
        self.stride: tuple[int, ...] | None = None
        self.padding: tuple[bool, ...] | None = None
        self.lower_pad: tuple[int, ...] | None = None
        self.upper_pad: tuple[int, ...] | None = None
        self.sharing: tuple[bool, ...] | None = None
        self.map_count: tuple[int, ...] | None = None
        self.geometry: Geometry | None = None

    @property
    def declaration(self) -> Declaration:
        """Return the declaration around it."""
        return self.layer.declaration

    @property
    def has_kernel(self) -> bool:
        """Return whether it is a convolution, a pool or a response norm."""
        return self.kind in KERNEL_KINDS

    @property
    def place(self) -> RelativeSpan:
        """Return the words of its kind, or its source where no kind is written."""
        start, end = self.item.kind_span
        if start == end:
            return RelativeSpan.of(self.declaration, self.item.source)
        return RelativeSpan(self.declaration, start, end)

    @property
    def source_place(self) -> RelativeSpan:
        """Return where its source is named."""
        return RelativeSpan.of(self.declaration, self.item.source)

    def value_place(self, attribute: str) -> RelativeSpan:
        """Return where the value of a given attribute is."""
        given = self.given[attribute].attribute
        return RelativeSpan.of(self.declaration, given.value or given.name)

    def entry_place(self, attribute: str, dimension: int) -> RelativeSpan:
        """Return where one entry of a given tuple is; the whole value if it is not a tuple."""
        value = self.given[attribute].attribute.value
        if isinstance(value, Tuple) and dimension < len(value.items):
            return RelativeSpan.of(self.declaration, value.items[dimension])
        return self.value_place(attribute)

    def scalar(self, attribute: str, default: float) -> float:
        """Return a real attribute in force."""
        given = self.given.get(attribute)
        if given is None or given.value is None or isinstance(given.value, tuple):
            return default
        return float(given.value)


class Layer:
    """One layer.

    `kind`: input, hidden or output (the nearest one where its keyword is misspelt).  `shape`:
    the declared dimensions; (n,) for an `auto` resolved by the context; None while unknown.
    `activation`: the function in force, None where the written one does not exist.
    `biases_given`: the values of `Biases`, None without.  `order`: its number among all layers.
    """

    __slots__ = (
        "_by_source",
        "activation",
        "auto",
        "biases_given",
        "bundles",
        "declaration",
        "first",
        "given",
        "item",
        "kind",
        "name",
        "order",
        "origin",
        "shape",
    )

    def __init__(self, declaration: Declaration, item: LayerItem, kind: str) -> None:
        self.declaration = declaration
        self.item = item
        self.kind = kind
        self.name = item.name.text
        self.order = 0
        self.auto = isinstance(item.size, Auto)
        self.shape: tuple[int, ...] | None = None
        #: Where the number of an `auto` layer comes from ("--features", "digits.toml").
        self.origin = ""
        self.activation: str | None = None
        self.given = NOTHING_GIVEN
        self.biases_given: tuple[float, ...] | None = None
        self.bundles: tuple[Bundle, ...] = ()
        self._by_source: dict[str, list[Bundle]] | None = None
        #: Whether it is the first of its name, the one that the name means.
        self.first = True

    def take_bundles(self, bundles: Sequence[Bundle]) -> None:
        """Replace its bundles."""
        self.bundles = tuple(bundles)
        self._by_source = None

    def bundles_from(self, name: str) -> Sequence[Bundle]:
        """Return the bundles from sources of a name, in text order."""
        if len(self.bundles) <= _FEW:
            return [bundle for bundle in self.bundles if bundle.source_name == name]
        if self._by_source is None:
            self._by_source = {}
            for bundle in self.bundles:
                self._by_source.setdefault(bundle.source_name, []).append(bundle)
        return self._by_source.get(name, ())

    @property
    def nodes(self) -> int | None:
        """Return the number of nodes, None while unknown."""
        return None if self.shape is None else product(self.shape)

    @property
    def trainable(self) -> bool:
        """Return whether it is hidden or output."""
        return self.kind != "input"

    @property
    def has_biases(self) -> bool:
        """Return whether it has biases of its own: when a full or filtered bundle feeds it."""
        return any(bundle.kind in ("all", "where") for bundle in self.bundles)

    @property
    def place(self) -> RelativeSpan:
        """Return where its name is declared."""
        return RelativeSpan.of(self.declaration, self.item.name)

    @property
    def size_place(self) -> RelativeSpan:
        """Return where its size is; the end of its name where it has none."""
        size = self.item.size
        return self.place.after() if size is None else RelativeSpan.of(self.declaration, size)

    def only_summarises(self) -> bool:
        """Return whether pools and response norms alone feed it."""
        kinds = [bundle.kind for bundle in self.bundles]
        return bool(kinds) and all(kind in (*POOLS, "response norm") for kind in kinds)


class ShareEntry:
    """One entry of a share: the layer, and which of its parameters are shared.

    `what`: "layer", "bundle" or "biases". `bundle` is set where exactly one is meant.
    """

    __slots__ = ("bundle", "declaration", "item", "layer", "matches", "what")

    def __init__(self, declaration: Declaration, item: ShareItem, layer: Layer | None) -> None:
        self.declaration = declaration
        self.item = item
        self.layer = layer
        self.what = "layer"
        self.bundle: Bundle | None = None
        #: How many bundles of the layer come from the named source.
        self.matches = 0
        if isinstance(item.source, Number):
            self.what = "biases"
        elif isinstance(item.source, Name):
            self.what = "bundle"
        if layer is not None and self.what != "biases":
            source = item.source.text if isinstance(item.source, Name) else None
            found = [b for b in layer.bundles if source in (None, b.source_name)]
            self.matches = len(found)
            self.bundle = found[0] if len(found) == 1 else None

    @property
    def place(self) -> RelativeSpan:
        """Return where the entry is."""
        return RelativeSpan.of(self.declaration, self.item)


class Share:
    """One share declaration."""

    __slots__ = ("declaration", "entries")

    def __init__(self, declaration: Declaration, entries: tuple[ShareEntry, ...]) -> None:
        self.declaration = declaration
        self.entries = entries
