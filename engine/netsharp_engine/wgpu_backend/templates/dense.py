"""Kernels of full layers and of transition layers, which see a whole image at once.

Source: S. Puri, US patent 7,747,070, equations 4.1 and 4.7 to 4.9, and section 4.7: a transition
layer is a full one on the flattened patch.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    Buffer,
    Each,
    LoopNest,
    MatrixForm,
    Turning,
)


class WeightMatrix(NamedTuple):
    """Weights from ``inputs`` to ``outputs`` in a parameter's buffer.

    That of output o and input j lies at ``o * down + j * along``; ``biased``: those of each
    output are followed by its bias.
    """

    buffer: Buffer
    outputs: int
    inputs: int
    down: int
    along: int
    biased: bool = False

    @property
    def constants(self) -> tuple[tuple[str, int], ...]:
        """Return its sizes by name."""
        return (
            ("OUTPUTS", self.outputs),
            ("INPUTS", self.inputs),
            ("DOWN", self.down),
            ("ALONG", self.along),
        )

    @property
    def transposed(self) -> WeightMatrix:
        """Return the same weights from outputs to inputs, without biases."""
        return WeightMatrix(self.buffer, self.inputs, self.outputs, self.along, self.down)


def plain(buffer: Buffer, outputs: int, inputs: int) -> WeightMatrix:
    """Return weights [outputs, inputs]."""
    return WeightMatrix(buffer, outputs, inputs, inputs, 1)


def turned(buffer: Buffer, outputs: int, inputs: int) -> WeightMatrix:
    """Return weights [inputs, outputs]."""
    return WeightMatrix(buffer, outputs, inputs, 1, outputs)


def of_kernels(buffer: Buffer, outputs: int, inputs: int) -> WeightMatrix:
    """Return kernels [outputs, inputs + 1] that see the whole source, their bias last."""
    return WeightMatrix(buffer, outputs, inputs, inputs + 1, 1, biased=True)


def forward(
    build: Building, what: str, family: str, x: Buffer, w: WeightMatrix, out: Buffer
) -> None:
    """Add the kernel of xi = K l."""
    build.kernel(f"{what}: product", family, FORWARD, out, _product(x, w))


def backward(
    build: Building, what: str, family: str, g: Buffer, w: WeightMatrix, out: Buffer
) -> None:
    """Add the kernel of the error of the source, before its activation: K transposed times psi."""
    nest = _product(g, w.transposed)
    build.kernel(f"{what}: error of the source", family, BACKWARD, out, nest)


def _product(x: Buffer, w: WeightMatrix) -> LoopNest:
    """Return the product of weights with each sample, [rows, outputs]."""
    matrix = MatrixForm(
        x.rows,
        w.outputs,
        w.inputs,
        f"b{x.number}[m * {w.inputs} + k]",
        f"b{w.buffer.number}[c * {w.down} + k * {w.along}]",
        f"m * {w.outputs} + c",
        right_runs=w.along == 1,
    )
    term = f"b{w.buffer.number}[i * DOWN + j * ALONG] * b{x.number}[n * INPUTS + j]"
    loop = Turning("j", "0", "INPUTS", w.inputs)
    return LoopNest(term, (loop,), (), w.constants, matrix=matrix)


def gradient(
    build: Building, what: str, family: str, x: Buffer, g: Buffer, w: WeightMatrix, out: Buffer
) -> None:
    """Add the kernel of the outer product of psi and l, summed over samples."""
    seen = f"b{x.number}[r * INPUTS + j]"
    lets: tuple[tuple[str, str], ...]
    if w.biased:
        lets = (
            ("o", "e / DOWN"),
            ("last", "e % DOWN"),
            ("j", "min(last, INPUTS - 1)"),
        )
        seen = f"select({seen}, 1.0, last == INPUTS)"
    elif w.along == 1:
        lets = (("o", "e / DOWN"), ("j", "e % DOWN"))
    else:
        lets = (("j", "e / ALONG"), ("o", "e % ALONG"))
    term = f"b{g.number}[r * OUTPUTS + o] * {seen}"
    loops = (Turning("r", "0", str(build.rows), build.rows),)
    nest = LoopNest(term, loops, lets, w.constants, matrix=_outer(x, g, w, build.rows))
    build.kernel(f"{what}: gradient", family, GRADIENT, out, nest)


def _outer(x: Buffer, g: Buffer, w: WeightMatrix, rows: int) -> MatrixForm:
    """Return the sum of outer products as a product of matrices, samples along the sum."""
    width = w.inputs + w.biased
    seen = f"b{x.number}[k * {w.inputs} + c]"
    lets: tuple[tuple[str, str], ...] = ()
    if w.biased:
        lets = (("j", f"min(c, {w.inputs - 1})"),)
        seen = f"select(b{x.number}[k * {w.inputs} + j], 1.0, c == {w.inputs})"
    return MatrixForm(
        w.outputs,
        width,
        rows,
        f"b{g.number}[k * {w.outputs} + m]",
        seen,
        f"m * {w.down} + c * {w.along}",
        right_lets=lets,
        left_runs=False,
    )


def kernel_bias(build: Building, what: str, x: Buffer, w: WeightMatrix, out: Buffer) -> None:
    """Add the bias that follows each output's weights."""
    formula = f"b{x.number}[e] + b{w.buffer.number}[i * {w.down} + {w.inputs}]"
    build.kernel(f"{what}: bias", "transition", FORWARD, out, Each(formula))


def bias(build: Building, what: str, x: Buffer, b: Buffer, out: Buffer) -> None:
    """Add one number for each node."""
    formula = f"b{x.number}[e] + b{b.number}[i]"
    build.kernel(f"{what}: bias", "bias", FORWARD, out, Each(formula))


def bias_gradient(build: Building, what: str, g: Buffer, out: Buffer) -> None:
    """Add the kernel of psi, summed over samples."""
    term = f"b{g.number}[r * NODES + e]"
    loop = Turning("r", "0", str(build.rows), build.rows)
    nest = LoopNest(term, (loop,), (), (("NODES", g.width),))
    build.kernel(f"{what}: gradient of the bias", "bias", GRADIENT, out, nest)
