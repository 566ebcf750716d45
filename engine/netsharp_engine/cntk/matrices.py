"""Initial values of a parameter that are written out, or that make it enlarge images.

Numbers are in the order of CNTK's files, the first dimension fastest; it must not know networks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from netsharp_engine.cntk.generators import Array


def matrix(blocks: Iterable[bytes], rows: int, columns: int) -> Array:
    """Return the numbers of a text with a line for each row, flat, the first dimension fastest;
    ValueError where it has fewer.

    All of its words are known to be numbers.
    """
    found = np.fromiter(map(_number, _words(blocks)), np.float64, rows * columns)
    return found.reshape(rows, columns).ravel(order="F")


def matrix_text(numbers: Array, rows: int) -> bytes:
    """Write numbers as a text with a line for each row, so that `matrix` reads the same ones.

    ``numbers`` is flat, the first dimension fastest, float32 or float64.
    """
    digits = "%.9g" if numbers.dtype == np.float32 else "%.17g"
    columns = numbers.size // rows
    line = b" ".join([digits.encode()] * columns) + b"\n"
    table = numbers.reshape(rows, columns, order="F")
    return b"".join(line % tuple(row.tolist()) for row in table)


def _words(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        text = rest + block
        words = text.split()
        rest = words.pop() if words and not text[-1:].isspace() else b""
        yield from words
    yield from rest.split()


def _number(word: bytes) -> float:
    """Return the number that C's ``strtod`` reads from a word."""
    try:
        return float(word)
    except ValueError:
        text = word.decode("ascii").lower()
    if "nan" in text:
        return math.nan
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def bilinear(channels: int, width: int) -> Array:
    """Return the kernels that enlarge each channel of an image by itself, flat float32 [channels *
    channels * width * width]: square, highest at the centre, falling linearly to all sides.
    """
    factor, middle = np.float32((width + 1) // 2), np.float32((width - 1) / 2)
    side = np.float32(1) - np.abs(np.arange(width, dtype=np.float32) - middle) / factor
    kernel = np.outer(side, side).ravel()
    found = np.zeros((channels, channels, kernel.size), np.float32)
    found[np.arange(channels), np.arange(channels)] = kernel
    return found.ravel()
