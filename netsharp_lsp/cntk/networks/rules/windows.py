"""The movement of kernels over tensors: strides, padding, and the number of positions.  Knows no
node type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.node import written
from netsharp_lsp.cntk.networks.rules.common import Misfit

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


class Windows(NamedTuple):
    """A kernel, its maps, strides and padding; a list of one value applies to all dimensions."""

    kernel: tuple[int, ...]
    maps: tuple[int, ...]
    stride: tuple[int, ...]
    padded: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @classmethod
    def of(cls, node: Node) -> Windows:
        """Return the windows that the attributes of a node describe."""
        return cls(
            node.dimensions("kernelShape"),
            node.dimensions("mapCount") or (1,),
            node.dimensions("strideShape"),
            node.dimensions("dimPadding"),
            node.dimensions("dimPadLower"),
            node.dimensions("dimPadUpper"),
        )

    def completed(self, shape: tuple[int, ...], beyond: tuple[int, ...]) -> Windows:
        """Return windows with lists as long as the input's shape: each list's last value for the
        kernel's dimensions, then the input's own (``beyond``) for kernel and stride, and no
        padding.
        """
        rank = len(self.kernel)
        return self._replace(
            kernel=_extended(self.kernel, rank, len(shape), beyond, 1),
            stride=_extended(self.stride, rank, len(shape), beyond, 1),
            padded=_extended(self.padded, rank, len(shape), (), 0),
            lower=_extended(self.lower, rank, len(shape), (), 0),
            upper=_extended(self.upper, rank, len(shape), (), 0),
        )

    def dilated(self, node: Node) -> Windows:
        """Return the windows with kernels extended by their dilation."""
        sides = zip(self.kernel, self.gaps(node), strict=True)
        return self._replace(kernel=tuple((side - 1) * step + 1 for side, step in sides))

    def gaps(self, node: Node) -> tuple[int, ...]:
        """Return the distance between neighbouring elements of the kernel along each axis."""
        rank = len(node.dimensions("kernelShape"))
        return _extended(node.dimensions("dimDilation"), rank, len(self.kernel), (), 1)

    def map_count(self, axis: int, rank: int) -> int:
        """Return the number of maps along an axis."""
        if len(self.maps) > 1:
            return self.maps[axis]
        return self.maps[0] if axis == rank - 1 else 1


def shrunk(shape: tuple[int, ...], windows: Windows, *, partly: bool = False) -> tuple[int, ...]:
    """Return the number of positions along each axis times the maps; `partly`: with a last, partial
    window.
    """
    _same_rank(shape, windows)
    output = []
    for axis, size in enumerate(shape):
        kernel, step = windows.kernel[axis], windows.stride[axis] or 1
        if kernel > size:
            raise Misfit(
                f"a kernel of [{written(windows.kernel)}] does not fit into [{written(shape)}]."
            )
        lower, upper = windows.lower[axis], windows.upper[axis]
        room = size + (kernel - 1 if windows.padded[axis] else lower + upper)
        beyond = step - 1 if partly else 0
        count = (room - kernel + beyond) // step + 1
        if not windows.padded[axis] and (lower or upper) and (count - 1) * step + kernel != room:
            raise Misfit("with explicit padding the kernel has to cover the whole input.")
        output.append(count * windows.map_count(axis, len(shape)))
    return tuple(output)


def spread(shape: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
    """Return the shape of the input for which ``shrunk`` returns this shape."""
    _same_rank(shape, windows)
    output = []
    for axis, size in enumerate(shape):
        count = size // (windows.map_count(axis, len(shape)) or 1)
        room = (count - 1) * windows.stride[axis]
        missing = windows.kernel[axis] - windows.lower[axis] - windows.upper[axis]
        output.append(room + (1 if windows.padded[axis] else missing))
    return tuple(output)


def _extended(
    values: tuple[int, ...], rank: int, full: int, beyond: tuple[int, ...], default: int
) -> tuple[int, ...]:
    """Return a list repeated to the kernel's rank and completed to the input's."""
    if not values:
        return (default,) * full
    values += values[-1:] * (rank - len(values))
    rest = range(len(values), full)
    return values + tuple(beyond[axis] if axis < len(beyond) else default for axis in rest)


def _same_rank(shape: tuple[int, ...], windows: Windows) -> None:
    lengths = {len(values) for values in windows if values is not windows.maps}
    if lengths - {len(shape)} or len(windows.maps) not in (1, len(shape)):
        raise Misfit(
            f"the kernel [{written(windows.kernel)}] and the input [{written(shape)}] need the"
            " same number of dimensions, and so do strides, padding and maps."
        )
