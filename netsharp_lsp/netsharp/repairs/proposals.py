"""Sensible values for attributes that are missing, and for sizes and pads that do not fit.

Pure arithmetic over the model; which text to change is decided elsewhere.
"""

from __future__ import annotations

from netsharp_engine.geometry import Axis, product
from netsharp_lsp.netsharp.meaning.model import Geometry
from netsharp_lsp.netsharp.meaning.values.attributes import CONVOLVE, NORM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

#: The constants of the guide's own response norm.
CONSTANTS = {"Alpha": 0.001, "Beta": 0.75}

#: Window lengths in the order in which they are tried.
WINDOWS = {CONVOLVE: (5, 3, 4, 6, 7, 2, 8, 9, 11, 1), NORM: (3, 5, 7, 9)}
POOL_WINDOWS = (2, 3, 4, 5, 6, 7, 8)


def proposed_value(bundle: Bundle, name: str) -> Value | None:
    """Return a value for a required attribute that is missing, None where none is suggested."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name == "InputShape":
        return proposed_shape(bundle)
    if name == "KernelShape":
        return proposed_kernel(bundle)
    return None


def proposed_shape(bundle: Bundle) -> tuple[int, ...] | None:
    """Return the source's declared shape in as many dimensions as the bundle has.

    Leading ones fill up the difference; None where they cannot.
    """
    source = bundle.source.shape if bundle.source is not None else None
    entries = bundle.input_shape or bundle.kernel_shape
    if source is None or entries is None:
        return source
    rank = len(entries)
    if product(source[:-rank]) > 1:
        return None
    return (1,) * (rank - len(source)) + source[-rank:]


def proposed_kernel(bundle: Bundle) -> tuple[int, ...] | None:
    """Return a kernel that gives the declared size if there is one, else a usual window.

    The first of three or more dimensions counts maps: a convolution mixes them all, a pool and a
    norm take each alone.
    """
    shape = bundle.input_shape or (bundle.source.shape if bundle.source is not None else None)
    if shape is None or min(shape) < 1:
        return None
    windows = WINDOWS.get(bundle.kind or "", POOL_WINDOWS)
    leads = ((1, shape[0]) if bundle.kind != CONVOLVE else (shape[0], 1)) if len(shape) > 2 else ()
    kernels = []
    for lead in leads or (None,):
        for window in windows:
            kernel = tuple(min(window, size) for size in shape)
            kernels.append(kernel if lead is None else (lead, *kernel[1:]))
    fitting = [kernel for kernel in kernels if gives_declared_size(bundle, shape, kernel)]
    return (fitting or kernels)[0]


def gives_declared_size(bundle: Bundle, shape: tuple[int, ...], kernel: tuple[int, ...]) -> bool:
    """Return whether a kernel gives the number of nodes that the layer declares."""
    rank = len(shape)
    stride = bundle.stride or (1,) * rank
    padding = bundle.padding or (False,) * rank
    maps = bundle.map_count or (1,) * rank
    if not len(stride) == len(padding) == len(maps) == rank or min(stride) < 1:
        return False
    if any(step > size for step, size in zip(stride, kernel, strict=True)):
        return False
    counts = tuple(
        Axis(size, k, s, padding=p).count
        for size, k, s, p in zip(shape, kernel, stride, padding, strict=True)
    )
    return product(counts) * product(maps) == bundle.layer.nodes


def filling_pads(axis: Axis) -> tuple[int, int] | None:
    """Return the valid pads (lower, upper) nearest to those given that the kernels fill exactly.

    The last kernel must end with the padded input, so only the two sums of pads around the given
    one are tried; the upper pad moves first.
    """
    given = axis.lower + axis.upper
    less = given - (axis.size + given - axis.kernel) % axis.stride
    for total in sorted((less, less + axis.stride), key=lambda total: abs(total - given)):
        upper = min(max(total - axis.lower, 0), axis.kernel // 2)
        lower = total - upper
        if total > 0 and 0 <= lower <= (axis.kernel - 1) // 2:
            return lower, upper
    return None


def filled_to_the_end(geometry: Geometry) -> Geometry | None:
    """Return the same kernels, padded where they leave cells out; None where no pads do that."""
    axes = []
    for axis in geometry.axes:
        pads = filling_pads(axis) if any(axis.unread()) else (axis.lower, axis.upper)
        if pads is None:
            return None
        axes.append(Axis(axis.size, axis.kernel, axis.stride, lower=pads[0], upper=pads[1]))
    return Geometry(tuple(axes), geometry.sharing, geometry.maps, geometry.kernels > 0)


def padded_throughout(geometry: Geometry) -> Geometry:
    """Return the same kernels with `Padding = true`."""
    axes = (Axis(axis.size, axis.kernel, axis.stride, padding=True) for axis in geometry.axes)
    return Geometry(tuple(axes), geometry.sharing, geometry.maps, geometry.kernels > 0)


def shapes_of(geometry: Geometry) -> list[tuple[int, ...]]:
    """Return the computed shape and equivalent ones; the first is the computed one."""
    return [geometry.output, *unrolled_shapes(geometry)]


def unrolled_shapes(geometry: Geometry) -> list[tuple[int, ...]]:
    """Return shapes with maps and positions as dimensions of their own, in the same layout.

    The guide declares [5, 13, 13] where five maps of [13, 13] compute as [65, 13].
    """
    counts = tuple(axis.count for axis in geometry.axes)
    shapes = []
    if any(maps > 1 for maps in geometry.maps) and not any(maps > 1 for maps in geometry.maps[1:]):
        shapes.append((geometry.maps[0], *counts))
    pairs: list[int] = []
    for maps, count in zip(geometry.maps, counts, strict=True):
        pairs += [maps, count] if maps > 1 else [count]
    shapes.append(tuple(pairs))
    return shapes
