"""Whole numbers as text: sums, products and coordinates, without what does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def times(text: str, factor: int) -> str:
    """Return a product with a constant."""
    if text == "0" or factor == 0:
        return "0"
    return text if factor == 1 else f"{text} * {factor}"


def plus(*parts: str) -> str:
    """Return a sum."""
    real = [part for part in parts if part != "0"]
    return " + ".join(real) or "0"


def shifted(text: str, distance: int) -> str:
    """Return a number and a constant."""
    if distance == 0:
        return text
    if text == "0":
        return str(distance) if distance > 0 else f"({distance})"
    return f"{text} + {distance}" if distance > 0 else f"{text} - {-distance}"


def strides(extents: Sequence[int]) -> list[int]:
    """Return the row-major strides of each dimension, in elements."""
    return [prod(extents[d + 1 :]) for d in range(len(extents))]


def coordinate(text: str, stride: int, extent: int, *, first: bool) -> str:
    """Return one coordinate of an index; ``first``: no dimension is slower."""
    if extent == 1:
        return "0"
    found = text if stride == 1 else f"{text} / {stride}"
    return found if first else f"{found} % {extent}"


def coordinates(text: str, extents: Sequence[int]) -> list[str]:
    """Return all coordinates of an index in a grid of such extents, row-major."""
    found, seen = [], False
    for extent, stride in zip(extents, strides(extents), strict=True):
        found.append(coordinate(text, stride, extent, first=not seen))
        seen = seen or extent > 1
    return found


def number(value: float) -> str:
    """Return a number as a program's text has it."""
    text = repr(float(value))
    return text if "e" in text or "." in text else f"{text}.0"
