"""Rows of tables for models that are exported."""

from __future__ import annotations

import numpy as np


def rows_of_texts(random: np.random.Generator, rows: int) -> tuple[list[list[object]], list[str]]:
    """Draw rows with numbers, texts and gaps, and the names of their columns."""
    colours = ["red", "green", "blue"]
    lines: list[list[object]] = []
    for _ in range(rows):
        number, colour = random.normal(20, 5), colours[random.integers(3)]
        label = "high" if number + 4 * colours.index(colour) > 24 else "low"
        missing = "" if random.integers(9) == 0 else f"{random.normal():.3f}"
        lines.append([f"{number:.3f}", colour, missing, label])
    return lines, ["size", "colour", "more", "label"]
