"""Kernels that lead from a source's shape to the size that a layer declares.

Pure arithmetic: usual windows and strides are tried in turn, and the first that fits is used.
"""

from __future__ import annotations

from itertools import product as combinations

from netsharp_engine.geometry import Axis
from netsharp_lsp.netsharp.meaning.values.attributes import CONVOLVE, NORM
from netsharp_lsp.netsharp.repairs.proposals import POOL_WINDOWS, WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Shape = tuple[int, ...]
    #: Kernel, stride and padding, as far as they are given.
    Known = tuple[Shape | None, Shape | None, tuple[bool, ...] | None]

#: How kernels walk, in the order in which it is tried: whether padded, and the stride; 0 stands
#: for kernels side by side, as a pool's rather are.
WALKS = ((False, 1), (False, 2), (True, 1), (True, 2), (False, 3), (True, 3), (False, 4))
POOL_WALKS = ((False, 0), (True, 0), (False, 1), (False, 2), (True, 1), (True, 2), (False, 3))
NORM_WALKS = ((False, 1), (True, 1))
#: From this many dimensions on the first counts maps.
WITH_MAPS = 3
NORM_WINDOW = 3


class Figures:
    """A kernel with all its figures; `padding` has an entry for each dimension."""

    __slots__ = ("kernel", "maps", "padding", "stride")

    def __init__(self, kernel: Shape, stride: Shape, padding: tuple[bool, ...], maps: int) -> None:
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.maps = maps


def usual(kind: str, shape: Shape) -> Figures:
    """Return a usual kernel: a convolution mixes all maps, a pool or norm takes each alone."""
    window = NORM_WINDOW if kind == NORM else WINDOWS.get(kind, POOL_WINDOWS)[0]
    kernel = _kernel(kind, shape, window)
    stride = kernel if kind.endswith("pool") else (1,) * len(shape)
    return Figures(kernel, stride, (kind == NORM,) * len(shape), 1)


def fitted(
    kind: str, shape: Shape, declared: Shape | None, known: Known = (None, None, None)
) -> Figures | None:
    """Return the first figures that give the declared shape; known ones are kept."""
    for maps, target in _targets(kind, shape, declared or ()):
        for figures in _candidates(kind, shape, maps, known):
            steps = zip(shape, figures.kernel, figures.stride, figures.padding, strict=True)
            counts = tuple(Axis(i, k, s, padding=p).count for i, k, s, p in steps)
            if counts == target:
                return figures
    return None


def _targets(kind: str, shape: Shape, declared: Shape) -> Iterator[tuple[int, Shape]]:
    """Yield the numbers of maps and the positions per dimension that make the declared shape."""
    rank = len(shape)
    if kind != CONVOLVE or (rank < WITH_MAPS and len(declared) == rank):
        if len(declared) == rank:
            yield 1, declared
    elif rank < WITH_MAPS and len(declared) == rank + 1:
        yield declared[0], declared[1:]
    elif len(declared) == rank:
        yield declared[0], (1, *declared[1:])


def _candidates(kind: str, shape: Shape, maps: int, known: Known) -> Iterator[Figures]:
    """Yield figures to try, the most usual first."""
    windows = WINDOWS.get(kind, POOL_WINDOWS)
    walks = NORM_WALKS if kind == NORM else WALKS if kind == CONVOLVE else POOL_WALKS
    kernels = [known[0]] if known[0] else [_kernel(kind, shape, window) for window in windows]
    for kernel, (padded, step) in combinations(kernels, walks):
        stride = known[1] or (_stride(shape, step) if step else kernel)
        padding = known[2] or _padding(kind, shape, padded)
        fits = len(kernel) == len(stride) == len(padding) == len(shape)
        if fits and all(1 <= s <= k <= i for s, k, i in zip(stride, kernel, shape, strict=True)):
            yield Figures(kernel, stride, padding, maps)


def _kernel(kind: str, shape: Shape, window: int) -> Shape:
    kernel = tuple(min(window, cells) for cells in shape)
    if len(shape) < WITH_MAPS:
        return kernel
    return (shape[0] if kind == CONVOLVE else 1, *kernel[1:])


def _stride(shape: Shape, step: int) -> Shape:
    if len(shape) < WITH_MAPS:
        return (step,) * len(shape)
    return (1, *(step,) * (len(shape) - 1))


def _padding(kind: str, shape: Shape, padded: bool) -> tuple[bool, ...]:
    """Return the padding; a convolution that mixes all maps has one position there in any case."""
    mixes = kind == CONVOLVE and len(shape) >= WITH_MAPS
    return tuple(padded and not (mixes and dimension == 0) for dimension in range(len(shape)))
