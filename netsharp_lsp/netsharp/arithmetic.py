"""The arithmetic of kernels, edges and sizes in words that people can check by hand.

Pure text from figures; it reports nothing and reads no syntax.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_engine.geometry import Axis
    from netsharp_lsp.netsharp.meaning.model import Geometry


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: 1 cell, 2 cells."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def factors(numbers: tuple[int, ...]) -> str:
    """Return a product as it is written: 5 x 12 x 12."""
    return " x ".join(str(number) for number in numbers)


def positions(axis: Axis) -> str:
    """Return the number of kernels along one dimension as a sum: `(29 - 5) / 2 + 1 = 13`.

    A padded dimension reads `(28 - 1) / 2 + 1 = 14`, one with explicit pads `(28 + 0 + 1 - 5) / 2 +
    1 = 13`; the division drops its remainder.
    """
    room = f"{axis.size} - {axis.kernel}"
    if axis.padding:
        room = f"{axis.size} - 1"
    elif axis.lower or axis.upper:
        room = f"{axis.size} + {axis.lower} + {axis.upper} - {axis.kernel}"
    return f"({room}) / {axis.stride} + 1 = {axis.count}"


def outputs(geometry: Geometry) -> Iterator[tuple[int, str]]:
    """Yield for each dimension the number of its positions and the product with its maps."""
    for dimension, (axis, maps) in enumerate(zip(geometry.axes, geometry.maps, strict=True)):
        text = f"NodeCount[{dimension}] = {positions(axis)}"
        if maps > 1:
            text += f"; {maps} maps x {axis.count} = {maps * axis.count}"
        yield dimension, text


def kernel_weights(geometry: Geometry) -> str:
    """Return the parameters of a convolution: `5 kernels x (5 x 5 + 1 bias) = 130`."""
    cells = factors(tuple(axis.kernel for axis in geometry.axes))
    total = geometry.kernels * geometry.weights_per_kernel
    return f"{counted(geometry.kernels, 'kernel')} x ({cells} + 1 bias) = {total}"
