"""A row of the tables of ONNX operators, and the helpers that rows use on their sources. It must
not know any operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netsharp_engine.exporting.onnx.writing import Array, OnnxValue, OnnxWriting
from netsharp_engine.exporting.refusal import refused
from netsharp_engine.nodes import Node

#: Adds the operators of a node and returns the name of the tensor [*lead, *node.shape].  Its lead
#: is the largest of the sources.
Row = Callable[[OnnxWriting, Node, Sequence[OnnxValue]], str]


def whole(node: Node, value: OnnxValue) -> Array:
    """Return the numbers of a source that has to be a constant, in its shape. ExportError for any
    other source.
    """
    if value.constant is None:
        raise refused(node, f"'{value.name}' changes with the samples, and ONNX takes a constant.")
    return value.constant
