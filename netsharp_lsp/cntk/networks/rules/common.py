"""Helpers that shape rules share: axes, inference of parameters, and the error of a mismatch.
Knows no node type.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import PARAMETER, elements, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Axis, Node


class Misfit(Exception):  # noqa: N818
    """A mismatch of a node's inputs; the inference turns it into a value.

    `kind` is given only if the cause is another than the family of the rule; `differ`: two shapes
    do not match.
    """

    def __init__(self, message: str, kind: str = "", *, differ: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.differ = differ


def shape_of(node: Node, number: int) -> tuple[int, ...]:
    """Return the shape of an input; the inference calls no rule with an unknown one."""
    return node.inputs[number].shape or ()


def inherit_axis(node: Node) -> None:
    """Take the first dynamic axis among the inputs."""
    node.axis = first_axis(node)


def first_axis(node: Node) -> Axis | None:
    """Return the first dynamic axis among the inputs."""
    return next((one.axis for one in node.inputs if one.axis is not None), None)


def fill(node: Node, other: tuple[int, ...]) -> None:
    """Infer missing dimensions of a parameter from a shape that it has to match."""
    shape = node.shape
    if node.operation != PARAMETER or shape is None or elements(shape) or not elements(other):
        return
    if not any(shape):
        node.shape = other
    elif len(shape) <= len(other):
        padded = shape + (0,) * (len(other) - len(shape))
        node.shape = tuple(mine or theirs for mine, theirs in zip(padded, other, strict=True))


def fill_each_other(node: Node, count: int) -> None:
    """Infer missing dimensions of inputs that have to match from one another."""
    for one in node.inputs[:count]:
        for other in node.inputs[:count]:
            if other is not one:
                fill(one, other.shape or ())


def rows(shape: tuple[int, ...]) -> int:
    """Return the rows of a tensor as a matrix."""
    return shape[0] if shape else 0


def columns(shape: tuple[int, ...]) -> int:
    """Return the columns of a tensor as a matrix: the product of all dimensions except the
    first.
    """
    return elements(shape[1:]) if len(shape) > 1 else 1


def compatible(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether two shapes match element-wise: equal, or 1 in one, in every dimension."""
    return all(a in (b, 1) or b == 1 for a, b in zip(one, other, strict=False)) and all(
        rest == 1 for rest in one[len(other) :] + other[len(one) :]
    )


def need_axis(node: Node, *numbers: int) -> None:
    """Raise Misfit for inputs without a dynamic axis."""
    for number in numbers:
        if node.inputs[number].axis is None:
            raise Misfit(
                f"input {number + 1} of {node.operation} needs a dynamic axis,"
                f" and '{node.inputs[number].name}' has none.",
                "axis",
            )


def differ(node: Node, first: int, second: int) -> Misfit:
    """Return the error that two inputs do not match, with both shapes."""
    one, other = node.inputs[first], node.inputs[second]
    return Misfit(
        f"the shapes of {node.operation}'s inputs do not match: '{one.name}' is"
        f" [{written(one.shape)}], '{other.name}' is [{written(other.shape)}].",
        differ=True,
    )
