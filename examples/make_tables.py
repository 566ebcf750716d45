"""Makes the tables of the siamese and the vision example from the digits, always the same ones.

Run it from anywhere: python examples/make_tables.py
"""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SEED = 20151
PAIRS = 1500
SCENES = 900
#: The guide's Siamese example gives each input 37 features.
INPUT_SIZE = 37


def read_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the pictures [1797, 8, 8] and their digits [1797]."""
    with gzip.open(HERE / "digits" / "digits.csv.gz", "rt", encoding="ascii") as stream:
        rows = np.array([[int(cell) for cell in row] for row in list(csv.reader(stream))[1:]])
    return rows[:, 1:].reshape(-1, 8, 8), rows[:, 0]


def enlarge(pictures: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Pictures [n, h, w] at another size [n, rows, columns], bilinear, corners on corners."""
    _count, height, width = pictures.shape
    y, x = np.linspace(0, height - 1, rows), np.linspace(0, width - 1, columns)
    top, left = np.minimum(y.astype(int), height - 2), np.minimum(x.astype(int), width - 2)
    down, right = (y - top)[:, None], x - left
    upper = pictures[:, top][:, :, left] * (1 - right) + pictures[:, top][:, :, left + 1] * right
    lower = pictures[:, top + 1][:, :, left] * (1 - right)
    lower = lower + pictures[:, top + 1][:, :, left + 1] * right
    return upper * (1 - down) + lower * down


def write_table(path: Path, names: list[str], rows: list[list[object]]) -> None:
    """Return a gzipped CSV whose bytes depend on its content alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text.getvalue().encode("ascii"))


def pairs(random: np.random.Generator) -> tuple[list[str], list[list[object]]]:
    """Two different digits side by side, and which one is larger."""
    pictures, digits = read_digits()
    pixels = pictures.reshape(len(pictures), -1)
    chosen = np.sort(np.argsort(-pixels.var(axis=0), kind="stable")[:INPUT_SIZE])
    names = [f"{side}{pixel}" for side in "ab" for pixel in chosen]
    rows: list[list[object]] = []
    while len(rows) < PAIRS:
        first, second = random.integers(len(digits), size=2)
        if digits[first] != digits[second]:
            larger = "first" if digits[first] > digits[second] else "second"
            rows.append([larger, *pixels[first, chosen], *pixels[second, chosen]])
    return ["larger", *names], rows


def scenes(random: np.random.Generator) -> tuple[list[str], list[list[object]]]:
    """Digits stretched to 10 x 20 pixels, and seven figures about each."""
    pictures, digits = read_digits()
    chosen = np.sort(random.permutation(len(digits))[:SCENES])
    pixels = np.rint(enlarge(pictures[chosen], 10, 20)).astype(int)
    names = [f"p{row}_{column}" for row in range(10) for column in range(20)]
    names += ["ink", "upper", "lower", "left", "right", "middle", "rim"]
    rows = []
    for digit, picture in zip(digits[chosen], pixels, strict=True):
        ink, middle = picture.sum(), picture[3:7, 6:14].sum()
        parts = [picture[:5].sum(), picture[5:].sum(), picture[:, :10].sum(), picture[:, 10:].sum()]
        rows.append([digit, *picture.ravel(), ink, *parts, middle, ink - middle])
    return ["digit", *names], rows


def main() -> None:
    """Write both tables."""
    write_table(HERE / "siamese" / "pairs.csv.gz", *pairs(np.random.default_rng(SEED)))
    write_table(HERE / "vision" / "scenes.csv.gz", *scenes(np.random.default_rng(SEED)))


if __name__ == "__main__":
    main()
