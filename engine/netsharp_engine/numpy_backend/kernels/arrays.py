"""Names for numpy arrays in annotations, and the alignment of large buffers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.intp]


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array of zeros [*shape] whose data start on a cache line (64 bytes)."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    raw = np.zeros(size + 64, dtype=np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    array: Array = raw[start : start + size].view(kind).reshape(shape)
    return array
