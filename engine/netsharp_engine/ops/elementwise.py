"""Operations that keep their source's shape: sums of bundles, activations, transfer tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.activations import NAMES
from netsharp_engine.geometry import product
from netsharp_engine.ops.definition import Cost, Operation, expect_inputs, expect_parameters

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


def _add_shape(node: Node) -> tuple[int, ...]:
    """Shape of ``add``: attribute ``shape`` or the first source's; node counts must agree."""
    expect_parameters(node)
    first = node.inputs[0]
    sizes = [source.size for source in node.inputs]
    if len(set(sizes)) != 1:
        raise ValueError(f"the sources have {sizes} nodes; a sum needs equal counts")
    shape = tuple(int(extent) for extent in node.attributes.get("shape", first.shape))
    if product(shape) != first.size:
        raise ValueError(f"the shape {list(shape)} does not hold {first.size} nodes")
    return shape


def _activation_shape(node: Node) -> tuple[int, ...]:
    """Shape of ``activation``: that of its source; ``function`` names a table row."""
    expect_inputs(node, 1)
    expect_parameters(node)
    function = node.attributes["function"]
    if function not in NAMES:
        raise ValueError(f"there is no activation '{function}'")
    return node.inputs[0].shape


def _transfer_shape(node: Node) -> tuple[int, ...]:
    """Return the shape of ``transfer``: that of its source, whose values are looked up in a table
    of ``function`` with ``codes`` values.

    Its parameters are kept up and not trained: the recent least and largest source value (2), and a
    step, the lowest code's number of steps from 0, and a value for each code (2 + codes). With a
    step of 0 there is no table yet, and the function itself is computed. ValueError for an unknown
    function.
    """
    expect_inputs(node, 1)
    expect_parameters(node, (2,), (2 + int(node.attributes["codes"]),))
    if node.attributes["function"] not in NAMES:
        raise ValueError(f"there is no activation '{node.attributes['function']}'")
    return node.inputs[0].shape


OPERATIONS = (
    Operation("add", _add_shape, lambda node: Cost(0, 0)),
    Operation("activation", _activation_shape, lambda node: Cost(0, 0)),
    Operation("transfer", _transfer_shape, lambda node: Cost(0, 0)),
)
