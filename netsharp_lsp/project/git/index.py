"""Which of some names the index of git holds: names alone are read of it, none is kept.

dulwich reads an index, too, but takes longer to be imported than `check` takes for a file.
"""

from __future__ import annotations

import os
from struct import Struct, error

from netsharp_lsp.limits import GIT_INDEX_BYTES
from netsharp_lsp.project.git.work_tree import plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_HEAD = Struct(">4sLL")
_FLAGS = Struct(">H")
_SIZE = Struct(">4sL")
#: The fields before the hash of an entry, and the sizes that a hash may have.
_BEFORE = 40
_HASHES = (20, 32)
_MORE_FLAGS, _LENGTH = 0x4000, 0x0FFF
_LONGEST = 4096


class _DamagedError(Exception):
    """An index that is none, or one of another kind."""


def tracked(data: bytes, folder: str, names: Container[bytes]) -> set[bytes]:
    """Return those of the names that an index tracks; a damaged one tracks nothing.

    `folder`: where the rest of an index lies that is split in two.
    """
    for size in _HASHES:
        try:
            found, end = _entries(data, size, names)
        except (_DamagedError, error, ValueError, IndexError):
            continue
        shared = _link(data, end, size)
        if shared is None:
            return found
        rest = plain_file(os.path.join(folder, f"sharedindex.{shared}"), GIT_INDEX_BYTES) or b""
        try:
            return found | _entries(rest, size, names)[0]
        except (_DamagedError, error, ValueError, IndexError):
            return found
    return set()


def _entries(data: bytes, size: int, names: Container[bytes]) -> tuple[set[bytes], int]:
    """Read all entries with hashes of a size; return the names found, and where entries end."""
    signature, version, count = _HEAD.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise _DamagedError
    found = set()
    name = b""
    at = _HEAD.size
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(data, at + _BEFORE + size)
        start = at + _BEFORE + size + (4 if flags & _MORE_FLAGS else 2)
        kept = b""
        if version == 4:
            dropped, start = _number(data, start)
            kept = name[: len(name) - dropped]
        end = data.index(0, start)
        name = kept + data[start:end]
        if min(len(name), _LENGTH) != flags & _LENGTH or len(name) > _LONGEST:
            raise _DamagedError
        if name in names:
            found.add(name)
        at = end + 1 if version == 4 else at + (end - at + 8 & ~7)
    return found, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of as many bytes as it needs, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) + (data[at] & 0x7F)
        if value > _LONGEST:
            raise _DamagedError
    return value, at + 1


def _link(data: bytes, at: int, size: int) -> str | None:
    """Return the name of the index that this one completes, None for one that is whole."""
    while at + _SIZE.size + size <= len(data):
        signature, length = _SIZE.unpack_from(data, at)
        if signature == b"link":
            return data[at + _SIZE.size : at + _SIZE.size + size].hex()
        at += _SIZE.size + length
    return None
