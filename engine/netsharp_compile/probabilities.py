"""Classes and probabilities from the codes of answers, in integers.

    d    = largest answer - answer[n]
    e    = (high[d >> 8] * low[d & 255] + 2^14) >> 15,  and 0 where `high` has no such entry
    m    = floor((sum + 2^k / 2) / 2^k), the sum being that of all e, with the least k at which
           the sum has 16 bits; of an m of 2^16 half, and k + 1
    t    = inverse[floor(m / 128) - 256]
    r    = t + floor((floor((2^31 - m * t) / 2^8) * t + 2^22) / 2^23)
    p[n] = floor((e * r + 2^(15 + k)) / 2^(16 + k))

`low` and `high` are the nearest integers to 2^15 * exp(-scale * i) and 2^15 * exp(-scale * 256 i),
`inverse` to 2^31 / (2^15 + 128 i + 64); a probability is p / 2^15.  No number needs more than 32
bits, and nothing is divided on a device: r is 2^31 / m by a table and one step of Newton's.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.refusal import CompileError

if TYPE_CHECKING:
    from netsharp_compile.integers import Integers
    from netsharp_compile.schemes import QuantizationScheme

#: Bits of a probability's fraction, and of the index of each table.
FRACTION, INDEX = 15, 8
#: The most classes: a sum of as many probabilities of 15 bits has 31 bits.
MOST_CLASSES = 2**16
#: Digits of decimals: far more than are needed to find the integer nearest to a power.
_DIGITS = 60


class PowerTables(NamedTuple):
    """Powers of e in units of 2^-15 for the last eight bits of a distance, and for those above."""

    low: Integers
    high: Integers


def power_tables(answers: QuantizationScheme) -> PowerTables:
    """Return the tables for answers of a scheme."""
    steps = 1 << INDEX
    most = answers.most - answers.least
    low = _powers(answers.scale, 1, min(steps, most + 1))
    return PowerTables(low, _powers(answers.scale, steps, (most >> INDEX) + 1))


def _powers(scale: float, step: int, count: int) -> Integers:
    """Return the nearest integers to 2^15 * exp(-scale * step * i), without zeros at the end."""
    found = []
    with localcontext(Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)):
        for i in range(count):
            power = (Decimal(-scale) * step * i).exp() * (1 << FRACTION)
            found.append(int(power.to_integral_value(ROUND_HALF_UP)))
            if not found[-1]:
                break
    kept = found[: -1 if found[-1] == 0 else None]
    # The first table is looked up at every place.
    rest = [0] * (count - len(kept)) if step == 1 else []
    return np.array(kept + rest, np.uint16)


def inverse_table() -> Integers:
    """Return the table of reciprocals, uint16 [256]."""
    middles = (1 << FRACTION) + (1 << 7) * np.arange(1 << INDEX) + (1 << 6)
    found: Integers = (((1 << 31) + middles // 2) // middles).astype(np.uint16)
    return found


def softmax_bytes(answers: QuantizationScheme) -> int:
    """Return the bytes of the tables for answers of a scheme."""
    return sum(table.nbytes for table in (*power_tables(answers), inverse_table()))


def probabilities(codes: Integers, answers: QuantizationScheme) -> Integers:
    """Return the probabilities [rows, classes] in units of 2^-15 for codes of answers, uint16;
    CompileError for more classes than fit.
    """
    if codes.shape[1] >= MOST_CLASSES:
        raise CompileError(
            f"Probabilities are of fewer than {MOST_CLASSES:,} classes; {codes.shape[1]:,} are too "
            "many."
        )
    low, high = power_tables(answers)
    distance = codes.max(axis=1, keepdims=True).astype(np.int64) - codes
    above = distance >> INDEX
    inside = above < len(high)
    half = 1 << FRACTION - 1
    products = high[np.where(inside, above, 0)].astype(np.int64) * low[distance & (1 << INDEX) - 1]
    powers = np.where(inside, (products + half) >> FRACTION, 0)
    sums = powers.sum(axis=1, keepdims=True)
    spare = np.maximum(np.frexp(sums.astype(np.float64))[1] - 16, 0).astype(np.int64)
    wide = (sums + ((1 << spare) >> 1)) >> spare
    over = wide >> 16
    wide, spare = wide >> over, spare + over
    about = inverse_table()[(wide >> 7) - (1 << INDEX)].astype(np.int64)
    left = ((1 << 31) - wide * about) >> 8
    inverse = about + ((left * about + (1 << 22)) >> 23)
    found: Integers = ((powers * inverse + (1 << (FRACTION + spare))) >> (16 + spare)).astype(
        np.uint16
    )
    return found


def last_code_below(answers: QuantizationScheme, value: float) -> int:
    """Return the largest code that means no more than a value; one below all where none does."""
    codes = np.arange(answers.least, answers.most + 1)
    return answers.least - 1 + int((answers.dequantize(codes) <= value).sum())
