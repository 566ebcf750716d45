"""Throughput of the formatter on generated Net# of any length, no two lines of it alike.

`measure(lines)` gives CPU seconds with and without the proof at run time; run alone this file
prints megabytes per second and what 100,000 lines cost beside 10,000.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator

from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.formatting import format_text

ROUNDS = 3


def specification(lines: int, seed: int = 1) -> bytes:
    """Return about so many lines of valid Net# in a style that is nobody's."""
    chance = random.Random(seed)
    made = ["Const { Side = 28;   Rows = 4; }", "input Image [29,29];"]
    number = 0
    while len(made) < lines:
        number += 1
        (maker,) = chance.choices(MAKERS, WEIGHTS)
        made += maker(number, chance)
    return ("\n".join(made) + "\n").encode()


def _full(number: int, chance: random.Random) -> Iterator[str]:
    activation = chance.choice(("", "sigmoid", "TanH", "rlinear"))
    yield f"hidden  Full{number}[{chance.randint(1, 900)}]  {activation} from Image all;"


def _convolution(number: int, chance: random.Random) -> Iterator[str]:
    maps, rows, columns = (chance.randint(1, 60) for _ in range(3))
    yield f"Hidden Conv{number} [ {maps},{rows}, {columns}] from Image convolve"
    yield "  {"
    yield f"   InputShape  = [{29 * number}, {rows}];  // shape of layer {number}"
    yield f"   KernelShape = [ {number % 7 + 1},  {columns}];"
    yield f"   Stride      = [ {number % 3 + 1},2];"
    yield f"   Sharing=[False, true,{chance.choice(('true', 'True'))}];"
    yield f"   MapCount    = {number};"
    yield "  }"


def _filtered(number: int, chance: random.Random) -> Iterator[str]:
    yield f"// filtered layer number {number}"
    reach = chance.randint(1, 9)
    yield (
        f"hidden Near{number} [5, {number}] from Image "
        f"where (s,d) => abs(s[1] - d[1])<={reach} && s[0]==d[0];"
    )


def _sum(number: int, chance: random.Random) -> Iterator[str]:
    yield from (f"hidden Sum{number} [{chance.randint(1, 900)}]", "{")
    yield from (f"from Full{number} all;", f"    from Conv{number} all ;", "}", "")


def _weights(number: int, chance: random.Random) -> Iterator[str]:
    yield f"const W{number} = [{chance.uniform(-1, 1):.7g},"
    for _ in range(4):
        yield "  " + ", ".join(f"{chance.uniform(-1, 1):.7g}" for _ in range(8)) + ","
    yield "  0.5 ];"


MAKERS: tuple[Callable[[int, random.Random], Iterator[str]], ...] = (
    _full,
    _convolution,
    _filtered,
    _sum,
    _weights,
)
WEIGHTS = (5, 7, 3, 3, 2)


def measure(lines: int, self_check: bool) -> tuple[int, float]:
    """Return the bytes of a specification and the CPU seconds to format it, the best of some."""
    best = float("inf")
    size = 0
    # As the command line does.
    gc.disable()
    try:
        for seed in range(ROUNDS):
            text = specification(lines, seed)
            size = len(text)
            started = time.process_time()
            result = format_text(text, FormatOptions(self_check=self_check))
            best = min(best, time.process_time() - started)
            if result.failure is not None or result.text == text:
                raise RuntimeError(f"nothing was formatted: {result.failure}")
    finally:
        gc.enable()
    return size, best


def main() -> None:
    """Print the figures."""
    for self_check in (False, True):
        seconds = {}
        for lines in (10_000, 100_000):
            size, seconds[lines] = measure(lines, self_check)
            print(
                f"netsharp fmt {'with' if self_check else 'without'} self-check, {lines:>7,} lines:"
                f" {size / seconds[lines] / 1e6:.2f} MB/s"
            )
        print(f"  100,000 lines cost {seconds[100_000] / seconds[10_000]:.1f} times 10,000")


if __name__ == "__main__":
    main()
