"""Compares a network with CNTK's log of the validation of one; knows no language."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.networks.node import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Network, Node

#: `name = Operation (inputs) : [input shapes] -> [shape]`.
LINE = re.compile(
    r"Validating --> (?P<name>\S+) = (?P<operation>\w+) ?\((?P<inputs>[^)]*)\)"
    r"[^:\n]*:[^\n]*-> \[(?P<shape>[^\]\n]*)\]"
)


def first_difference(network: Network, log: str) -> str | None:
    """Return a message on the first node of a log that the network does not have in this form, or
    None.

    Of several lines on a node the last one is used; a 0 is a size that was still to be inferred.
    """
    lines = {line["name"]: line for line in LINE.finditer(log)}
    if not lines:
        return "the log has no line 'Validating --> ...'."
    for name, line in lines.items():
        node = network.nodes.get(name)
        if node is None:
            return f"the log has a node '{name}' ({line['operation']}), and the network does not."
        difference = _difference(node, line)
        if difference:
            return f"'{name}' {difference}"
    missing = next((name for name in network.nodes if name not in lines), None)
    return None if missing is None else f"the log has no node '{missing}'."


def _difference(node: Node, line: re.Match[str]) -> str:
    """Return the difference between a node and its line of the log; empty if there is none."""
    if node.operation != line["operation"]:
        return f"is {line['operation']} in the log and {node.operation} here."
    inputs = [one.name for one in node.inputs]
    logged = [one.strip() for one in line["inputs"].split(",") if one.strip()]
    if inputs != logged:
        return f"has the inputs ({', '.join(logged)}) in the log and ({', '.join(inputs)}) here."
    sizes = line["shape"].split(" x ")
    shape = [size for size in sizes if size.isdigit()]
    if node.shape is None:
        return ""
    if not _agree(node.shape, shape):
        return f"is [{' x '.join(shape)}] in the log and [{written(node.shape)}] here."
    if (len(shape) < len(sizes)) != (node.axis is not None):
        return f"is [{line['shape']}] in the log; only one of them has a dynamic axis."
    return ""


def _agree(ours: tuple[int, ...], logged: list[str]) -> bool:
    """Return whether two shapes are equal except for sizes that were still to be inferred."""
    sizes = [one.lstrip("0") for one in logged]
    counted = list(map(str, ours))
    if "" in sizes:
        return all(one == other or not other for one, other in zip(counted, sizes, strict=False))
    return counted == sizes
