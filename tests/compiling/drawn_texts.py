"""Specifications drawn by chance: every kind of bundle, in any number of dimensions, over one
another, several into one layer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from netsharp_engine.activations import NAMES
from netsharp_engine.geometry import Axis

#: ``square`` of a square has values that no code of 8 bits tells apart from 0.
FUNCTIONS = [one for one in NAMES if one not in ("softmax", "square")]
_PREDICATES = (
    "(s, d) => s[0] == d[0]",
    "(s, d) => (s[0] + d[0]) % 2 == 0",
    "(s, d) => abs(s[0] - d[0]) <= 1",
    "(s, d) => s[0] >= d[0]",
)


class DrawnText:
    """A specification with one or two inputs, and the number of its features."""

    def __init__(self, chance: random.Random, layers: int) -> None:
        self._chance = chance
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._lines: list[str] = []
        for number in range(chance.choice([1, 1, 2])):
            shape = chance.choice([(12,), (4, 6), (2, 4, 4), (3, 5), (1, 6, 6), (7,)])
            self._lines.append(f"input X{number} {list(shape)};")
            self._shapes[f"X{number}"] = shape
        self.features = sum(map(math.prod, self._shapes.values()))
        for number in range(layers):
            self._layer(f"H{number}")
        last = list(self._shapes)[-1]
        others = sorted({last, chance.choice(list(self._shapes))})
        bundles = " ".join(f"from {one} all;" for one in others)
        function = chance.choice(["softmax", "sigmoid", "tanh", "linear"])
        self._lines.append(f"output Y [3] {function} {{ {bundles} }}")

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def _layer(self, name: str) -> None:
        chance = self._chance
        source = chance.choice([*self._shapes, *list(self._shapes)[-1:] * 3])
        kind = chance.choice(["all", "where", "convolve", "convolve", "max pool", "mean pool"])
        function = chance.choice(FUNCTIONS)
        if kind == "all":
            shape: tuple[int, ...] = (chance.randrange(2, 9),)
            bundles = [f"from {source} all;"]
        elif kind == "where":
            shape = (chance.choice([3, 4, self._shapes[source][0]]), chance.randrange(1, 4))
            bundles = [f"from {source} where {chance.choice(_PREDICATES)};"]
        else:
            shape, text = self._window(source, kind)
            bundles = [text]
            if "pool" in kind:
                function = chance.choice(["linear", "linear", function])
        if chance.random() < 0.3:
            bundles += self._others(shape)
        self._shapes[name] = shape
        self._lines.append(f"hidden {name} {list(shape)} {function} {{ {' '.join(bundles)} }}")

    def _others(self, shape: tuple[int, ...]) -> list[str]:
        """More bundles into a layer of a shape: one of all values, or another window as large."""
        chance, wanted = self._chance, math.prod(shape)
        for _ in range(40):
            source = chance.choice(list(self._shapes))
            kind = chance.choice(["convolve", "convolve", "max pool", "mean pool"])
            found, text = self._window(source, kind)
            if math.prod(found) == wanted:
                return [text]
        return [f"from {chance.choice(list(self._shapes))} all;"]

    def _window(self, source: str, kind: str) -> tuple[tuple[int, ...], str]:
        """The shape that a bundle with a kernel makes, and its text."""
        chance, nodes = self._chance, math.prod(self._shapes[source])
        sizes = self._shapes[source] if chance.random() < 0.7 else _factored(chance, nodes)
        kernels = [chance.randrange(1, min(size, 3) + 1) for size in sizes]
        if kind != "convolve" and chance.random() < 0.5 and len(sizes) > 1:
            kernels[0] = 1
        strides = [chance.choice([1, kernel]) for kernel in kernels]
        text = [_list("InputShape", sizes), _list("KernelShape", kernels), _list("Stride", strides)]
        lower, upper = [0] * len(sizes), [0] * len(sizes)
        padding = [chance.random() < 0.5 for _ in sizes]
        if chance.random() < 0.3:  # Pads that are filled exactly.
            padding = [False] * len(sizes)
            for d, (size, kernel, stride) in enumerate(zip(sizes, kernels, strides, strict=True)):
                lower[d] = chance.randrange((kernel - 1) // 2 + 1)
                upper[d] = -(size + lower[d] - kernel) % stride
                if upper[d] > kernel // 2:
                    lower[d] = upper[d] = 0
            text += [_list("LowerPad", lower), _list("UpperPad", upper)]
        else:
            text.append(_list("Padding", [str(one).lower() for one in padding]))
        maps = [1] * len(sizes)
        if kind == "convolve":
            maps = [chance.choice([1, 1, 2, 3]), *(chance.choice([1, 1, 1, 2]) for _ in sizes[1:])]
            text.append(_list("MapCount", maps))
            shared = [str(chance.random() < 0.7).lower() for _ in sizes]
            text.append(_list("Sharing", shared))
        figures = zip(sizes, kernels, strides, padding, lower, upper, maps, strict=True)
        shape = tuple(
            count * Axis(size, kernel, stride, padding=padded, lower=low, upper=high).count
            for size, kernel, stride, padded, low, high, count in figures
        )
        return shape, f"from {source} {kind} {{ {' '.join(text)} }}"


def _list(name: str, values: Sequence[object]) -> str:
    return f"{name} = [{', '.join(map(str, values))}];"


def _factored(chance: random.Random, nodes: int) -> tuple[int, ...]:
    """A way to read a number of nodes as one to four dimensions."""
    sizes: list[int] = []
    for _ in range(chance.randrange(4)):
        divisors = [one for one in range(1, nodes + 1) if nodes % one == 0]
        sizes.append(chance.choice(divisors))
        nodes //= sizes[-1]
    return (*sizes, nodes)
