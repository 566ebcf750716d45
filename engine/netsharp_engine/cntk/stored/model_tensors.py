"""CNTK's models in the safetensors format: the same nodes and attributes as JSON beside named
arrays. It decodes bytes that were read elsewhere, and executes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from netsharp_engine import stored
from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import Memory, ModelFault
from netsharp_engine.cntk.stored.model_file import not_stored
from netsharp_engine.cntk.stored.values import GROUPS, StoredModel, StoredNode
from netsharp_engine.model_file import FORMAT, KINDS, VERSION, ModelError, write_file

_ENTRY = "cntk"
_TYPES = {kind: np.dtype(name).newbyteorder("<") for name, kind in KINDS.items()}


def write_tensors(path: str, model: StoredModel) -> None:
    """Write a model into a safetensors file, whole or not at all; ModelError where that fails."""
    nodes = [
        {
            "operation": node.operation,
            "name": node.name,
            "shape": list(node.shape),
            "inputs": list(node.inputs),
            "attributes": dict(node.attributes),
        }
        for node in model.nodes
    ]
    groups = {group: list(names) for group, names in model.groups.items()}
    arrays = {node.name: node.values for node in model.nodes if node.values is not None}
    entry = {"nodes": nodes, "groups": groups, "dtype": model.dtype}
    write_file(path, {_ENTRY: entry}, arrays)


def is_tensors(data: Memory) -> bool:
    """Return whether bytes begin as a safetensors file does."""
    return len(data) > 8 and data[8:9] == b"{"


def holds_network(data: Memory) -> bool:
    """Return whether bytes are a safetensors file with a network of CNTK."""
    end = 8 + int.from_bytes(data[:8], "little")
    return is_tensors(data) and f'"{_ENTRY}":'.encode() in data[8:end]


def read_tensors(data: Memory) -> StoredModel:
    """Return the model in the bytes of a file; ModelFault where there is none that can be used."""
    try:
        header, begin = _header(data)
        entry = _entry(header)
        return _model(entry, _arrays(header, data, begin))
    except (ValueError, RecursionError, ModelError) as error:
        reason = str(error).rstrip(".") or "its header is nested too deeply"
        raise ModelFault(f"it is not a model that netsharp wrote, or damaged: {reason}") from None


def _header(data: Memory) -> tuple[Mapping[str, Any], int]:
    """Return the JSON before the arrays, and where these begin."""
    end = 8 + int.from_bytes(data[:8], "little")
    if end > len(data):
        raise ValueError(f"its header would end at byte {end:,} of {len(data):,}")
    found = json.loads(data[8:end])
    return stored.table({"header": found}, "header"), end


def _entry(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the network's entry of the header."""
    metadata = stored.table(header, "__metadata__")
    if metadata.get("format") != FORMAT or _ENTRY not in metadata:
        raise ValueError("it holds no network of CNTK's")
    version = stored.text(metadata, "version")
    if version not in map(str, range(1, VERSION + 1)):
        raise ValueError(
            f"its format has version {version[:9]}, and this netsharp reads up to {VERSION}"
        )
    return stored.table({_ENTRY: json.loads(stored.text(metadata, _ENTRY))}, _ENTRY)


def _arrays(header: Mapping[str, Any], data: Memory, begin: int) -> dict[str, Array]:
    """Return the arrays by their names."""
    found: dict[str, Array] = {}
    for name in header:
        if name == "__metadata__":
            continue
        row = stored.table(header, name)
        kind = _TYPES.get(stored.text(row, "dtype"))
        shape = _wholes(row, "shape")
        place = _wholes(row, "data_offsets")
        size = 1
        for one in shape:
            size *= one
        if kind is None or len(place) != 2 or place[1] - place[0] != size * kind.itemsize:
            raise ValueError(f"'{name}' does not have as many bytes as its shape says")
        start, end = (begin + one for one in place)
        if end > len(data):
            raise ValueError(f"'{name}' would end at byte {end:,} of {len(data):,}")
        values = np.frombuffer(memoryview(data)[start:end], kind)
        found[name] = values.astype(kind.newbyteorder("="), copy=False).reshape(shape)
    return found


def _model(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> StoredModel:
    dtype = stored.text(entry, "dtype")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"numbers of type '{dtype[:20]}' are not read")
    rows = [stored.table({"node": one}, "node") for one in stored.items(entry, "nodes")]
    nodes = [_node(row, arrays, dtype) for row in rows]
    names = {node.name for node in nodes}
    if len(names) < len(nodes):
        raise ValueError("two nodes have one name")
    lacking = not_stored([node.operation for node in nodes])
    if lacking:
        raise ValueError(f"nodes of type {lacking[0][:40]} are not read")
    groups = stored.table(entry, "groups")
    found = {group: _texts(groups, group) for group in GROUPS if group in groups}
    for one in (*(one for node in nodes for one in node.inputs), *sum(found.values(), ())):
        if one not in names:
            raise ValueError(f"there is no node '{one}'")
    return StoredModel(nodes, found, dtype)


def _node(row: Mapping[str, Any], arrays: Mapping[str, Array], dtype: str) -> StoredNode:
    name = stored.text(row, "name")
    shape, values = tuple(_wholes(row, "shape")), arrays.get(name)
    written = stored.table(row, "attributes")
    attributes = {key: _attribute(key, one) for key, one in written.items()}
    operation = stored.text(row, "operation")
    if operation == "LearnableParameter" and (values is None or values.size != _product(shape)):
        raise ValueError(f"'{name}' does not have as many numbers as its shape says")
    return StoredNode(operation, name, shape, _texts(row, "inputs"), attributes, values, dtype)


def _attribute(key: str, found: object) -> object:
    """Return a plain value, or several in a tuple."""
    plain = (bool, int, float, str)
    if isinstance(found, list) and all(isinstance(one, plain) for one in found):
        return tuple(found)
    if not isinstance(found, plain):
        raise ValueError(f"'{key}' is neither a number nor a text")
    return found


def _product(shape: tuple[int, ...]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


def _wholes(row: Mapping[str, Any], key: str) -> list[int]:
    """Return a list of whole numbers from 0."""
    found = stored.items(row, key)
    return [stored.whole({key: one}, key) for one in found]


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(stored.as_text(one, key) for one in stored.items(row, key))
