"""What the program stops at, or takes no notice of: every cause by itself, and all in one run."""

from __future__ import annotations

import pytest

from tests.cntk.ndl.building import faults, outcome

FAULTS = [
    ("mean = Input(2)", [("reserved-name", "mean")]),
    ("input = Input(2)", [("reserved-name", "input")]),
    ("SE = Input(2)", [("reserved-name", "SE")]),
    ("x = Input(2)\nX = Input(3)", [("reassigned", "X")]),
    ("x = Inptu(2)", [("unknown-function", "Inptu")]),
    ("x = Input[2]", [("unknown-name", "Input[2]")]),
    ("x = Tanh(y)", [("unknown-name", "y")]),
    ("x = Input(y)", [("unknown-name", "y")]),
    ("x = Input(n)\nn = 3", [("used-before-definition", "n")]),
    ("x = Input(2.5)", [("no-number", "2.5")]),
    ("x = Input( -2)", [("dimension", "-2")]),
    ("x = Input(123456789012345678901)", [("dimension", "123456789012345678901")]),
    ("i = Input(2)\nx = Input(i)", [("no-number", "i")]),
    ("i = Input(2)\nx = Tanh(i, i)", [("arity", "Tanh(i, i)")]),
    ("x = Tanh()", [("arity", "Tanh()")]),
    ("i = Input(2)\nx = Plus(i)", [("arity", "Plus(i)")]),
    ("x = ImageInput(2, 2)", [("arity", "ImageInput(2, 2)")]),
    ("x = Constant(1, 2)", [("arity", "Constant(1, 2)")]),
    ("i = Input(2)\nx = Plus(i, 1)", [("number-as-node", "1")]),
    ("i = Input(2)\nn = 1\nx = Plus(i, n)", [("number-as-node", "n")]),
    ("i = Input(2)\nx = Plus(i, {i})", [("no-node", "{i}")]),
    ("i = Input(2)\nx = Tanh(i, foo = 1)", [("unknown-option", "foo = 1")]),
    ("x = Parameter(2, initial = uniform)", [("unknown-option", "initial = uniform")]),
    ("x = Parameter(2, init = glorot)", [("option-value", "init = glorot")]),
    ("x = Parameter(2, init = fromFile)", [("option-missing", "init = fromFile")]),
    ("x = Parameter(2, needGradient = maybe)", [("option-value", "needGradient = maybe")]),
    ("x = ImageInput(2, 2, 1, imageLayout = chw)", [("option-value", "imageLayout = chw")]),
    ("x = Parameter(2, value = abc)", []),
    ("x = Parameter(2, init = fixedValue, value = abc)", [("no-number", "value = abc")]),
    ("x = Parameter(2, init = (uniform))", [("option-call", "init =")]),
    ("x = Constant(-1)", [("swallowed", "-")]),
    ("i = Input(2)\na = Tanh(i)\nb = a", [("renamed", "b")]),
    ("x = Input(2)\ny = Tanh(x)*2", [("no-statement", "*2")]),
    (
        "i = Input(4, 4, 1)\nx = Pooling(i, maximum, {2, 2})",
        [("option-value", "maximum")],
    ),
    (
        "i = Input(4, 4, 1)\nK = Parameter(1, 4)\nx = Convolution(K, i, 2, 2)",
        [("arity", "Convolution(K, i, 2, 2)")],
    ),
    (
        "i = Input(4, 4, 1)\nK = Parameter(1, 4)\n"
        "x = Convolution(K, i, 2, 2, 1, 1, 1, autoPadding = false, imageLayout = CHW)",
        [("unknown-option", "autoPadding = false")],
    ),
    (
        "c = Parameter(2, 1)\ni = Input(2)\nx = BatchNormalization(i, c, c, c, c, engine = gpu)",
        [("option-value", "engine = gpu")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS, ids=[text for text, _ in FAULTS])
def test_fault(text: str, expected: list[tuple[str, str]]) -> None:
    assert faults(text) == expected


def test_all_faults_are_found_in_one_run() -> None:
    texts = [
        ("mean = Input(2)", "reserved-name"),
        ("a = Inptu(2)", "unknown-function"),
        ("b = Tanh(nobody)", "unknown-name"),
        ("c = Plus(a)", "arity"),
        ("d = Input(2, foo = 1)", "unknown-option"),
        ("e = Constant(-1)", "swallowed"),
        ("f = Tanh(3)", "number-as-node"),
        ("d = Input(4)", "reassigned"),
    ]
    found = outcome("\n".join(text for text, _ in texts))
    assert sorted(one.kind for one in found.faults) == sorted(kind for _, kind in texts)
    assert found.network is not None
    assert set(found.network.nodes) == {"mean", "a", "b", "c", "d", "e", "f"}


def test_nothing_follows_from_what_is_not_known() -> None:
    found = outcome(
        "a = Nobody(2)\nW = Parameter(3, 3)\nb = Plus(Times(W, a), W)\nc = SquareError(a, b)"
    )
    assert [one.kind for one in found.faults] == ["unknown-function"]
    assert found.network is not None
    assert found.network.troubles == ()
    assert found.network.nodes["b"].shape is None
    # A criterion is one number, whatever it compares.
    assert found.network.nodes["c"].shape == (1,)


def test_calls_where_numbers_stand_are_connected_too() -> None:
    found = outcome("a = Input(2)\nx = Parameter(Plus(a, a), 2)")
    assert [one.kind for one in found.faults] == ["no-number"]
    assert found.network is not None
    assert [one.name for one in found.network.nodes["unnamed4"].inputs] == ["a", "a"]


def test_a_macro_that_ends_in_something_unknown_is_connected_all_the_same() -> None:
    found = outcome("F(x) { y = Tanh(x) z = Nobody(y) }\ni = Input(2)\nf = F(i)")
    assert [one.kind for one in found.faults] == ["unknown-function"]
    assert found.network is not None
    assert found.network.nodes["f.y"].shape == (2,)


def test_every_message_is_a_sentence() -> None:
    for text, _ in FAULTS:
        for fault in outcome(text).faults:
            assert fault.message.endswith(".")
            assert "`" not in fault.message
