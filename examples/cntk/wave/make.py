"""Draws points of a wave from a seed, which it prints: python make.py [SEED].

A line has a number to be found, and the two that it follows from, all with four decimals.
"""

import math
import random
import sys
from pathlib import Path

NOISE = 0.02


def line(draw: random.Random) -> str:
    """Return the height of the wave at a place, and the place."""
    x, y = (draw.uniform(-1, 1) for _ in range(2))
    height = math.sin(3 * x) * math.cos(2 * y) + draw.gauss(0, NOISE)
    return f"{height:.4f} {x:.4f} {y:.4f}"


def main() -> None:
    """Write both files beside this one."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"seed {seed}")
    draw = random.Random(seed)
    for name, count in (("train", 600), ("test", 200)):
        text = "\n".join(line(draw) for _ in range(count)) + "\n"
        Path(__file__).with_name(f"{name}.txt").write_text(text, newline="\n")


if __name__ == "__main__":
    main()
