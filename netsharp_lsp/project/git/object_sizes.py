"""The declared size of an object of git, and its base objects, before it is unpacked.

A few bytes can unpack to any number; dulwich holds them to what is declared here.
"""

from __future__ import annotations

import os
import zlib

from dulwich.errors import ObjectFormatException
from dulwich.objects import RawObjectID

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.limits import GIT_FILE_BYTES
from netsharp_lsp.project.git.work_tree import plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID
    from dulwich.pack import Pack

#: An object in a pack that is stored as a delta of another, by its distance or its hash.
_BY_DISTANCE, _BY_HASH = 6, 7
#: git makes no chain of changes longer than this.
_LONGEST_CHAIN = 4096
_BLOCK = 512


def declared_sizes(store: DiskObjectStore, name: ObjectID) -> Iterator[int]:
    """Yield the sizes of an object and of all that it is unpacked from; none if it is not there."""
    digits = name.decode()
    path = os.path.join(store.path, digits[:2], digits[2:])
    if os.path.lexists(path):
        head = _unpacked(plain_file(path, GIT_FILE_BYTES, whole=False) or b"")
        yield int(head.split(b"\0")[0].split(b" ")[1])
    for pack in store.packs:
        try:
            offset = pack.index.object_offset(name)
        except KeyError:
            continue
        yield from _packed(pack, offset)


def _packed(pack: Pack, offset: int) -> Iterator[int]:
    width = pack.object_format.oid_length
    with open_plain(pack.data.path) as file:
        for _ in range(_LONGEST_CHAIN):
            file.seek(offset)
            head = file.read(_BLOCK)
            kind = head[0] >> 4 & 7
            size, at = _number(head, 0, 4)
            yield size
            if kind == _BY_DISTANCE:
                distance, at = _distance(head, at)
                offset -= distance
            elif kind == _BY_HASH:
                offset = pack.index.object_offset(RawObjectID(head[at : at + width]))
                at += width
            else:
                return
            change = _unpacked(head[at:])
            source, at = _number(change, 0, 7)
            yield source
            yield _number(change, at, 7)[0]
    raise ObjectFormatException("a chain of changes without end")


def _unpacked(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, _BLOCK)


def _number(data: bytes, at: int, bits: int) -> tuple[int, int]:
    """Return a number whose first byte has ``bits`` bits, the lowest first, and where it ends."""
    value, shift = data[at] & (1 << bits) - 1, bits
    while data[at] & 0x80:
        at += 1
        value |= (data[at] & 0x7F) << shift
        shift += 7
    return value, at + 1


def _distance(data: bytes, at: int) -> tuple[int, int]:
    """Return a number with the highest bits first, whose encoding is unique."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) + (data[at] & 0x7F)
    return value, at + 1
