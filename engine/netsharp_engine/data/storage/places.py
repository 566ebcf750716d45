"""The places of prepared tables: beside a model, or in the user's folder.

A table's name is a hash of what was asked for, so that a newer one replaces an older; it lists the
files that it was made of, and is stale when one of these has changed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from netsharp_engine import stored
from netsharp_engine.atomic_files import remove_leftovers
from netsharp_engine.data.storage.files import read_table_of
from netsharp_engine.data.storage.stores import StoreError, make_folder
from netsharp_engine.plain_files import open_plain

BESIDE = ".netsharp-cache"
SUFFIX = ".table"
#: The most tables that are kept in a folder.
MOST_KEPT = 8
#: Git passes over a folder that holds this.
IGNORING = (".gitignore", "*\n")


class Stamp(NamedTuple):
    """The identity of a file that was read, to detect changes: times are nanoseconds.

    Copies and archives give a file the size and the time of another, which its ``number`` and the
    time at which anything of it changed, be it the name, tell apart.
    """

    path: str
    size: int
    written: int
    changed: int
    number: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """Return the stamp of a file as it is now. Raises OSError."""
        found = os.stat(path)
        times = (found.st_mtime_ns, found.st_ctime_ns)
        return cls(os.path.realpath(path), found.st_size, *times, found.st_ino)

    def holds(self) -> bool:
        """Return whether the file is as it was."""
        try:
            return Stamp.of(self.path) == self
        except OSError:
            return False


class KeptTable(NamedTuple):
    """A table in a folder: its file, what it was made of, its size, and when (seconds since 1970).

    ``state`` is ``usable``, ``stale`` or ``damaged``.  ``written`` is rounded, as the file has it;
    ``placed`` (nanoseconds) tells tables of one moment apart.
    """

    path: str
    sources: tuple[str, ...]
    size: int
    written: float
    placed: int
    state: str


def folder_for(model: str | None) -> str:
    """Return the folder of tables for a model that is written there, or the user's."""
    if model is not None:
        return os.path.join(os.path.dirname(os.path.abspath(model)), BESIDE)
    return users_folder("tables")


def users_folder(name: str) -> str:
    """Return the user's folder for kept files of a kind, by the platform's convention."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("netsharp", appauthor=False), name)


def made_folder(path: str) -> None:
    """Make such a folder where there is none.  Raises StoreError, also for a link to another."""
    if os.path.islink(path):
        raise StoreError(errno.ELOOP, "it is a link, and no folder of ours")
    make_folder(path)
    name, text = IGNORING
    try:
        with open(os.path.join(path, name), "x", encoding="ascii") as stream:
            stream.write(text)
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreError(*error.args) from None


def place_of(folder: str, key: Mapping[str, Any]) -> str:
    """Return the path in a folder of the table that plain values ask for."""
    text = json.dumps(key, sort_keys=True, separators=(",", ":"))
    return os.path.join(folder, hashlib.blake2b(text.encode(), digest_size=16).hexdigest() + SUFFIX)


def stamps_in(values: Mapping[str, Any]) -> tuple[Stamp, ...]:
    """Return the stamps among a table's values. Raises ValueError."""
    found = []
    for path, *numbers in stored.items(values, "sources"):
        name = os.fsdecode(stored.as_text(path, "path").encode("latin-1"))
        if "\0" in name or len(numbers) != len(Stamp._fields) - 1:
            raise ValueError("a file of the table is none")
        found.append(Stamp(name, *(int(stored.as_text(one, "number")) for one in numbers)))
    return tuple(found)


def stamps_out(stamps: Sequence[Stamp]) -> list[list[str]]:
    """Return stamps as plain values: paths byte by byte, since they need not be text, and numbers
    as texts, since nanoseconds exceed the exact range of JSON's numbers.
    """
    return [[os.fsencode(path).decode("latin-1"), *map(str, numbers)] for path, *numbers in stamps]


def listed(folder: str) -> Iterator[KeptTable]:
    """Yield every table in a folder, by name; none in the target of a link."""
    if os.path.islink(folder):
        return
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(SUFFIX) and os.path.isfile(path) and not os.path.islink(path):
            found = None
            with suppress(OSError):  # gone meanwhile
                found = _look(path)
            if found is not None:
                yield found


def cleared(table: KeptTable) -> None:
    """Remove a table.  Raises OSError."""
    os.unlink(table.path)


def remove_leftovers_in(folder: str) -> None:
    """Remove what killed runs left in a folder, and the folder where no table is in it."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return
    name, _ = IGNORING
    remove_leftovers(os.path.join(folder, name))
    with suppress(OSError):  # another process writes there, or we may not
        if os.listdir(folder) in ([], [name]):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)


def thinned(folder: str) -> None:
    """Remove all but the newest tables of a folder, the stale and damaged ones first.

    A search over settings would fill a disk with tables that are never used again. A run that has
    one open continues with it.
    """
    tables = sorted(listed(folder), key=lambda one: (one.state == "usable", one.placed))
    for table in tables[:-MOST_KEPT]:
        with suppress(OSError):
            cleared(table)


def _look(path: str) -> KeptTable:
    status = os.stat(path)
    try:
        with open_plain(path) as stream:
            table = read_table_of(stream)
        stamps = () if table is None else stamps_in(stored.table(table, "values"))
    except (OSError, ValueError, TypeError):
        stamps = ()
    state = "damaged" if not stamps else "usable" if all(s.holds() for s in stamps) else "stale"
    sources = tuple(stamp.path for stamp in stamps)
    times = (status.st_mtime, status.st_ctime_ns)
    return KeptTable(path, sources, status.st_size, *times, state)
