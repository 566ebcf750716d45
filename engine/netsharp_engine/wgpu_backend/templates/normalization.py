"""Kernels of response normalisation in any number of dimensions."""

from __future__ import annotations

from typing import NamedTuple

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import BACKWARD, FORWARD, Buffer, Each, LoopNest
from netsharp_engine.wgpu_backend.templates.arithmetic import number
from netsharp_engine.wgpu_backend.templates.convolution import sizes
from netsharp_engine.wgpu_backend.templates.pooling import shares
from netsharp_engine.wgpu_backend.templates.windows import KernelWay

FAMILY = "response norm"


class Norm(NamedTuple):
    """y = x (offset + alpha / N * sum of squares)^-beta, x at the kernel's centre."""

    alpha: float
    beta: float
    offset: float
    over_full_kernel: bool


def _factor(build: Building, way: KernelWay, norm: Norm, place: str) -> str:
    """Alpha over the number of cells at a place."""
    if norm.over_full_kernel:
        return number(norm.alpha / way.taps)
    return f"{number(norm.alpha)} * b{shares(build, way).number}[{place}]"


def _power(base: str, beta: float) -> str:
    """base^-beta; a half and three quarters by roots, which devices compute more exactly."""
    if beta == 0.5:
        return f"1.0 / sqrt({base})"
    if beta == 0.75:  # the usual one, as in Krizhevsky et al. (2012)
        return f"1.0 / (sqrt({base}) * sqrt(sqrt({base})))"
    return f"pow({base}, {number(-beta)})"


def forward(
    build: Building,
    what: str,
    x: Buffer,
    way: KernelWay,
    norm: Norm,
    made: tuple[Buffer, Buffer, Buffer],
) -> None:
    """Add values, and for the backward pass the base of the power, and the power."""
    seen = way.under()
    at = f"n * INPUTS + {seen.cell}"
    term = f"b{x.number}[{at}] * b{x.number}[{at}]"
    nest = LoopNest(term, seen.loops, seen.lets, sizes(way))
    out, base, power = made
    squares = build.kernel(
        f"{what}: squares",
        FAMILY,
        FORWARD,
        base,
        nest,
        Each(f"{number(norm.offset)} + {{0}} * ({_factor(build, way, norm, 'i')})"),
    )
    del squares
    build.kernel(
        f"{what}: power", FAMILY, FORWARD, power, Each(_power(f"b{base.number}[e]", norm.beta))
    )
    centre = f"b{x.number}[n * {way.inputs} + {way.centre()}]"
    build.kernel(f"{what}: value", FAMILY, FORWARD, out, Each(f"b{power.number}[e] * {centre}"))


def backward(
    build: Building,
    what: str,
    x: Buffer,
    g: Buffer,
    way: KernelWay,
    norm: Norm,
    made: tuple[Buffer, Buffer, Buffer],
    out: Buffer,
) -> None:
    """Add the kernels of each cell's effect on its sums, and of the centre's own share."""
    value, base, power = made
    seen = way.above(maps=False)
    at = f"n * OUTPUTS + {seen.place}"
    factor = _factor(build, way, norm, seen.place)
    pull = f"b{g.number}[{at}] * b{value.number}[{at}] / b{base.number}[{at}] * ({factor})"
    nest = LoopNest(pull, seen.loops, seen.lets, sizes(way))
    condition, place = way.centred()
    own = f"n * {way.outputs} + {place}"
    middle = f"f32({condition}) * b{g.number}[{own}] * b{power.number}[{own}]"
    formula = f"{{0}} * {number(-2 * norm.beta)} * b{x.number}[e] + {middle}"
    build.kernel(f"{what}: error of the source", FAMILY, BACKWARD, out, nest, Each(formula))
