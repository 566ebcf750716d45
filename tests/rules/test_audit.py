"""What a demanding reader tried: lawful texts that must be silent, slips that must be told once."""

from __future__ import annotations

import pytest

from tests.rules.rule_checks import diagnostics, network

#: Every keyword with a capital is a lawful name (section 1 of the language's rules).
CAPITALS = (
    "Const Input Hidden Output Share From All Where Convolve Max Mean Pool Response Norm Auto "
    "Sigmoid Linear Softmax Tanh Abs Weights Biases MapCount Stride"
).split()

NAMED = """
input {{ X [3, 4]; {0} [3, 4]; }}
hidden {{
  H [4] tanh {{ from X all; from {0} all; }}
  G [3] tanh from {0} where (s, d) => s[0] == d[0];
  C [3, 4] tanh from {0} convolve {{ InputShape = [3, 4]; KernelShape = [1, 1]; }}
}}
output O [2] softmax {{ from {0} all; from H all; from G all; from C all; }}
"""

CONSTANT = """
const {0} = 3;
const {{ Y = {0} + 1; Z = [{0}, {0}]; }}
input X [{0}, Y, Z[1], 2 * {0}];
hidden H [{0}] tanh from X where ({0}, d) => {0}[0] == d[0];
output O [2] softmax from H all;
"""


@pytest.mark.parametrize("name", [*CAPITALS, "True", "False"])
def test_a_layer_may_be_called_like_a_keyword_with_a_capital(name: str) -> None:
    assert {d.code for d in diagnostics(NAMED.format(name))} <= {"NS116"}


@pytest.mark.parametrize("name", CAPITALS)
def test_a_constant_and_a_parameter_may_be_called_like_a_keyword_with_a_capital(name: str) -> None:
    assert diagnostics(CONSTANT.format(name)) == []


@pytest.mark.parametrize("words", ["max // the largest\n pool", "max\n\tpool", "max /* */ pool"])
def test_two_words_of_a_kind_stand_apart_by_any_blank_or_comment(words: str) -> None:
    block = "{ InputShape = [8, 8]; KernelShape = [2, 2]; Stride = [2, 2]; }"
    text = network(f"hidden C [4, 4] from I {words} {block}")
    assert {d.code for d in diagnostics(text)} <= {"NS004"}
