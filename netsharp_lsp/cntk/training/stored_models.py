"""Model files of CNTK as they stand: read by their first bytes, described, and their numbers.

Knows no run, and nothing of what a network answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.model_tensors import holds_network, read_tensors
from netsharp_engine.cntk.stored.opening import SHORTEST, kind_of, open_model
from netsharp_engine.model_file import ModelError
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.stored import network_in

if TYPE_CHECKING:
    from typing import Any

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.stored.values import StoredModel
    from netsharp_lsp.cntk.networks.node import Network

_PRECISIONS = {"float32": "float", "float64": "double"}


def stored_model(path: str) -> StoredModel | None:
    """The model in a file of CNTK's, None where it is none; ModelError where it is damaged."""
    try:
        with open_plain(path) as stream:
            head = stream.read(SHORTEST)
            kind = kind_of(head)
            if kind is None and head[8:9] != b"{":
                return None
            stream.seek(0)
            data = stream.read()
    except (OSError, ValueError):
        return None
    if kind is None and not holds_network(data):
        return None
    try:
        return read_tensors(data) if kind is None else open_model(data)
    except ModelFault as fault:
        raise ModelError(f"{path}, {fault}.") from None


def stored_network(stored: StoredModel, path: str) -> Network:
    """The network of a stored model; ModelError where its shapes do not fit."""
    network = network_in(stored, path)
    if network.troubles:
        trouble = network.troubles[0]
        raise ModelError(f"{path}: '{trouble.node.name}': {trouble.message}")
    return network


def numbers_in(path: str) -> dict[str, Array] | None:
    """The numbers of a model by the names of its parameters, the shapes row-major; None and
    ModelError as for `stored_model`.
    """
    stored = stored_model(path)
    if stored is None:
        return None
    found = {}
    nodes = stored_network(stored, path).nodes
    for one in stored.nodes:
        if one.values is not None:
            shape = nodes[one.name].shape or ()
            # What a node remembers, such as how many samples it has seen, is no value of it.
            fits = elements(shape) == one.values.size
            found[one.name] = one.values.reshape(shape[::-1] if fits else -1)
    return found


def description_of(path: str) -> dict[str, Any] | None:
    """The network of a model as `netsharp describe` has it, its nodes at the beginning of the
    file; None and ModelError as for `stored_model`.
    """
    stored = stored_model(path)
    if stored is None:
        return None
    found = described(stored_network(stored, path), _PRECISIONS[stored.dtype])
    start = {"line": 1, "column": 1}
    nodes = [{**one, "start": start, "end": start} for one in found["nodes"]]
    whence: dict[str, Any] = {"command": None, "builder": None, "commands": [], "release": None}
    return {**found, "nodes": nodes, **whence}
