"""A compiled network's answers as the arithmetic is stated, in fractions, index by index, from the
manifest alone.  Shares nothing with the compiler.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

#: The codes of the values that a node reads, each with its weight.
Products = list[tuple[int, int]]


def answers_of(manifest: dict[str, Any], codes: list[int]) -> list[int]:
    """The codes of the answers for one row of codes."""
    operands = [codes]
    for layer in manifest["layers"]:
        values = []
        given = [products_of(one, operands, layer["nodes"]) for one in layer["bundles"]]
        for node in range(layer["nodes"]):
            codes_read = [pair for bundle, _ in given for pair in bundle[node]]
            channel = channel_of(layer, [numbers for _, numbers in given], node)
            kind = layer["bundles"][0]["kind"]
            by_node = len(layer["biases"]) == layer["nodes"] and kind not in ("largest", "mean")
            total = layer["biases"][node if by_node else channel]
            if kind == "largest":
                total += max(code for _, code in codes_read)
            else:
                total += sum(weight * code for weight, code in codes_read)
            assert abs(total) <= layer["bound"]
            values.append(looked_up(manifest, layer, total, channel))
        operands.append(values)
    return operands[-1]


def looked_up(manifest: dict[str, Any], layer: dict[str, Any], total: int, channel: int) -> int:
    """What a sum becomes."""
    result = layer["result"]
    half = 1 << result["bits"] - 1
    least, most = {
        "unsigned": (0, 2 * half - 1),
        "signed": (-half, half - 1),
        "symmetric": (1 - half, half - 1),
    }[result["operand"]]
    shift = layer["shifts"][channel]
    exact = Fraction(total * layer["multipliers"][channel], 2**shift)
    step = math.floor(exact + Fraction(1, 2)) if shift else int(exact)
    code = min(max(step + result["zero_point"], least), most)
    if "formula" in layer:
        return worked_out(layer, code - result["zero_point"])
    if layer["table"] is not None:
        code = manifest["tables"][layer["table"]]["values"][code - least]
    return int(code)


def worked_out(layer: dict[str, Any], d: int) -> int:
    """What a formula in fixed point makes of a distance from zero."""
    formula, target = layer["formula"], layer["target"]
    near = rounded(abs(d) * formula["inner"], formula["inner_shift"])
    one = 2**30
    match formula["function"]:
        case "sigmoid":
            found = (one * one + (one + power(near)) // 2) // (one + power(near))
            found = one - found if d < 0 else found
        case "tanh":
            found = (one - power(near)) * one // (one + power(near)) - (power(near) == 0)
            found = -found if d < 0 else found
        case "srlinear":
            left = one + power(rounded(min(near, 2**31) * round(one / math.log(2)), 30))
            logs = 2**24 if left == 2 * one else 0
            for bit in reversed(range(24 if left < 2 * one else 0)):
                left = left * left // one
                if left >= 2 * one:
                    left, logs = left // 2, logs + 2**bit
            found = max(near if d > 0 else 0, 0) + rounded(logs * round(math.log(2) * one), 30)
        case "sqrt":
            found = math.isqrt(max(d, 0) * 2**32)
        case name:
            rising = max(d, 0)
            known = {"linear": d, "rlinear": rising, "brlinear": rising}
            found = {**known, "abs": abs(d), "square": d * d}[name]
    step = rounded(found * formula["multiplier"], formula["shift"]) + target["zero_point"]
    half = 1 << target["bits"] - 1
    least = {"unsigned": 0, "signed": -half, "symmetric": 1 - half}[target["operand"]]
    return min(max(step, least), formula["most"])


def rounded(value: int, shift: int) -> int:
    return (value + 2**shift // 2) // 2**shift


def power(distance: int) -> int:
    whole, part = divmod(distance, 2**24)
    if whole > 30:
        return 0
    terms = [round((-math.log(2)) ** k / math.factorial(k) * 2**30) for k in range(10)]
    found = terms[-1]
    for term in reversed(terms[:-1]):
        found = term + found * part // 2**24
    return found // 2**whole


def channel_of(layer: dict[str, Any], numbers: list[list[int]], node: int) -> int:
    """The number of the node's multiplier."""
    count = len(layer["multipliers"])
    if count == 1:
        return 0
    if all(one == numbers[0] for one in numbers):
        return numbers[0][node]
    return node


def products_of(
    bundle: dict[str, Any], operands: list[list[int]], nodes: int
) -> tuple[list[Products], list[int]]:
    """For each node the weights and codes that are multiplied, and the number of its channel."""
    source = bundle["source"]
    first, size = source["first"], source["size"]
    codes = operands[source["operand"]][first : first + size]
    assert len(codes) == size
    if bundle["kind"] == "full":
        rows = bundle["weights"]["values"]
        return [list(zip(row, codes, strict=True)) for row in rows], list(range(nodes))
    if bundle["kind"] == "filtered":
        found: list[Products] = [[] for _ in range(nodes)]
        pairs = zip(bundle["owners"], bundle["places"], bundle["weights"]["values"], strict=True)
        for owner, place, weight in pairs:
            found[owner].append((weight, codes[place]))
        return found, list(range(nodes))
    return windows_of(bundle, codes)


def windows_of(bundle: dict[str, Any], codes: list[int]) -> tuple[list[Products], list[int]]:
    """The same of what moves over a grid, by index tuples."""
    axes = bundle["axes"]
    rank = len(axes)
    maps = bundle.get("maps", [1] * rank)
    sharing = bundle.get("sharing", [True] * rank)
    shape = [count * one["count"] for count, one in zip(maps, axes, strict=True)]
    found, channels = [], []
    for node in itertools.product(*map(range, shape)):
        kernel, position = 0, []
        for d in range(rank):
            own, place = divmod(node[d], axes[d]["count"])
            position.append(place)
            kernel = kernel * maps[d] + own
            if not sharing[d]:
                kernel = kernel * axes[d]["count"] + place
        cells = list(cells_of(axes, position))
        if bundle["kind"] == "convolved":
            weights = bundle["weights"]["values"][kernel]
            found.append([(weights[tap], codes[cell] - bundle["zero"]) for tap, cell in cells])
            channels.append(kernel)
        else:
            found.append([(1, codes[cell]) for _, cell in cells])
            channels.append(len(cells) - 1)
    return found, channels


def cells_of(axes: list[dict[str, int]], position: list[int]) -> Iterator[tuple[int, int]]:
    """The number of each cell of a window that is real, and the value there."""
    for taps in itertools.product(*(range(one["kernel"]) for one in axes)):
        tap = cell = 0
        for axis, place, number in zip(axes, position, taps, strict=True):
            at = axis["first"] + place * axis["stride"] + number
            if not 0 <= at < axis["size"]:
                break
            tap, cell = tap * axis["kernel"] + number, cell * axis["size"] + at
        else:
            yield tap, cell
