"""Convolutions as products of matrices: each walk over images unfolded, cell by cell, as read.

Nothing is copied: a matrix is an expression for each of its numbers, 0 where a kernel reaches
beyond the image.  Kernels that are not shared along a dimension are not such a product.
"""

from __future__ import annotations

import re
from math import prod

from netsharp_engine.wgpu_backend.kernels import Buffer, MatrixForm
from netsharp_engine.wgpu_backend.templates.arithmetic import (
    coordinates,
    plus,
    shifted,
    strides,
    times,
)
from netsharp_engine.wgpu_backend.templates.windows import Dim, KernelWay, Lets


def forward(way: KernelWay, x: Buffer, w: Buffer) -> MatrixForm | None:
    """Return kernels [kernels, taps] by cells [taps, samples and places]; None if unshared."""
    if not _alike(way):
        return None
    places = _sited("at", way)
    cell, lets, inside = _cell(way, places, _tapped("k", way))
    lets = (*_sample("c", _count(way)), *lets)
    return MatrixForm(
        way.kernels,
        x.rows * _count(way),
        way.taps,
        f"b{w.number}[m * {way.row} + k]",
        _within(f"b{x.number}[r * {way.inputs} + {cell}]", inside),
        _element("c", _count(way), way.outputs, _out(way, "m", places)),
        right_lets=lets,
    )


def gradient(way: KernelWay, x: Buffer, g: Buffer) -> MatrixForm | None:
    """Return errors [kernels, samples and places] by cells [samples and places, taps and bias]."""
    if not _alike(way):
        return None
    places = _sited("at", way)
    sample = _sample("k", _count(way))
    biased = way.row > way.taps
    tap = f"min(c, {way.taps - 1})" if biased else "c"
    cell, lets, inside = _cell(way, places, _tapped("tap", way))
    seen = _within(f"b{x.number}[r * {way.inputs} + {cell}]", inside)
    if biased:
        seen = f"select({seen}, 1.0, c == {way.taps})"
    return MatrixForm(
        way.kernels,
        way.row,
        g.rows * _count(way),
        f"b{g.number}[r * {way.outputs} + {_out(way, 'm', places)}]",
        seen,
        f"m * {way.row} + c",
        left_lets=sample,
        right_lets=(*sample, ("tap", tap), *lets),
        right_runs=False,
    )


def backward(way: KernelWay, g: Buffer, w: Buffer) -> MatrixForm | None:
    """Return kernels [channels, kernels and taps] by errors [kernels and taps, samples and cells].

    Channels are dimensions that each kernel sees from end to end.
    """
    if not _alike(way):
        return None
    channel = [_is_channel(dim) for dim in way.dims]
    down = prod(dim.size for dim, alone in zip(way.dims, channel, strict=True) if alone)
    cells = prod(dim.size for dim, alone in zip(way.dims, channel, strict=True) if not alone)
    taps = prod(dim.kernel for dim, alone in zip(way.dims, channel, strict=True) if not alone)
    own = coordinates("m", [d.size if a else 1 for d, a in zip(way.dims, channel, strict=True)])
    at = coordinates("at", [1 if a else d.size for d, a in zip(way.dims, channel, strict=True)])
    tap = coordinates("tap", [1 if a else d.kernel for d, a in zip(way.dims, channel, strict=True)])
    tapped = strides([dim.kernel for dim in way.dims])
    weight = [
        times(f"({own[d] if channel[d] else tap[d]})", tapped[d])
        for d in range(len(way.dims))
        if (own[d] if channel[d] else tap[d]) != "0"
    ]
    lets: list[tuple[str, str]] = []
    places, inside = [], []
    for d, dim in enumerate(way.dims):
        if channel[d]:
            places.append("0")
            continue
        lets.append((f"f{d}", f"{shifted(at[d], -dim.first)} - ({tap[d]})"))
        lets.append((f"p{d}", f"clamp(f{d} / {dim.stride}, 0, {dim.places - 1})"))
        inside.append(f"f{d} == p{d} * {dim.stride}")
        places.append(f"p{d}")
    kernel = (("q", f"k / {taps}"), ("tap", f"k % {taps}"))
    place = _out(way, "q", places)
    return MatrixForm(
        down,
        g.rows * cells,
        way.kernels * taps,
        f"b{w.number}[{plus(f'q * {way.row}', *weight)}]",
        _within(f"b{g.number}[r * {way.outputs} + {place}]", inside),
        _element("c", cells, way.inputs, _cells_of(way, own, at)),
        left_lets=kernel,
        right_lets=(*_sample("c", cells), *kernel, *lets),
        left_runs=False,
    )


def _alike(way: KernelWay) -> bool:
    return all(dim.shared or dim.places == 1 for dim in way.dims)


def _is_channel(dim: Dim) -> bool:
    return dim.places == 1 and dim.first == 0 and dim.kernel == dim.size


def _count(way: KernelWay) -> int:
    """Return the number of places of one kernel."""
    return prod(dim.places for dim in way.dims)


def _sample(index: str, count: int) -> Lets:
    """Return the sample of an index, ``r``, and the place within it, ``at``."""
    return (("r", f"{index} / {count}"), ("at", f"{index} % {count}"))


def _sited(index: str, way: KernelWay) -> list[str]:
    return coordinates(index, [dim.places for dim in way.dims])


def _tapped(index: str, way: KernelWay) -> list[str]:
    return coordinates(index, [dim.kernel for dim in way.dims])


def _cell(way: KernelWay, places: list[str], taps: list[str]) -> tuple[str, Lets, list[str]]:
    """Return the cell under a tap at a place, and the conditions under which there is one."""
    lets: list[tuple[str, str]] = []
    parts, inside = [], []
    for d, (dim, step) in enumerate(zip(way.dims, strides(way.sizes), strict=True)):
        place, tap = places[d], taps[d]
        start = times(f"({place})" if place != "0" else "0", dim.stride)
        lets.append((f"s{d}", plus(shifted(start, dim.first), f"({tap})" if tap != "0" else "0")))
        name = f"s{d}"
        if not dim.inside:
            lets.append((f"x{d}", f"clamp(s{d}, 0, {dim.size - 1})"))
            inside.append(f"s{d} == x{d}")
            name = f"x{d}"
        parts.append(times(name, step))
    return plus(*parts), tuple(lets), inside


def _out(way: KernelWay, kernel: str, places: list[str]) -> str:
    """Return the output of a kernel at a place."""
    maps = coordinates(kernel, [dim.maps for dim in way.dims])
    parts = []
    for d, (dim, step) in enumerate(zip(way.dims, strides(way.places), strict=True)):
        at = plus(
            times(f"({maps[d]})" if maps[d] != "0" else "0", dim.places),
            f"({places[d]})" if places[d] != "0" else "0",
        )
        parts.append(times(f"({at})" if at != "0" else "0", step))
    return plus(*parts)


def _cells_of(way: KernelWay, own: list[str], at: list[str]) -> str:
    """Return the cell of a channel and of a place among the others."""
    parts = []
    for d, step in enumerate(strides(way.sizes)):
        both = [f"({text})" for text in (own[d], at[d]) if text != "0"]
        parts.append(times(both[0] if both else "0", step))
    return plus(*parts)


def _element(index: str, count: int, width: int, inner: str) -> str:
    """Return an element by its sample, the width of one, and what stands for ``at`` within it."""
    placed = re.sub(r"\bat\b", f"({index} % {count})", inner)
    return f"{index} / {count} * {width} + {placed}"


def _within(text: str, inside: list[str]) -> str:
    """Return a number, or 0 where it is not within the image."""
    return f"select(0.0, {text}, {' && '.join(inside)})" if inside else text
