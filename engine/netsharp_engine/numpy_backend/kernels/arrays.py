"""Names for numpy arrays in annotations, and the alignment of large buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.intp]


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array of zeros whose data start on a cache line (64 bytes)."""
    kind = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    raw = np.zeros(count * kind.itemsize + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    array: Array = raw[start : start + count * kind.itemsize].view(kind).reshape(shape)
    return array
