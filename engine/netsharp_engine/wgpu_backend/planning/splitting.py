"""Sums over many numbers in several passes, each of a stated width.

A loop is cut into parts, which are computed by other invocations; a second kernel adds them.
Source: S. Puri, US patent 7,747,070, section 4.8, where they are S_r.
"""

from __future__ import annotations

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import (
    GRADIENT,
    SUM,
    DeviceKernel,
    Each,
    LoopNest,
    StoreTo,
    Turning,
)

#: The most iterations of an invocation's loops: beyond 65,535 some drivers stop silently.
MOST_TRIPS = 16_384
#: Beyond this number of iterations a sum of few results is cut into parts of this width.
LONG, FEW, WIDTH = 512, 1 << 16, 8
#: A sum with more is cut until no part has more.
TARGET = 8_192


def split(build: Building, kernels: list[DeviceKernel], *, wide: bool = True) -> list[DeviceKernel]:
    """Return the kernels, long sums in two; ``wide``: also gradients with few elements."""
    found: list[DeviceKernel] = []
    for kernel in kernels:
        found += _split(build, kernel, wide=wide)
    return found


def _split(build: Building, kernel: DeviceKernel, *, wide: bool) -> list[DeviceKernel]:
    number, nest = kernel.body[0] if kernel.body else (0, None)
    if not isinstance(nest, LoopNest):
        return [kernel]
    several = sum(isinstance(operation, LoopNest) for _, operation in kernel.body) > 1
    if several or nest.how != "sum" or kernel.by_rows:
        return [kernel]
    parts = _parts(kernel, nest, wide=wide)
    if not parts:
        return [kernel]
    pieces = 1
    for _, count in parts:
        pieces *= count
    target = build.buffer(f"{kernel.what}, parts", kernel.elements, rows=pieces)
    first = kernel._replace(
        what=f"{kernel.what}, parts",
        body=((number, _cut(nest, parts)),),
        stores=(StoreTo(target.number, number),),
        parts=parts,
        joined=(f"{kernel.what}, parts",),
    )
    again = build.number()
    whole = LoopNest(
        f"b{target.number}[h * ELEMENTS + e]",
        (Turning("h", "0", str(pieces), pieces),),
        (),
        (("ELEMENTS", kernel.elements),),
    )
    rest = [(k, _renamed(op, number, again)) for k, op in kernel.body[1:]]
    stores = tuple(
        store._replace(value=again) if store.value == number else store for store in kernel.stores
    )
    name = f"{kernel.what}, sum"
    second = kernel._replace(
        what=name, joined=(name,), role=_role(kernel), body=((again, whole), *rest), stores=stores
    )
    return [first, *_split(build, second, wide=False)]


def _role(kernel: DeviceKernel) -> str:
    """Return the role of what adds parts: a sum for those of a gradient."""
    return SUM if kernel.role == GRADIENT else kernel.role


def _renamed(operation: object, old: int, new: int) -> Each:
    assert isinstance(operation, Each)
    return Each(operation.formula.replace(f"v{old}", f"v{new}"))


def _parts(kernel: DeviceKernel, nest: LoopNest, *, wide: bool) -> tuple[tuple[str, int], ...]:
    """Return the loops that are cut, with the number of parts of each; none where all may stay."""
    if nest.trips > MOST_TRIPS:
        return _cuts(nest, TARGET, 0)
    if not wide or kernel.role != GRADIENT or nest.trips <= LONG or kernel.elements >= FEW:
        return ()
    outer = nest.loops[0]
    return ((outer.name, min(outer.most, WIDTH)),) if outer.most > 1 else ()


def _cuts(nest: LoopNest, most: int, first: int) -> tuple[tuple[str, int], ...]:
    """Cut loops from the outermost until no invocation turns more often."""
    found: list[tuple[str, int]] = []
    loops = list(nest.loops)
    for place in range(first, len(loops)):
        trips = nest._replace(loops=tuple(loops)).trips
        if trips <= most:
            break
        loop = loops[place]
        count = min(loop.most, -(-trips // most))
        if count > 1:
            found.append((loop.name, count))
            loops[place] = loop._replace(most=-(-loop.most // count))
    return tuple(found)


def _cut(nest: LoopNest, parts: tuple[tuple[str, int], ...]) -> LoopNest:
    """Return the loops of one part: number ``h`` in a grid of all parts."""
    counts, loops = dict(parts), []
    stride = 1
    for _, count in parts:
        stride *= count
    for loop in nest.loops:
        if loop.name not in counts:
            loops.append(loop)
            continue
        count = counts[loop.name]
        stride //= count
        length = -(-loop.most // count)
        part = "h" if len(parts) == 1 else f"(h / {stride} % {count})"
        low = f"{part} * {length}"
        if loop.low != "0":
            low = f"{loop.low} + {low}"
        high = f"min({loop.high}, {low} + {length})"
        loops.append(Turning(loop.name, low, high, length))
    return nest._replace(loops=tuple(loops))
