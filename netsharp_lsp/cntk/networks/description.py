"""A network as the JSON of `netsharp describe`; knows no language, and files by name only."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, UNCOUNTED, elements
from netsharp_lsp.cntk.networks.node_types import multiply_adds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Calling, Network, Node

#: Bytes of a number, by CNTK's precision.
BYTES = {"float": 4, "double": 8}


def described(network: Network, precision: str = "float") -> dict[str, Any]:
    """Return nodes in order of creation, loops and totals as JSON; a total with unknown parts is
    None.
    """
    nodes = [node_json(node, network) for node in network.nodes.values()]
    calls = _calls(network)
    for node, one in zip(nodes, network.nodes.values(), strict=True):
        node["call"] = None if one.call is None else calls[one.call]
    trained = [node["parameters"] for node in nodes if node["trainable"]]
    return {
        "version": 1,
        "layers": [],
        "parameters": total(trained),
        "connections": None,
        "multiply_adds": total([node["multiply_adds"] for node in nodes]),
        "memory_bytes": _memory(network, BYTES[precision]),
        "nodes": nodes,
        "loops": [[node.name for node in loop] for loop in network.loops],
        "calls": [_call_json(call, calls) for call in calls],
    }


def _calls(network: Network) -> dict[Calling, int]:
    """Return the calls that nodes come from, numbered so that each comes after the one
    around it.
    """
    numbers: dict[Calling, int] = {}
    for node in network.nodes.values():
        way = []
        call = node.call
        while call is not None and call not in numbers:
            way.append(call)
            call = call.parent
        for one in reversed(way):
            numbers[one] = len(numbers)
    return numbers


def _call_json(call: Calling, numbers: dict[Calling, int]) -> dict[str, Any]:
    file, start, end = call.where
    return {
        "function": call.function,
        "variable": call.variable,
        "parent": None if call.parent is None else numbers[call.parent],
        "file": file,
        "start": start,
        "end": end,
    }


def node_json(node: Node, network: Network) -> dict[str, Any]:
    """Return one node as JSON."""
    file, start, end = node.where
    return {
        "name": node.name,
        "operation": node.operation,
        "inputs": [one.name for one in node.inputs],
        "shape": None if node.shape is None else list(node.shape),
        "axis": None if node.axis is None else node.axis.name,
        "groups": [group for group in GROUPS if node in network.groups.get(group, ())],
        "parameters": parameters(node),
        "trainable": node.trainable,
        "attributes": {name: _plain(value) for name, value in sorted(node.attributes.items())},
        "multiply_adds": _countable(multiply_adds(node)),
        "loop": node.loop,
        "file": file,
        "start": start,
        "end": end,
    }


def parameters(node: Node) -> int | None:
    """Return the number of elements of a learnable parameter, 0 for other nodes; None if
    unknown.
    """
    if node.operation != PARAMETER:
        return 0
    return _counted(node)


def total(numbers: list[int | None]) -> int | None:
    """Return the sum, None if a part of it is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _memory(network: Network, size: int) -> int | None:
    """Return the bytes of parameters and of the values of one sample at one time step; None if
    unknown.
    """
    counts = [_counted(node) for node in network.nodes.values()]
    count = total(counts)
    return None if count is None else count * size


def _counted(node: Node) -> int | None:
    """Return the number of elements of a node's value; None if unknown."""
    return None if node.shape is None else _countable(elements(node.shape))


def _countable(count: int | None) -> int | None:
    """Return a count, None if it is not exact."""
    return None if count is None or count >= UNCOUNTED else count


def _plain(value: object) -> object:
    """Return an attribute as JSON: lists for tuples, text for numbers that JSON lacks."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value
