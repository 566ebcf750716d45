"""The tables of a network as a file of their own, which a device can keep in another memory and
replace: written, and read with every check that the device makes.

All numbers are little-endian: the magic (4 bytes), version and count (2 each), the length of the
file, the CRC-32 of all that follows it, and the fingerprint of the network (4 each); for each table
its offset, its entries, the bytes of an entry and whether entries are signed (4 each); the entries.
"""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from netsharp_compile.refusal import CompileError
from netsharp_compile.writing.device_steps import steps_of
from netsharp_compile.writing.manifest import json_of

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork, Integers

MAGIC, VERSION = b"NSTB", 1
#: Magic, version, count, length, checksum, fingerprint; then of each table four numbers.
_HEAD, _RECORD = struct.Struct("<4sHHIII"), struct.Struct("<IIII")
#: The offset at which the checksum begins, and the alignment of tables.
CHECKED_FROM, ALIGNED = 16, 4
#: The parts of a network that a device does not hold and tables may change: names, and scales.
_MEANINGS = ("name", "function", "origin", "scale")


class TableShape(NamedTuple):
    """The number of entries of a table, the bytes of each, and whether they are signed."""

    entries: int
    width: int
    signed: bool


def shapes_of(network: IntegerNetwork) -> list[TableShape]:
    """Return the shape of each table."""
    return [TableShape(one.size, one.itemsize, one.dtype.kind == "i") for one in network.tables]


def rising_tables(network: IntegerNetwork) -> list[int]:
    """Return the numbers of the tables that may not fall: largest sums stand for largest values
    before these are looked up.
    """
    found = {network.layers[one.layer].table for one in steps_of(network) if one.pool is not None}
    return sorted(one for one in found if one is not None)


def fingerprint_of(network: IntegerNetwork) -> int:
    """Return a number of 32 bits for all that a device holds of a network beside its tables."""
    found = json_of(network)
    found["tables"] = shapes_of(network)
    return crc32(json.dumps(_without_meanings(found), sort_keys=True).encode())


def tables_file(network: IntegerNetwork) -> bytes:
    """Return the tables of a network as the bytes of a file."""
    at = _HEAD.size + _RECORD.size * len(network.tables)
    records, entries = b"", b""
    for table, shape in zip(network.tables, shapes_of(network), strict=True):
        stored = table.astype(table.dtype.newbyteorder("<")).tobytes()
        records += _RECORD.pack(at + len(entries), *shape)
        entries += stored + bytes(-len(stored) % ALIGNED)
    length = at + len(entries)
    checked = struct.pack("<I", fingerprint_of(network)) + records + entries
    head = _HEAD.pack(MAGIC, VERSION, len(network.tables), length, crc32(checked), 0)
    return head[:CHECKED_FROM] + checked


def with_tables(network: IntegerNetwork, data: bytes) -> IntegerNetwork:
    """Return a network with the tables of a file; CompileError for one that is not whole, or made
    for another network.
    """
    if len(data) < _HEAD.size or data[: len(MAGIC)] != MAGIC:
        raise CompileError("This is not a file of tables.")
    _, version, count, length, checksum, fingerprint = _HEAD.unpack_from(data)
    if version != VERSION:
        raise CompileError(f"The file of tables has version {version}, and {VERSION} is read here.")
    if not _HEAD.size <= length <= len(data) or crc32(data[CHECKED_FROM:length]) != checksum:
        raise CompileError("The file of tables is damaged, or not whole.")
    if fingerprint != fingerprint_of(network) or count != len(network.tables):
        raise CompileError("The tables are those of another network.")
    tables = tuple(_tables(network, data, length))
    if any((np.diff(tables[one].astype(np.int64)) < 0).any() for one in rising_tables(network)):
        raise CompileError(
            "A table falls, and after it a device takes the largest values by the largest sums."
        )
    return replace(network, tables=tables)


def _tables(network: IntegerNetwork, data: bytes, length: int) -> list[Integers]:
    found = []
    for number, (table, shape) in enumerate(zip(network.tables, shapes_of(network), strict=True)):
        at = _HEAD.size + _RECORD.size * number
        if at + _RECORD.size > length:
            raise CompileError("The file of tables is damaged, or not whole.")
        offset, *given = _RECORD.unpack_from(data, at)
        if given != list(shape):
            raise CompileError(f"Table {number} has another shape than that of this network.")
        if offset % ALIGNED or offset + shape.entries * shape.width > length:
            raise CompileError(f"Table {number} lies beyond the file.")
        stored = np.frombuffer(data, table.dtype.newbyteorder("<"), shape.entries, offset)
        found.append(stored.astype(table.dtype))
    return found


def _without_meanings(found: Any) -> Any:
    if isinstance(found, dict):
        kept = {key: value for key, value in found.items() if key not in _MEANINGS}
        return {key: _without_meanings(value) for key, value in kept.items()}
    return [_without_meanings(one) for one in found] if isinstance(found, list) else found
