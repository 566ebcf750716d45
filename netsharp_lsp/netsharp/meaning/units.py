"""The contents of one declaration and the names it uses, from its syntax alone.

A unit is resolved and checked again as a whole when anything that it refers to changes.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.meaning.model import Constant, Layer
from netsharp_lsp.netsharp.reading.expressions import names_in, operands
from netsharp_lsp.netsharp.reading.mistakes import section_meant
from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    Blob,
    Boolean,
    BundleItem,
    ConstantItem,
    LayerItem,
    Name,
    Number,
    Numbers,
    ShareItem,
    Tuple,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from netsharp_lsp.netsharp.findings import Finding
    from netsharp_lsp.netsharp.meaning.model import Share
    from netsharp_lsp.netsharp.reading.syntax import (
        Attribute,
        Declaration,
        Expression,
        Item,
        Predicate,
    )

#: Expressions without names.
LITERALS = (Number, Numbers, Blob, Boolean)
#: Shared by all that name nothing: damaged text may have a million such declarations.
_NONE: frozenset[str] = frozenset()


class Unit:
    """One declaration with its constants, its layers and its share.

    `faults` are the findings of its evaluation.
    """

    __slots__ = ("constants", "declaration", "faults", "layers", "share")

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.constants: tuple[Constant, ...] = ()
        self.layers: tuple[Layer, ...] = ()
        self.share: Share | None = None
        self.faults: Sequence[Finding] = ()
        items = declaration.items
        if any(isinstance(item, ConstantItem) for item in items):
            found = (item for item in items if isinstance(item, ConstantItem))
            self.constants = tuple(Constant(declaration, item) for item in found)
        if any(isinstance(item, LayerItem) for item in items):
            layers = (item for item in items if isinstance(item, LayerItem))
            self.layers = tuple(
                Layer(declaration, item, layer_kind(declaration, item)) for item in layers
            )

    def declared_names(self) -> AbstractSet[str]:
        """Return the names of its constants and layers."""
        if not self.constants and not self.layers:
            return _NONE
        constants = {constant.name for constant in self.constants}
        return constants | {layer.name for layer in self.layers}

    def report(self, finding: Finding) -> None:
        """Keep a fault of evaluation."""
        if not isinstance(self.faults, list):
            self.faults = []
        self.faults.append(finding)

    def part(self) -> None:
        """Break the references between layers and their bundles, so that no cycle is left."""
        for layer in self.layers:
            layer.take_bundles(())

    def drop_pairs(self) -> None:
        """Drop the pairs of nodes that its filtered bundles, or those it shares, connect."""
        for bundle in (bundle for layer in self.layers for bundle in layer.bundles):
            if bundle.edges is not None:
                bundle.edges.drop_pairs()
        for entry in self.share.entries if self.share is not None else ():
            if entry.bundle is not None and entry.bundle.edges is not None:
                entry.bundle.edges.drop_pairs()

    @property
    def has_filter(self) -> bool:
        """Return whether any of its bundles is filtered."""
        return any(bundle.kind == "where" for layer in self.layers for bundle in layer.bundles)


def layer_kind(declaration: Declaration, item: LayerItem) -> str:
    """Return the kind of a layer; of a misspelt or missing keyword, the one it looks like."""
    kind = declaration.kind
    if kind == "unknown" and declaration.keyword is not None:
        kind = section_meant(declaration.keyword.text) or ""
    if kind in ("input", "hidden", "output"):
        return kind
    return "hidden" if item.bundles or item.body is not None else "input"


class Names:
    """The names in a unit: those it declares, the layers that its bundles read, the constants that
    its expressions use, the layers in its share."""

    __slots__ = ("constants", "declared", "shared", "sources")

    def __init__(self, declared: AbstractSet[str]) -> None:
        self.declared = declared
        self.sources: AbstractSet[str] = _NONE
        self.shared: AbstractSet[str] = _NONE
        self.constants: AbstractSet[str] = _NONE

    @classmethod
    def of(cls, unit: Unit) -> Names:
        """Read the names off the items of a unit."""
        names = cls(unit.declared_names())
        for item in unit.declaration.items:
            names._note_item(item)
        return names

    @property
    def used(self) -> AbstractSet[str]:
        """Return all except those it declares."""
        return self.sources | self.constants | self.shared

    def _note_item(self, item: Item) -> None:
        if isinstance(item, LayerItem):
            for bundle in item.bundles:
                self._note_bundle(bundle)
            self._note_attributes(item.attributes)
            if item.size is not None and not isinstance(item.size, Auto):
                self._note(item.size)
        elif isinstance(item, ConstantItem):
            if item.value is not None:
                self._note(item.value)
        elif isinstance(item, ShareItem):
            parts = (item.source, item.name)
            found = [part.text for part in parts if isinstance(part, Name)]
            self.shared = _with(self.shared, found)
        elif isinstance(item, BundleItem):
            self._note_bundle(item)

    def _note_bundle(self, bundle: BundleItem) -> None:
        self.sources = _with(self.sources, [bundle.source.text])
        self._note_attributes(bundle.attributes)
        if bundle.predicate is not None:
            self._note_condition(bundle.predicate)

    def _note_attributes(self, attributes: Iterable[Attribute]) -> None:
        for attribute in attributes:
            if attribute.value is not None:
                self._note(attribute.value)

    def _note(self, expression: Expression) -> None:
        """Note the names of an expression; most are numbers and tuples of them, with no names."""
        pending = expression.items if isinstance(expression, Tuple) else (expression,)
        for part in pending:
            if not isinstance(part, LITERALS):
                found = [name.text for name in names_in(part)]
                self.constants = _with(self.constants, found)

    def _note_condition(self, predicate: Predicate) -> None:
        """Note names in a condition; its parameters are not constants, unless inside a tuple."""
        nodes = [*operands((predicate.condition,))]
        names = {node.text for node in nodes if isinstance(node, Name)}
        if not any(isinstance(node, Tuple) for node in nodes):
            names -= {predicate.source.text, predicate.destination.text}
        self.constants = _with(self.constants, names)


def _with(known: AbstractSet[str], new: Collection[str]) -> AbstractSet[str]:
    """Return a set with more names: the same one, unless it is the shared empty one."""
    if not new:
        return known
    found = known if isinstance(known, set) else set(known)
    found.update(new)
    return found


def readings(unit: Unit) -> Iterator[tuple[str, object]]:
    """Yield each layer that a unit reads, with the properties of the reader that it depends on."""
    for layer in unit.layers:
        sources = hash(tuple(bundle.source_name for bundle in layer.bundles))
        for bundle in layer.bundles:
            yield bundle.source_name, (bundle.kind, layer.name, layer.kind, layer.shape, sources)
