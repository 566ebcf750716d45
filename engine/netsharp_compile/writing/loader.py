"""C99 that takes the tables of a network from a file in a device's memory, and checks the file
before any of it is used.

Knows the form of that file, and nothing of layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netsharp_compile.writing.tables_file import (
    ALIGNED,
    CHECKED_FROM,
    MAGIC,
    VERSION,
    fingerprint_of,
    rising_tables,
    shapes_of,
)

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerNetwork, Integers

#: The results of a call, numbered from 0, and their meaning.
ANSWERS = {
    "GOOD": "they can be used",
    "STRANGE": "it is not a file of tables",
    "VERSION": "it has another version",
    "DAMAGED": "it is damaged, or not whole",
    "OTHER": "it was made for another network",
    "FALLING": "a table falls behind which largest values are found by largest sums",
    "PLACED": "it begins at no multiple of 4, or the processor has its bytes the other way round",
}


def loader_files(network: IntegerNetwork, prefix: str) -> dict[str, str]:
    """Return the text of the header and of the code by their names."""
    return {
        f"{prefix}_load.h": "\n".join([*_header(prefix), ""]),
        f"{prefix}_load.c": "\n".join([*_code(network, prefix), ""]),
    }


def _header(prefix: str) -> Iterator[str]:
    upper = prefix.upper()
    yield f"/* Tables of {prefix}.c from a file in memory, {prefix}.tables.bin or another. */"
    yield f"#ifndef {upper}_LOAD_H"
    yield f"#define {upper}_LOAD_H"
    yield ""
    yield f'#include "{prefix}.h"'
    yield ""
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield ""
    yield "enum {"
    yield from (f"    {upper}_TABLES_{name}, /* {said} */" for name, said in ANSWERS.items())
    yield "};"
    yield ""
    yield "/* Check a file of `length` bytes, at an address that is a multiple of 4, and take"
    yield f"   tables from it for {prefix}_run_with, without a copy. Returns one of the above;"
    yield "   where that is not 0, tables are unchanged. A checksum finds damage, not malice. */"
    yield f"int {prefix}_load_tables({prefix}_tables_t *tables, const void *file, uint32_t length);"
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield "#endif"


def _code(network: IntegerNetwork, prefix: str) -> Iterator[str]:
    upper, shapes = prefix.upper(), shapes_of(network)
    count, head = len(shapes), CHECKED_FROM + 4
    yield f"/* See {prefix}_load.h. */"
    yield f'#include "{prefix}_load.h"'
    yield ""
    if shapes:
        yield "/* Of each table the entries, the bytes of an entry, and whether it is signed. */"
        yield f"static const uint32_t wanted[{count}][3] = {{"
        yield from (f"    {{{one.entries}, {one.width}, {int(one.signed)}}}," for one in shapes)
        yield "};"
        yield ""
    yield "static uint32_t number_at(const uint8_t *place)"
    yield "{"
    yield "    return (uint32_t)place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16 |"
    yield "           (uint32_t)place[3] << 24;"
    yield "}"
    yield ""
    yield "/* The CRC-32 of some bytes, bit by bit: no table for the tables. */"
    yield "static uint32_t checksum_of(const uint8_t *from, uint32_t length)"
    yield "{"
    yield "    uint32_t rest = 0xFFFFFFFFu;"
    yield "    for (uint32_t n = 0; n < length; n++) {"
    yield "        rest ^= from[n];"
    yield "        for (int bit = 0; bit < 8; bit++)"
    yield "            rest = rest & 1u ? rest >> 1 ^ 0xEDB88320u : rest >> 1;"
    yield "    }"
    yield "    return rest ^ 0xFFFFFFFFu;"
    yield "}"
    yield ""
    yield f"int {prefix}_load_tables({prefix}_tables_t *tables, const void *file, uint32_t length)"
    yield "{"
    yield "    const uint8_t *bytes = file;"
    yield "    const uint16_t order = 1;"
    if shapes:
        yield f"    {prefix}_tables_t found;"
    yield f"    if ((uintptr_t)file % {ALIGNED} != 0 || *(const uint8_t *)&order != 1)"
    yield f"        return {upper}_TABLES_PLACED;"
    (magic,) = (int.from_bytes(MAGIC, "little"),)
    yield f"    if (length < {head} || number_at(bytes) != 0x{magic:08X}u)"
    yield f"        return {upper}_TABLES_STRANGE;"
    yield f"    if ((number_at(bytes + 4) & 0xFFFFu) != {VERSION})"
    yield f"        return {upper}_TABLES_VERSION;"
    yield "    const uint32_t own = number_at(bytes + 8);"
    yield f"    if (own < {head} || own > length ||"
    checked = f"bytes + {CHECKED_FROM}, own - {CHECKED_FROM}"
    yield f"        checksum_of({checked}) != number_at(bytes + 12))"
    yield f"        return {upper}_TABLES_DAMAGED;"
    yield f"    if (number_at(bytes + 4) >> 16 != {count} || own < {head + 16 * count} ||"
    yield f"        number_at(bytes + {CHECKED_FROM}) != 0x{fingerprint_of(network):08X}u)"
    yield f"        return {upper}_TABLES_OTHER;"
    if shapes:
        yield f"    for (uint32_t n = 0; n < {count}; n++) {{"
        yield f"        const uint8_t *record = bytes + {head} + 16 * n;"
        yield "        const uint32_t offset = number_at(record);"
        yield "        for (uint32_t i = 0; i < 3; i++)"
        yield "            if (number_at(record + 4 + 4 * i) != wanted[n][i])"
        yield f"                return {upper}_TABLES_OTHER;"
        yield f"        if (offset % {ALIGNED} != 0 || offset > own ||"
        yield "            wanted[n][0] * wanted[n][1] > own - offset)"
        yield f"            return {upper}_TABLES_DAMAGED;"
        yield "        found.table[n] = bytes + offset;"
        yield "    }"
        for number in rising_tables(network):
            yield from _require_rising(number, network.tables[number], upper)
        yield "    *tables = found;"
    else:
        yield "    tables->table[0] = 0;"
    yield f"    return {upper}_TABLES_GOOD;"
    yield "}"


def _require_rising(number: int, table: Integers, upper: str) -> Iterator[str]:
    """Yield the lines that refuse a table that falls."""
    yield "    {"
    yield f"        const {table.dtype.name}_t *codes = found.table[{number}];"
    yield f"        for (uint32_t n = 1; n < {table.size}; n++)"
    yield "            if (codes[n] < codes[n - 1])"
    yield f"                return {upper}_TABLES_FALLING;"
    yield "    }"
