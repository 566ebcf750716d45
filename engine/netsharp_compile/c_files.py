"""C99 for a network in integers: a header, the code, weights and tables apart, and a test.

No floating point, no library, no memory of its own: the caller brings the scratch memory.  Every
size is a literal.  Knows the network in integers and nothing of how it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.refusal import CompileError

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Of C and of C++.
_KEYWORDS = """\
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while asm bool catch class delete explicit export false friend mutable namespace new
operator private protected public template this throw true try typename using virtual wchar_t
"""
#: The header of C that is included; one of this name would be found in its place.
_HEADER = "stdint"
_LONGEST_PREFIX = 32
_WIDTH = 96


class ScratchMemory(NamedTuple):
    """Where the values of each layer but the last lie in the scratch memory, and its size."""

    offsets: tuple[int, ...]
    size: int


def require_prefix(prefix: str) -> None:
    """Raise CompileError for a prefix that cannot begin the names of C."""
    if (
        not _IDENTIFIER.fullmatch(prefix)
        or prefix in _KEYWORDS.split()
        or len(prefix) > _LONGEST_PREFIX
        or prefix.startswith("_")
        or prefix == _HEADER
    ):
        raise CompileError(
            f"The prefix begins names of C: letters, digits and underscores, at most "
            f"{_LONGEST_PREFIX}, a letter first, no keyword, and not {_HEADER}, whose header is "
            f"read. {prefix!r} cannot."
        )


def scratch_of(network: IntegerNetwork) -> ScratchMemory:
    """Return a place for each hidden layer's values that nothing else holds while they are read."""
    layers = network.layers[:-1]
    last = [
        max(
            number
            for number, layer in enumerate(network.layers)
            if number == place or any(one.operand == place + 1 for one in layer.sources)
        )
        for place in range(len(layers))
    ]
    offsets: list[int] = []
    for place, layer in enumerate(layers):
        size = len(layer.weights)
        taken = sorted(
            (offsets[other], offsets[other] + len(layers[other].weights))
            for other in range(place)
            if last[other] >= place
        )
        start = 0
        for first, end in taken:
            if start + size <= first:
                break
            start = max(start, end)
        offsets.append(start)
    ends = [start + len(one.weights) for start, one in zip(offsets, layers, strict=True)]
    return ScratchMemory(tuple(offsets), max(ends, default=1))


def c_files(
    network: IntegerNetwork,
    prefix: str,
    classes: Sequence[str] | None,
    inputs: Integers,
    outputs: Integers,
) -> dict[str, str]:
    """Return the text of each file by its name; ``inputs`` and ``outputs`` are codes of rows that
    the test runs.
    """
    require_prefix(prefix)
    return {
        f"{prefix}.h": _text(_header(network, prefix, classes)),
        f"{prefix}.c": _text(_code(network, prefix, classes)),
        f"{prefix}_weights.c": _text(_weights(network, prefix)),
        f"{prefix}_tables.c": _text(_tables(network, prefix)),
        f"{prefix}_test.c": _text(_test(network, prefix, inputs, outputs)),
    }


def _text(lines: Iterable[str]) -> str:
    return "\n".join([*lines, ""])


def _type(dtype: np.dtype[np.integer]) -> str:
    return f"{dtype.name}_t"


def _header(network: IntegerNetwork, prefix: str, classes: Sequence[str] | None) -> Iterator[str]:
    upper, last = prefix.upper(), network.layers[-1]
    read, answer = network.features.codes, last.target
    yield "/* A network in integers, written by netsharp. It is changed by compiling it again. */"
    yield f"#ifndef {upper}_H"
    yield f"#define {upper}_H"
    yield ""
    yield f"#include <{_HEADER}.h>"
    yield ""
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield ""
    yield f"#define {upper}_IN {len(network.features.offset)}"
    yield f"#define {upper}_OUT {len(last.weights)}"
    yield "/* Bytes of memory that a run needs; the caller owns them. */"
    yield f"#define {upper}_SCRATCH {scratch_of(network).size}"
    yield ""
    yield "/* For a feature: the nearest integer to (feature - offset) * factor, from 0 to most,"
    yield f"   plus ({read.least}); the offset, factor and most of each are in {prefix}.json. */"
    yield f"typedef {_type(read.dtype)} {prefix}_in_t;"
    yield f"/* An answer means (answer - ({answer.zero_point})) * {float(answer.scale).hex()}. */"
    yield f"typedef {_type(answer.dtype)} {prefix}_out_t;"
    yield ""
    tables = "const void *"
    yield f"/* The tables of transfer functions, of {prefix}_tables.c or of others. */"
    yield f"typedef struct {{ {tables}table[{max(len(network.tables), 1)}]; }} {prefix}_tables_t;"
    yield f"extern const {prefix}_tables_t {prefix}_tables;"
    yield ""
    given = f"const {prefix}_in_t x[{upper}_IN], {prefix}_out_t y[{upper}_OUT]"
    yield f"void {prefix}_run({given}, uint8_t scratch[{upper}_SCRATCH]);"
    yield f"void {prefix}_run_with(const {prefix}_tables_t *tables, {given},"
    yield f"{' ' * (len(prefix) + 15)}uint8_t scratch[{upper}_SCRATCH]);"
    yield "/* The number of the largest answer, the first of equal ones. */"
    yield f"int {prefix}_argmax(const {prefix}_out_t y[{upper}_OUT]);"
    if classes is not None:
        yield f"extern const char *const {prefix}_classes[{len(classes)}];"
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield "#endif"


def _code(network: IntegerNetwork, prefix: str, classes: Sequence[str] | None) -> Iterator[str]:
    upper = prefix.upper()
    yield f"/* See {prefix}.h. */"
    yield f'#include "{prefix}.h"'
    yield ""
    yield from _declared(network, prefix)
    yield "/* floor(value / 2^shift), of negative values, too, whatever the compiler shifts in. */"
    yield "static int64_t floored(int64_t value, int shift)"
    yield "{"
    yield "    return value >= 0 ? value >> shift : ~(~value >> shift);"
    yield "}"
    yield ""
    yield "/* The nearest integer to sum * multiplier / 2^shift, halves up, within bounds. */"
    yield "static int32_t rescaled(int64_t sum, int32_t multiplier, int shift, int32_t zero_point,"
    yield "                        int32_t least, int32_t most)"
    yield "{"
    yield "    const int64_t half = ((int64_t)1 << shift) >> 1;"
    yield "    const int64_t step = floored(sum * multiplier + half, shift) + zero_point;"
    yield "    return step < least ? least : step > most ? most : (int32_t)step;"
    yield "}"
    yield ""
    names = _layer_names(network, prefix)
    for place, layer in enumerate(network.layers):
        yield from _layer(network, place, layer, names, prefix)
        yield ""
    yield from _run(network, names, prefix)
    yield ""
    yield f"void {prefix}_run(const {prefix}_in_t x[{upper}_IN], {prefix}_out_t y[{upper}_OUT],"
    yield f"{' ' * (len(prefix) + 10)}uint8_t scratch[{upper}_SCRATCH])"
    yield "{"
    yield f"    {prefix}_run_with(&{prefix}_tables, x, y, scratch);"
    yield "}"
    yield ""
    yield f"int {prefix}_argmax(const {prefix}_out_t y[{upper}_OUT])"
    yield "{"
    yield "    int best = 0;"
    yield f"    for (int n = 1; n < {upper}_OUT; n++)"
    yield "        if (y[n] > y[best])"
    yield "            best = n;"
    yield "    return best;"
    yield "}"
    if classes is not None:
        yield ""
        yield f"const char *const {prefix}_classes[{len(classes)}] = {{"
        yield from (f"    {_string(one)}," for one in classes)
        yield "};"


def _layer_names(network: IntegerNetwork, prefix: str) -> list[str]:
    """A name in C for each layer: letters of its own behind its number."""
    return [
        f"{prefix}_{place}_{re.sub('[^A-Za-z0-9]', '_', layer.name)[:24]}"
        for place, layer in enumerate(network.layers, 1)
    ]


def _declared(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    for name, layer in zip(_layer_names(network, prefix), network.layers, strict=True):
        nodes, values = layer.weights.shape
        wide = "int64_t" if layer.wide else "int32_t"
        yield f"extern const {_type(layer.weights.dtype)} {name}_weights[{nodes * values}];"
        yield f"extern const {wide} {name}_biases[{nodes}];"
        yield f"extern const int32_t {name}_multipliers[{nodes}];"
        yield f"extern const int8_t {name}_shifts[{nodes}];"
    yield ""


def _reads(layer: IntegerLayer, network: IntegerNetwork) -> list[tuple[str, str, int]]:
    """The name, the type and the size of each source as parameters."""
    schemes = [network.features.codes, *(one.target for one in network.layers)]
    return [
        (f"x{number}", _type(schemes[one.operand].dtype), one.size)
        for number, one in enumerate(layer.sources)
    ]


def _layer(
    network: IntegerNetwork, place: int, layer: IntegerLayer, names: Sequence[str], prefix: str
) -> Iterator[str]:
    name, nodes = names[place], len(layer.weights)
    sums = "int64_t" if layer.wide else "int32_t"
    given = ", ".join(f"const {kind} {x}[{size}]" for x, kind, size in _reads(layer, network))
    table = layer.table is not None
    kind = _type(layer.target.dtype)
    origin = f", {layer.origin}" if layer.origin else ""
    yield f"/* {_comment(layer.name)}{_comment(origin)}: sums of at most {layer.bound} */"
    yield f"static void {name}({given}, {kind} y[{nodes}]" + (
        f", const {kind} table[{layer.result.size}])" if table else ")"
    )
    yield "{"
    yield f"    const {_type(layer.weights.dtype)} *w = {name}_weights;"
    yield f"    for (int n = 0; n < {nodes}; n++) {{"
    yield f"        {sums} sum = {name}_biases[n];"
    for x, _, size in _reads(layer, network):
        yield f"        for (int i = 0; i < {size}; i++)"
        yield f"            sum += ({sums})*w++ * {x}[i];"
    result = layer.result
    yield f"        const int32_t code = rescaled(sum, {name}_multipliers[n], {name}_shifts[n],"
    ends = f"{result.zero_point}, {result.least}, {result.most}"
    yield f"                                      {ends});"
    if table:
        moved = f" - ({result.least})" if result.least else ""
        yield f"        y[n] = table[code{moved}];"
    else:
        yield f"        y[n] = ({kind})code;"
    yield "    }"
    yield "}"


def _run(network: IntegerNetwork, names: Sequence[str], prefix: str) -> Iterator[str]:
    upper, scratch = prefix.upper(), scratch_of(network)
    yield f"void {prefix}_run_with(const {prefix}_tables_t *tables,"
    indent = " " * (len(prefix) + 15)
    yield f"{indent}const {prefix}_in_t x[{upper}_IN], {prefix}_out_t y[{upper}_OUT],"
    yield f"{indent}uint8_t scratch[{upper}_SCRATCH])"
    yield "{"
    if not network.tables:
        yield "    (void)tables;"
    if len(network.layers) == 1:
        yield "    (void)scratch;"
    kinds = [_type(one.target.dtype) for one in network.layers]
    places = ["x"]
    for kind, offset in zip(kinds, scratch.offsets, strict=False):
        places.append(f"({kind} *)(scratch + {offset})" if offset else f"({kind} *)scratch")
    for place, layer in enumerate(network.layers):
        given = [f"{_of(places[one.operand], one.first)}" for one in layer.sources]
        given.append("y" if place == len(network.layers) - 1 else places[place + 1])
        if layer.table is not None:
            given.append(f"(const {kinds[place]} *)tables->table[{layer.table}]")
        yield f"    {names[place]}({', '.join(given)});"
    yield "}"


def _of(place: str, first: int) -> str:
    if not first:
        return place
    return f"{place} + {first}" if place == "x" else f"({place}) + {first}"


def _section(prefix: str, what: str) -> str:
    """The macro that stands before each array of a file, to put it into a memory."""
    return f"{prefix.upper()}_SECTION_{what}"


def _opening(prefix: str, section: str) -> Iterator[str]:
    """The lines before the arrays of a file: the macro is empty unless the build gives it."""
    yield f'#include "{prefix}.h"'
    yield ""
    yield f"#ifndef {section}"
    yield f"#define {section}"
    yield "#endif"


def _weights(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    yield f"/* Weights, biases, multipliers and shifts of {prefix}.c. */"
    section = _section(prefix, "WEIGHTS")
    yield from _opening(prefix, section)
    for name, layer in zip(_layer_names(network, prefix), network.layers, strict=True):
        wide = "int64_t" if layer.wide else "int32_t"
        for ending, kind, numbers in (
            ("weights", _type(layer.weights.dtype), layer.weights),
            ("biases", wide, layer.biases),
            ("multipliers", "int32_t", layer.multipliers),
            ("shifts", "int8_t", layer.shifts),
        ):
            declared = f"const {kind} {name}_{ending}[{numbers.size}]"
            yield ""
            yield f"extern {declared};"
            yield f"{section} {declared} = {{"
            yield from _numbers(numbers)
            yield "};"


def _tables(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    yield f"/* Transfer functions of {prefix}.c: the code of a result for each code of a sum. */"
    section = _section(prefix, "TABLES")
    yield from _opening(prefix, section)
    for number, table in enumerate(network.tables):
        used = [one.name for one in network.layers if one.table == number]
        yield ""
        yield f"/* {_comment(', '.join(used))} */"
        kind = _type(table.dtype)
        yield f"{section} static const {kind} table_{number}[{table.size}] = {{"
        yield from _numbers(table)
        yield "};"
    yield ""
    shown = ", ".join(f"table_{number}" for number in range(len(network.tables))) or "0"
    yield f"const {prefix}_tables_t {prefix}_tables = {{{{{shown}}}}};"


def _test(
    network: IntegerNetwork, prefix: str, inputs: Integers, outputs: Integers
) -> Iterator[str]:
    upper, rows = prefix.upper(), len(inputs)
    yield f"/* Runs {prefix}.c on known rows; the result is how many answers differ. */"
    yield f'#include "{prefix}.h"'
    yield ""
    yield f"static const {prefix}_in_t inputs[{rows} * {upper}_IN] = {{"
    yield from _numbers(inputs)
    yield "};"
    yield f"static const {prefix}_out_t outputs[{rows} * {upper}_OUT] = {{"
    yield from _numbers(outputs)
    yield "};"
    yield ""
    yield "int main(void)"
    yield "{"
    yield f"    static uint8_t scratch[{upper}_SCRATCH];"
    yield f"    {prefix}_out_t y[{upper}_OUT];"
    yield "    int differing = 0;"
    yield f"    for (int row = 0; row < {rows}; row++) {{"
    yield f"        {prefix}_run(inputs + row * {upper}_IN, y, scratch);"
    yield f"        for (int n = 0; n < {upper}_OUT; n++)"
    yield f"            differing += y[n] != outputs[row * {upper}_OUT + n];"
    yield "    }"
    yield "    return differing > 100 ? 100 : differing;"
    yield "}"


def _numbers(numbers: Integers) -> Iterator[str]:
    """Lines of numbers; the least of 64 bits has no literal, and no network has it."""
    wide = numbers.dtype.itemsize == 8
    line = "   "
    for one in numbers.reshape(-1).tolist():
        shown = f" {one}{'LL' if wide and abs(one) > 0x7FFFFFFF else ''},"
        if len(line) + len(shown) > _WIDTH:
            yield line
            line = "   "
        line += shown
    yield line


def _comment(text: str) -> str:
    """A text within a comment of C."""
    return (
        "".join(c if c.isprintable() else "?" for c in text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
    )


def _string(text: str) -> str:
    """A text as a literal of C, in UTF-8; no trigraph and no escape runs on into what follows."""
    found = []
    for byte in text.encode("utf-8", "replace"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        found.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(found)}"'
