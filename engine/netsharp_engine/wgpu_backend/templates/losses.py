"""Kernels of the criteria: each row's loss, the error of what it reads, right answers, the tally.

``shares`` are the weights of rows, 0 for those that were not fed; wanted values come as codes or,
where ``figures`` say so, as numbers. Source: S. Puri, US patent 7,747,070, equations 4.2, 4.3, 4.6.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import (
    COUNTING,
    FORWARD,
    LOSS,
    Buffer,
    Each,
    LoopNest,
    OverRow,
    Turning,
)
from netsharp_engine.wgpu_backend.templates.elementwise import LOG1P, SIGMOID, softmax

FAMILY = "criterion"
#: Probabilities below this count as it.
LEAST = "1.1920929e-07"


class Goal(NamedTuple):
    """What is wanted: ``codes`` [rows], ``numbers`` [rows, outputs], and what rows count.

    ``coded``, a place among the figures, is 1 where codes are meant; without a buffer for them
    numbers always are.
    """

    codes: Buffer | None
    numbers: Buffer
    shares: Buffer
    figures: Buffer
    coded: int

    @property
    def outputs(self) -> int:
        """Return the number of elements in a row."""
        return self.numbers.width

    @property
    def wanted(self) -> str:
        """Return the number that is wanted of an output."""
        given = f"b{self.numbers.number}[e]"
        if self.codes is None:
            return given
        coded = f"f32(b{self.codes.number}[n] == f32(i))"
        return f"select({given}, {coded}, b{self.figures.number}[{self.coded}] == 1.0)"

    @property
    def share(self) -> str:
        """Return the expression for the weight of a row."""
        return f"b{self.shares.number}[n]"


def entropy_of_softmax(build: Building, x: Buffer, goal: Goal, y: Buffer, lines: Buffer) -> None:
    """Add the kernels of a softmax y [rows, outputs] of logits x, and of the categorical
    cross-entropy of each row, lines [rows].
    """
    seen = f"b{x.number}[e]"
    build.kernel("output: softmax", "softmax", FORWARD, y, *softmax(seen))
    build.kernel(
        "loss: cross entropy",
        FAMILY,
        LOSS,
        lines,
        OverRow("max", seen),
        Each(f"exp({seen} - {{0}})"),
        OverRow("sum", "{1}"),
        OverRow("sum", goal.wanted),
        OverRow("sum", f"{goal.wanted} * ({seen} - {{0}})"),
        Each("log({2}) * {3} - {4}"),
        size=goal.outputs,
        once=True,
    )


def error_of_softmax(build: Building, y: Buffer, goal: Goal, out: Buffer) -> None:
    """Add the kernel of that loss's gradient by the logits [rows, outputs]: y - t, times the row's
    share.
    """
    build.kernel(
        "loss: error of softmax",
        FAMILY,
        LOSS,
        out,
        OverRow("sum", goal.wanted),
        Each(f"(b{y.number}[e] * {{0}} - {goal.wanted}) * {goal.share}"),
    )


def entropy_of_sigmoid(build: Building, x: Buffer, goal: Goal, y: Buffer, lines: Buffer) -> None:
    """Add the kernels of a sigmoid y [rows, outputs] of logits x, and of the sum of binary
    cross-entropies of each row, lines [rows].
    """
    seen = f"b{x.number}[e]"
    value = SIGMOID.replace("{x}", seen)
    build.kernel("output: sigmoid", "activation", FORWARD, y, Each(value))
    rest = LOG1P.replace("{u}", "{0}")
    build.kernel(
        "loss: binary cross entropy",
        FAMILY,
        LOSS,
        lines,
        Each(f"exp(-min(abs({seen}), 87.0))"),
        OverRow("sum", f"max({seen}, 0.0) + {rest} - {goal.wanted} * {seen}"),
        size=goal.outputs,
        once=True,
    )


def error_of_sigmoid(build: Building, y: Buffer, goal: Goal, out: Buffer) -> None:
    """Add the kernel of that loss's gradient by the logits [rows, outputs]: y - t, times the row's
    share.
    """
    formula = f"(b{y.number}[e] - {goal.wanted}) * {goal.share}"
    build.kernel("loss: error of sigmoid", FAMILY, LOSS, out, Each(formula))


class Plain(NamedTuple):
    """A criterion of outputs {y} and wanted numbers {t}: each one's part, and its slope."""

    part: str
    slope: str


PLAIN: dict[str, Plain] = {
    "cross entropy": Plain(f"-{{t}} * log(max({{y}}, {LEAST}))", f"-{{t}} / max({{y}}, {LEAST})"),
    "binary cross entropy": Plain(
        f"-{{t}} * log(max({{y}}, {LEAST})) - (1.0 - {{t}}) * log(max(1.0 - {{y}}, {LEAST}))",
        f"(1.0 - {{t}}) / max(1.0 - {{y}}, {LEAST}) - {{t}} / max({{y}}, {LEAST})",
    ),
    "squared error": Plain("({y} - {t}) * ({y} - {t})", "2.0 * ({y} - {t})"),
}


def plain_loss(build: Building, op: str, y: Buffer, goal: Goal, lines: Buffer) -> None:
    """Add the kernel of a criterion of outputs as they are."""
    part = PLAIN[op].part.replace("{y}", f"b{y.number}[e]").replace("{t}", goal.wanted)
    build.kernel(
        f"loss: {op}", FAMILY, LOSS, lines, OverRow("sum", part), size=goal.outputs, once=True
    )


def plain_error(build: Building, op: str, y: Buffer, goal: Goal, out: Buffer) -> None:
    """Add the kernel of the criterion's gradient by the outputs [rows, outputs], times the row's
    share.
    """
    found = PLAIN[op].slope.replace("{y}", f"b{y.number}[e]").replace("{t}", goal.wanted)
    build.kernel(f"loss: error of {op}", FAMILY, LOSS, out, Each(f"({found}) * {goal.share}"))


def counted_answers(
    build: Building, y: Buffer, goal: Goal, rows_fed: str, lines: Buffer, *, right: bool
) -> None:
    """Add the kernel that writes to lines [rows] a 1 for each fed row whose first largest output is
    the wanted one (``right``) or is not, else 0.
    """
    seen, fed = f"b{y.number}[e]", f"f32(f32(n) < {rows_fed})"
    what, same = ("right answers", "==") if right else ("wrong answers", "!=")
    if goal.outputs == 1:
        wanted = f"b{goal.numbers.number}[e]"
        formula = f"f32(f32({seen} > 0.5) {same} {wanted}) * {fed}"
        build.kernel(what, FAMILY, COUNTING, lines, Each(formula))
        return
    operations: list[OverRow | Each] = [
        OverRow("max", seen),
        OverRow("min", f"select(1e9, f32(i), {seen} >= {{0}})"),
    ]
    if goal.codes is not None:
        operations.append(Each(f"f32({{1}} {same} b{goal.codes.number}[n]) * {fed}"))
    else:
        operations += [
            OverRow("max", goal.wanted),
            OverRow("min", f"select(1e9, f32(i), {goal.wanted} >= {{2}})"),
            Each(f"f32({{1}} {same} {{3}}) * {fed}"),
        ]
    build.kernel(what, FAMILY, COUNTING, lines, *operations, size=goal.outputs, once=True)


def tally(
    build: Building,
    lines: list[tuple[Buffer, Buffer | None]],
    ring: Buffer,
    slot: Buffer,
    slots: int,
) -> None:
    """Add a kernel that sums over the rows into the next line of a ring, and advances it."""
    loop = Turning("r", "0", str(build.rows), build.rows)
    operations = [
        LoopNest(f"b{line.number}[r]" + (f" * b{share.number}[r]" if share else ""), (loop,))
        for line, share in lines
    ]
    width, at = len(lines), f"i32(b{slot.number}[0])"
    after = Each(f"select(b{slot.number}[0] + 1.0, 0.0, {at} == {slots - 1})")
    kernel = build.counting("tally: losses and answers", FAMILY)
    stores = [(ring, k, False, f"{at} * {width} + {k}") for k in range(width)]
    build.add(kernel, (*operations, after), (*stores, (slot, width, False, "0")))
