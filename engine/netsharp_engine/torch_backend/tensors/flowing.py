"""Which nodes a gradient reaches, and so which parameters learn by rows that samples read alone.

It knows graphs alone.
"""

from __future__ import annotations

from netsharp_engine.graph import Graph, Node
from netsharp_engine.ops.tensors import GATHERING, HELD
from netsharp_engine.tensor_backend.kernels.acting import ACTING
from netsharp_engine.tensor_backend.kernels.sparse import takes_sparse
from netsharp_engine.tensor_backend.kernels.table import TABLE, backward_of

#: The sources with a gradient, of operations that need the packing of sequences.
_MOVING = {
    "PastValue": (True, True),
    "FutureValue": (True, True),
    "GatherPacked": (False, True),
    "ScatterPacked": (False, False, True),
    "ReconcileDynamicAxis": (True, False),
    "Dropout": (True,),
    "BatchNormalization": (True, True, True, False, False),
}


def given_back(node: Node) -> tuple[bool, ...]:
    """Return for each source of a node whether it gets a gradient."""
    if node.op in _MOVING:
        return _MOVING[node.op][: len(node.inputs)]
    if node.op in ACTING or node.op in GATHERING or node.op not in TABLE:
        return (False,) * len(node.inputs)
    return tuple(one is not None for one in backward_of(node))


def row_users(graph: Graph) -> dict[str, list[Node]]:
    """Return the products that read parameters, by parameter, where only these give a gradient.

    Their samples may come sparse; then the gradient is that of the rows that these read.
    """
    reached, waiting = set(graph.criteria[:1]), list(graph.criteria[:1])
    users: dict[str, list[tuple[Node, int]]] = {}
    while waiting:
        node = waiting.pop()
        for place, (source, gives) in enumerate(zip(node.inputs, given_back(node), strict=True)):
            if not gives:
                continue
            if source.op in HELD:
                users.setdefault(source.parameters[0].name, []).append((node, place))
            elif source not in reached:
                reached.add(source)
                waiting.append(source)
    return {
        name: [node for node, _ in found]
        for name, found in users.items()
        if all(place == 0 and _by_rows(node) for node, place in found)
    }


def _by_rows(node: Node) -> bool:
    return node.op in ("Times", "LookupTable") and takes_sparse(node) and _is_fed(node.inputs[1])


def _is_fed(node: Node) -> bool:
    return node.op == "input"
