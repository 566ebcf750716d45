"""Criteria: comparisons of a network's values with wanted ones, a number per sample.

A target of several nodes may be fed as codes: the node that is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, expect_parameters

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node

#: The activation that a criterion may be computed together with, for both digits and speed.
FUSES = {"cross entropy": "softmax", "binary cross entropy": "sigmoid"}


def _shape(node: Node) -> tuple[int, ...]:
    """Return the shape of a criterion, one number; values and target must have equally many
    nodes.
    """
    expect_inputs(node, 2)
    expect_parameters(node)
    values, target = node.inputs
    if values.size != target.size:
        raise ValueError(f"{values.size} values are compared with {target.size} wanted ones")
    return (1,)


#: Sums over outputs, but "right answers": 1 where the largest output is the wanted one, in a sum
#: that no weight of a sample changes.
OPERATIONS = tuple(
    Operation(name, _shape, lambda node: Cost(0, 0))
    for name in ("cross entropy", "binary cross entropy", "squared error", "right answers")
)
