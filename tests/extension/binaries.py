"""Reads of a compiled library what a loader would: format, machine, exported names, what it needs.

Knows ELF, Mach-O and PE with 64 bits, as far as that; nothing of Python.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

ELF_MACHINES = {0x3E: "x64", 0xB7: "arm64"}
MACHO_MACHINES = {0x01000007: "x64", 0x0100000C: "arm64"}
PE_MACHINES = {0x8664: "x64", 0xAA64: "arm64"}

SHT_DYNAMIC, SHT_DYNSYM = 6, 11
DT_NEEDED = 1
LC_SYMTAB, LC_LOAD_DYLIB, LC_CODE_SIGNATURE, LC_BUILD_VERSION = 0x2, 0xC, 0x1D, 0x32
N_EXT, N_TYPE, N_SECT = 0x01, 0x0E, 0x0E


class Library(NamedTuple):
    """What was read; `needs` are the other libraries, `exports` the names it offers."""

    format: str
    machine: str
    exports: set[str]
    needs: set[str]
    #: Mach-O only: whether it is signed, and the oldest system it says it runs on.
    signed: bool = False
    system: tuple[int, int] = (0, 0)


def read(data: bytes) -> Library:
    """Read a library; ValueError for any other file."""
    if data[:4] == b"\x7fELF":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _macho(data)
    if data[:2] == b"MZ":
        return _pe(data)
    raise ValueError(f"no library begins with {data[:4]!r}")


def _name(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def _elf(data: bytes) -> Library:
    (machine,) = struct.unpack_from("<H", data, 0x12)
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, table + size * number) for number in range(count)
    ]
    exports, needs = set(), set()
    for section in sections:
        kind, start, length, link = section[1], section[4], section[5], section[6]
        strings = sections[link][4]
        if kind == SHT_DYNSYM:
            for place in range(start, start + length, 24):
                name, info, _, owner = struct.unpack_from("<IBBH", data, place)
                if owner and info >> 4 == 1:
                    exports.add(_name(data, strings + name))
        if kind == SHT_DYNAMIC:
            for place in range(start, start + length, 16):
                tag, value = struct.unpack_from("<qQ", data, place)
                if tag == DT_NEEDED:
                    needs.add(_name(data, strings + value))
    return Library("ELF", ELF_MACHINES[machine], exports, needs)


def _macho(data: bytes) -> Library:
    machine = MACHO_MACHINES[struct.unpack_from("<I", data, 4)[0]]
    exports, needs = set(), set()
    signed, system, place = False, (0, 0), 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, place)
        if command == LC_SYMTAB:
            exports = _macho_exports(data, *struct.unpack_from("<IIII", data, place + 8))
        elif command == LC_LOAD_DYLIB:
            needs.add(_name(data, place + struct.unpack_from("<I", data, place + 8)[0]))
        elif command == LC_CODE_SIGNATURE:
            signed = True
        elif command == LC_BUILD_VERSION:
            (version,) = struct.unpack_from("<I", data, place + 12)
            system = (version >> 16, version >> 8 & 0xFF)
        place += size
    return Library("Mach-O", machine, exports, needs, signed, system)


def _macho_exports(data: bytes, symbols: int, count: int, strings: int, _: int) -> set[str]:
    found = set()
    for place in range(symbols, symbols + 16 * count, 16):
        name, kind = struct.unpack_from("<IB", data, place)
        if kind & N_EXT and kind & N_TYPE == N_SECT:
            found.add(_name(data, strings + name).removeprefix("_"))
    return found


def _pe(data: bytes) -> Library:
    (header,) = struct.unpack_from("<I", data, 0x3C)
    machine, sections = struct.unpack_from("<HH", data, header + 4)
    (length,) = struct.unpack_from("<H", data, header + 20)
    spans = [
        struct.unpack_from("<IIII", data, header + 24 + length + 40 * number + 8)
        for number in range(sections)
    ]

    def offset(address: int) -> int:
        for size, start, stored, place in spans:
            if start <= address < start + max(size, stored):
                return address - start + place
        raise ValueError(f"no section holds {address:#x}")

    exported, _, imported, _ = struct.unpack_from("<IIII", data, header + 24 + 112)
    exports, needs = set(), set()
    (count,) = struct.unpack_from("<I", data, offset(exported) + 24)
    (names,) = struct.unpack_from("<I", data, offset(exported) + 32)
    for number in range(count):
        (name,) = struct.unpack_from("<I", data, offset(names) + 4 * number)
        exports.add(_name(data, offset(name)))
    place = offset(imported)
    while any(entry := struct.unpack_from("<IIIII", data, place)):
        needs.add(_name(data, offset(entry[3])).lower())
        place += 20
    return Library("PE", PE_MACHINES[machine], exports, needs)
