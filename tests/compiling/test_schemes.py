"""Quantisation schemes: every code means a number, and comes back from it."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from netsharp_compile.schemes import LEAST_BITS, MOST_BITS, OPERANDS, QuantizationScheme

BITS = range(LEAST_BITS, MOST_BITS + 1)


def drawn(chance: random.Random) -> QuantizationScheme:
    """Draw a scheme of any kind, width and operand."""
    bits, operand = chance.choice(BITS), chance.choice(OPERANDS)
    low, high = sorted(chance.uniform(-10, 10) ** 3 for _ in range(2))
    kind = chance.randrange(4)
    if kind == 0:
        plain = QuantizationScheme.affine(1.0, 0, bits, operand)
        scale = chance.choice([2.0 ** chance.randrange(-12, 4), abs(low) + 1e-3, 1 / 255])
        point = chance.randint(plain.least, plain.most)
        return QuantizationScheme.affine(scale, point, bits, operand)
    if kind == 1:
        return QuantizationScheme.asymmetric(low, high, bits, operand)
    if kind == 2:
        return QuantizationScheme.symmetric(max(abs(low), abs(high)), bits, operand)
    whole = chance.randrange(-2, bits)
    return QuantizationScheme.qmn(whole, bits - whole - (operand != "unsigned"), operand)


@pytest.mark.parametrize("bits", BITS)
def test_p4_operands_have_the_ranges_of_their_width(bits: int) -> None:
    half = 2 ** (bits - 1)
    found = {
        operand: (one.least, one.most, one.size)
        for operand in OPERANDS
        for one in [QuantizationScheme.affine(1.0, 0, bits, operand)]
    }
    assert found == {
        "unsigned": (0, 2**bits - 1, 2**bits),
        "signed": (-half, half - 1, 2**bits),
        "symmetric": (1 - half, half - 1, 2**bits - 1),
    }


def test_p7_every_code_of_every_scheme_comes_back_from_the_number_it_means(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(300):
        scheme = drawn(chance)
        codes = scheme.codes()
        assert (codes[0], codes[-1], len(codes)) == (scheme.least, scheme.most, scheme.size)
        numbers = scheme.dequantize(codes)
        assert numbers[scheme.zero_point - scheme.least] == 0
        again = scheme.quantize(numbers)
        assert again.dtype == scheme.dtype
        np.testing.assert_array_equal(again, codes)
        np.testing.assert_array_equal(scheme.dequantize(again), numbers)
        ends = scheme.quantize([-math.inf, -1e308, 1e308, math.inf])
        assert ends.tolist() == [scheme.least, scheme.least, scheme.most, scheme.most]
        assert scheme.quantize(np.ones((2, 0))).shape == (2, 0)
        assert pickle.loads(pickle.dumps(scheme)) == scheme


def test_halves_go_up_and_nothing_below_a_half_does(seed: int) -> None:
    chance = random.Random(seed)
    whole = QuantizationScheme.affine(1.0, 0, 8, "signed")
    below = math.nextafter(0.5, 0)
    given = [0.5, below, -0.5, -math.nextafter(0.5, 1), 1.5, 2.5, -1.5]
    assert whole.quantize(given).tolist() == [1, 0, 0, -1, 2, 3, -1]
    for _ in range(2000):
        scheme = drawn(chance)
        value = chance.uniform(*scheme.dequantize([scheme.least, scheme.most]).tolist())
        exact = Fraction(value) / Fraction(scheme.scale) + Fraction(1, 2)
        if abs(exact - round(exact)) > Fraction(1, 10**11):
            assert scheme.quantize(value) == math.floor(exact) + scheme.zero_point


def test_a_range_is_covered_and_holds_zero() -> None:
    for low, high in ((-4.0, 4.0), (1.0, 5.0), (-3.0, -2.0), (-1e-9, 2.0), (0.0, 1e300)):
        for operand in OPERANDS:
            scheme = QuantizationScheme.asymmetric(low, high, 8, operand)
            ends = scheme.dequantize([scheme.least, scheme.most])
            assert ends[0] <= min(low, 0) + scheme.scale / 2
            assert ends[1] >= max(high, 0) - scheme.scale / 2
    assert QuantizationScheme.asymmetric(0, 0).scale == 1
    assert QuantizationScheme.symmetric(0.0).scale == 1
    assert QuantizationScheme.symmetric(1.0, 16).scale == 1 / 32767
    assert QuantizationScheme.symmetric(1.0, 8, "unsigned").scale == 1 / 255


def test_fixed_point_has_its_point_anywhere() -> None:
    for whole, part in ((0, 7), (3, 4), (7, 0), (-2, 9), (10, -3)):
        scheme = QuantizationScheme.qmn(whole, part)
        assert (scheme.bits, scheme.scale, scheme.least) == (8, 2.0**-part, -128)
    assert QuantizationScheme.qmn(0, 8, "unsigned").bits == 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuantizationScheme.affine(1, 0, 3), "An operand has 4 to 16 bits; 3 was given."),
        (lambda: QuantizationScheme.affine(1, 0, 17), "17 was given"),
        (lambda: QuantizationScheme.affine(1, 256), "a code, 0 to 255 in unsigned operands of 8"),
        (lambda: QuantizationScheme.affine(0, 0), "The scale is a positive number.*; 0.0 is none"),
        (lambda: QuantizationScheme.affine(-1, 0), "-1.0 is none"),
        (lambda: QuantizationScheme.affine(1e-310, 0), "1e-310 is none"),
        (lambda: QuantizationScheme.affine(math.nan, 0), "nan is none"),
        (lambda: QuantizationScheme.affine(1, 0, 8, "any"), "unsigned, signed, symmetric; 'any'"),  # type: ignore[arg-type]
        (lambda: QuantizationScheme.asymmetric(2, 1), "2 to 1 does not"),
        (lambda: QuantizationScheme.asymmetric(0, math.inf), "0 to inf does not"),
        (lambda: QuantizationScheme.asymmetric(-1e308, 1e308), "wider than any number"),
        (lambda: QuantizationScheme.symmetric(-1.0), "0.0 to -1.0 does not"),
        (lambda: QuantizationScheme.affine(1, 0).quantize([1, math.nan]), "nan is none"),
    ],
)
def test_what_no_scheme_has_is_a_sentence(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()
