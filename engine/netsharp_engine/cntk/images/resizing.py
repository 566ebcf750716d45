"""Images of another size: each new pixel a sum of old ones around its middle, as OpenCV has it.

Nothing is smoothed before an image becomes smaller, as there.  Of bytes, linear ones are summed in
its whole numbers; other sums are rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from netsharp_engine.cntk.generators import Array


def _linear(at: Array) -> Array:
    return np.stack([1 - at, at])


def _cubic(at: Array) -> Array:
    sharp = -0.75  # OpenCV, imgproc/resize.cpp, interpolateCubic
    near = [((sharp + 2) * x - (sharp + 3)) * x * x + 1 for x in (at, 1 - at)]
    far = [((sharp * x - 5 * sharp) * x + 8 * sharp) * x - 4 * sharp for x in (at + 1, 2 - at)]
    return np.stack([far[0], near[0], near[1], far[1]])


def _lanczos(at: Array) -> Array:
    distance = at - np.arange(-3, 5)[:, None]
    found = np.sinc(distance) * np.sinc(distance / 4)
    return np.asarray(found / found.sum(0))


#: The shares of pixels around a place between two, and how many lie before it.
_SHARES: dict[str, tuple[Callable[[Array], Array], int]] = {
    "linear": (_linear, 0),
    "cubic": (_cubic, 1),
    "lanczos": (_lanczos, 3),
}
KINDS = ("nearest", *_SHARES)


def resized(image: Array, rows: int, columns: int, kind: str) -> Array:
    """Return an image [rows, columns, channels], resized in the manner of OpenCV's ``resize`` by
    ``kind``, one of `KINDS`.
    """
    if image.shape[:2] == (rows, columns):
        return image
    if kind == "nearest":
        down, across = (
            np.minimum(np.arange(new) * old // new, old - 1)
            for old, new in zip(image.shape, (rows, columns), strict=False)
        )
        return np.asarray(image[down][:, across])
    if kind == "linear" and image.dtype == np.uint8:
        return _linear_bytes(image, rows, columns)
    down, across = _weights(image.shape[0], rows, kind), _weights(image.shape[1], columns, kind)
    sums = np.einsum("ij,jkc->ikc", down, image.astype(np.float64), optimize=True)
    found = np.einsum("lk,ikc->ilc", across, sums, optimize=True)
    if image.dtype == np.uint8:
        found = np.clip(np.rint(found), 0, 255)
    return np.asarray(found.astype(image.dtype))


def _linear_bytes(image: Array, rows: int, columns: int) -> Array:
    """Return an image of bytes, interpolated between two pixels of each of two rows, with weights
    in units of 2^-11 in each direction, as OpenCV computes it.
    """
    left, right, (one, other) = _pairs(image.shape[1], columns)
    above, below, (first, second) = _pairs(image.shape[0], rows)
    held = image.astype(np.int64)
    sums = held[:, left] * one[:, None] + held[:, right] * other[:, None]
    sums >>= 4
    upper = first[:, None, None] * sums[above] >> 16
    lower = second[:, None, None] * sums[below] >> 16
    return np.asarray((upper + lower + 2 >> 2).astype(np.uint8))


def _pairs(old: int, new: int) -> tuple[Array, Array, Array]:
    """Return, for each new pixel, the two old ones around its centre, and their weights in units of
    2^-11, [2, new].
    """
    places = ((np.arange(new) + 0.5) * (1 / (new / old)) - 0.5).astype(np.float32)
    first = np.floor(places).astype(np.intp)
    part = places - first.astype(np.float32)
    outside = (first < 0) | (first >= old - 1)
    first, part = np.clip(first, 0, old - 1), np.where(outside, np.float32(0), part)
    # OpenCV, imgproc/resize.cpp: INTER_RESIZE_COEF_SCALE is 2^11.
    shares = np.rint(np.stack([np.float32(1) - part, part]) * np.float32(1 << 11)).astype(np.int64)
    return first, np.minimum(first + 1, old - 1), shares


@lru_cache(maxsize=64)
def _weights(old: int, new: int, kind: str) -> Array:
    """Return the weight of each old pixel in each new one, [new, old]; beyond the border the
    border's pixel counts.
    """
    shares, before = _SHARES[kind]
    places = (np.arange(new) + 0.5) * (old / new) - 0.5
    first = np.floor(places).astype(np.intp)
    parts = shares(places - first)
    found = np.zeros((new, old))
    for number, part in enumerate(parts):
        np.add.at(found, (np.arange(new), np.clip(first - before + number, 0, old - 1)), part)
    found.flags.writeable = False
    return found
