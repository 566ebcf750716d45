"""A writer of model files of both formats, apart from the readers: for networks of the tests.

It follows the description of the formats and knows nothing of the tables that readers use.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


class First:
    """A model of the first format, of one version, node after node."""

    def __init__(self, version: int, dtype: str = "float32", *, versioned: bool = True) -> None:
        self.version, self.dtype, self.versioned = version, dtype, versioned
        self.nodes: list[tuple[str, str, bytes, tuple[str, ...]]] = []

    def add(self, operation: str, name: str, body: bytes = b"", *inputs: str) -> None:
        self.nodes.append((operation, name, body, inputs))

    def data(self, groups: list[tuple[str, list[str]]] | None = None) -> bytes:
        out = text("BCN")
        if self.versioned:
            out += text("BVersion") + size(self.version) + text("EVersion")
        out += size(len(self.nodes)) + text("BNodeList")
        word = {"float16": "half", "float32": "float", "float64": "double"}[self.dtype]
        for operation, name, body, _ in self.nodes:
            out += text(word) if self.version >= 7 else b""
            out += text(operation) + text(name) + body
        out += text("ENodeList") + text("BRelation")
        for _, name, _, inputs in self.nodes:
            out += text(name) + size(len(inputs)) + b"".join(map(text, inputs))
        out += text("ERelation") + text("BRootNodes")
        for mark, names in groups or []:
            out += text(f"B{mark}") + size(len(names)) + b"".join(map(text, names))
            out += text(f"E{mark}")
        return out + text("ERootNodes") + text("ECN")

    def parameter(
        self, name: str, values: Any, rate: float = 1.0, body: bytes | None = None
    ) -> Any:
        """Numbers by their shape, the first dimension fastest; what was written."""
        array = np.asarray(values, self.dtype)
        shape = array.shape[::-1]
        if self.version >= 3:
            head = struct.pack("<f", rate) + dimensions(shape)
        else:
            rows, columns = shape[0], array.size // shape[0]
            head = struct.pack("<?QQ", rate != 0, rows, columns)
        self.add("LearnableParameter", name, head + (body or matrix(array, shape[0])))
        return array

    def input(self, name: str, shape: tuple[int, ...], axis: str = "") -> None:
        body = size(0) + size(0) + dimensions(shape)
        body += struct.pack("<I", 1) + text(axis) if self.version >= 8 else b""
        self.add("InputValue", name, body + (struct.pack("<f", 0) if self.version >= 10 else b""))


def text(value: str) -> bytes:
    return value.encode("utf-16-le") + b"\0\0"


def size(value: int) -> bytes:
    return struct.pack("<Q", value)


def dimensions(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<I{len(shape)}I", len(shape), *shape)


def matrix(array: Any, rows: int) -> bytes:
    out = b"d" + text("BMAT") + size(array.itemsize) + text("unnamed") + struct.pack("<i", 0)
    return out + size(rows) + size(array.size // rows) + array.tobytes() + text("EMAT")


def sparse(dense: Any, form: int) -> bytes:
    """A matrix [rows, columns] by its columns (6) or rows (7); columns stand before rows."""
    lines = dense.T if form == 6 else dense
    places = [np.flatnonzero(line) for line in lines]
    values = np.concatenate([line[at] for line, at in zip(lines, places, strict=True)])
    starts = np.cumsum([0, *map(len, places)])
    out = b"s" + text("BMAT") + size(dense.itemsize) + text("unnamed") + struct.pack("<i", form)
    out += size(len(values)) + size(dense.shape[1]) + size(dense.shape[0])
    if len(values):
        out += values.tobytes()
        out += np.concatenate(places).astype("<u8").tobytes() + starts.astype("<u8").tobytes()
    return out + text("EMAT")


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes((value & 127 | 128,))
        value >>= 7
    return out + bytes((value,))


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Axis(tuple[int, str]):
    """An axis of the second format: place and name."""


class Shape(tuple[int, ...]):
    """A shape of the second format."""


def value(given: Any, *, apart: list[bytes] | None = None) -> bytes:
    """A value of a dictionary; ``apart`` takes the numbers of arrays, which then are left out."""
    head = field(1, 1)
    if isinstance(given, bool):
        return head + field(2, 1) + (field(3, 1) if given else b"")
    if isinstance(given, int):
        return head + field(2, 3 if given >= 0 else 2) + field(5 if given >= 0 else 4, given)
    if isinstance(given, float):
        return head + field(2, 5) + varint(7 << 3 | 1) + struct.pack("<d", given)
    if isinstance(given, str):
        return head + field(2, 6) + field(8, given.encode())
    if isinstance(given, Axis):
        return head + field(2, 8) + field(10, field(1, given[0]) + field(2, given[1].encode()))
    if isinstance(given, Shape):
        return head + field(2, 7) + field(9, field(1, b"".join(map(varint, given))))
    if isinstance(given, list):
        items = b"".join(field(1, value(one, apart=apart)) for one in given)
        return head + field(2, 9) + field(11, items)
    if isinstance(given, dict):
        return head + field(2, 10) + field(12, dictionary(given, apart=apart))
    array = np.asarray(given)
    kind, place = {"float32": (1, 4), "float64": (2, 5)}[str(array.dtype)]
    shape = field(1, b"".join(map(varint, array.shape[::-1])))
    numbers = field(place, field(1, array.tobytes()))
    if apart is not None:
        apart.append(array.tobytes())
        numbers = b""
    return head + field(2, 11) + field(13, field(1, kind) + field(3, shape) + numbers)


def dictionary(given: dict[str, Any], *, apart: list[bytes] | None = None) -> bytes:
    entries = (
        field(2, field(1, key.encode()) + field(2, value(one, apart=apart)))
        for key, one in given.items()
    )
    return field(1, 2) + b"".join(entries)


def large(given: dict[str, Any]) -> bytes:
    """The form above 2 GB: the message, and after it all numbers."""
    apart: list[bytes] = []
    message = dictionary(given, apart=apart)
    return b"ktnc" + struct.pack("<I", len(message)) + message + b"".join(apart)


BATCH = Axis((2147483647, "defaultBatchAxis"))
STEPS = Axis((2147483647, "defaultDynamicAxis"))


class Second:
    """A model of the second format: variables and functions in the order in which they come."""

    def __init__(self) -> None:
        self.variables: list[dict[str, Any]] = []
        self.functions: list[dict[str, Any]] = []

    def variable(self, uid: str, kind: int, shape: tuple[int, ...], **more: Any) -> str:
        axes = more.pop("axes", [] if kind in (2, 3) else [BATCH])
        given = {"version": 1, "type": "Variable", "uid": uid, "kind": kind, "data_type": 1}
        given |= {"dynamic_axis": axes, "is_sparse": False, "needs_gradient": kind == 2}
        self.variables.append(given | {"shape": Shape(shape)} | more)
        return uid

    def parameter(self, uid: str, array: Any, kind: int = 2, **more: Any) -> str:
        return self.variable(uid, kind, array.shape[::-1], value=array, **more)

    def function(self, op: int, uid: str, inputs: list[str], **more: Any) -> str:
        given = {"version": 20, "type": "PrimitiveFunction", "uid": uid, "op": op}
        given |= {"attributes": more.pop("attributes", {}), "inputs": inputs}
        self.functions.append(given | more)
        return f"{uid}_Output_0"

    def values(self, root: str) -> dict[str, Any]:
        given = {"version": 3, "type": "CompositeFunction", "uid": "CompositeFunction1"}
        given |= {"root": root, "primitive_functions": self.functions}
        return given | {"inputs": self.variables}

    def data(self, root: str) -> bytes:
        return dictionary(self.values(root))
