"""Formulas of single numbers: activations with their slopes, sums, masks of dropout.

Formulas avoid what a device may take for impossible: numbers that are not finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import BACKWARD, FORWARD, Buffer, Each, OverRow


class ActivationFormulas(NamedTuple):
    """Formulas of {x}, the last of which is the value, {0} the first; the slope times an error {g}
    by the output {y} or by {x}.
    """

    values: tuple[str, ...]
    slope: str


#: ln(1 + {u}) for {u} in [0, 1]: by its series where the sum would lose digits.
LOG1P = (
    "select(log(1.0 + {u}), {u} * (1.0 - {u} * (0.5 - {u} * (0.33333334 - {u} * (0.25 - {u} * (0.2 "
    "- {u} * (0.16666667 - {u} * (0.14285715 - {u} * 0.125))))))), {u} < 0.125)"
)
#: 1 - e^-{u} for {u} from 0: likewise.
EXPM1 = (
    "select(1.0 - exp(-min({u}, 87.0)), {u} * (1.0 - {u} * (0.5 - {u} * (0.16666667 - {u} * "
    "(0.041666668 - {u} * (0.008333334 - {u} * 0.001388889))))), {u} < 0.25)"
)
SIGMOID = "1.0 / (1.0 + exp(-clamp({x}, -87.0, 87.0)))"

#: By the names of `netsharp_engine.activations`; softmax reads a row, and is below.
FUNCTIONS: dict[str, ActivationFormulas] = {
    "sigmoid": ActivationFormulas((SIGMOID,), "{g} * ({y} - {y} * {y})"),
    "rlinear": ActivationFormulas(("max({x}, 0.0)",), "{g} * sign({y})"),
    "square": ActivationFormulas(("{x} * {x}",), "{g} * ({x} + {x})"),
    "sqrt": ActivationFormulas(
        ("sqrt(max({x}, 0.0))",), "{g} / max({y}, 1e-10) * (0.5 * sign({y}))"
    ),
    "srlinear": ActivationFormulas(
        ("exp(-min(abs({x}), 87.0))", "max({x}, 0.0) + " + LOG1P.replace("{u}", "{0}")),
        "{g} * " + EXPM1.replace("{u}", "{y}"),
    ),
    "abs": ActivationFormulas(("abs({x})",), "{g} * sign({x})"),
    "tanh": ActivationFormulas(("tanh(clamp({x}, -15.0, 15.0))",), "{g} * (1.0 - {y} * {y})"),
    "brlinear": ActivationFormulas(("clamp({x}, 0.0, 1.0)",), "{g} * sign((1.0 - {y}) * {y})"),
    # Functions of CNTK's nodes that are not activations of Net#.
    "exp": ActivationFormulas(("exp(clamp({x}, -87.0, 88.0))",), "{g} * {y}"),
    "log": ActivationFormulas(("max(log(max({x}, 1e-37)), -85.1)",), "{g} * exp(-{y})"),
    "negate": ActivationFormulas(("-{x}",), "-{g}"),
    "reciprocal": ActivationFormulas(
        ("abs(sign({x}))", "{0} / ({x} + (1.0 - {0}))"), "-{g} * {y} * {y}"
    ),
}


def activation(build: Building, what: str, function: str, x: Buffer, out: Buffer) -> None:
    """Add the kernel of an activation, of values [rows, nodes] of any shape: out = f(x)."""
    seen = f"b{x.number}[e]"
    if function == "softmax":
        build.kernel(f"{what}: softmax", "softmax", FORWARD, out, *softmax(seen))
        return
    operations = [Each(each.replace("{x}", seen)) for each in FUNCTIONS[function].values]
    build.kernel(f"{what}: {function}", "activation", FORWARD, out, *operations)


def softmax(seen: str) -> tuple[OverRow | Each, ...]:
    """Return operations whose last is the softmax over a row."""
    return (
        OverRow("max", seen),
        Each(f"exp({seen} - {{0}})"),
        OverRow("sum", "{1}"),
        Each("{1} / {2}"),
    )


def slope(
    build: Building, what: str, function: str, x: Buffer, y: Buffer, g: Buffer, out: Buffer
) -> None:
    """Add the kernel that multiplies the gradient ``g`` by the output by the slope of an
    activation, for inputs ``x`` and outputs ``y``, all [rows, nodes].
    """
    error, value = f"b{g.number}[e]", f"b{y.number}[e]"
    if function == "softmax":
        operations = (OverRow("sum", f"{error} * {value}"), Each(f"({error} - {{0}}) * {value}"))
        build.kernel(f"{what}: slope of softmax", "softmax", BACKWARD, out, *operations)
        return
    formula = FUNCTIONS[function].slope.replace("{g}", error)
    formula = formula.replace("{y}", value).replace("{x}", f"b{x.number}[e]")
    build.kernel(f"{what}: slope of {function}", "activation", BACKWARD, out, Each(formula))


def total(build: Building, what: str, role: str, parts: Sequence[Buffer], out: Buffer) -> None:
    """Add the kernel of a sum of values or of gradients, from the first to the last."""
    formula = " + ".join(f"b{part.number}[e]" for part in parts)
    build.kernel(f"{what}: sum", "sum", role, out, Each(formula))


def masked(build: Building, what: str, role: str, x: Buffer, mask: Buffer, out: Buffer) -> None:
    """Add the kernel that multiplies values or gradients by a mask, of equal shapes."""
    formula = f"b{x.number}[e] * b{mask.number}[e]"
    build.kernel(f"{what}: mask", "mask", role, out, Each(formula))
