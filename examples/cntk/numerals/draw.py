"""Draws train.ctf and test.ctf: numerals of 5 x 7 cells, moved about on noisy images of 12 x 12.

Of our own making: nothing is needed but Python, and the same seed draws the same files.
"""

from __future__ import annotations

import os
import random

SEED = 12
SIDE = 12
#: Rows of each numeral, from 0 to 9.
NUMERALS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "11110 00001 00001 01110 00001 00001 11110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)


def image(numeral: int, source: random.Random) -> list[int]:
    """Levels from 0 to 9, row by row."""
    levels = [source.randint(0, 2) for _ in range(SIDE * SIDE)]
    left, top, ink = source.randint(2, 5), source.randint(1, 4), source.randint(5, 9)
    for y, row in enumerate(NUMERALS[numeral].split()):
        for x, cell in enumerate(row):
            if cell == "1":
                levels[(top + y) * SIDE + left + x] = ink
    return levels


def write(name: str, count: int, source: random.Random) -> None:
    """So many images, each numeral as often as the others."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, name), "w", encoding="ascii", newline="\n") as stream:
        for number in range(count):
            numeral = number % len(NUMERALS)
            label = " ".join(str(int(one == numeral)) for one in range(len(NUMERALS)))
            levels = " ".join(map(str, image(numeral, source)))
            stream.write(f"|labels {label} |features {levels}\n")


if __name__ == "__main__":
    print(f"seed {SEED}")
    drawing = random.Random(SEED)
    write("train.ctf", 600, drawing)
    write("test.ctf", 100, drawing)
