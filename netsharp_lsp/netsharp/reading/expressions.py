"""Traversing the expressions of a declaration; knows their shapes and not their values."""

from __future__ import annotations

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
    from collections.abc import Callable, Iterable, Iterator

    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Expression

    Named = dict[str, list[tuple[Declaration, Name]]]


def expressions_of(declaration: Declaration) -> Iterator[Expression]:
    """Yield every whole expression of a declaration: values, sizes, conditions."""
    for item in declaration.items:
        if isinstance(item, ConstantItem):
            if item.value is not None:
                yield item.value
        elif isinstance(item, LayerItem):
            if item.size is not None and not isinstance(item.size, Auto):
                yield item.size
            yield from _values(item.attributes)
            for bundle in item.bundles:
                yield from _of_bundle(bundle)
        elif isinstance(item, BundleItem):
            yield from _of_bundle(item)


def _of_bundle(bundle: BundleItem) -> Iterator[Expression]:
    if bundle.predicate is not None:
        yield bundle.predicate.condition
    yield from _values(bundle.attributes)


def _values(attributes: Iterable[Attribute]) -> Iterator[Expression]:
    for attribute in attributes:
        if attribute.value is not None:
            yield attribute.value


def operands(expressions: Iterable[Expression]) -> Iterator[Expression]:
    """Yield expressions and everything inside them, outer ones first."""
    pending = list(expressions)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Tuple):
            pending.extend(node.items)
        elif isinstance(node, Unary):
            pending.append(node.operand)
        elif isinstance(node, Binary):
            pending += (node.left, node.right)
        elif isinstance(node, Index):
            pending += (node.target, node.position)
        elif isinstance(node, Call):
            pending.extend(node.arguments)


def names_in(expression: Expression) -> Iterator[Name]:
    """Yield every name that an expression uses as a value, without functions."""
    return (node for node in operands((expression,)) if isinstance(node, Name))


def bundles_of(declaration: Declaration) -> Iterator[BundleItem]:
    """Yield every bundle of a declaration, those without a layer included."""
    for item in declaration.items:
        if isinstance(item, LayerItem):
            yield from item.bundles
        elif isinstance(item, BundleItem):
            yield item


def attributes_of(declaration: Declaration) -> Iterator[Attribute]:
    """Yield every attribute of a declaration, of bundles and of layers' bodies."""
    for item in declaration.items:
        if isinstance(item, LayerItem):
            yield from item.attributes
    for bundle in bundles_of(declaration):
        yield from bundle.attributes


class Uses:
    """The places where a specification's layers and constants are named; computed at first use."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self._layers: Named | None = None
        self._constants: Named | None = None

    def of(self, item: LayerItem | ConstantItem) -> list[tuple[Declaration, Name]]:
        """Return the places that name a layer or constant; those of a name are returned once.

        A rename of a second layer of the same name must leave them to the first.
        """
        if isinstance(item, LayerItem):
            if self._layers is None:
                self._layers = _index(self.specification, layer_names)
            return self._layers.pop(item.name.text, [])
        if self._constants is None:
            self._constants = _index(self.specification, constant_names)
        return self._constants.pop(item.name.text, [])


def _index(specification: Specification, names: Callable[[Declaration], Iterable[Name]]) -> Named:
    found: Named = {}
    for declaration in specification.declarations:
        for name in names(declaration):
            found.setdefault(name.text, []).append((declaration, name))
    return found


def layer_names(declaration: Declaration) -> Iterator[Name]:
    """Yield the layers that bundles and shares name."""
    for bundle in bundles_of(declaration):
        yield bundle.source
    for item in declaration.items:
        if isinstance(item, ShareItem):
            yield from (part for part in (item.source, item.name) if isinstance(part, Name))


def constant_names(declaration: Declaration) -> Iterator[Name]:
    """Yield the constants that expressions name, without a condition's own parameters."""
    parameters: dict[Expression, tuple[str, str]] = {}
    for bundle in bundles_of(declaration):
        if bundle.predicate is not None:
            names = (bundle.predicate.source.text, bundle.predicate.destination.text)
            parameters[bundle.predicate.condition] = names
    for expression in expressions_of(declaration):
        own = parameters.get(expression, ())
        yield from (name for name in names_in(expression) if name.text not in own)
