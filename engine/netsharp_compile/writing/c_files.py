"""C99 for a network in integers: a header, the code, weights and tables apart, and a test.

No floating point, no library, no memory of its own: the caller brings the scratch memory.  Every
size is a literal.  Knows the network in integers and nothing of how it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.c_arrays import c_comment, c_type, layer_name
from netsharp_compile.writing.c_formulas import formula_functions
from netsharp_compile.writing.c_kernels import step_function
from netsharp_compile.writing.c_rescaling import rescaling_functions
from netsharp_compile.writing.device_steps import scratch_of, steps_of
from netsharp_compile.writing.ending import choice_of
from netsharp_compile.writing.products.targets import TARGETS, StepProducts, product_functions

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork, Integers
    from netsharp_compile.writing.c_arrays import StoredArray
    from netsharp_compile.writing.ending import TestedEnding

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


def stored_size(network: IntegerNetwork) -> int:
    """Return the bytes of all weights, biases, multipliers, shifts and places."""
    arrays = _arrays(network, "net")
    return sum(one.size for one in arrays)


def c_files(
    network: IntegerNetwork,
    prefix: str,
    classes: Sequence[str] | None,
    inputs: Integers,
    outputs: Integers,
    declared: Sequence[str] = (),
    target: str = "c99",
    ending: TestedEnding | None = None,
) -> dict[str, str]:
    """Return the text of each file by its name.

    ``inputs`` and ``outputs`` are codes of rows that the test runs, ``declared`` lines of the
    header for the contents of further files, and ``ending`` what the test checks of these. Raises
    CompileError for a prefix that cannot begin names of C. Codes are [rows, features] and [rows,
    outputs].
    """
    require_prefix(prefix)
    return {
        f"{prefix}.h": _text(_header(network, prefix, classes, declared)),
        f"{prefix}.c": _text(_code(network, prefix, classes, target)),
        f"{prefix}_weights.c": _text(_weights(network, prefix, target)),
        f"{prefix}_tables.c": _text(_tables(network, prefix)),
        f"{prefix}_test.c": _text(_test(prefix, inputs, outputs, ending)),
    }


def _text(lines: Iterable[str]) -> str:
    return "\n".join([*lines, ""])


def _header(
    network: IntegerNetwork, prefix: str, classes: Sequence[str] | None, declared: Sequence[str]
) -> Iterator[str]:
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
    yield f"#define {upper}_OUT {last.nodes}"
    yield "/* Bytes of memory that a run needs; the caller owns them. */"
    yield f"#define {upper}_SCRATCH {scratch_size(network)}"
    yield ""
    yield "/* For a feature: the nearest integer to (feature - offset) * factor, lowest to most,"
    yield f"   plus ({read.least}); the numbers of each are in {prefix}.json. */"
    yield f"typedef {c_type(read.dtype)} {prefix}_in_t;"
    yield f"/* An answer means (answer - ({answer.zero_point})) * {float(answer.scale).hex()}. */"
    yield f"typedef {c_type(answer.dtype)} {prefix}_out_t;"
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
    yield "/* The number of the class: of the largest answer, the first of equal ones. */"
    yield f"int {prefix}_argmax(const {prefix}_out_t y[{upper}_OUT]);"
    if classes is not None:
        yield f"extern const char *const {prefix}_classes[{len(classes)}];"
    yield from declared
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield "#endif"


def _code(
    network: IntegerNetwork, prefix: str, classes: Sequence[str] | None, target: str
) -> Iterator[str]:
    upper = prefix.upper()
    yield f"/* See {prefix}.h. */"
    yield f'#include "{prefix}.h"'
    yield ""
    yield from _declared(network, prefix, target)
    yield from rescaling_functions(network)
    yield from formula_functions(network)
    yield from product_functions(network, prefix, target)
    for step in steps_of(network):
        yield from step_function(network, step, prefix, target)
        yield ""
    yield from _run(network, prefix, target)
    yield ""
    yield f"void {prefix}_run(const {prefix}_in_t x[{upper}_IN], {prefix}_out_t y[{upper}_OUT],"
    yield f"{' ' * (len(prefix) + 10)}uint8_t scratch[{upper}_SCRATCH])"
    yield "{"
    yield f"    {prefix}_run_with(&{prefix}_tables, x, y, scratch);"
    yield "}"
    yield ""
    yield f"int {prefix}_argmax(const {prefix}_out_t y[{upper}_OUT])"
    yield "{"
    yield from choice_of(network, prefix, classes)
    yield "}"
    if classes is not None:
        yield ""
        yield f"const char *const {prefix}_classes[{len(classes)}] = {{"
        yield from (f"    {_string(one)}," for one in classes)
        yield "};"


def _arrays(
    network: IntegerNetwork, prefix: str, target: str = TARGETS[0]
) -> Iterator[StoredArray]:
    for step in steps_of(network):
        yield from StepProducts(network, step, prefix, target).stored()


def _declared(network: IntegerNetwork, prefix: str, target: str) -> Iterator[str]:
    for one in _arrays(network, prefix, target):
        yield f"extern const {one.kind} {one.name}[{len(one.numbers)}];"
    yield ""


def scratch_size(network: IntegerNetwork) -> int:
    """Return the bytes of scratch memory, with some to begin where wider numbers can lie."""
    return scratch_of(network).bytes


def _run(network: IntegerNetwork, prefix: str, target: str) -> Iterator[str]:
    upper, scratch = prefix.upper(), scratch_of(network)
    yield f"void {prefix}_run_with(const {prefix}_tables_t *tables,"
    indent = " " * (len(prefix) + 15)
    yield f"{indent}const {prefix}_in_t x[{upper}_IN], {prefix}_out_t y[{upper}_OUT],"
    yield f"{indent}uint8_t scratch[{upper}_SCRATCH])"
    yield "{"
    if not network.tables:
        yield "    (void)tables;"
    if not scratch.offsets and not scratch.windows:
        yield "    (void)scratch;"
    elif scratch.width > 1:
        yield "    scratch += (uintptr_t)scratch & 1;"
    kinds = [c_type(one.target.dtype) for one in network.layers]
    places = {-1: "x", len(network.layers) - 1: "y"}
    for number, offset in scratch.offsets.items():
        places[number] = _scratch_at(kinds[number], offset)
    codes = [c_type(network.features.codes.dtype), *kinds]
    for step in steps_of(network):
        layer = network.layers[step.layer]
        sources = [one.bundle.source for one in layer.parts]
        given = [_of(places[one.operand - 1], one.first) for one in sources]
        given.append(places[step.made])
        products = StepProducts(network, step, prefix, target)
        for number, source in enumerate(() if products.own_windows else sources):
            if (step.layer, number) in scratch.windows:
                offset = scratch.windows[step.layer, number]
                given.append(_scratch_at(codes[source.operand], offset))
        if layer.table is not None:
            given.append(f"(const {kinds[step.layer]} *)tables->table[{layer.table}]")
        yield f"    {layer_name(network, step.layer, prefix)}({', '.join(given)});"
    yield "}"


def _scratch_at(kind: str, offset: int) -> str:
    wide = "" if kind.strip("uint_") == "8" else "(void *)"
    return f"({kind} *){wide}{f'(scratch + {offset})' if offset else 'scratch'}"


def _of(place: str, first: int) -> str:
    if not first:
        return place
    return f"{place} + {first}" if place == "x" else f"({place}) + {first}"


def _section(prefix: str, what: str) -> str:
    """Return the macro before each array of a file, which selects its memory."""
    return f"{prefix.upper()}_SECTION_{what}"


def _opening(prefix: str, section: str) -> Iterator[str]:
    """Yield the lines before the arrays of a file: the macro is empty unless the build defines
    it.
    """
    yield f'#include "{prefix}.h"'
    yield ""
    yield f"#ifndef {section}"
    yield f"#define {section}"
    yield "#endif"


def _weights(network: IntegerNetwork, prefix: str, target: str) -> Iterator[str]:
    yield f"/* Weights, biases, multipliers and shifts of {prefix}.c. */"
    section = _section(prefix, "WEIGHTS")
    yield from _opening(prefix, section)
    for one in _arrays(network, prefix, target):
        declared = f"const {one.kind} {one.name}[{len(one.numbers)}]"
        yield ""
        yield f"extern {declared};"
        yield f"{section} {declared} = {{"
        yield from _numbers(one.numbers)
        yield "};"


def _tables(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    yield f"/* Transfer functions of {prefix}.c: the code of a result for each code of a sum. */"
    section = _section(prefix, "TABLES")
    yield from _opening(prefix, section)
    for number, table in enumerate(network.tables):
        used = [one.name for one in network.layers if one.table == number]
        yield ""
        yield f"/* {c_comment(', '.join(used))} */"
        kind = c_type(table.dtype)
        yield f"{section} static const {kind} table_{number}[{table.size}] = {{"
        yield from _numbers(table)
        yield "};"
    yield ""
    shown = ", ".join(f"table_{number}" for number in range(len(network.tables))) or "0"
    yield f"const {prefix}_tables_t {prefix}_tables = {{{{{shown}}}}};"


def _test(
    prefix: str, inputs: Integers, outputs: Integers, ending: TestedEnding | None
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
    if ending is not None:
        yield f"static const {ending.kind} wanted[{ending.numbers.size}] = {{"
        yield from _numbers(ending.numbers)
        yield "};"
    yield ""
    yield "int main(void)"
    yield "{"
    yield f"    static uint8_t scratch[{upper}_SCRATCH];"
    yield f"    {prefix}_out_t y[{upper}_OUT];"
    yield from ("    " + line for line in (ending.declared if ending is not None else ()))
    yield "    int differing = 0;"
    yield f"    for (int row = 0; row < {rows}; row++) {{"
    yield f"        {prefix}_run(inputs + row * {upper}_IN, y, scratch);"
    yield f"        for (int n = 0; n < {upper}_OUT; n++)"
    yield f"            differing += y[n] != outputs[row * {upper}_OUT + n];"
    yield from ("        " + line for line in (ending.checked if ending is not None else ()))
    yield "    }"
    yield "    return differing > 100 ? 100 : differing;"
    yield "}"


def _numbers(numbers: Integers) -> Iterator[str]:
    """Yield lines of numbers; the least of 64 bits has no literal in C, and does not occur."""
    # Beyond 31 bits a literal is `long long` on devices whose `int` and `long` have 32.
    wide = numbers.dtype.itemsize == 8
    line = "   "
    for one in numbers.reshape(-1).tolist():
        shown = f" {one}{'LL' if wide and abs(one) > 0x7FFFFFFF else ''},"
        if len(line) + len(shown) > _WIDTH:
            yield line
            line = "   "
        line += shown
    yield line


def _string(text: str) -> str:
    """Return a text as a literal of C, in UTF-8; no trigraph is formed and no escape continues into
    the next character.
    """
    found = []
    for byte in text.encode("utf-8", "replace"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        found.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(found)}"'
