"""Kernels of convolutional layers in any number of dimensions, with any sharing and padding.

Source: S. Puri, US patent 7,747,070, equations 4.12 to 4.14 and 4.18 to 4.26, for strides of 2 and
shared kernels.
"""

from __future__ import annotations

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    Buffer,
    Each,
    LoopNest,
    Turning,
)
from netsharp_engine.wgpu_backend.templates import unfolded
from netsharp_engine.wgpu_backend.templates.windows import KernelWay

FAMILY = "convolution"


def sizes(way: KernelWay) -> tuple[tuple[str, int], ...]:
    """Return the sizes of a walk by name."""
    return (("INPUTS", way.inputs), ("OUTPUTS", way.outputs))


def forward(build: Building, what: str, x: Buffer, w: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add equation 4.13: convolution and subsampling in one, with the kernel not flipped."""
    seen = way.under()
    term = f"b{w.number}[{seen.weight}] * b{x.number}[n * INPUTS + {seen.cell}]"
    matrix = unfolded.forward(way, x, w)
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way), matrix=matrix)
    build.kernel(f"{what}: convolution", FAMILY, FORWARD, out, nest)


def bias(build: Building, what: str, x: Buffer, w: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add the bias that follows each kernel's weights."""
    formula = f"b{x.number}[e] + b{w.number}[{way.bias('i')}]"
    build.kernel(f"{what}: bias", FAMILY, FORWARD, out, Each(formula))


def backward(build: Building, what: str, g: Buffer, w: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add the adjoint, equations 4.18 and 4.21, by loops over the places that see a cell."""
    seen = way.above()
    term = f"b{w.number}[{seen.weight}] * b{g.number}[n * OUTPUTS + {seen.place}]"
    matrix = unfolded.backward(way, g, w)
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way), matrix=matrix)
    build.kernel(f"{what}: error of the source", FAMILY, BACKWARD, out, nest)


def gradient(build: Building, what: str, x: Buffer, g: Buffer, way: KernelWay, out: Buffer) -> None:
    """Add equations 4.16, 4.17 and 4.19: the derivatives by each weight and by the bias after."""
    seen = way.along()
    value = f"b{x.number}[r * INPUTS + {seen.cell}]"
    if seen.weight:
        value = f"select({value}, 1.0, {seen.weight})"
    term = f"b{g.number}[r * OUTPUTS + {seen.place}] * {value}"
    loops = (Turning("r", "0", str(build.rows), build.rows), *seen.loops)
    matrix = unfolded.gradient(way, x, g)
    nest = LoopNest(term, loops, seen.lets, sizes(way), matrix=matrix)
    build.kernel(f"{what}: gradient", FAMILY, GRADIENT, out, nest)
