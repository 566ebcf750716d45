"""C99 that makes a class or probabilities of the answers of a network.

Knows the definition of probabilities in integers, and nothing of layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from netsharp_compile.layers import SOFTMAX
from netsharp_compile.probabilities import (
    FRACTION,
    INDEX,
    MOST_CLASSES,
    inverse_table,
    last_code_below,
    power_tables,
    probabilities,
)
from netsharp_compile.refusal import CompileError

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork, Integers

#: The kinds of answers of a device, the default first.
Answers = Literal["values", "argmax", "softmax"]
ANSWERS: tuple[str, ...] = get_args(Answers)
#: Above, an only answer is the second class.
_MIDDLE = 0.5
_WIDTH = 96


def require_answers(answers: str, network: IntegerNetwork, classes: Sequence[str] | None) -> None:
    """Raise CompileError for answers that are none, or that a network cannot give."""
    last = network.layers[-1]
    if answers not in ANSWERS:
        raise CompileError(f"answers is one of {', '.join(ANSWERS)}; {answers!r} is none.")
    if answers != "values" and classes is None:
        raise CompileError(
            f"answers is {answers!r}, and the network answers with numbers: it has no classes."
        )
    if answers == "softmax" and last.function != SOFTMAX:
        raise CompileError(
            f"answers is 'softmax', and '{last.name}' ends in {last.function}, whose values are "
            "not probabilities: train with softmax, or take the values."
        )
    if answers == "softmax" and last.nodes >= MOST_CLASSES:
        raise CompileError(f"Probabilities are of fewer than {MOST_CLASSES:,} classes.")


def ending_declared(answers: str, prefix: str) -> list[str]:
    """Return the lines of the header for answers beyond the values."""
    upper = prefix.upper()
    if answers == "argmax":
        return [
            "/* Run, and return the number of the class; the values are kept nowhere. */",
            f"int {prefix}_classify(const {prefix}_in_t x[{upper}_IN], "
            f"uint8_t scratch[{upper}_SCRATCH]);",
        ]
    if answers == "softmax":
        return [
            f"/* Probabilities from answers, in units of 1 / {1 << FRACTION}. */",
            f"void {prefix}_softmax(const {prefix}_out_t y[{upper}_OUT], uint16_t p[{upper}_OUT]);",
        ]
    return []


def ending_files(answers: str, network: IntegerNetwork, prefix: str) -> dict[str, str]:
    """Return the text of what makes such answers, by its name; none for values."""
    made = {"argmax": _classify, "softmax": _softmax}.get(answers)
    if made is None:
        return {}
    lines = [f"/* See {prefix}.h. */", f'#include "{prefix}.h"', "", *made(network, prefix), ""]
    return {f"{prefix}_{answers}.c": "\n".join(lines)}


class TestedEnding(NamedTuple):
    """The part of the generated test after the values: the type and the numbers that are expected,
    its declarations, and the statements that count differences.
    """

    kind: str
    numbers: Integers
    declared: tuple[str, ...]
    checked: tuple[str, ...]


def ending_tested(
    answers: str, network: IntegerNetwork, prefix: str, outputs: Integers
) -> TestedEnding | None:
    """Return the test of the codes of outputs [rows, outputs]; None for values. Raises CompileError
    for probabilities of too many classes.
    """
    upper, target = prefix.upper(), network.layers[-1].target
    if answers == "argmax":
        chosen = outputs.argmax(axis=1)
        if outputs.shape[1] == 1:
            chosen = (outputs[:, 0] > last_code_below(target, _MIDDLE)).astype(np.int64)
        given = f"inputs + row * {upper}_IN, scratch"
        check = f"differing += {prefix}_classify({given}) != wanted[row];"
        return TestedEnding("int32_t", chosen, (), (check,))
    if answers == "softmax":
        checked = (
            f"{prefix}_softmax(y, p);",
            f"for (int n = 0; n < {upper}_OUT; n++)",
            f"    differing += p[n] != wanted[row * {upper}_OUT + n];",
        )
        declared = (f"uint16_t p[{upper}_OUT];",)
        return TestedEnding("uint16_t", probabilities(outputs, target), declared, checked)
    return None


def choice_of(network: IntegerNetwork, prefix: str, classes: Sequence[str] | None) -> list[str]:
    """Return the lines of the body that finds the class among answers y."""
    if classes is not None and network.layers[-1].nodes == 1:
        middle = last_code_below(network.layers[-1].target, _MIDDLE)
        return [f"    return y[0] > {middle};"]
    return [
        "    int best = 0;",
        f"    for (int n = 1; n < {prefix.upper()}_OUT; n++)",
        "        if (y[n] > y[best])",
        "            best = n;",
        "    return best;",
    ]


def _classify(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    upper = prefix.upper()
    yield f"int {prefix}_classify(const {prefix}_in_t x[{upper}_IN],"
    yield f"{' ' * (len(prefix) + 14)}uint8_t scratch[{upper}_SCRATCH])"
    yield "{"
    yield f"    {prefix}_out_t y[{upper}_OUT];"
    yield f"    {prefix}_run(x, y, scratch);"
    yield f"    return {prefix}_argmax(y);"
    yield "}"


def _softmax(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    upper = prefix.upper()
    low, high = power_tables(network.layers[-1].target)
    yield f"#ifndef {upper}_SECTION_TABLES"
    yield f"#define {upper}_SECTION_TABLES"
    yield "#endif"
    for name, table in (("low", low), ("high", high), ("inverse", inverse_table())):
        yield ""
        yield f"{upper}_SECTION_TABLES static const uint16_t {name}[{len(table)}] = {{"
        yield from _numbers(table)
        yield "};"
    yield ""
    yield f"void {prefix}_softmax(const {prefix}_out_t y[{upper}_OUT], uint16_t p[{upper}_OUT])"
    yield "{"
    yield "    int32_t largest = y[0];"
    yield "    uint32_t sum = 0;"
    yield f"    for (int n = 1; n < {upper}_OUT; n++)"
    yield "        if (y[n] > largest)"
    yield "            largest = y[n];"
    yield f"    for (int n = 0; n < {upper}_OUT; n++) {{"
    yield "        const uint32_t distance = (uint32_t)(largest - y[n]);"
    yield "        uint32_t power = 0;"
    yield f"        if (distance >> {INDEX} < {len(high)})"
    product = f"(uint32_t)high[distance >> {INDEX}] * low[distance & {(1 << INDEX) - 1}]"
    yield f"            power = ({product} + {1 << FRACTION - 1}) >> {FRACTION};"
    yield "        p[n] = (uint16_t)power;"
    yield "        sum += power;"
    yield "    }"
    yield from _SCALED
    yield f"    for (int n = 0; n < {upper}_OUT; n++)"
    yield "        p[n] = (uint16_t)((p[n] * factor + half) >> (16 + spare));"
    yield "}"


#: Makes `factor` and `half`, with which 2^15 / sum is a multiplication and a shift.
_SCALED = """\
    /* 2^31 divided by the first 16 bits of the sum: about so much, then a step of Newton's. */
    int spare = 0;
    while (sum >> spare >> 16)
        spare++;
    sum = (sum + ((uint32_t)1 << spare >> 1)) >> spare;
    spare += sum >> 16 ? 1 : 0;
    sum >>= sum >> 16;
    const int32_t about = inverse[(sum >> 7) - 256];
    const uint32_t product = sum * (uint32_t)about;
    const uint32_t whole = (uint32_t)1 << 31;
    int32_t left = product <= whole ? (int32_t)(whole - product) : -(int32_t)(product - whole);
    left = left >= 0 ? left >> 8 : ~(~left >> 8);
    left = left * about + (1 << 22);
    left = left >= 0 ? left >> 23 : ~(~left >> 23);
    const uint32_t factor = (uint32_t)(about + left);
    const uint32_t half = (uint32_t)1 << (15 + spare);
""".splitlines()


def _numbers(numbers: Integers) -> Iterator[str]:
    line = "   "
    for one in numbers.tolist():
        if len(line) + len(f" {one},") > _WIDTH:
            yield line
            line = "   "
        line += f" {one},"
    yield line
