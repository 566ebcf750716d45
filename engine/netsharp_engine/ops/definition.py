"""The facts that every operation must define about itself. It must not know any operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


class Cost(NamedTuple):
    """Per sample: edges between nodes, and multiply-add pairs of one forward pass."""

    connections: int
    multiply_adds: int


class Operation(NamedTuple):
    """A row of the registry.

    ``shape(node)`` infers the node's shape from its inputs, parameters and attributes;
    it raises ValueError with a sentence where they do not fit and KeyError where an
    attribute is missing.  ``cost(node)`` is exact: taps outside the source are not counted.
    One that is ``alone`` reads nothing.
    """

    name: str
    shape: Callable[[Node], tuple[int, ...]]
    cost: Callable[[Node], Cost]
    alone: bool = False


def expect_parameters(node: Node, *shapes: tuple[int, ...]) -> None:
    """Raise ValueError unless the node has parameters of exactly these shapes."""
    if len(node.parameters) != len(shapes):
        raise ValueError(f"{len(node.parameters)} parameters given, {len(shapes)} needed")
    for parameter, shape in zip(node.parameters, shapes, strict=True):
        if parameter.shape != shape:
            raise ValueError(
                f"parameter {parameter.name} has shape {list(parameter.shape)}, "
                f"{list(shape)} needed"
            )


def expect_inputs(node: Node, count: int) -> None:
    """Raise ValueError unless the node has exactly ``count`` sources."""
    if len(node.inputs) != count:
        raise ValueError(f"{len(node.inputs)} sources given, {count} needed")


def free(node: Node) -> Cost:
    """Return the cost of an operation without edges and products."""
    return Cost(0, 0)
