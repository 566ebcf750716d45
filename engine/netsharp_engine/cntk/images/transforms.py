"""Transforms of images, one after the other; random draws for one depend only on a seed, the pass
over the data, the image and the place of the transform.

Source: CNTK, Readers/ImageReader/ImageTransformers.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.images.resizing import resized
from netsharp_engine.data.errors import DataError

#: How many parts of an image `multiview10` has: four corners and the middle, each mirrored, too.
VIEWS = 10
_MOST = 255


class Draws(NamedTuple):
    """The seeds of random numbers: the ``number`` of an image, the pass over the data (``sweep``)
    and the ``epoch``, all from 0; the epoch also chooses from lists.
    """

    seed: int
    sweep: int
    epoch: int
    number: int

    def generator(self, place: int) -> np.random.Generator:
        """Return the generator of one transform."""
        return np.random.default_rng((self.seed, self.sweep, self.number, place))

    def of(self, listed: Sequence[float]) -> float:
        """Return the value of a list for the epoch."""
        return listed[min(self.epoch, len(listed) - 1)]


class Transform(Protocol):
    """One change."""

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the transformed image [rows, columns, channels]; ``place`` is the number of the
        transform.
        """


class Crop(NamedTuple):
    """A part of an image: a square of a share (``ratio``, from and to) of its shorter side, whose
    sides may differ in their ratio (``aspect``, a radius per epoch).
    """

    kind: str = "center"
    ratio: tuple[float, float] = (1.0, 1.0)
    jitters: bool = False
    flips: bool = False
    aspect: Sequence[float] = (0.0,)

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the cropped image [rows, columns, channels], mirrored at random where asked
        for.
        """
        rows, columns = image.shape[:2]
        random = draws.generator(place)
        ratio = random.uniform(*self.ratio) if self.jitters else self.ratio[0]
        down = across = max(int(min(rows, columns) * ratio), 1)
        radius = draws.of(self.aspect)
        if radius > 0:
            area = down * down
            long = max(int(math.sqrt(area * (1 + random.uniform(-radius, radius)))), 1)
            sides = long, area // long
            across, down = sides if random.random() < 0.5 else sides[::-1]
            across, down = min(max(across, 1), columns), min(max(down, 1), rows)
        spare = rows - down, columns - across
        view = draws.number % VIEWS if self.kind == "multiview10" else 0
        if self.kind == "random":
            left, top = (int(random.integers(0, one + 1)) for one in spare[::-1])
        elif self.kind == "multiview10" and view % 5 < 4:
            top, left = spare[0] * (view % 5 // 2), spare[1] * (view % 5 % 2)
        else:
            top, left = spare[0] // 2, spare[1] // 2
        found = image[top : top + down, left : left + across]
        mirrored = view >= 5 or (self.flips and random.random() < 0.5)
        return found[:, ::-1] if mirrored else found


class Scale(NamedTuple):
    """Another size: the image is warped (``fill``), its shorter side fits and the rest is cut
    (``crop``), or its longer one fits and the rest is filled (``pad``): by a value, -1 for its
    border.
    """

    columns: int
    rows: int
    channels: int
    kind: str = "linear"
    mode: str = "fill"
    value: int = -1

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the image [rows, columns, channels] in its new size. DataError where it does not
        cover that, or does not fit into it.
        """
        rows, columns = self.rows, self.columns
        if self.mode == "fill":
            return resized(image, rows, columns, self.kind)
        high, wide = image.shape[:2]
        if (wide < high) if self.mode == "crop" else (wide > high):
            rows = max(math.floor(high * self.columns / wide + 0.5), 1)
        else:
            columns = max(math.floor(wide * self.rows / high + 0.5), 1)
        found = resized(image, rows, columns, self.kind)
        if self.mode == "crop":
            top, left = (rows - self.rows) // 2, (columns - self.columns) // 2
            if top < 0 or left < 0:
                raise DataError(
                    f"an image of {wide} x {high} pixels does not cover {self.columns} x "
                    f"{self.rows} by its shorter side (scaleMode=crop). Take fill or pad."
                )
            return found[top : top + self.rows, left : left + self.columns]
        top, left = (self.rows - rows) // 2, (self.columns - columns) // 2
        if top < 0 or left < 0:
            raise DataError(
                f"an image of {wide} x {high} pixels does not fit into {self.columns} x "
                f"{self.rows} by its longer side (scaleMode=pad). Take fill or crop."
            )
        around = ((top, self.rows - rows - top), (left, self.columns - columns - left), (0, 0))
        if self.value < 0:
            return np.pad(found, around, "edge")
        # The one number is that of the first channel, as in CNTK: others get 0.
        padded = np.pad(found, around)
        outside = np.ones(padded.shape[:2], bool)
        outside[top : top + rows, left : left + columns] = False
        padded[outside, 0] = min(self.value, _MOST)
        return padded


class Color(NamedTuple):
    """Brightness, contrast and saturation, each changed by at most a radius per epoch."""

    brightness: Sequence[float] = (0.0,)
    contrast: Sequence[float] = (0.0,)
    saturation: Sequence[float] = (0.0,)

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the image [rows, columns, channels] with random brightness, contrast and
        saturation.
        """
        bright, contrast, colour = (draws.of(one) for one in self)
        if not bright and not contrast and not colour:
            return image
        random, found = draws.generator(place), image.astype(dtype)
        # The mean is that of the first channel over the pixels of all, as in CNTK.
        mean = float(found[:, :, 0].sum(dtype=np.float64)) / found.size
        shift = random.uniform(-bright, bright) * mean
        factor = 1 + random.uniform(-contrast, contrast)
        if bright or contrast:
            found = np.clip(found * found.dtype.type(factor) + found.dtype.type(shift), 0, _MOST)
        ratio = 1 + random.uniform(-colour, colour)
        if colour and found.shape[2] == 3:
            value = found.max(2, keepdims=True)
            depth = value - found.min(2, keepdims=True)
            share = np.divide(depth, value, out=np.zeros_like(depth), where=value > 0)
            wanted = np.minimum(share * ratio, 1)
            grown = np.divide(wanted, share, out=np.ones_like(share), where=share > 0)
            found = value - (value - found) * grown
        return found.astype(dtype)


class Intensity(NamedTuple):
    """A shift along the axes of colours, drawn from a normal distribution of a width per epoch."""

    values: tuple[float, ...]
    vectors: tuple[tuple[float, ...], ...]
    width: Sequence[float] = (0.0,)

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the image [rows, columns, channels], shifted along the principal components of its
        colours (Krizhevsky and others, 2012); vectors are for red, green, blue.
        """
        width = draws.of(self.width)
        if not width:
            return image
        drawn = draws.generator(place).normal(0, width, 3) * np.array(self.values)
        shift = (np.array(self.vectors) @ drawn)[: image.shape[2]][::-1]
        return np.asarray(np.clip(image.astype(dtype) + shift.astype(dtype), 0, _MOST))


class Mean:
    """The mean image, which is taken away: its numbers, and rows, columns and channels."""

    def __init__(self, numbers: Sequence[float], shape: Sequence[int]) -> None:
        self.image: Array = np.array(numbers).reshape(shape)

    def apply(self, image: Array, draws: Draws, place: int, dtype: str) -> Array:
        """Return the image [rows, columns, channels] minus the mean image. DataError where their
        shapes differ.
        """
        if image.shape != self.image.shape:
            mean, own = (" x ".join(map(str, one.shape)) for one in (self.image, image))
            raise DataError(
                f"the mean image is {mean} (rows, columns, channels), and images are {own} there."
            )
        return np.asarray(image.astype(dtype) - self.image.astype(dtype))


def changed(
    image: Array, transforms: Sequence[Transform], draws: Draws, dtype: str, *, by_channel: bool
) -> Array:
    """Return the numbers of an image after all transforms, flat: column after column of a row, row
    after row and channel after channel (``by_channel``), else with the channel fastest.
    """
    for place, one in enumerate(transforms):
        image = one.apply(image, draws, place, dtype)
    return (image.transpose(2, 0, 1) if by_channel else image).astype(dtype).reshape(-1)
