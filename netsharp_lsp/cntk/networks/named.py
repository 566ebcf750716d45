"""Differences between two networks whose nodes have the same names: the one in a model file and the
one that is built now.  An attribute that only one of them has is not a difference.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, written
from netsharp_lsp.cntk.networks.same import attributes_of, operation_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.networks.node import Network, Node


def named_differences(held: Network, built: Network) -> Iterator[str]:
    """Yield a clause for each difference between the network of a file and the one built now."""
    for name, node in built.nodes.items():
        if name not in held.nodes:
            yield f"it has no '{name}' ({node.operation})"
            continue
        clause = _differs(held.nodes[name], node)
        if clause:
            yield clause
    for name, node in held.nodes.items():
        if name not in built.nodes:
            yield f"it has '{name}' ({node.operation}), which is not built here"
    for group in GROUPS:
        old, new = (
            {node.name for node in one.groups.get(group, ()) if node.name in held.nodes}
            for one in (held, built)
        )
        if old != new and {name for name in old | new if name in built.nodes} == old | new:
            yield f"its {group} nodes are {_listed(old)} and here {_listed(new)}"


def _differs(held: Node, built: Node) -> str:
    """Return a clause on the difference between two nodes of one name, empty if there is none."""
    name = built.name
    old, new = operation_of(held), operation_of(built)
    if old != new:
        return f"its '{name}' is {old} and here {new}"
    if held.shape and built.shape and held.shape != built.shape:
        return f"its '{name}' is [{written(held.shape)}] and here [{written(built.shape)}]"
    inputs = [[one.name for one in node.inputs] for node in (held, built)]
    if inputs[0] != inputs[1]:
        return f"its '{name}' takes ({', '.join(inputs[0])}) and here ({', '.join(inputs[1])})"
    # Files do not store the initialization of parameters.
    attributes = (
        (attributes_of(held), attributes_of(built)) if held.operation != PARAMETER else ({}, {})
    )
    for key in sorted(attributes[0].keys() & attributes[1].keys() - {"shape"}):
        if attributes[0][key] != attributes[1][key]:
            return (
                f"the {key} of its '{name}' is {attributes[0][key]} and here {attributes[1][key]}"
            )
    return ""


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
