"""The products of one row of weights in C: one function for all layers that read the same types, so
that a program contains its loop once, with all registers for it.

Knows layers in integers, and not what is done with a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork
    from netsharp_compile.schemes import QuantizationScheme

#: Before a function of a loop.
APART = """\
/* On processors of few registers a loop is kept in a function: a compiler would copy it into each
   layer, where no registers are left for it. */
#if !defined(__GNUC__) || !defined(__arm__)
#define APART
#elif defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
""".splitlines()


class LayerProducts(NamedTuple):
    """The code that adds the products of a layer: ``size`` nodes or maps at a time, lines before
    all of them, and lines for those from n on, which declare ``sum`` or, of several, ``sums``.
    """

    size: int
    before: list[str]
    inside: list[str]
    #: Whether the last ones begin early enough to end with the layer; else further weights follow.
    overlaps: bool = False


class ProductKind(NamedTuple):
    """The types of values and of weights, and whether sums have 64 bits."""

    values: str
    weights: str
    wide: bool

    def function(self, prefix: str, ending: str) -> str:
        """Return the name of a function for them."""
        return f"{prefix}_{self.values}_{self.weights}_{'wide_' * self.wide}{ending}"

    @property
    def sums(self) -> str:
        """Return the type of sums in C."""
        return "int64_t" if self.wide else "int32_t"


def schemes_read(network: IntegerNetwork, layer: IntegerLayer) -> list[QuantizationScheme]:
    """Return the scheme of the values that each bundle of a layer reads."""
    schemes = [network.features.codes, *(one.target for one in network.layers)]
    return [schemes[part.bundle.source.operand] for part in layer.parts]


def product_kinds(network: IntegerNetwork, layer: IntegerLayer) -> list[ProductKind]:
    """Return the types of each bundle of a layer."""
    read = zip(schemes_read(network, layer), layer.parts, strict=True)
    return [
        ProductKind(scheme.dtype.name, part.weights.dtype.name, layer.wide) for scheme, part in read
    ]


def row_by_row(
    kinds: Sequence[ProductKind], rows: Sequence[tuple[str, str, int]], bias: str, prefix: str
) -> LayerProducts:
    """Return the C that adds products a node at a time; each bundle gives its weights, its values,
    and their number.
    """
    lines: list[str] = []
    total = bias
    for kind, (weights, values, count) in zip(kinds, rows, strict=True):
        call = f"{kind.function(prefix, 'row')}({total}, {weights}, {values}, {count});"
        lines.append(f"sum = {call}" if lines else f"{kind.sums} sum = {call}")
        total = "sum"
    return LayerProducts(1, [], lines)


def row_function(kind: ProductKind, prefix: str) -> Iterator[str]:
    """Yield the lines of a function."""
    head = f"APART static {kind.sums} {kind.function(prefix, 'row')}("
    indent = " " * len(head)
    yield "/* Add the products of values with a row of weights to a sum. */"
    yield f"{head}{kind.sums} sum, const {kind.weights}_t *w,"
    yield f"{indent}const {kind.values}_t *x, int count)"
    yield "{"
    yield "    for (int i = 0; i < count; i++)"
    yield f"        sum += ({kind.sums})w[i] * x[i];"
    yield "    return sum;"
    yield "}"
