"""Products of nodes side by side in the lanes of a vector in C, for hosts: each value goes to all
lanes at once, with weights stored in that order, so that no vector is added up.

Knows types and sizes, and nothing of what becomes of a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.writing.products.row import LayerProducts, ProductKind
from netsharp_compile.writing.products.rows import INT16

if TYPE_CHECKING:
    from netsharp_compile.integers import Integers
    from netsharp_compile.schemes import QuantizationScheme

#: Nodes side by side, of layers with few and with many; below the least number rows are faster.
FEW, MANY, LEAST = 8, 16, 4
#: The most values of a bundle that a host copies onto its stack: 16 KiB.
MOST_COPIED = 8192
#: Independent sums of a lane, so that additions do not wait for each other.
_SEVERAL = 4


class LaneKind(NamedTuple):
    """The parameters of a function: the type of values, as they are copied, and the number of
    nodes; weights have as many bits as values.
    """

    values: str
    lanes: int

    @property
    def weights(self) -> str:
        """Return the type of weights, as they are stored."""
        return "int8" if self.group == 4 else "int16"

    @property
    def group(self) -> int:
        """Return the number of products that are added within a lane: of a weight and a value of 8
        or 16 bits.
        """
        return 4 if self.values.endswith("8") else 2

    def function(self, prefix: str) -> str:
        """Return the name of the function."""
        return f"{prefix}_{self.values}_lanes{self.lanes}"

    def padded(self, count: int) -> int:
        """Return a number of values rounded up to whole groups."""
        return -(-count // self.group) * self.group


def in_lanes(kinds: Sequence[ProductKind], read: Sequence[QuantizationScheme], count: int) -> bool:
    """Return whether a number of nodes or maps is computed side by side: sums have 32 bits, values
    and weights at most 16, with a sign.
    """
    return count >= LEAST and all(
        not kind.wide and kind.weights in ("int8", "int16") and scheme.most <= INT16
        for kind, scheme in zip(kinds, read, strict=True)
    )


def lane_kinds(kinds: Sequence[ProductKind], count: int) -> list[LaneKind]:
    """Return the functions that a number of nodes needs, one for each bundle."""
    lanes = FEW if count <= FEW else MANY
    narrow = [kind.values.endswith("8") and kind.weights == "int8" for kind in kinds]
    return [
        LaneKind(kind.values if one else "int16", lanes)
        for kind, one in zip(kinds, narrow, strict=True)
    ]


def side_by_side(
    kinds: Sequence[LaneKind], rows: Sequence[tuple[str, str, int]], biases: str, prefix: str
) -> LayerProducts:
    """Return the C that adds products for several nodes at once; each bundle gives its weights for
    the nodes from n on, its values, and their number.
    """
    lanes = kinds[0].lanes
    inside, begin = [f"int32_t sums[{lanes}];"], f"{biases} + n"
    for kind, (weights, values, count) in zip(kinds, rows, strict=True):
        inside.append(f"{kind.function(prefix)}({weights}, {values}, {count}, {begin}, sums);")
        begin = "sums"
    return LayerProducts(lanes, [], inside)


def laned(kind: LaneKind, weights: Integers) -> Integers:
    """Return weights [nodes, values] as [blocks of lanes, groups of values times lanes times values
    of a group], with zeros for nodes and values that are not there.
    """
    nodes, count = weights.shape
    blocks = -(-nodes // kind.lanes)
    whole = np.zeros((blocks * kind.lanes, kind.padded(count)), kind.weights)
    whole[:nodes, :count] = weights
    parts = whole.reshape(blocks, kind.lanes, -1, kind.group)
    return parts.transpose(0, 2, 1, 3).reshape(blocks, -1)


def lane_functions(kinds: Mapping[LaneKind, bool], prefix: str) -> Iterator[str]:
    """Yield the functions, one for each kind, with whether some rows are not whole groups."""
    if not kinds:
        return
    yield from _VECTORS
    for kind, rest in sorted(kinds.items()):
        yield from _function(kind, prefix, rest=rest)
        yield ""


_VECTORS = """\
#if defined(__GNUC__) && defined(__SSE2__)
#include <immintrin.h>
/* Values of one lane, which go to all. */
static int32_t lane_of(const void *from)
{
    int32_t found;
    __builtin_memcpy(&found, from, sizeof found);
    return found;
}
/* Cells side by side, which a compiler would gather byte by byte. */
#define COPY_CELLS(to, from, count) __builtin_memcpy(to, from, (count) * sizeof *(to))
#else
#define COPY_CELLS(to, from, count) \\
    for (int cell = 0; cell < (count); cell++) \\
        (to)[cell] = (from)[cell]
#endif

""".splitlines()
#: The macro that copies cells.
COPY = "COPY_CELLS"
#: The macros of vectors by their bits.
_PAIRS = {256: "__AVX2__", 128: "__SSE2__"}


def _function(kind: LaneKind, prefix: str, *, rest: bool) -> Iterator[str]:
    head = f"static void {kind.function(prefix)}("
    indent = " " * len(head)
    yield f"/* Add the products of values with weights of {kind.lanes} nodes side by side, of which"
    yield f"   {kind.group} of each node stand together. */"
    yield f"{head}const {kind.weights}_t *w, const {kind.values}_t *x,"
    yield f"{indent}int count, const int32_t *from, int32_t *sums)"
    yield "{"
    yield f"    const int groups = count / {kind.group};"
    ways = [(f"defined({name})", _in_pairs(kind, bits)) for bits, name in _PAIRS.items()]
    if kind.values == "uint8":
        ways.insert(0, ("defined(__AVX512VNNI__) && defined(__AVX512VL__)", _in_fours(kind.lanes)))
    for number, (condition, lines) in enumerate(ways):
        yield f"#{'el' * (number > 0)}if defined(__GNUC__) && {condition}"
        yield from lines
    yield "#else"
    yield from _plainly(kind)
    yield "#endif"
    if rest:
        yield f"    for (int i = 0; i < count % {kind.group}; i++)"
        yield f"        for (int n = 0; n < {kind.lanes}; n++)"
        yield f"            sums[n] += w[n * {kind.group} + i] * x[i];"
    yield "}"


def _in_fours(lanes: int) -> Iterator[str]:
    """Yield the lines that add four products of bytes at once; to several sums, so that none waits
    for the one before.
    """
    bits, block, several = 32 * lanes, 4 * lanes, range(_SEVERAL)
    kind, way = (f"__m{bits}i", f"_mm{bits}")
    load = f"{way}_loadu_si{bits}((const void *)("
    yield f"    {kind} sum0 = {load}from));"
    for n in several[1:]:
        yield f"    {kind} sum{n} = {way}_setzero_si{bits}();"
    yield "    int left = groups;"
    for head, sums in (
        (f"for (; left >= {_SEVERAL}; left -= {_SEVERAL})", several),
        ("for (; left > 0; left--)", several[:1]),
    ):
        yield f"    {head} {{"
        for n in sums:
            values = f"{way}_set1_epi32(lane_of(x + {4 * n}))"
            yield f"        sum{n} = {way}_dpbusd_epi32(sum{n}, {values},"
            yield f"            {load}w + {block * n})));"
        yield f"        w += {len(sums) * block};"
        yield f"        x += {len(sums) * 4};"
        yield "    }"
    for n in several[1:]:
        yield f"    sum0 = {way}_add_epi32(sum0, sum{n});"
    yield f"    {way}_storeu_si{bits}((void *)sums, sum0);"


def _in_pairs(kind: LaneKind, bits: int) -> Iterator[str]:
    """Yield the lines that add two products of numbers of 16 bits at once; of four bytes the first
    and the third, and the second and the fourth.
    """
    way, per = f"_mm{bits if bits > 128 else ''}", bits // 32
    sums = range(kind.lanes // per)
    for k in sums:
        begin = f"{way}_loadu_si{bits}((const void *)(from + {per * k}))"
        yield f"    __m{bits}i sum{k} = {begin};"
    yield "    for (int g = 0; g < groups; g++) {"
    yield f"        const __m{bits}i values = {way}_set1_epi32(lane_of(x));"
    names = ["values"]
    if kind.group == 4:
        names = ["even", "odd"]
        shifted = "srli" if kind.values == "uint8" else "srai"
        yield f"        const __m{bits}i even = {_even(way, 'values', shifted)};"
        yield f"        const __m{bits}i odd = {way}_{shifted}_epi16(values, 8);"
        yield f"        __m{bits}i weights;"
    for k in sums:
        stored = f"{way}_loadu_si{bits}((const void *)(w + {per * kind.group * k}))"
        weights = [stored]
        if kind.group == 4:
            yield f"        weights = {stored};"
            weights = [_even(way, "weights", "srai"), f"{way}_srai_epi16(weights, 8)"]
        for one, name in zip(weights, names, strict=True):
            yield f"        sum{k} = {way}_add_epi32(sum{k}, {way}_madd_epi16({name},"
            yield f"            {one}));"
    yield f"        w += {kind.lanes * kind.group};"
    yield f"        x += {kind.group};"
    yield "    }"
    for k in sums:
        yield f"    {way}_storeu_si{bits}((void *)(sums + {per * k}), sum{k});"


def _even(way: str, bytes_: str, shifted: str) -> str:
    """Return the lower bytes of numbers of 16 bits as such numbers."""
    return f"{way}_{shifted}_epi16({way}_slli_epi16({bytes_}, 8), 8)"


def _plainly(kind: LaneKind) -> Iterator[str]:
    lanes, group = kind.lanes, kind.group
    yield f"    int32_t found[{lanes}];"
    yield f"    for (int n = 0; n < {lanes}; n++)"
    yield "        found[n] = from[n];"
    yield "    for (int g = 0; g < groups; g++) {"
    yield f"        for (int n = 0; n < {lanes}; n++)"
    products = [f"w[n * {group} + {i}] * x[{i}]" for i in range(group)]
    yield f"            found[n] += {' + '.join(products)};"
    yield f"        w += {lanes * group};"
    yield f"        x += {group};"
    yield "    }"
    yield f"    for (int n = 0; n < {lanes}; n++)"
    yield "        sums[n] = found[n];"
