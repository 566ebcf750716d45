"""Lambdas in brackets, and calls that stay on the line where they were."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.formatting.arrangement import arrange

LONG = "ParameterTensor {0:0, initOutputRank=-1, init='heNormal', initValueScale=1 / 10}"
STACK = """a = Sequential (
    MeanVarNorm :
    (%s => OptimizedRNNStack (
        %s,
        %s,
        hiddenDim,
        numLayers=numLSTMLayers,
        bidirectional=true
    )) :
    DenseLayer {labelDim}
)
"""


def formatted(text: str, language: str = "brainscript") -> str:
    """The formatted text; one time is enough."""
    result = format_text(text.encode(), language)
    assert (result.failure, result.broken) == (None, ())
    once, _ = arrange(text.encode(), language, b"\n", ((), frozenset(), True))
    assert result.text == once
    return result.text.decode()


@pytest.mark.parametrize("name", ["x", "_"])
def test_a_lambda_begins_and_ends_where_its_brackets_do(name: str) -> None:
    call = f"OptimizedRNNStack ({LONG}, {name}, hiddenDim, numLayers=numLSTMLayers,"
    flat = f"({name} => {call} bidirectional=true)) :"
    text = f"a = Sequential (\n MeanVarNorm :\n {flat}\n DenseLayer {{labelDim}}\n)"
    wanted = STACK % (name, LONG, name)
    assert formatted(text) == wanted
    # As it was written before, the end of one bracket below the end of the other.
    assert formatted(wanted.replace(")) :", ")\n    ) :")) == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = Map (x => {\ny = x\n}.y\n)", "a = Map (x => {\n    y = x\n}.y)\n"),
        ("a = Map (x => f (\nx\n)\n)", "a = Map (x => f (\n    x\n))\n"),
        ("a = Map (x => f {\nx\n} # c\n)", "a = Map (x => f {\n    x\n}  # c\n)\n"),
        # Brackets that begin on lines of their own end on lines of their own.
        ("a = f (\ng (\nx\n)\n)", "a = f (\n    g (\n        x\n    )\n)\n"),
        ("a = {\nb = f (\n1\n)\n}", "a = {\n    b = f (\n        1\n    )\n}\n"),
        # Text after the closing bracket of one keeps that of the other below it.
        ("a = f ({\nb = 1\n}.b + g (1)\n)", "a = f ({\n    b = 1\n}.b + g (1)\n)\n"),
    ],
)
def test_ends_of_brackets_at_one_indent(before: str, after: str) -> None:
    assert formatted(before) == after


def test_an_operation_in_a_lambda_is_indented_as_ever() -> None:
    text = "a = (x => " + " + ".join(f"{letter * 40} (x)" for letter in "bcd") + ")"
    wanted = "a = (\n    x => bbbb"
    assert formatted(text).startswith(wanted)


def test_lists_of_configurations_end_as_lambdas_do() -> None:
    text = "a = ( {\n type=Image\n }\n)\n"
    assert formatted(text, "cntk") == "a = ({\n    type = Image\n})\n"


def test_a_call_stays_on_the_line_where_it_was_and_fits() -> None:
    call = f"{'f' * 60} (a, b, c, d)"
    text = f"a = f (_g ({call}, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb), c)\n"
    assert f"    {call},\n" in formatted(text)
    broken = "a = f (\n    a,\n    b\n)\n"
    assert formatted(broken) == broken
