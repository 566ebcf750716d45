"""Offsets at which an image is cut to match another: given as numbers, or derived from the network.

Each node on a path scales and shifts positions; the offset is the difference of two paths from a
common node [CNTK: ComputationNetworkLib/ReshapingNodes.cpp, CropNode]. Knows no engine.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.node import PARAMETER
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.networks.rules.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.networks.node import Node

CROP = "Crop"
OFFSETS = ("xOffset", "yOffset")
_ONE_INPUT, _EVERY, _WEIGHTS = slice(1), slice(None), slice(1, 2)
_WINDOWED = {"Convolution": _WEIGHTS, "Pooling": _ONE_INPUT, "MaxUnpooling": _ONE_INPUT}
#: The inputs whose positions a node follows, by type; others move them in no known way.
_FOLLOWED = {
    **dict.fromkeys(
        (
            *("Abs", "Cosine", "Exp", "Floor", "Log", "Negate", "Pass", "Reciprocal", "Sin"),
            *("RectifiedLinear", "Sigmoid", "Sqrt", "Tanh", "Plus", "Minus", "ElementTimes"),
            *("LogPlus", "Less", "Equal", "Greater", "GreaterEqual", "NotEqual", "LessEqual"),
        ),
        _EVERY,
    ),
    **_WINDOWED,
    "BatchNormalization": _ONE_INPUT,
    CROP: _ONE_INPUT,
}


class Uncropped(Exception):  # noqa: N818
    """The reason why no offsets are found, to follow the name of a node."""


class _Move(NamedTuple):
    """The map of a position along one side: ``scale`` times it, plus ``shift``."""

    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    def after(self, other: _Move) -> _Move:
        """Return the composition: first the other, then this one."""
        return _Move(self.scale * other.scale, self.scale * other.shift + self.shift)

    def back(self) -> _Move:
        """Return the inverse."""
        return _Move(1 / self.scale, -self.shift / self.scale)


_Moves = tuple[_Move, _Move]


def offsets(node: Node) -> tuple[int, int]:
    """Return the column and row from which an image is cut; raise Uncropped where the network does
    not determine them.
    """
    if len(node.inputs) == 2 and all(side in node.attributes for side in OFFSETS):
        return node.integer(OFFSETS[0]), node.integer(OFFSETS[1])
    image, frame = node.inputs[:2]
    ways = _ways(image)
    same = dict([node.inputs[:1:-1]] if len(node.inputs) == 4 else [])
    for one, moves in _walked(frame):
        known = ways.get(same.get(one, one))
        if known is not None:
            found = [move.after(way.back()) for move, way in zip(moves, known, strict=True)]
            return _offset(found[0]), _offset(found[1])
    raise Uncropped(
        "cuts an image to another that has no node in common with it: write xOffset and yOffset."
    )


def _offset(move: _Move) -> int:
    if move.scale != 1:
        raise Uncropped("cuts an image to another of a different scale.")
    if move.shift > 0:
        raise Uncropped("cuts an image to another that begins before it.")
    return int(-move.shift)


def _ways(image: Node) -> dict[Node, _Moves]:
    """Return every node that an image depends on, with the map of its positions to the image's."""
    found: dict[Node, _Moves] = {}
    for one, moves in _walked(image):
        if found.setdefault(one, moves) != moves:
            raise Uncropped(
                f"cuts an image that '{one.name}' reaches on paths with different shifts."
            )
    return found


def _walked(begin: Node) -> Iterator[tuple[Node, _Moves]]:
    """Yield a node with those that it depends on, once for each path with other maps."""
    waiting: list[tuple[Node, _Moves]] = [(begin, (_Move(), _Move()))]
    known = set(waiting)
    while waiting:
        one, moves = waiting.pop()
        yield one, moves
        if one.operation in INPUTS or one.operation == PARAMETER:
            continue
        if one.operation not in _FOLLOWED:
            raise Uncropped(
                f"cuts an image, and what '{one.name}' ({one.operation}) does to its positions is "
                "unknown: write xOffset and yOffset."
            )
        own = _moves(one)
        step = (moves[0].after(own[0]), moves[1].after(own[1]))
        fresh = [(source, step) for source in one.inputs[_FOLLOWED[one.operation]]]
        waiting += (way for way in fresh if way not in known)
        known.update(fresh)


def _moves(node: Node) -> _Moves:
    """Return the maps from the positions of a node's input to its own."""
    if node.operation == CROP:
        across, down = offsets(node)
        return _Move(shift=Fraction(-across)), _Move(shift=Fraction(-down))
    if node.operation not in _WINDOWED:
        return _Move(), _Move()
    spread = node.truth("transpose") or node.operation == "MaxUnpooling"
    image = node.shape if spread else node.inputs[_WINDOWED[node.operation]][0].shape
    windows = Windows.of(node).completed(image or (), image or ())
    sides = [_window(windows, side) for side in (0, 1)]
    first, second = sides if spread else (side.back() for side in sides)
    return first, second


def _window(windows: Windows, side: int) -> _Move:
    """Return the map from the index of a window to the position of its centre."""
    kernel, stride = windows.kernel[side], windows.stride[side] or 1
    before = (kernel - 1) // 2 if windows.padded[side] else windows.lower[side]
    return _Move(Fraction(stride), Fraction((kernel - 1) // 2 - before))
