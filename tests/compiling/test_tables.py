"""Tables of transfer functions against two evaluations of others: fractions for operators that are
exact, and mpmath's for those that are not.  No entry may be off by one.
"""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from netsharp_compile.operators import Named, chain_of, exact_value
from netsharp_compile.schemes import OPERANDS, QuantizationScheme
from netsharp_compile.tables import TransferTable, transfer_table
from netsharp_engine.activations import NAMES
from tests.compiling.test_schemes import drawn

BYTE = QuantizationScheme.asymmetric(-4.0, 4.0)
UNIT = QuantizationScheme.symmetric(1.0)
#: Operators in mpmath's words.
FUNCTIONS: dict[Named, Callable[[Any], Any]] = {
    "linear": lambda x: x,
    "identity": lambda x: x,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "rlinear": lambda x: max(x, mpmath.mpf(0)),
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "brlinear": lambda x: min(max(x, mpmath.mpf(0)), mpmath.mpf(1)),
    "srlinear": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "erf": mpmath.erf,
    "square": lambda x: x * x,
    "sqrt": lambda x: mpmath.sqrt(max(x, mpmath.mpf(0))),
    "abs": abs,
    ("leaky relu", 0.1): lambda x: x if x > 0 else x * mpmath.mpf(0.1),
    "leaky relu": lambda x: x if x > 0 else x * mpmath.mpf(0.01),
}
#: Operators that fractions can take, in their words.
EXACT: list[tuple[Named, Callable[[Fraction], Fraction]]] = [
    ("linear", lambda x: x),
    ("rlinear", lambda x: max(x, Fraction(0))),
    ("brlinear", lambda x: min(max(x, Fraction(0)), Fraction(1))),
    ("abs", abs),
    ("square", lambda x: x * x),
    (("leaky relu", 0.25), lambda x: x if x > 0 else x / 4),
    (("multiply", -1.5), lambda x: x * Fraction(-3, 2)),
    (("multiply", 0.1), lambda x: x * Fraction(0.1)),
    (("add", 0.5), lambda x: x + Fraction(1, 2)),
    (("clip", -2.5, 3.0), lambda x: min(max(x, Fraction(-5, 2)), Fraction(3))),
]


def nearest(value: Fraction, target: QuantizationScheme) -> int:
    """The code nearest to an exact number, halves up."""
    steps = math.floor(value / Fraction(target.scale) + Fraction(1, 2))
    return min(max(steps + target.zero_point, target.least), target.most)


def meant(scheme: QuantizationScheme) -> list[Fraction]:
    scale = Fraction(scheme.scale)
    return [scale * (code - scheme.zero_point) for code in scheme.codes().tolist()]


def fitting(chance: random.Random, bits: int = 12) -> QuantizationScheme:
    """Draw a scheme for the index of a table."""
    while (scheme := drawn(chance)).bits > bits:
        pass
    return scheme


@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(12))
@pytest.mark.parametrize("operator", FUNCTIONS, ids=str)
def test_p6_every_entry_is_the_nearest_code(operator: Named, round_: int, seed: int) -> None:
    chance = random.Random(f"{seed} {operator} {round_}")
    source, target = fitting(chance, 10), drawn(chance)
    table = transfer_table(source, operator, target)
    with mpmath.workdps(120):
        for code, found in zip(source.codes().tolist(), table.values.tolist(), strict=True):
            x = mpmath.mpf(source.scale) * (code - source.zero_point)
            if abs(x) > 60:
                continue  # mpmath's digits do not distinguish these from the limit.
            steps = FUNCTIONS[operator](x) / mpmath.mpf(target.scale) + mpmath.mpf("0.5")
            whole = int(mpmath.floor(steps + mpmath.mpf("1e-100"))) + target.zero_point
            assert found == min(max(whole, target.least), target.most), (source, target, code)


def test_p9_chains_are_one_table_of_their_composition(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        source, target = fitting(chance, 8), drawn(chance)
        chosen = [chance.choice(EXACT) for _ in range(chance.randrange(5))]
        table = transfer_table(source, [name for name, _ in chosen], target)
        wanted = []
        for value in meant(source):
            for _, apply in chosen:
                value = apply(value)
            wanted.append(nearest(value, target))
        assert table.values.tolist() == wanted, (source, table.operators, target)


def test_ties_go_up_where_floating_point_cannot_decide() -> None:
    tenth = QuantizationScheme.affine(0.1, 8, 4)
    for factor, target in ((2, 0.2), (3, 0.3), (6, 0.6), (7, 0.7)):
        scheme = QuantizationScheme.affine(target, 128)
        found = transfer_table(tenth, "identity", scheme).values.tolist()
        assert found == [nearest(value, scheme) for value in meant(tenth)], factor
    # A square under a root is exact again, and 1.5 lies between 1 and 2.
    halves = QuantizationScheme.affine(0.5, 0, 4)
    whole = QuantizationScheme.affine(1.0, 0, 4)
    roots = transfer_table(halves, ["square", "sqrt"], whole).values.tolist()
    assert roots == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8]


@pytest.mark.parametrize("operator", FUNCTIONS, ids=str)
def test_decimals_have_a_hundred_digits(operator: Named, seed: int) -> None:
    chance = random.Random(f"{seed} {operator}")
    for _ in range(60):
        x = chance.choice([-1, 1]) * 10 ** chance.uniform(-40, 2)
        found = exact_value(chain_of(operator), [Decimal(x)])
        assert found is not None
        with mpmath.workdps(400):
            wanted = FUNCTIONS[operator](mpmath.mpf(x))
            apart = abs(mpmath.mpf(str(found)) - wanted)
            # Where a bound is never met they say so by 1e-90, however near it is.
            assert apart <= mpmath.mpf("1.1e-90"), x
            if abs(x) < 50:
                assert apart <= abs(wanted) * mpmath.mpf("1e-75"), x


@pytest.mark.parametrize("operator", ["tanh", "sigmoid", "erf"])
def test_what_never_reaches_a_tie_is_below_it(operator: str) -> None:
    """1 is half of the scale; these come as near to it as anybody likes."""
    far = QuantizationScheme.symmetric(20_000.0)
    coarse = QuantizationScheme.affine(2.0, 0)
    assert set(transfer_table(far, operator, coarse).values.tolist()) == {0}
    near = QuantizationScheme.symmetric(30.0)
    assert set(transfer_table(near, operator, coarse).values.tolist()) == {0}
    # And the chain continues from there.
    shifted = transfer_table(far, [operator, ("multiply", -1.0), ("add", 2.0)], coarse)
    assert shifted.values[-1] == 1


@pytest.mark.parametrize(("first", "second"), [(8, 8), (4, 12), (6, 6)])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
def test_p8_two_operands_share_sixteen_bits(name: str, first: int, second: int, seed: int) -> None:
    chance = random.Random(f"{seed} {name} {first}")
    functions: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "maximum": max,
        "minimum": min,
    }
    sources = [
        QuantizationScheme.asymmetric(-chance.random(), 2.0, first, chance.choice(OPERANDS)),
        QuantizationScheme.symmetric(0.5, second),
    ]
    target = QuantizationScheme.affine(1 / 64, 100)
    table = transfer_table(sources, [name, "abs"], target)
    assert table.values.shape == tuple(one.size for one in sources)
    left, right = (meant(one) for one in sources)
    for _ in range(3000):
        at, other = chance.randrange(len(left)), chance.randrange(len(right))
        wanted = nearest(abs(functions[name](left[at], right[other])), target)
        assert table.values[at, other] == wanted
        codes = sources[0].least + at, sources[1].least + other
        assert table.look_up(*codes) == wanted


def test_p3_and_p7_any_scheme_stands_on_either_side(seed: int) -> None:
    """From 8 bits to 16 and back, and a table for 16 bits only where it is asked for."""
    fine = QuantizationScheme.symmetric(1.0, 16)
    there = transfer_table(UNIT, "identity", fine)
    back = transfer_table(fine, "identity", UNIT, big_tables=True)
    assert (len(there.values), len(back.values)) == (255, 65_535)
    np.testing.assert_array_equal(back.look_up(there.values), UNIT.codes())
    with pytest.raises(ValueError, match=r"index of 16 bits has 65,535 entries.*big_tables=True"):
        transfer_table(fine, "identity", UNIT)
    chance = random.Random(seed)
    seen = set()
    for _ in range(80):
        source, target = fitting(chance), drawn(chance)
        table = transfer_table(source, "tanh", target)
        assert (table.sources, table.target) == ((source,), target)
        assert table.values.dtype == target.dtype
        seen.add((source.kind, target.kind))
    assert len(seen) == 16


@pytest.mark.parametrize("operand", OPERANDS)
def test_p5_and_p13_a_result_is_fetched_by_its_distance_from_the_least_code(operand: str) -> None:
    source = QuantizationScheme.symmetric(4.0, 8, operand)  # type: ignore[arg-type]
    table = transfer_table(source, "tanh", UNIT)
    assert len(table.values) == {"unsigned": 256, "signed": 256, "symmetric": 255}[operand]
    codes = source.codes()
    np.testing.assert_array_equal(table.look_up(codes), table.values)
    shaped = codes[:252].reshape(3, 7, 12)
    np.testing.assert_array_equal(table.look_up(shaped), table.values[:252].reshape(3, 7, 12))
    for wrong in (source.most + 1, source.least - 1, 0.5):
        with pytest.raises(ValueError, match=f"whole numbers from {source.least} to {source.most}"):
            table.look_up([wrong])
    with pytest.raises(ValueError, match="has 1 operands; codes of 2 were given"):
        table.look_up(codes, codes)


def test_p2_it_is_what_dequantising_the_operator_and_quantising_give() -> None:
    table = transfer_table(BYTE, "tanh", UNIT)
    np.testing.assert_array_equal(
        table.values, UNIT.quantize(np.tanh(BYTE.dequantize(BYTE.codes())))
    )


def test_p8_every_activation_of_net_sharp_that_takes_each_element_alone_has_a_table() -> None:
    for name in NAMES:
        if name != "softmax":
            assert transfer_table(BYTE, name, UNIT).operators == (name,)
    with pytest.raises(ValueError, match="'softmax' is not an operator of one operand"):
        transfer_table(BYTE, "softmax", UNIT)


def test_p8_a_function_of_the_caller_s_is_an_operator_like_others() -> None:
    table = transfer_table(BYTE, [math.sin, "abs", lambda x: 1 - x], UNIT)
    assert table.operators == ("sin", "abs", "<lambda>")
    wanted = UNIT.quantize(1 - np.abs(np.sin(BYTE.dequantize(BYTE.codes()))))
    np.testing.assert_array_equal(table.values, wanted)


def test_what_needs_no_table_reports_it() -> None:
    assert transfer_table(UNIT, "identity", UNIT).is_identity
    assert transfer_table(UNIT, [], UNIT).is_identity
    positive = QuantizationScheme.asymmetric(0.0, 3.0)
    assert transfer_table(positive, "relu", positive).is_identity
    assert not transfer_table(BYTE, "relu", BYTE).is_identity
    assert not transfer_table((BYTE, BYTE), "add", BYTE).is_identity


def test_a_table_is_a_value_that_no_one_changes() -> None:
    table = transfer_table(BYTE, ("leaky relu", 0.1), QuantizationScheme.symmetric(4.0))
    assert repr(table) == "<TransferTable leaky relu 0.1: 256 entries, -13 ... 127>"
    again: TransferTable = pickle.loads(pickle.dumps(table))
    assert (again.sources, again.operators, again.target) == (
        table.sources,
        table.operators,
        table.target,
    )
    np.testing.assert_array_equal(again.values, table.values)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1


HUGE = QuantizationScheme.asymmetric(0.0, 1e200)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((HUGE, "square", UNIT), r"'square' gives inf for code 1, which means 3.92157e\+197"),
        (
            (HUGE, ["tanh", math.nan.__add__], UNIT),
            r"'__add__' gives nan for code 0, which means 0",
        ),
        (
            (BYTE, "gelu", UNIT),
            r"'gelu' is not an operator of one operand: those are abs",
        ),
        ((BYTE, ("clip", 1.0), UNIT), r"\('clip', 1.0\) is not an operator"),
        ((BYTE, ("leaky relu", math.inf), UNIT), "numbers of 'leaky relu' are finite; inf is none"),
        ((BYTE, ("add", "1"), UNIT), "finite; '1' is none"),
        ((BYTE, 3, UNIT), "3 is not an operator"),
        ((BYTE, ("tanh", "square"), UNIT), r"\('tanh', 'square'\) is not an operator"),
        ((BYTE, (), UNIT), r"\(\) is not an operator"),
        (
            ((BYTE, BYTE), "tanh", UNIT),
            "'tanh' is not an operator of two operands: those are add",
        ),
        (((BYTE, BYTE), [], UNIT), "None is not an operator of two operands"),
        (((BYTE, BYTE), ["add", "add"], UNIT), "'add' is not an operator of one operand"),
        (((BYTE, BYTE, BYTE), "add", UNIT), "one operand or two; 3 were given"),
        (((), "add", UNIT), "one operand or two; 0 were given"),
        (((BYTE, QuantizationScheme.symmetric(1.0, 9)), "add", UNIT), r"16 bits.*8 \+ 9 = 17"),
        (((HUGE, HUGE), "multiply", UNIT), "gives inf for code 1 and 1, which means 3.9.* and 3.9"),
    ],
)
def test_what_has_no_table_is_a_sentence(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transfer_table(*arguments)


def test_results_beyond_all_numbers_of_steps_take_the_last_code() -> None:
    tiny = QuantizationScheme.affine(3e-308, 0)
    assert transfer_table(HUGE, "identity", tiny).values.tolist() == [0, *[255] * 255]
