"""Dictionaries of CNTK's second format, which are messages of protocol buffers.

It reads the wire format by itself: arrays are views on the file, every fault names its byte, and no
number in a file allocates more than the file has. It must not know models.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import Memory, ModelFault

#: How deep dictionaries and lists may lie in each other.
_DEEPEST = 100
#: The sizes of shapes that are left open: to be inferred, and free.
INFERRED, FREE = (1 << 64) - 1, (1 << 64) - 3
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
#: Kinds of values as a dictionary numbers them, where a default may be missing on the wire.
_DEFAULTS: Mapping[int, Any] = {1: False, 2: 0, 3: 0, 4: 0.0, 5: 0.0, 6: "", 7: (), 9: []}
_AXIS, _DICTIONARY, _ARRAY = 8, 10, 11
#: Types of numbers: the precision of a model, and the type on the wire.
DTYPES = {1: "float32", 2: "float64", 4: "float16", 5: "int8", 6: "int16"}
_WIRES = {4: "<f4", 5: "<f8"}


class WireAxis(NamedTuple):
    """An axis: its place from 0 (negative from the end), its name, and whether it is ordered."""

    place: int = 0
    name: str = ""
    ordered: bool = False


class WireArray(NamedTuple):
    """Numbers by their shape, the first dimension fastest, and the byte where they begin."""

    dtype: str
    shape: tuple[int, ...]
    values: Array | None
    at: int


class Dictionary(dict[str, Any]):
    """Values by their names, with the byte where each begins and the version of the whole."""

    __slots__ = ("places", "start", "version")

    def __init__(self) -> None:
        super().__init__()
        self.version, self.start = 0, 0
        self.places: dict[str, int] = {}


class WireReading:
    """A message between two bytes; bytes outside of it are not read."""

    def __init__(self, data: Memory, *, partial: bool = False) -> None:
        self._data, self._view = data, memoryview(data)
        self._partial = partial
        #: What was not read, where that is asked for.
        self.faults: list[str] = []
        #: Arrays whose numbers are elsewhere, in the order of the message.
        self.empty: list[WireArray] = []

    def dictionary(self, start: int, end: int, depth: int = 0) -> Dictionary:
        """Return the dictionary between two bytes. Raises ModelFault, at its byte, for a damaged
        file.
        """
        found = Dictionary()
        found.start = start
        for number, value, at in self._fields(start, end, depth):
            if number == 1:
                found.version = _whole(value, at)
            elif number == 2:
                self._entry(found, *_span(value, at), depth)
        return found

    def _entry(self, found: Dictionary, start: int, end: int, depth: int) -> None:
        key, place = "", (end, end)
        for number, value, at in self._fields(start, end, depth):
            if number == 1:
                key = self._text(*_span(value, at))
            elif number == 2:
                place = _span(value, at)
        found.places[key] = place[0]
        found[key] = self._value(*place, depth + 1)

    def _value(self, start: int, end: int, depth: int) -> Any:
        kind, found = 0, None
        for number, value, at in self._fields(start, end, depth):
            if number == 2:
                kind = _whole(value, at)
            elif number in _READ:
                found = _READ[number](self, value, at, depth)
        if found is not None or kind == 0:
            return found
        if kind in _DEFAULTS:
            return [] if kind == 9 else _DEFAULTS[kind]
        if kind == _AXIS:
            return WireAxis()
        if kind == _DICTIONARY:
            return Dictionary()
        raise _fault(start, f"a value of kind {kind} is not read")

    def _shape(self, start: int, end: int) -> tuple[int, ...]:
        found: list[int] = []
        for number, value, at in self._fields(start, end, 0):
            if number == 1 and isinstance(value, tuple):
                here, stop = value
                while here < stop:
                    one, here = self._varint(here, stop)
                    found.append(one)
            elif number == 1:
                found.append(_whole(value, at))
        return tuple(found)

    def _axis(self, start: int, end: int) -> WireAxis:
        found = WireAxis()
        for number, value, at in self._fields(start, end, 0):
            if number == 1:
                found = found._replace(place=_signed(_whole(value, at)))
            elif number == 2:
                found = found._replace(name=self._text(*_span(value, at)))
            elif number == 3:
                found = found._replace(ordered=bool(value))
        return found

    def _list(self, start: int, end: int, depth: int) -> list[Any]:
        found = []
        for number, value, at in self._fields(start, end, depth):
            if number == 1:
                try:
                    found.append(self._value(*_span(value, at), depth + 1))
                except ModelFault as fault:
                    if not self._partial:
                        raise
                    self.faults.append(str(fault))
        return found

    def _array(self, start: int, end: int) -> WireArray:
        kind, storage = 0, 0
        shape: tuple[int, ...] = ()
        values: Array | None = None
        place = start
        for number, value, at in self._fields(start, end, 0):
            if number == 1:
                kind = _whole(value, at)
            elif number == 2:
                storage = _whole(value, at)
            elif number == 3:
                shape = self._shape(*_span(value, at))
            elif number in (4, 5, 6, 7):
                values, place = self._numbers(number, *_span(value, at))
        if kind not in DTYPES:
            raise _fault(start, f"numbers of type {kind} are not read")
        if storage and values is None:
            raise _fault(start, "a sparse array is not read: no program wrote its numbers")
        size = 1
        for side in shape:
            size *= side
        if values is not None and values.size != size:
            raise _fault(place, f"an array of shape {list(shape)} has {values.size:,} numbers")
        found = WireArray(DTYPES[kind], shape, values, place)
        if values is None:
            self.empty.append(found)
        return found

    def _numbers(self, field: int, start: int, end: int) -> tuple[Array, int]:
        """Return the numbers of an array, packed or as bytes, and their place."""
        parts, place = [], start
        for number, value, at in self._fields(start, end, 0):
            if number != 1:
                continue
            if field in _WIRES and isinstance(value, tuple):
                kind = np.dtype(_WIRES[field])
                if (value[1] - value[0]) % kind.itemsize:
                    raise _fault(at, "the numbers of an array end within one of them")
                parts.append(np.frombuffer(self._view[value[0] : value[1]], kind))
            elif field == 6:
                begin, stop = _span(value, at)
                parts.append(np.frombuffer(self._view[begin:stop], np.int8))
            elif field == 7:
                parts.append(np.array(list(self._zigzag(*_span(value, at))), np.int16))
            else:
                raise _fault(at, "the numbers of an array are not packed")
            place = value[0] if isinstance(value, tuple) else at
        if len(parts) == 1:
            return parts[0], place
        return (np.concatenate(parts) if parts else np.zeros(0, np.float32)), place

    def _zigzag(self, start: int, end: int) -> Iterator[int]:
        while start < end:
            one, here = self._varint(start, end)
            value = (one >> 1) ^ -(one & 1)
            if not -(1 << 15) <= value < 1 << 15:
                raise _fault(start, f"{value:,} is not a number of 16 bits")
            yield value
            start = here

    def _text(self, start: int, end: int) -> str:
        try:
            return self._data[start:end].decode()
        except UnicodeDecodeError:
            raise _fault(start, "a text is not in UTF-8") from None

    def _fields(
        self, start: int, end: int, depth: int
    ) -> Iterator[tuple[int, int | tuple[int, int] | bytes, int]]:
        """Yield the fields of a message: number, value (a span of bytes where it has a length),
        place.
        """
        if depth > _DEEPEST:
            raise _fault(start, f"values lie deeper than {_DEEPEST} in each other")
        at = start
        while at < end:
            here = at
            try:
                key, at = self._varint(at, end)
                number, wire = key >> 3, key & 7
                if wire == _VARINT:
                    value, at = self._varint(at, end)
                    yield number, value, here
                    continue
                if wire == _BYTES:
                    size, at = self._varint(at, end)
                else:
                    size = {_EIGHT: 8, _FOUR: 4}.get(wire, -1)
                if size < 0:
                    raise _fault(here, f"a field of kind {wire} is not read")
                if size > end - at:
                    words = f"{size:,} bytes are expected, and {end - at:,} are left"
                    raise _fault(here, f"{words}: it is truncated or damaged")
            except ModelFault as fault:
                if not self._partial:
                    raise
                self.faults.append(str(fault))
                return
            at += size
            if wire == _BYTES:
                yield number, (at - size, at), here
            else:
                yield number, bytes(self._data[at - size : at]), here

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        found = shift = 0
        for here in range(at, min(end, at + 10)):
            one = self._data[here]
            found |= (one & 127) << shift
            if one < 128:
                return found & INFERRED, here + 1
            shift += 7
        raise _fault(at, "a number is expected, and does not end")


def _fault(at: int, words: str) -> ModelFault:
    return ModelFault(f"byte {at:,}: {words}")


def _span(value: Any, at: int) -> tuple[int, int]:
    if not isinstance(value, tuple):
        raise _fault(at, "a value with a length is expected")
    return value


def _whole(value: Any, at: int) -> int:
    if not isinstance(value, int):
        raise _fault(at, "a whole number is expected")
    return value


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _real(form: str, value: Any, at: int) -> float:
    if not isinstance(value, bytes) or len(value) != struct.calcsize(form):
        raise _fault(at, "a real number is expected")
    return float(struct.unpack(form, value)[0])


_READ: dict[int, Any] = {
    3: lambda given, value, at, depth: bool(_whole(value, at)),
    4: lambda given, value, at, depth: _signed(_whole(value, at)),
    5: lambda given, value, at, depth: _whole(value, at),
    6: lambda given, value, at, depth: _real("<f", value, at),
    7: lambda given, value, at, depth: _real("<d", value, at),
    8: lambda given, value, at, depth: given._text(*_span(value, at)),
    9: lambda given, value, at, depth: given._shape(*_span(value, at)),
    10: lambda given, value, at, depth: given._axis(*_span(value, at)),
    11: lambda given, value, at, depth: given._list(*_span(value, at), depth),
    12: lambda given, value, at, depth: given.dictionary(*_span(value, at), depth + 1),
    13: lambda given, value, at, depth: given._array(*_span(value, at)),
}


def read_dictionary(data: Memory, *, partial: bool = False) -> tuple[Dictionary, list[str]]:
    """Return the dictionary in the bytes of a file, and the bytes that were not read.

    Above 2 GB the numbers follow the message; ModelFault where they cannot be assigned.
    """
    given = WireReading(data, partial=partial)
    if data[: len(LARGE)] != LARGE:
        return given.dictionary(0, len(data)), given.faults
    if len(data) < 8:
        raise _fault(len(data), "the length of the message is expected: it is truncated")
    size = int.from_bytes(data[4:8], "little")
    if size > len(data) - 8:
        raise _fault(4, f"{size:,} bytes are expected, and {len(data) - 8:,} are left")
    found = given.dictionary(8, 8 + size)
    _fill(found, given.empty, memoryview(data), 8 + size)
    return found, given.faults


#: The first bytes of a file whose numbers follow the message.
LARGE = b"\x6b\x74\x6e\x63"


def _fill(found: Dictionary, empty: list[WireArray], data: memoryview, at: int) -> None:
    """Give arrays the numbers after the message.

    CNTK writes them as it walks its dictionaries, whose entries have no order, and its lists, which
    have one: several are in the order of the message if each is the only one of an item of a list.
    """
    sizes = [_bytes_of(one) for one in empty]
    if sum(sizes) != len(data) - at:
        words = f"{sum(sizes):,} bytes of numbers are expected, and {len(data) - at:,} are left"
        raise _fault(at, f"{words}: it is truncated or damaged")
    items = found.get("inputs")
    listed = [_arrays(one) for one in items] if isinstance(items, list) else []
    orderly = len(empty) < 2 or (
        all(len(one) <= 1 for one in listed)
        and [id(one) for few in listed for one in few] == [id(one) for one in empty]
    )
    if not orderly:
        raise _fault(
            at,
            f"the order of the numbers of its {len(empty):,} arrays is not in the file",
        )
    filled: dict[int, WireArray] = {}
    for one, size in zip(empty, sizes, strict=True):
        kind = "<f8" if one.dtype == "float64" else "<f4"
        values = np.frombuffer(data[at : at + size], kind)
        filled[id(one)] = one._replace(values=values, at=at)
        at += size
    _replace(found, filled)


def _arrays(value: Any) -> list[WireArray]:
    """Return the arrays in a value, at any depth."""
    if isinstance(value, WireArray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [array for one in parts for array in _arrays(one)]


def _bytes_of(one: WireArray) -> int:
    size = 8 if one.dtype == "float64" else 4
    for side in one.shape:
        size *= side
    return size


def _replace(value: Any, filled: Mapping[int, WireArray]) -> Any:
    """Return a value with numbers in its arrays; dictionaries and lists are changed in place."""
    if isinstance(value, dict):
        for key in value:
            value[key] = _replace(value[key], filled)
    elif isinstance(value, list):
        value[:] = [_replace(one, filled) for one in value]
    elif isinstance(value, WireArray):
        return filled.get(id(value), value)
    return value
