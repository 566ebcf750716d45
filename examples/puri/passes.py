"""Draws the passes of a step of `puri.bs` on a graphics device beside the steps of the patent.

No device is needed: python examples/puri/passes.py passes.svg
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from netsharp_engine.program import Job, UpdateRule
from netsharp_engine.wgpu_backend import PlanStyle, facts_of, planned
from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_builder
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.training.networks.lowering import lowered

HERE = Path(__file__).resolve().parent
ROWS = 32
#: The steps of the patent's figure 5, and one that it does not have.
STEPS = (
    "540 Forward pass",
    "550 Error function",
    "560 Gradient",
    "570 Parameters",
    "(figures)",
)
#: What a formula's name ends with, the step that it belongs to, and its equation.
FORMULAS = (
    (": convolution", 0, "4.13"),
    (": product", 0, "4.1"),
    (": bias", 0, "+ b"),
    (": softmax", 1, "4.2"),
    (": cross entropy", 1, "4.3"),
    (": error of softmax", 2, "4.6"),
    (": error of the source", 2, "4.9"),
    (": gradient of the bias", 2, "4.8"),
    (": gradient, parts", 2, "4.16, §4.8 parts"),
    (": gradient, sum", 2, "§4.8 sum"),
    (": gradient", 2, "4.7"),
    (": update", 3, "4.10, 4.11"),
    (": losses and answers", 4, ""),
)
WIDTH, LINE, LEFT, TOP = 168, 15, 130, 46
LAYERS = {"maps1": "K0", "maps2": "K1", "hidden": "K2", "scores": "K3"}


def passes(style: PlanStyle = PlanStyle()) -> list[list[tuple[str, ...]]]:  # noqa: B008
    """Of each pass, the formulas of each of its programs."""
    text = b"{" + (HERE / "puri.bs").read_bytes() + b"}"
    network = evaluate_builder(text, "puri.bs", Surroundings({}.get, own_library(), ())).network
    assert network is not None
    roots = [network.nodes["loss"]]
    job = Job(lowered(network, roots, roots), ROWS, "float32", UpdateRule("sgd", 1e-3))
    plan = planned(job, facts_of(job), style)
    return [[kernel.joined for kernel in one.kernels] for one in plan.step]


def placed(name: str) -> tuple[int, str]:
    """Return the step of a formula, and how it is shown."""
    if name.endswith((": tanh", ": slope of tanh")):
        step = 0 if name.endswith(": tanh") else 2
        return step, "σ" if step == 0 else "□ σ'"
    # Between the convolutions the adjoint is 4.18; everywhere else it is a product of matrices.
    if name.startswith("maps2") and name.endswith(": error of the source"):
        return 2, "4.18"
    if name.startswith("maps") and name.endswith(": gradient of the bias"):
        return 2, "4.17"
    for ending, step, equation in FORMULAS:
        if name.endswith(ending):
            return step, equation
    raise ValueError(name)


def lines() -> list[list[list[str]]]:
    """For each pass and step what is computed, a line for each program."""
    found = []
    for one in passes():
        rows: list[list[str]] = [[] for _ in STEPS]
        for program in one:
            shown: dict[int, list[str]] = {}
            for name in program:
                step, equation = placed(name)
                shown.setdefault(step, []).append(equation)
            for step, equations in shown.items():
                layer = next((k for word, k in LAYERS.items() if program[0].startswith(word)), "")
                rows[step].append(f"{layer} {' '.join(each for each in equations if each)}".strip())
        found.append([row if row != [""] else ["losses"] for row in rows])
    return found


def drawing() -> str:
    """Return the picture as SVG."""
    cells = lines()
    heights = [LINE * max(1, *(len(one[step]) for one in cells)) + 14 for step in range(len(STEPS))]
    width, height = LEFT + WIDTH * len(cells) + 8, TOP + sum(heights) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="8" y="16" font-weight="bold">A step on the device: one submission</text>',
    ]
    for number in range(len(cells)):
        x = LEFT + WIDTH * number + WIDTH // 2
        parts.append(f'<text x="{x}" y="38" text-anchor="middle">pass {number + 1}</text>')
    top = TOP
    for step, title in enumerate(STEPS):
        parts.append(f'<text x="8" y="{top + 18}">{title}</text>')
        for number, one in enumerate(cells):
            if not one[step]:
                continue
            x = LEFT + WIDTH * number
            parts.append(
                f'<rect x="{x + 3}" y="{top + 3}" width="{WIDTH - 6}" height="{heights[step] - 6}" '
                'rx="4" fill="#eef3fb" stroke="#5b7db1"/>'
            )
            for line, text in enumerate(one[step]):
                y = top + 17 + LINE * line
                parts.append(f'<text x="{x + 9}" y="{y}">{escape(text)}</text>')
        top += heights[step]
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawing(), encoding="utf-8")
