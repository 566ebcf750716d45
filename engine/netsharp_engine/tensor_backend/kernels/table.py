"""The one table of kernels: all operations but those that know where sequences stand, or act."""

from __future__ import annotations

from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors import ENVIRONMENT
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_engine.tensor_backend.kernels.acting import ACTING
from netsharp_engine.tensor_backend.kernels.contrasting import CONTRASTING
from netsharp_engine.tensor_backend.kernels.convolution import CONVOLUTION
from netsharp_engine.tensor_backend.kernels.criteria import CRITERIA
from netsharp_engine.tensor_backend.kernels.elements import KERNELS
from netsharp_engine.tensor_backend.kernels.pooling import POOLING
from netsharp_engine.tensor_backend.kernels.products import PRODUCTS
from netsharp_engine.tensor_backend.kernels.queries import QUERIES
from netsharp_engine.tensor_backend.kernels.regions import REGIONS
from netsharp_engine.tensor_backend.kernels.rows import Backward, TensorKernel
from netsharp_engine.tensor_backend.kernels.shaping import SHAPING, stack_back

TABLE: dict[str, TensorKernel] = {
    **KERNELS,
    **CONVOLUTION,
    **POOLING,
    **PRODUCTS,
    **SHAPING,
    **REGIONS,
    **CRITERIA,
    **CONTRASTING,
    **QUERIES,
}
#: The operations that are computed.
COMPUTED = frozenset((*TABLE, *ACTING, *COLUMNS, *DELAYS, ENVIRONMENT))


def backward_of(node: Node) -> tuple[Backward | None, ...]:
    """Return the function for the gradient by each source; None where there is no gradient."""
    if node.op == "RowStack":
        return tuple(stack_back(number) for number in range(len(node.inputs)))
    return TABLE[node.op].backward[: len(node.inputs)]
