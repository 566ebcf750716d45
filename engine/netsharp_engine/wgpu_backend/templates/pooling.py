"""Kernels of pools, largest and mean, in any number of dimensions; pads are left out."""

from __future__ import annotations

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import BACKWARD, FORWARD, Buffer, Each, LoopNest
from netsharp_engine.wgpu_backend.templates.convolution import sizes
from netsharp_engine.wgpu_backend.templates.windows import KernelWay, Seen

FAMILY = "pool"


def largest(
    build: Building, what: str, x: Buffer, way: KernelWay, out: Buffer, where: Buffer | None
) -> None:
    """Add the kernel of the largest real cell; ``where`` receives the first that is."""
    seen = way.under()
    nest = LoopNest(
        f"b{x.number}[n * INPUTS + {seen.cell}]",
        seen.loops,
        seen.lets,
        sizes(way),
        "max",
        f"f32({seen.cell})",
    )
    kernel = build.kernel(f"{what}: largest", FAMILY, FORWARD, out, nest)
    if where is not None:
        build.marked(kernel, where)


def largest_back(
    build: Building, what: str, where: Buffer, g: Buffer, way: KernelWay, out: Buffer
) -> None:
    """Add the kernel that passes the error of a place to the cell that was its largest."""
    seen = way.above()
    at = f"n * OUTPUTS + {seen.place}"
    term = f"b{g.number}[{at}] * f32(b{where.number}[{at}] == f32(i))"
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way))
    build.kernel(f"{what}: error of the source", FAMILY, BACKWARD, out, nest)


def mean(build: Building, what: str, x: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add the kernel of the mean of the real cells."""
    seen = way.under()
    share = shares(build, way)
    term = f"b{x.number}[n * INPUTS + {seen.cell}]"
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way))
    build.kernel(f"{what}: mean", FAMILY, FORWARD, out, nest, Each(f"{{0}} * b{share.number}[i]"))


def mean_back(build: Building, what: str, g: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add the kernel that passes the error of a place to all its cells."""
    seen: Seen = way.above()
    share = shares(build, way)
    term = f"b{g.number}[n * OUTPUTS + {seen.place}] * b{share.number}[{seen.place}]"
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way))
    build.kernel(f"{what}: error of the source", FAMILY, BACKWARD, out, nest)


def shares(build: Building, way: KernelWay) -> Buffer:
    """Return one over the number of real cells at each place, given to the device at the start."""
    return build.constant(f"shares of cells {way.sizes}, {way.places}", way.shares())
