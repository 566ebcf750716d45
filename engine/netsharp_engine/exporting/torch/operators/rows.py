"""A row of the tables of PyTorch, and the helpers that rows use on their sources. It must not know
any operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.torch.source import Expression
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import Array, ExportedValue
from netsharp_engine.nodes import Node

#: Returns the expression of a node, [*lead, *node.shape], and adds what it needs before it.  Its
#: lead is the largest of the sources.
Row = Callable[[TorchWriting, Node, Sequence[ExportedValue]], Expression]
#: The same with a bias that is added to each sample, [as many as a layer has], or None.
BiasedRow = Callable[[TorchWriting, Node, Sequence[ExportedValue], Array | None], Expression]


def whole(node: Node, value: ExportedValue) -> Array:
    """Return the numbers of a source that has to be a constant, in its shape. ExportError for any
    other source.
    """
    if value.constant is None:
        raise refused(node, f"'{value.name}' changes with the samples, and a layer has a constant.")
    return value.constant


def owner(node: Node, weights: str) -> str:
    """Return a layer's name: that of the block of its weights, else of its node."""
    place = max(weights.rfind("."), weights.rfind("/"))
    return weights[:place] if place > 0 else node.name
