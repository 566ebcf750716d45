"""Full bundles in C four nodes at a time, and convolutions four maps, for processors that gain by
it: each value is read once for four rows of weights.

Knows how products are added, and nothing of what becomes of a sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from netsharp_compile.bundles import ConvolvedBundle, FullBundle
from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.device_steps import copies_windows, steps_of

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork

#: For which processors code is written, the default first; all give the same bits.
Target = Literal["c99", "cortex-m", "host"]
TARGETS: tuple[str, ...] = get_args(Target)
#: Defined in C where a compiler does better with a loop for each node, or for each map.
_NODE_BY_NODE, _MAP_BY_MAP = "ROW_BY_ROW", "MAP_BY_MAP"
#: So many nodes at a time, and values that a host may copy onto its stack.
ROWS, MOST_COPIED = 4, 8192


class RowSums(NamedTuple):
    """Lines before the loop over nodes, and those in it that add to ``sums`` of the nodes from n
    on.
    """

    before: list[str]
    inside: list[str]
    #: Where this is defined a loop for each node is better; "" for nowhere.
    plainly: str


def require_target(target: str) -> None:
    """Raise CompileError for a target that is none."""
    if target not in TARGETS:
        raise CompileError(f"target is one of {', '.join(TARGETS)}; {target!r} is none.")


def takes_rows(network: IntegerNetwork, layer: IntegerLayer, target: str) -> bool:
    """Return whether a layer is worked out four nodes at a time: bytes times bytes in 32 bits."""
    return (
        target != "c99"
        and layer.nodes >= ROWS
        and not layer.wide
        and all(
            isinstance(part.bundle, FullBundle)
            and part.zero == 0
            and part.weights.dtype.itemsize == 1
            and _kind(network, part.bundle.source.operand) in _EXTENDED
            and (target != "host" or part.bundle.source.size <= MOST_COPIED)
            for part in layer.parts
        )
    )


def takes_kernels(
    network: IntegerNetwork, layer: IntegerLayer, target: str, *, copied: bool
) -> bool:
    """Return whether a convolution that copies its windows is worked out four maps at a time: bytes
    times bytes in 32 bits, one kernel for each map of one dimension.
    """
    first = layer.parts[0].bundle
    return (
        target != "c99"
        and copied
        and not layer.wide
        and isinstance(first, ConvolvedBundle)
        and max(first.maps) == prod(first.maps) == len(layer.multipliers) >= ROWS
        and all(
            part.weights.dtype.itemsize == 1
            and _kind(network, part.bundle.source.operand) in _EXTENDED
            and (target != "host" or part.weights.shape[1] <= MOST_COPIED)
            for part in layer.parts
        )
    )


def row_helpers(network: IntegerNetwork, prefix: str, target: str) -> Iterator[str]:
    """Yield the functions that add products of rows, one for each type of values that is read."""
    of_nodes: set[str] = set()
    of_maps: set[str] = set()
    for step in steps_of(network):
        layer = network.layers[step.layer]
        copied = copies_windows(layer, pooled=step.pool is not None)
        read = {_kind(network, part.bundle.source.operand) for part in layer.parts}
        if takes_rows(network, layer, target):
            of_nodes |= read
        elif takes_kernels(network, layer, target, copied=copied):
            of_maps |= read
    kinds = of_nodes | of_maps
    if kinds:
        yield from _HOST if target == "host" else _CORTEX
    if of_maps and target == "host":
        yield from _MAPS
    if "uint8" in kinds and target == "cortex-m":
        yield from _UNSIGNED
    for kind in sorted(kinds):
        if target == "host":
            # Without any caller a compiler would warn.
            unless = _NODE_BY_NODE if kind in of_nodes else _MAP_BY_MAP
            yield from [f"#ifndef {unless}", *_host(prefix, kind), "#endif"]
        else:
            yield from _cortex(prefix, kind)
        yield ""


def row_sums(
    network: IntegerNetwork, layer: IntegerLayer, name: str, prefix: str, target: str
) -> RowSums:
    """Return how the function of a layer adds its products, four nodes at a time."""
    before: list[str] = []
    inside: list[str] = []
    # A row has the weights of all bundles in turn.
    whole, first = sum(part.bundle.source.size for part in layer.parts), 0
    for number, part in enumerate(layer.parts):
        kind, count = _kind(network, part.bundle.source.operand), part.bundle.source.size
        values = f"x{number}"
        if target == "host":
            before += _widened(f"{prefix}_{kind}_wide_t", f"wide{number}", values, count)
            values = f"wide{number}"
        weights = f"{name}_weights + n * {whole}" + (f" + {first}" if first else "")
        inside.append(f"{prefix}_{kind}_rows({weights}, {whole}, {values}, {count}, sums);")
        first += count
    return RowSums(before, inside, _NODE_BY_NODE if target == "host" else "")


def _widened(kind: str, made: str, values: str, count: int) -> list[str]:
    """The lines that copy values into wider ones of a host."""
    return [
        f"{kind} {made}[{count}];",
        f"for (int i = 0; i < {count}; i++)",
        f"    {made}[i] = {values}[i];",
    ]


def kernel_sums(
    network: IntegerNetwork, layer: IntegerLayer, name: str, prefix: str, target: str
) -> RowSums:
    """Return how the function of a convolution adds the products of copied windows, four maps at a
    time.
    """
    before: list[str] = []
    inside: list[str] = []
    for number, part in enumerate(layer.parts):
        assert isinstance(part.bundle, ConvolvedBundle)
        kind, taps = _kind(network, part.bundle.source.operand), part.bundle.taps
        values = f"seen{number}"
        if target == "host":
            before += _widened(f"{prefix}_{kind}_wide_t", f"wide{number}", values, taps)
            values = f"wide{number}"
        weights = f"{name}_weights{number if len(layer.parts) > 1 else ''} + n * {taps}"
        inside.append(f"{prefix}_{kind}_rows({weights}, {taps}, {values}, {taps}, sums);")
    return RowSums(before, inside, _MAP_BY_MAP if target == "host" else "")


def _kind(network: IntegerNetwork, operand: int) -> str:
    schemes = [network.features.codes, *(one.target for one in network.layers)]
    return schemes[operand].dtype.name


#: The letter of the instruction that makes 16 bits each of two bytes out of four, by their type.
_EXTENDED = {"uint8": "u", "int8": "s"}
_CORTEX = """\
/* With a count that it knows, a compiler has no registers left for where rows begin. */
#if defined(__clang__)
#define APART __attribute__((noinline))
#elif defined(__GNUC__)
#define APART __attribute__((noinline, noclone))
#else
#define APART
#endif

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
#include <arm_acle.h>
/* Four bytes, which may begin anywhere: these processors read them so. */
static uint32_t four_bytes(const void *from)
{
    uint32_t found;
    __builtin_memcpy(&found, from, sizeof found);
    return found;
}

/* The first and the third byte, and the second and the fourth, as numbers of 16 bits: unsigned
   ones, and signed ones. No intrinsic turns and extends at once, which the instruction does. */
#define EXTEND(letter, name, turned) \\
    static uint32_t name(uint32_t bytes) \\
    { \\
        uint32_t found; \\
        __asm__(letter "xtb16 %0, %1" turned : "=r"(found) : "r"(bytes)); \\
        return found; \\
    }
EXTEND("s", s_even, "")
EXTEND("s", s_odd, ", ror #8")
#endif
""".splitlines()
_UNSIGNED = """\
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
EXTEND("u", u_even, "")
EXTEND("u", u_odd, ", ror #8")
#endif
""".splitlines()
_HOST = """\
/* Numbers of 16 bits are multiplied and added in pairs, bytes only where a processor has that; gcc
   then does so in a row of its own. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define WIDE(bytes, pairs) bytes
#if !defined(__clang__)
#define ROW_BY_ROW
#endif
#else
#define WIDE(bytes, pairs) pairs
#endif
""".splitlines()


_MAPS = """\
/* Windows are short: products of bytes in fours, and clang's without vectors of 256 bits, lose. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || \\
    (defined(__clang__) && !defined(__AVX2__))
#define MAP_BY_MAP
#endif
""".splitlines()


def _head(prefix: str, kind: str, values: str, apart: str = "") -> Iterator[str]:
    yield f"/* Add the products of values with a part of each of {ROWS} whole rows of weights. */"
    start = f"{apart}static void {prefix}_{kind}_rows("
    yield f"{start}const int8_t *w0, int whole, const {values} *x, int count,"
    yield f"{' ' * len(start)}int32_t sums[{ROWS}])"
    yield "{"
    for row in range(1, ROWS):
        yield f"    const int8_t *const w{row} = w{row - 1} + whole;"
    for row in range(ROWS):
        yield f"    int32_t sum{row} = sums[{row}];"


def _tail(first: str, product: str) -> Iterator[str]:
    yield f"    for ({first}; i < count; i++) {{"
    for row in range(ROWS):
        yield f"        sum{row} += {product.format(row)};"
    yield "    }"
    for row in range(ROWS):
        yield f"    sums[{row}] = sum{row};"
    yield "}"


def _cortex(prefix: str, kind: str) -> Iterator[str]:
    yield from _head(prefix, kind, f"{kind}_t", "APART ")
    yield "    int i = 0;"
    yield "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)"
    yield "    for (; i + 4 <= count; i += 4) {"
    yield "        const uint32_t values = four_bytes(x + i);"
    letter = _EXTENDED[kind]
    yield f"        const int32_t even = (int32_t){letter}_even(values);"
    yield f"        const int32_t odd = (int32_t){letter}_odd(values);"
    yield "        uint32_t weights;"
    for row in range(ROWS):
        yield f"        weights = four_bytes(w{row} + i);"
        yield f"        sum{row} = __smlad((int32_t)s_even(weights), even, sum{row});"
        yield f"        sum{row} = __smlad((int32_t)s_odd(weights), odd, sum{row});"
    yield "    }"
    yield "#endif"
    yield from _tail("", "w{0}[i] * x[i]")


def _host(prefix: str, kind: str) -> Iterator[str]:
    yield f"typedef WIDE({kind}_t, int16_t) {prefix}_{kind}_wide_t;"
    yield from _head(prefix, kind, f"{prefix}_{kind}_wide_t")
    yield from _tail("int i = 0", "w{0}[i] * x[i]")
