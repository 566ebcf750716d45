"""Kernel placement in any number of dimensions, in plain integers.

It imports math alone, so that the checker can use it without numpy, and it must not know languages
or arrays. Source: the Net# guide, "Convolutional bundles", and the published geometry of its
successor (CNTK: Source/Math/ConvolveGeometry.h).
"""

from __future__ import annotations

from math import prod


class Axis:
    """One dimension of a kernel's walk over its source.

    ``padding`` bumps the source by ``kernel - 1`` cells; ``lower`` and ``upper``
    are explicit pads and exclude it.  All figures are cells.
    """

    __slots__ = ("kernel", "lower", "padding", "size", "stride", "upper")

    def __init__(
        self,
        size: int,
        kernel: int,
        stride: int = 1,
        *,
        padding: bool = False,
        lower: int = 0,
        upper: int = 0,
    ) -> None:
        self.size = size
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.lower = lower
        self.upper = upper

    def key(self) -> tuple[int, int, int, bool, int, int]:
        """Return the six figures: two axes are the same when these agree."""
        return (self.size, self.kernel, self.stride, self.padding, self.lower, self.upper)

    @property
    def padded_size(self) -> int:
        """Return the source length that the kernels see, in cells: I, I + K - 1, or I + l + u."""
        if self.padding:
            return self.size + self.kernel - 1
        return self.size + self.lower + self.upper

    @property
    def count(self) -> int:
        """Return the number of positions (the guide's NodeCount), never below 0."""
        room = self.padded_size - self.kernel
        return room // self.stride + 1 if room >= 0 else 0

    @property
    def covered(self) -> int:
        """Return the cells from the first kernel's start to the last one's end."""
        return (self.count - 1) * self.stride + self.kernel

    @property
    def filled(self) -> bool:
        """Return whether explicit pads are filled exactly; true without any."""
        return not (self.lower or self.upper) or self.covered == self.padded_size

    @property
    def first(self) -> int:
        """Return the source cell below the first tap at position 0; negative inside a pad."""
        centre = (self.kernel - 1) // 2
        if self.lower or self.upper:
            return -self.lower
        extra = self.size - ((self.count - 1) * self.stride + 1)
        return extra // 2 - centre

    @property
    def padded(self) -> bool:
        """Return whether a kernel reaches beyond the source."""
        return self.first < 0 or self.first + self.covered > self.size

    def cells(self, position: int) -> range:
        """Return the real source cells under the kernel at ``position``, pads left out."""
        start = self.first + position * self.stride
        return range(max(start, 0), min(start + self.kernel, self.size))

    def centre(self, position: int) -> int:
        """Return the source cell under the kernel's centre tap, index ``(K - 1) / 2``."""
        return self.first + position * self.stride + (self.kernel - 1) // 2

    def real_taps(self) -> int:
        """Return the number of (position, tap) pairs that read a real cell."""
        return sum(len(self.cells(position)) for position in range(self.count))

    def unread(self) -> tuple[int, int]:
        """Return the cells at the lower and at the upper end that no kernel reads."""
        if not self.count:
            return (self.size, 0)
        last = self.cells(self.count - 1)
        return (max(self.first, 0), max(self.size - last.stop, 0))


class CorneredAxis(Axis):
    """One whose first kernel begins at the lower end of the pads, wherever the last one ends."""

    __slots__ = ()

    @property
    def first(self) -> int:
        """Return the source cell below the first tap at position 0; negative inside a pad."""
        return -self.lower


#: More nodes or weights than any machine can hold.
UNCOUNTED = 2**63 - 1
#: The number of integers that are multiplied before the product is compared with the limit.
_FEW = 8


def product(numbers: tuple[int, ...]) -> int:
    """Return the product of whole numbers, 1 for none; counting ends at `UNCOUNTED`.

    The product of thousands of dimensions would fill pages, and Python refuses to print it.
    """
    if len(numbers) < _FEW:
        plain = prod(numbers)
        if -UNCOUNTED <= plain <= UNCOUNTED:
            return plain
    result = 1
    for number in numbers:
        result = max(-UNCOUNTED, min(result * number, UNCOUNTED))
    return result


def output_shape(axes: tuple[Axis, ...], maps: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Return, per dimension, maps times positions; maps are grouped in blocks of positions."""
    if maps is None:
        return tuple(axis.count for axis in axes)
    return tuple(count * axis.count for count, axis in zip(maps, axes, strict=True))


def kernel_count(axes: tuple[Axis, ...], sharing: tuple[bool, ...], maps: tuple[int, ...]) -> int:
    """Return the number of kernels: all maps times the positions of unshared dimensions."""
    unshared = (axis.count for axis, shared in zip(axes, sharing, strict=True) if not shared)
    return product(maps) * product(tuple(unshared))
