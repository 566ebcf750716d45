"""Kernels that change parameters by their gradients: one row for each rule, and the norm bound.

The numbers of a rule are ``figures`` on the device. Source: S. Puri, US patent 7,747,070, equations
4.10 and 4.11, for the plain rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from netsharp_engine.program import UpdateRule
from netsharp_engine.wgpu_backend.building import Building
from netsharp_engine.wgpu_backend.kernels import CHECK, SUM, UPDATE, Buffer, Each, LoopNest, Turning

FAMILY = "update"
#: Where each figure of a step lies.
FIGURES = (
    *("rate", "momentum", "keep", "limit", "total", "norm", "rows", "coded", "l2"),
    *("decay", "rest", "constant", "beta1", "rest1", "beta2", "rest2", "epsilon", "size", "root"),
)
PLACES = {name: place for place, name in enumerate(FIGURES)}


class RuleFormulas(NamedTuple):
    """What a kind does with {w}, {g} and what it remembers, {NAME}: formulas in order.

    The last is the parameter; figures stand in brackets, [rate].  {0}, {1}: what came before.
    """

    state: tuple[str, ...]
    formulas: tuple[str, ...]
    #: Which formulas are stored, as what: names of the state, then the parameter.
    kept: tuple[int, ...]


_BLEND = "{%s} * [%s] + (%s) * [%s]"
_ADADELTA = (
    _BLEND % ("squared_gradient", "decay", "{g} * {g}", "rest"),
    "sqrt(({squared_step} + [constant]) / ({0} + [constant])) * {g}",
    _BLEND % ("squared_step", "decay", "{1} * {1}", "rest"),
    "{w} - {1}",
)
_ADAM = (
    _BLEND % ("first_moment", "beta1", "{g}", "rest1"),
    _BLEND % ("second_moment", "beta2", "{g} * {g}", "rest2"),
    "{w} - {0} / (sqrt({1}) * [root] + [epsilon]) * [size]",
)
RULES: Mapping[str, RuleFormulas] = {
    "sgd": RuleFormulas((), ("{w} - {g} * [rate]",), (0,)),
    "momentum": RuleFormulas(
        ("delta",), ("{delta} * [momentum] - {g} * [rate]", "{w} + {0}"), (0, 1)
    ),
    "nesterov": RuleFormulas(
        ("delta",),
        ("{delta} * [momentum] - {g} * [rate]", "{w} - {g} * [rate] + {0} * [momentum]"),
        (0, 1),
    ),
    # CNTK's: momentum with unit gain, in which the rate is remembered, too.
    "smoothed": RuleFormulas(
        ("smoothed",),
        ("{smoothed} * [momentum] + {g} * ([rate] * (1.0 - [momentum]))", "{w} - {0}"),
        (0, 1),
    ),
    "smoothed nesterov": RuleFormulas(
        ("smoothed",),
        (
            "{smoothed} * [momentum] + {g} * ([rate] * (1.0 - [momentum]))",
            "{w} - {0} * [momentum] - {g} * ([rate] * (1.0 - [momentum]))",
        ),
        (0, 1),
    ),
    "adadelta": RuleFormulas(("squared_gradient", "squared_step"), _ADADELTA, (0, 2, 3)),
    "adam": RuleFormulas(("first_moment", "second_moment"), _ADAM, (0, 1, 2)),
}


def formulas_of(rule: UpdateRule) -> str:
    """Return the row of a rule."""
    ahead = {"momentum": "nesterov", "smoothed": "smoothed nesterov"}
    return ahead.get(rule.kind, rule.kind) if rule.nesterov else rule.kind


def options_of(rule: UpdateRule) -> frozenset[str]:
    """Return the features, in words, that an update rule requires of kernels; other values need no
    other kernels.
    """
    shaping = rule.shaping
    wanted = {
        f"the update rule '{formulas_of(rule)}'": True,
        "clipping number by number": shaping.limit < math.inf and shaping.truncates,
        "clipping each gradient by its norm": shaping.limit < math.inf and not shaping.truncates,
        "clipping by the norm of all": shaping.total < math.inf,
        "weight decay": bool(rule.decay),
        "a norm bound": bool(rule.max_norm),
        "L2": shaping.l2 > 0,
        "L1": shaping.l1 > 0,
        "noise on parameters": shaping.noise > 0,
        "multipliers of rates": bool(shaping.multipliers),
    }
    return frozenset(word for word, is_asked in wanted.items() if is_asked)


#: Options without kernels.
LEFT_OUT = frozenset(
    ("clipping each gradient by its norm", "L1", "noise on parameters", "multipliers of rates")
)


def figure(figures: Buffer, name: str) -> str:
    """Return a figure of the step."""
    return f"b{figures.number}[{PLACES[name]}]"


def update(
    build: Building,
    rule: RuleFormulas,
    w: Buffer,
    g: Buffer,
    state: Mapping[str, Buffer],
    figures: Buffer,
    *,
    scale: Buffer | None = None,
    cut: bool = False,
    decays: bool = False,
    regular: bool = False,
) -> None:
    """Change a parameter; ``cut``: its gradient is cut to a limit, by ``scale`` to a norm.

    ``regular``: L2 is added to it, and after the rule the parameter ``decays``.
    """
    gradient = f"b{g.number}[e]"
    if cut:
        limit = figure(figures, "limit")
        gradient = f"clamp({gradient}, -{limit}, {limit})"
    if scale is not None:
        gradient = f"({gradient} * b{scale.number}[0])"
    if regular:
        gradient = f"({gradient} + b{w.number}[e] * {figure(figures, 'l2')})"
    operations = []
    for formula in rule.formulas:
        text = formula.replace("{w}", f"b{w.number}[e]").replace("{g}", gradient)
        for name, buffer in state.items():
            text = text.replace(f"{{{name}}}", f"b{buffer.number}[e]")
        for name in FIGURES:
            text = text.replace(f"[{name}]", figure(figures, name))
        operations.append(Each(text))
    last = len(operations) - 1
    if decays:
        operations.append(Each(f"{{{last}}} * {figure(figures, 'keep')}"))
    targets = [*(state[name] for name in rule.state), w]
    stores = tuple(
        (target, place if target is not w else len(operations) - 1, False, "")
        for target, place in zip(targets, rule.kept, strict=True)
    )
    kernel = build.over(f"{w.label}: update", FAMILY, UPDATE, w)
    build.add(kernel, tuple(operations), stores)


def total_norm(
    build: Building, gradients: list[Buffer], figures: Buffer, scale: Buffer, *, cut: bool
) -> None:
    """Add the kernels of the factor that bounds the norm of all gradients together."""
    lines = []
    for g in gradients:
        seen = f"b{g.number}[k]"
        if cut:
            limit = figure(figures, "limit")
            seen = f"clamp({seen}, -{limit}, {limit})"
        line = build.buffer(f"{g.label}: square", 1)
        nest = LoopNest(f"{seen} * {seen}", (Turning("k", "0", str(g.size), g.size),))
        build.kernel(f"{g.label}: square of the norm", FAMILY, SUM, line, nest)
        lines.append(line)
    summed = " + ".join(f"b{line.number}[0]" for line in lines)
    most = figure(figures, "total")
    build.kernel(
        "gradients: scale",
        FAMILY,
        SUM,
        scale,
        Each(f"sqrt({summed})"),
        Each(f"{most} / max({{0}}, {most})"),
    )


def bound_rows(
    build: Building, w: Buffer, rows: int, width: int, row: int, figures: Buffer
) -> None:
    """Scale back rows whose norm, of the first ``width`` of ``row`` numbers, is too large."""
    factor = build.buffer(f"{w.label}: factors of rows", rows)
    most = figure(figures, "norm")
    seen = f"b{w.number}[e * {row} + k]"
    build.kernel(
        f"{w.label}: norms of rows",
        FAMILY,
        UPDATE,
        factor,
        LoopNest(f"{seen} * {seen}", (Turning("k", "0", str(width), width),)),
        Each(f"{most} / max(sqrt({{0}}), {most})"),
    )
    scaled = f"b{w.number}[e] * b{factor.number}[e / {row}]"
    if width < row:
        scaled = f"select({scaled}, b{w.number}[e], e % {row} >= {width})"
    build.kernel(f"{w.label}: bound", FAMILY, UPDATE, w, Each(scaled))


def bound_edges(build: Building, w: Buffer, owners: list[int], nodes: int, figures: Buffer) -> None:
    """Add the same kernels for a weight an edge, sorted by the nodes that own them."""
    counts = [0] * (nodes + 1)
    for owner in owners:
        counts[owner + 1] += 1
    longest = max(counts)
    for node in range(nodes):
        counts[node + 1] += counts[node]
    starts = build.table(f"{w.label}: where the edges of nodes begin", counts)
    owned = build.table(f"{w.label}: nodes of edges", owners)
    factor = build.buffer(f"{w.label}: factors of nodes", nodes)
    most = figure(figures, "norm")
    loop = Turning("k", f"b{starts.number}[e]", f"b{starts.number}[e + 1]", longest)
    build.kernel(
        f"{w.label}: norms of nodes",
        FAMILY,
        UPDATE,
        factor,
        LoopNest(f"b{w.number}[k] * b{w.number}[k]", (loop,)),
        Each(f"{most} / max(sqrt({{0}}), {most})"),
    )
    scaled = f"b{w.number}[e] * b{factor.number}[b{owned.number}[e]]"
    build.kernel(f"{w.label}: bound", FAMILY, UPDATE, w, Each(scaled))


def checked(build: Building, w: Buffer) -> Buffer:
    """Return the sum of a parameter's sizes, so small that it is finite where all of them are."""
    line = build.buffer(f"{w.label}: check", 1, kept=True)
    nest = LoopNest(f"abs(b{w.number}[k]) * 1e-6", (Turning("k", "0", str(w.size), w.size),))
    build.kernel(f"{w.label}: check", FAMILY, CHECK, line, nest)
    return line
