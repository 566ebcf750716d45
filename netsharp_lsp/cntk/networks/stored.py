"""Networks in model files; the engine, which reads those, is loaded with the first."""

from __future__ import annotations

from math import inf, isfinite
from struct import pack, unpack

from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, Calling, Network, Node
from netsharp_lsp.cntk.networks.node_types import INPUTS, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_engine.cntk.stored.values import StoredModel
    from netsharp_lsp.cntk.networks.node import Attribute

#: One more than the digits that distinguish every number of four bytes from its neighbours.
_ENOUGH_DIGITS = 10


def network_in(stored: StoredModel, path: str) -> Network:
    """Return the network of a stored model; its nodes are at the beginning of the file."""
    nodes: dict[str, Node] = {}
    calls = _calls(stored, path)
    for number, one in enumerate(stored.nodes):
        node = nodes[one.name] = Node(one.operation, number, one.name)
        # A type in no table has an unknown shape.
        node.shape = one.shape if row_of(one.operation) is not None else None
        node.attributes.update({key: _as_written(value) for key, value in one.attributes.items()})
        node.where = (path, 0, 0)
        node.call = None if one.block is None else calls[one.block]
        if one.operation in INPUTS:
            node.attributes["shape"] = one.shape
        if one.operation == PARAMETER and one.values is not None and one.values.size == 1:
            # A shape may depend on a single number.
            node.attributes["initValue"] = float(one.values.reshape(-1)[0])
    for one in stored.nodes:
        nodes[one.name].inputs = tuple(nodes[name] for name in one.inputs)
    groups = {
        group: tuple(nodes[name] for name in stored.groups.get(group, ())) for group in GROUPS
    }
    return inferred(Network(nodes, groups))


def _as_written(value: Attribute) -> Attribute:
    """Return a number that a file stores in four bytes as it was written: 0.1, not
    0.10000000149011612.

    It is the shortest one with the same four bytes; numbers of eight bytes are returned unchanged.
    """
    if not isinstance(value, float) or not isfinite(value) or _in_four_bytes(value) != value:
        return value
    found = (float(f"{value:.{digits}g}") for digits in range(1, _ENOUGH_DIGITS))
    return next((one for one in found if _in_four_bytes(one) == value), value)


def _in_four_bytes(value: float) -> float:
    """Return a number rounded to four bytes; infinite if it is too large."""
    try:
        (kept,) = unpack("<f", pack("<f", value))
    except OverflowError:
        return inf
    return float(kept)


def _calls(stored: StoredModel, path: str) -> list[Calling]:
    """Return the blocks of a model, each as the call of a function."""
    found: list[Calling] = []
    for one in stored.blocks:
        parent = None if one.parent is None else found[one.parent]
        found.append(Calling(one.function, one.name or one.node, (path, 0, 0), parent))
    return found


def read_network(blocks: Iterable[bytes]) -> Network | str:
    """Read the network of a model file, whose nodes have no place; a message for any other file."""
    from netsharp_engine.cntk.stored.binary import ModelFault
    from netsharp_engine.cntk.stored.model_tensors import is_tensors, read_tensors
    from netsharp_engine.cntk.stored.opening import open_model

    data = b"".join(blocks)
    try:
        return network_in(read_tensors(data) if is_tensors(data) else open_model(data), "")
    except ModelFault as fault:
        return str(fault)
