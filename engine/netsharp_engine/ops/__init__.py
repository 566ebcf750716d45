"""The registry of operations: shape rule and cost of each, without arrays.

How an operation is computed is the business of a back end's kernels.
"""

from __future__ import annotations

from netsharp_engine.ops import criteria, dense, elementwise, tensors, windows
from netsharp_engine.ops.definition import Cost, Operation

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for family in (dense, windows, elementwise, criteria, tensors)
    for operation in family.OPERATIONS
}

__all__ = ["OPERATIONS", "Cost", "Operation"]
