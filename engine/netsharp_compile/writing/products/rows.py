"""Products of several rows of weights at a time in C, for processors of signals: each value is read
once for all of them, and where such a processor has it two products are one instruction.

Knows types and sizes, and nothing of what becomes of a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.writing.products.row import LayerProducts, ProductKind

if TYPE_CHECKING:
    from netsharp_compile.schemes import QuantizationScheme

#: Rows at a time, with sums of 32 and of 64 bits: more leave no registers for their addresses on
#: Arm.
ROWS, WIDE_ROWS = 4, 2
#: The largest number of 16 bits with a sign.
INT16 = 32767
_HAS_PAIRS = "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)"


class RowsKind(NamedTuple):
    """The parameters of a function for several rows: the types, whether rows of the network are
    parts of longer ones, and whether some have values left over.
    """

    products: ProductKind
    parts: bool
    rest: bool

    @property
    def rows(self) -> int:
        """Return the number of rows that it adds at a time."""
        return WIDE_ROWS if self.products.wide else ROWS

    @property
    def step(self) -> int:
        """Return the number of values that a processor with DSP instructions takes at a time."""
        return 2 if self.products.weights == "int16" and _has_16_bits(self.products.values) else 4


def in_rows(kinds: Sequence[ProductKind], read: Sequence[QuantizationScheme], count: int) -> bool:
    """Return whether a number of nodes or maps is computed several at a time: values and weights
    are numbers of at most 16 bits, with a sign.
    """
    return count >= (WIDE_ROWS if kinds[0].wide else ROWS) and all(
        kind.weights in ("int8", "int16") and scheme.most <= INT16
        for kind, scheme in zip(kinds, read, strict=True)
    )


def several_rows(
    kinds: Sequence[RowsKind], rows: Sequence[tuple[str, str, int, int]], biases: str, prefix: str
) -> LayerProducts:
    """Return the C that adds products for several rows; each bundle gives its weights, its values,
    their number, and the length of a whole row.
    """
    size, total = kinds[0].rows, kinds[0].products.sums
    inside, begin = [f"{total} sums[{size}];"], f"{biases} + n"
    for kind, (weights, values, count, whole) in zip(kinds, rows, strict=True):
        given = [weights, *([str(whole)] * kind.parts), values, str(count), begin, "sums"]
        inside.append(f"{kind.products.function(prefix, 'rows')}({', '.join(given)});")
        begin = "sums"
    return LayerProducts(size, [], inside, overlaps=True)


def rows_functions(kinds: Sequence[RowsKind], prefix: str) -> Iterator[str]:
    """Yield the functions, one for each pair of types, and what they call."""
    pairs = sorted({one.products for one in kinds})
    if not pairs:
        return
    letters = {_letter(pair.values) for pair in pairs if not _has_16_bits(pair.values)}
    letters |= {"s" for pair in pairs if pair.weights == "int8"}
    yield _HAS_PAIRS
    yield from _FOUR_BYTES
    if any(_has_16_bits(pair.values) != _has_16_bits(pair.weights) for pair in pairs):
        yield from _HALVES
    yield from _EXTEND if letters else ()
    for letter in sorted(letters):
        yield f'EXTEND("{letter}", {letter}_even, "")'
        yield f'EXTEND("{letter}", {letter}_odd, ", ror #8")'
    yield "#endif"
    yield ""
    for pair in pairs:
        of_pair = [one for one in kinds if one.products == pair]
        rest = any(one.rest for one in of_pair)
        yield from _function(of_pair[0]._replace(rest=rest), prefix)
        yield ""


def _has_16_bits(kind: str) -> bool:
    return kind.endswith("16")


def _letter(kind: str) -> str:
    """Return the letter of the instruction that widens two of four bytes to 16 bits each."""
    return "u" if kind == "uint8" else "s"


_FOUR_BYTES = """\
#include <arm_acle.h>
/* Four bytes, which may begin anywhere: these processors read them so. */
static uint32_t four_bytes(const void *from)
{
    uint32_t found;
    __builtin_memcpy(&found, from, sizeof found);
    return found;
}
""".splitlines()
_HALVES = """\

/* The lower numbers of two pairs of 16 bits each, and the upper ones. */
static uint32_t lower_halves(uint32_t first, uint32_t second)
{
    return (first & 0xFFFFu) | second << 16;
}

static uint32_t upper_halves(uint32_t first, uint32_t second)
{
    return first >> 16 | (second & 0xFFFF0000u);
}
""".splitlines()
_EXTEND = """\

/* The first and the third byte, and the second and the fourth, as numbers of 16 bits: unsigned
   ones, and signed ones. No intrinsic turns and extends at once, which the instruction does. */
#define EXTEND(letter, name, turned) \\
    static uint32_t name(uint32_t bytes) \\
    { \\
        uint32_t found; \\
        __asm__(letter "xtb16 %0, %1" turned : "=r"(found) : "r"(bytes)); \\
        return found; \\
    }
""".splitlines()


def _function(kind: RowsKind, prefix: str) -> Iterator[str]:
    pair, rows, step = kind.products, range(kind.rows), kind.step
    head = f"APART static void {pair.function(prefix, 'rows')}("
    indent = " " * len(head)
    yield f"/* Add the products of values with each of {kind.rows} rows of weights to sums. */"
    yield f"{head}const {pair.weights}_t *w0, {'int whole, ' * kind.parts}const {pair.values}_t *x,"
    yield f"{indent}int count, const {pair.sums} *from, {pair.sums} *sums)"
    yield "{"
    for row in rows[1:]:
        yield f"    const {pair.weights}_t *const w{row} = w{row - 1} + {_length(kind)};"
    for row in rows:
        yield f"    {pair.sums} sum{row} = from[{row}];"
    products = [f"sum{row} += ({pair.sums})w{row}[i] * x[i];" for row in rows]
    if kind.rest:
        yield "    int i = 0;"
        yield _HAS_PAIRS
        yield from _loop(f"for (; i + {step} <= count; i += {step})", _pairs(kind))
        yield "#endif"
        yield from _loop("for (; i < count; i++)", products)
    else:
        yield _HAS_PAIRS
        yield from _loop(f"for (int i = 0; i < count; i += {step})", _pairs(kind))
        yield "#else"
        yield from _loop("for (int i = 0; i < count; i++)", products)
        yield "#endif"
    for row in rows:
        yield f"    sums[{row}] = sum{row};"
    yield "}"


def _length(kind: RowsKind) -> str:
    return "whole" if kind.parts else "count"


def _loop(head: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"    {head} {{"
    yield from (f"        {line}" for line in lines)
    yield "    }"


def _pairs(kind: RowsKind) -> Iterator[str]:
    """Yield the lines that add products two by two: bytes become numbers of 16 bits in another
    order, which the order of their factors matches.
    """
    pair = kind.products
    add = "__smlald" if pair.wide else "__smlad"
    if kind.step == 2:
        yield "const int32_t values = (int32_t)four_bytes(x + i);"
        for row in range(kind.rows):
            yield f"sum{row} = {add}((int32_t)four_bytes(w{row} + i), values, sum{row});"
        return
    letter, bytes_read = _letter(pair.values), not _has_16_bits(pair.values)
    if bytes_read:
        yield "const uint32_t values = four_bytes(x + i);"
        names = f"{letter}_even(values)", f"{letter}_odd(values)"
    else:
        names = "four_bytes(x + i)", "four_bytes(x + i + 2)"
    yield f"uint32_t first = {names[0]};"
    yield f"uint32_t second = {names[1]};"
    if bytes_read == _has_16_bits(pair.weights):
        yield "const uint32_t lower = lower_halves(first, second);"
        yield "second = upper_halves(first, second);"
        yield "first = lower;"
    if pair.weights == "int8":
        yield "uint32_t weights;"
    for row in range(kind.rows):
        weights = f"(int32_t)four_bytes(w{row} + i)", f"(int32_t)four_bytes(w{row} + i + 2)"
        if pair.weights == "int8":
            yield f"weights = four_bytes(w{row} + i);"
            weights = "(int32_t)s_even(weights)", "(int32_t)s_odd(weights)"
        for one, values in zip(weights, ("first", "second"), strict=True):
            yield f"sum{row} = {add}({one}, (int32_t){values}, sum{row});"
