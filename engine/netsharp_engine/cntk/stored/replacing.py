"""Other numbers in a model file, in the places of its own: all other bytes are unchanged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import Memory, ModelFault
from netsharp_engine.cntk.stored.conversions import CONVERTED
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode


def replaced(data: Memory, model: StoredModel, arrays: Mapping[str, Array]) -> bytes:
    """Return the bytes of a model with other numbers, row-major by the names of nodes.

    ModelFault where a name is not a node with numbers, the shape differs, or the file stores
    another quantity than the node has.
    """
    found = bytearray(data)
    for name, array in arrays.items():
        node = model.found(name)
        if node is None or node.values is None:
            raise ModelFault(f"there are no numbers called '{name[:200]}' in it")
        _demand_shape(node, array)
        kind = node.values.dtype
        flat = np.ascontiguousarray(array).reshape(-1).astype(kind)
        if flat.tobytes() == np.ascontiguousarray(node.values).tobytes():
            continue
        if node.at < 0 or ".sparse" in node.kept or CONVERTED in node.kept:
            raise ModelFault(f"'{name}' does not stand in the file as these numbers")
        found[node.at : node.at + flat.nbytes] = flat.tobytes()
    return bytes(found)


def _demand_shape(node: StoredNode, array: Array) -> None:
    assert node.values is not None
    shape = node.shape[::-1] or (node.values.size,)
    size = 1
    for side in shape:
        size *= side
    wanted = shape if size == node.values.size else (node.values.size,)
    if tuple(array.shape) != wanted:
        raise ModelFault(
            f"'{node.name}' has the shape {list(wanted)}, and the new numbers {list(array.shape)}"
        )
