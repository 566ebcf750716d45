"""Bytes of an image as pixels: binary PPM and PGM and NumPy's arrays are decoded here, other
formats by Pillow, if it is installed.
"""

from __future__ import annotations

import io
import re

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.arrays import UNREADABLE
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import IMAGE_PIXELS

_NUMPY = b"\x93NUMPY"
#: The head of a PPM (P6) or PGM (P5): columns, rows, the largest number, comments between.
_PORTABLE = re.compile(rb"P([56])" + 3 * rb"(?:\s|#[^\n]*\n)+([0-9]{1,9})" + rb"\s")
#: Shares of red, green and blue in grey, of 2^14, as OpenCV has them.
_GREY = np.array([1868, 9617, 4899])


def pixels(data: bytes, name: str, grey: bool) -> Array:
    """Return the pixels of an image, uint8 [rows, columns, 3] (blue, green, red), or 1 channel of
    grey.

    DataError where it cannot be read.
    """
    if data.startswith(_NUMPY):
        found = _of_numpy(data, name)
    elif (head := _PORTABLE.match(data)) is not None:
        found = _portable(data, head, name)
    else:
        found = _of_pillow(data, name)
    if found.shape[0] * found.shape[1] > IMAGE_PIXELS.most:
        raise DataError(f"{name}: has more than {IMAGE_PIXELS}, which is not read.")
    if found.shape[2] == 1:
        return found if grey else np.repeat(found, 3, axis=2)
    found = found[:, :, 2::-1]
    if not grey:
        return np.ascontiguousarray(found)
    mixed = (found.astype(np.int64) @ _GREY + (1 << 13)) >> 14
    return np.asarray(mixed.astype(np.uint8)[:, :, None])


def black(rows: int, columns: int, channels: int) -> Array:
    """Return a black image, uint8 [rows, columns, channels]."""
    return np.zeros((rows, columns, channels), np.uint8)


def _of_numpy(data: bytes, name: str) -> Array:
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except UNREADABLE as error:
        reason = excerpt(error, 120).rstrip(".")
        raise DataError(f"{name}: is not a NumPy array that can be read: {reason}.") from None
    if found.ndim == 2:
        found = found[:, :, None]
    if found.ndim != 3 or found.shape[2] not in (1, 3) or found.dtype != np.uint8 or not found.size:
        raise DataError(
            f"{name}: an image is an array [rows, columns] or [rows, columns, 3] of type uint8, "
            f"and this is {list(found.shape)} of {found.dtype}."
        )
    return np.asarray(found)


def _portable(data: bytes, head: re.Match[bytes], name: str) -> Array:
    columns, rows, most = (int(one) for one in head.groups()[1:])
    channels = 3 if head[1] == b"6" else 1
    held = rows * columns * channels
    if most != 255 or not held or len(data) - head.end() < held:
        raise DataError(
            f"{name}: its head promises {rows} x {columns} pixels up to {most}, and there are "
            f"{len(data) - head.end():,} bytes. Numbers up to 255 are read."
        )
    found = np.frombuffer(data, np.uint8, held, head.end())
    return found.reshape(rows, columns, channels)


def _of_pillow(data: bytes, name: str) -> Array:
    try:
        from PIL import Image
    except ImportError:
        raise DataError(
            f"{name}: reading it needs Pillow. Install it with pip install 'netsharp[images]', or "
            "write images as PPM, PGM or arrays of NumPy (.npy)."
        ) from None
    try:
        with Image.open(io.BytesIO(data)) as image:
            columns, rows = image.size
            if rows * columns > IMAGE_PIXELS.most:
                raise DataError(f"{name}: has more than {IMAGE_PIXELS}, which is not read.")
            if image.mode[:1] in "IF":
                raise DataError(f"{name}: has more than 8 bits a channel, which is not read.")
            found = np.asarray(image if image.mode == "L" else image.convert("RGB"))
    except DataError:
        raise
    except Exception as error:  # each of its decoders raises what its arithmetic does
        reason = excerpt(error, 120).rstrip(".")
        raise DataError(f"{name}: is not an image that can be read: {reason}.") from None
    return found if found.ndim == 3 else found[:, :, None]
