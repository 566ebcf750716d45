"""Model files of CNTK: recognised by their first bytes, described, and their numbers.

Knows no run, and nothing of what a network answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.model_tensors import holds_network, read_tensors
from netsharp_engine.cntk.stored.opening import SHORTEST, kind_of, open_model
from netsharp_engine.cntk.stored.replacing import replaced
from netsharp_engine.cntk.stored.taking import taken
from netsharp_engine.model_file import ModelError
from netsharp_engine.plain_files import open_plain, read_writable
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.stored import network_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.stored.binary import Memory
    from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
    from netsharp_lsp.cntk.networks.node import Network


def model_bytes(path: str) -> bytearray | None:
    """Return the bytes of a file that begins as models do, None for any other."""
    try:
        with open_plain(path) as stream:
            head = stream.read(SHORTEST)
        if kind_of(head) is None and head[8:9] != b"{":
            return None
        data = read_writable(path)
    except (OSError, ValueError):
        return None
    return data if kind_of(data[:SHORTEST]) is not None or holds_network(data) else None


def read_stored(data: Memory) -> StoredModel | None:
    """Return the model in a safetensors file, None in any other; ModelFault where it is damaged."""
    return read_tensors(data) if kind_of(data[:SHORTEST]) is None else None


def stored_model(path: str) -> StoredModel | None:
    """Return the model in a file of CNTK's, None where it is not one; ModelError where it is
    damaged.
    """
    data = model_bytes(path)
    return None if data is None else _opened(path, data)


def model_and_numbers(path: str) -> tuple[StoredModel, dict[str, Array]] | None:
    """Return the model in a file of CNTK's and its numbers as separate arrays by node name; the
    nodes themselves have none, except single ones. None and ModelError as for `stored_model`.

    Both together take no more memory than the file.
    """
    data = model_bytes(path)
    if data is None:
        return None
    stored = _opened(path, data)
    rows = stored._replace(nodes=[_without_numbers(one) for one in stored.nodes], kept={})
    return rows, taken(stored, data)


def _opened(path: str, data: Memory) -> StoredModel:
    try:
        return read_stored(data) or open_model(data)
    except ModelFault as fault:
        raise ModelError(f"{path}, {fault}.") from None


def _without_numbers(node: StoredNode) -> StoredNode:
    """Return a node without its numbers, which are kept once, beside the network. A single one may
    be a shape.
    """
    values = node.values
    kept = None if values is None or values.size != 1 else values.copy()
    return node._replace(values=kept, kept={})


def with_numbers(path: str, arrays: Mapping[str, Array]) -> bytes | None:
    """Return the bytes of a model with other numbers by parameter name; None and ModelError as for
    `stored_model`, and ModelError for numbers that do not fit.
    """
    data = model_bytes(path)
    if data is None or kind_of(data[:SHORTEST]) is None:
        return None
    try:
        return replaced(data, open_model(data), arrays)
    except ModelFault as fault:
        raise ModelError(f"{path}: {fault}.") from None


def stored_network(stored: StoredModel, path: str) -> Network:
    """Return the network of a stored model; ModelError where its shapes do not fit."""
    network = network_in(stored, path)
    if network.troubles:
        trouble = network.troubles[0]
        raise ModelError(f"{path}: '{trouble.node.name}': {trouble.message}")
    return network


def numbers_in(path: str) -> dict[str, Array] | None:
    """Return the numbers of a model by parameter name, the shapes row-major; None and ModelError as
    for `stored_model`.
    """
    stored = stored_model(path)
    if stored is None:
        return None
    found = {}
    nodes = stored_network(stored, path).nodes
    for one in stored.nodes:
        if one.values is not None:
            shape = nodes[one.name].shape or ()
            # The state of a node, such as its sample count, is not one of its values.
            fits = elements(shape) == one.values.size
            found[one.name] = one.values.reshape(shape[::-1] if fits else -1)
    return found
