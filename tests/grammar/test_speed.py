"""No text makes the parser slow: faults at the top cost little more than sound text does."""

from __future__ import annotations

import time

import pytest
from tree_sitter import Language, Parser

from netsharp_grammar._netsharp import language

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
    """The best of three, in seconds of this process: the machine may be busy."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        Parser(NETSHARP).parse(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.fixture(scope="module")
def sound() -> float:
    return seconds(SOUND)


@pytest.mark.parametrize("top", TOPS)
def test_a_bracket_open_at_the_top_of_nine_thousand_lines(top: bytes, sound: float) -> None:
    assert seconds(top + b"\n" + SOUND) < 2 * sound + 0.01


@pytest.mark.parametrize("run", RUNS)
def test_long_runs_take_time_by_their_length(run: str) -> None:
    text = RUNS[run]
    half = seconds(text[: len(text) // 2])
    assert seconds(text) < 3.5 * half + 0.01
