"""The values of expressions: the table of operators, and a second evaluator that agrees."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.meaning.values.evaluate import FUNCTIONS
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.syntax import DEEPEST


def network_of(text: str) -> Network:
    return resolve(parse(text.encode()), Context())


def evaluated(expression: str) -> tuple[object, list[tuple[str, str]]]:
    """The value of an expression, and each fault's code with the text that it points at."""
    text = f"const X = {expression};"
    network = network_of(text)
    faults = []
    for finding in network.findings:
        start, end = finding.place.offsets(network.specification)
        faults.append((finding.code, text.encode()[start:end].decode()))
    return network.constants["X"].value, faults


VALUES = [
    # Numbers: a point or an exponent makes a real.
    ("28", 28),
    ("0.75", 0.75),
    (".5", 0.5),
    ("1.", 1.0),
    ("1e-04", 1e-4),
    ("1e2", 100.0),
    # Precedence and associativity.
    ("5 * 13^2", 845),
    ("-2^2", -4),
    ("(-2)^2", 4),
    ("2^-1", 0.5),
    ("2^3^2", 512),
    ("2 + 3 * 4", 14),
    ("(2 + 3) * 4", 20),
    ("10 - 4 - 3", 3),
    ("100 / 10 / 2", 5),
    ("7 - -7", 14),
    ("--3", 3),
    ("+3", 3),
    ("1 + 2 == 3", True),
    ("1 < 2 == true", True),
    ("1 == 2 || 3 == 3 && 2 < 1", False),
    ("true || false && false", True),
    ("!(1 > 2) && !false", True),
    ("1 != 2", True),
    ("2 >= 2", True),
    # Division truncates toward zero; the remainder takes the sign of the dividend.
    ("8 / 2", 4),
    ("7 / 2.0", 3.5),
    ("7 % 3", 1),
    ("-7 % 3", -1),
    ("7 % -3", 1),
    ("-7 % -3", -1),
    ("7.5 % 2", 1.5),
    # Powers.
    ("2^62", 2**62),
    ("0^0", 1),
    ("0.0^2", 0.0),
    ("0^0.5", 0.0),
    ("(-1)^9223372036854775807", -1),
    ("2.0^3", 8.0),
    ("4^0.5", 2.0),
    # Mixed operands make a real.
    ("1 + 1.0", 2.0),
    ("3 * 0.5", 1.5),
    ("1 == 1.0", True),
    # Functions.
    ("abs(-3)", 3),
    ("abs(-3.5)", 3.5),
    ("min(3, 1, 2)", 1),
    ("max(3, 1.5)", 3.0),
    ("floor(-2.5)", -3),
    ("ceil(-2.5)", -2),
    ("floor(7)", 7),
    ("round(2.5)", 3),
    ("round(-2.5)", -3),
    ("round(2.4)", 2),
    ("sqrt(9)", 3.0),
    ("pow(2, 10)", 1024),
    ("mod(-7, 3)", -1),
    ("sign(-0.5)", -1),
    ("sign(0)", 0),
    # Tuples.
    ("[5, 13, 13]", (5, 13, 13)),
    ("[7][0]", 7),
    ("[5, 13, 13][1 + 1]", 13),
    ("[1, 2] == [1, 2]", True),
    ("[true, false]", (True, False)),
    # What is not computed does no harm.
    ("false && 1 / 0 == 1", False),
    ("true || 2^99999 > 0", True),
    # The ends of 64 bits.
    ("9223372036854775807", 2**63 - 1),
    ("-9223372036854775807 - 1", -(2**63)),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_values(expression: str, value: object) -> None:
    found, faults = evaluated(expression)
    assert faults == []
    assert found == value
    assert type(found) is type(value)


FAULTS = [
    ("99999999999999999999", ("NS008", "99999999999999999999")),
    ("9223372036854775808", ("NS008", "9223372036854775808")),
    ("9" * 5000, ("NS008", "9" * 5000)),
    ("[" + "1, " * 300 + "9" * 30 + "]", ("NS008", "9" * 30)),
    ("N + 1", ("NS030", "N")),
    ("[0.1, ...]", ("NS039", "...")),
    ("true + 1", ("NS040", "true")),
    ("1 + true", ("NS040", "true")),
    ("-[1]", ("NS040", "[1]")),
    ("!3", ("NS040", "3")),
    ("1 && true", ("NS040", "1")),
    ("true && 3", ("NS040", "3")),
    ("true || 3", ("NS040", "3")),
    ("1 == true", ("NS040", "1 == true")),
    ("1 < [2]", ("NS040", "[2]")),
    ("abs(true)", ("NS040", "true")),
    ("[1, 2][0.5]", ("NS040", "0.5")),
    ("4 / 0", ("NS041", "0")),
    ("4 / (2 - 2)", ("NS041", "2 - 2")),
    ("4 % 0", ("NS041", "0")),
    ("4 / 0.0", ("NS041", "0.0")),
    ("mod(4, 0)", ("NS041", "0")),
    ("0 ^ -1", ("NS041", "0 ^ -1")),
    ("2 ^ 99999", ("NS043", "2 ^ 99999")),
    ("2 ^ 63", ("NS043", "2 ^ 63")),
    ("9223372036854775807 + 1", ("NS043", "9223372036854775807 + 1")),
    ("1e308 * 10", ("NS043", "1e308 * 10")),
    ("1e999", ("NS043", "1e999")),
    ("sqrt(-1)", ("NS043", "sqrt(-1)")),
    ("(-8) ^ 0.5", ("NS043", "(-8) ^ 0.5")),
    ("floor(1e300)", ("NS043", "floor(1e300)")),
    ("sin(0)", ("NS044", "sin")),
    ("abs(1, 2)", ("NS045", "abs")),
    ("min(1)", ("NS045", "min")),
    ("pow(2)", ("NS045", "pow")),
    ("[1, 2][2]", ("NS046", "2")),
    ("[1, 2][-1]", ("NS046", "-1")),
    ("3[0]", ("NS047", "3")),
    ("7 / 2", ("NS049", "7 / 2")),
    ("-7 / 2", ("NS049", "-7 / 2")),
]


@pytest.mark.parametrize(("expression", "fault"), FAULTS)
def test_faults_point_at_the_smallest_part(expression: str, fault: tuple[str, str]) -> None:
    value, faults = evaluated(expression)
    assert faults == [fault]
    assert (value is None) == (fault[0] != "NS049")


def test_truncation_goes_toward_zero() -> None:
    assert evaluated("7 / 2")[0] == 3
    assert evaluated("-7 / 2")[0] == -3
    assert evaluated("7 / -2")[0] == -3


def test_every_function_takes_the_arguments_that_the_table_says() -> None:
    for name, (least, _most) in FUNCTIONS.items():
        value, faults = evaluated(f"{name}({', '.join(['2'] * least)})")
        assert faults == []
        assert value is not None


def test_one_fault_sets_off_no_other() -> None:
    text = """const { A = 1 / 0; B = A + 1; C = [A, B][0] * sqrt(B); D = D2; E = 3 == true; }
    input I [A, B]; hidden H [C] from I all; output O [D] from H all;"""
    codes = [finding.code for finding in network_of(text).findings]
    assert codes == ["NS041", "NS030", "NS040"]


def test_each_use_of_an_undefined_constant_is_reported_once() -> None:
    text = "input I [N, N]; hidden H [N * N] from I all; output O [N] from H all;"
    codes = [finding.code for finding in network_of(text).findings]
    assert codes == ["NS030"] * 5


def test_constants_may_be_used_before_they_are_defined() -> None:
    network = network_of("const A = B + 1; const B = C * 2; const C = 3;")
    assert [c.value for c in network.all_constants] == [7, 6, 3]
    assert network.findings == []


@pytest.mark.parametrize("length", [3, 10_000])
def test_long_chains_of_constants(length: int) -> None:
    items = "".join(f"X{i} = X{i + 1} + 1;" for i in range(length))
    network = network_of(f"const {{ {items} X{length} = 0; }}")
    assert network.constants["X0"].value == length
    assert network.findings == []


@pytest.mark.parametrize("length", [1, 2, 10_000])
def test_circles_of_constants_are_named_once(length: int) -> None:
    items = "".join(f"X{i} = X{(i + 1) % length};" for i in range(length))
    network = network_of(f"const {{ {items} Y = X0 + 1; }}")
    assert [len(circle) for circle in network.circular] == [length]
    assert network.constants["Y"].value is None
    assert network.findings == []


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "-" * 10_000 + "1",
        "1+" * 10_000 + "1",
        "2^" * 10_000 + "1",
        "[" * 10_000 + "1" + "]" * 10_000,
        "abs(" * 10_000 + "1" + ")" * 10_000,
        "X" + "[0]" * 10_000,
    ],
)
def test_deep_nesting_is_a_finding_and_no_failure(expression: str) -> None:
    value, faults = evaluated(expression)
    assert value is None
    assert "NS043" in [code for code, _ in faults]


def test_nesting_up_to_the_limit_is_computed() -> None:
    depth = DEEPEST - 1
    assert evaluated("(" * depth + "1" + ")" * depth) == (1, [])
    assert evaluated("-" * depth + "1") == ((-1) ** depth, [])


# A second evaluator, written from the table of precedence alone: whole numbers only.

LEVELS = [["+", "-"], ["*", "/", "%"]]
TOKEN = re.compile(r"\s*(\d+|[-+*/%^()])")


class UndefinedError(Exception):
    """The expression has no value."""


def independent(text: str) -> int:
    tokens = TOKEN.findall(text)
    value = level(tokens, 0)
    assert not tokens
    return value


def checked(value: Fraction) -> int:
    whole = int(value)
    if not -(2**63) <= whole < 2**63:
        raise UndefinedError
    return whole


def level(tokens: list[str], depth: int) -> int:
    if depth == len(LEVELS):
        return signed(tokens)
    left = level(tokens, depth + 1)
    while tokens and tokens[0] in LEVELS[depth]:
        operator = tokens.pop(0)
        right = level(tokens, depth + 1)
        if operator in "/%" and right == 0:
            raise UndefinedError
        if operator == "+":
            left = checked(Fraction(left + right))
        elif operator == "-":
            left = checked(Fraction(left - right))
        elif operator == "*":
            left = checked(Fraction(left * right))
        elif operator == "/":
            left = checked(Fraction(left, right))
        else:
            left = left - right * int(Fraction(left, right))
    return left


def signed(tokens: list[str]) -> int:
    if tokens[0] in "+-":
        sign = tokens.pop(0)
        value = signed(tokens)
        return value if sign == "+" else checked(Fraction(-value))
    return powered(tokens)


def powered(tokens: list[str]) -> int:
    if tokens[0] == "(":
        tokens.pop(0)
        base = level(tokens, 0)
        assert tokens.pop(0) == ")"
    else:
        base = int(tokens.pop(0))
    if tokens and tokens[0] == "^":
        tokens.pop(0)
        exponent = powered(tokens)
        if exponent < 0 or (abs(base) > 1 and exponent > 63):
            raise UndefinedError
        return checked(Fraction(base**exponent))
    return base


EXPRESSIONS = st.recursive(
    st.integers(0, 20).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(" ".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]})^({two[1]})"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"-({one})"),
        st.tuples(st.sampled_from(["2", "3", "(-2)"]), st.integers(0, 5).map(str)).map("^".join),
    ),
    max_leaves=12,
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(EXPRESSIONS)
def test_agrees_with_an_independent_evaluator(expression: str) -> None:
    value, faults = evaluated(expression)
    codes = {code for code, _ in faults}
    try:
        expected = independent(expression)
    except UndefinedError:
        assert value is None or isinstance(value, float)
        return
    if isinstance(value, float):
        return
    assert codes <= {"NS049"}
    assert value == expected


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 190 + "s[0]" + ")" * 190 + " == d[0]",
        "max(" * 190 + "s[0]" + ", 0)" * 190 + " == d[0]",
        "-" * 190 + "s[0] == d[0]",
        " || ".join(["s[0] == d[0]"] * 190),
        " && ".join(["s[0] == d[0]"] * 190),
        "s[" + "abs(" * 180 + "0" + ")" * 180 + "] == d[0]",
    ],
)
def test_nested_conditions_are_counted_up_to_the_limit(condition: str) -> None:
    text = f"input I [4]; hidden H [4] from I where (s, d) => {condition}; output O [1] from H all;"
    network = network_of(text)
    (bundle, _) = network.bundles()
    edges = count_edges(bundle, network)
    assert edges is not None
    assert (edges.count, edges.faults) == (4, [])


def test_a_number_of_thousands_of_digits_is_shown_by_its_beginning() -> None:
    (finding,) = network_of(f"const X = {'9' * 5000};").findings
    assert finding.message == f"{'9' * 40}... is too large: whole numbers have 64 bits."
    assert network_of(f"const X = {'0' * 5000}7;").constants["X"].value == 7
