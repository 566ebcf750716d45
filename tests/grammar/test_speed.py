"""No text makes the parser slow: faults at the top cost little more than sound text does."""

from __future__ import annotations

import pytest
from tree_sitter import Language, Parser

from netsharp_grammar._netsharp import language
from tests.costs import assert_measured, least

NETSHARP = Language(language())
LAYERS = """// layer {0}
hidden C{0} [5, 13, 13] rlinear from L{0} convolve {{
  InputShape  = [29, 29];
  KernelShape = [ 5,  5];
  Stride      = [ 2,  2];
  MapCount    = 5;
}}
hidden D{0} [10, 12] from C{0} where (s, d) => s[0] == d[0] && abs(s[1] - d[1]) <= 1;
hidden L{0} [100] {{ from D{0} all; from C{0} all {{ Weights = [0.25, -0.5, 1e-3]; }} }}
"""
SOUND = "".join(LAYERS.format(number) for number in range(1000)).encode()
TOPS = (
    b"[",
    b"(",
    b"{",
    b"hidden {",
    b"const W = [1,",
    b'"',
    b"hidden H [3] from A where (s, d) => (",
)
RUNS = {
    "brackets": b"[" * 50_000,
    "words": b"word " * 50_000,
    "operators": b"== " * 50_000,
    "comments": b"// one of many lines\n" * 20_000,
    "comments within a declaration": b"input A [3]\n" + b"// one of many lines\n" * 20_000 + b";",
    "no semicolons": SOUND.replace(b";", b""),
    "no brackets": SOUND.replace(b"]", b""),
}


def seconds(text: bytes) -> float:
    return least(Parser(NETSHARP).parse, text)


@pytest.mark.parametrize("top", TOPS)
def test_a_bracket_open_at_the_top_of_nine_thousand_lines(top: bytes) -> None:
    assert_measured(
        lambda: (seconds(SOUND), seconds(top + b"\n" + SOUND)),
        lambda costs: costs[1] < 2 * costs[0] + 0.01,
    )


@pytest.mark.parametrize("run", RUNS)
def test_long_runs_take_time_by_their_length(run: str) -> None:
    text = RUNS[run]
    assert_measured(
        lambda: (seconds(text[: len(text) // 2]), seconds(text)),
        lambda costs: costs[1] < 3.5 * costs[0] + 0.01,
    )
