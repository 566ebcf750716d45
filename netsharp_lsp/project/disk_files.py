"""The files of a disk for configurations: looked for in folders in turn; decides nothing more."""

from __future__ import annotations

import os

from netsharp_engine.plain_files import kind_at, open_plain, read_plain
from netsharp_lsp.limits import CONFIGURATION_BYTES, COUNTED_BYTES
from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.text.remembered import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, BinaryIO, Protocol

    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.workspace import Count, Counted

    class Located(Protocol):
        """Files that know nothing of roots."""

        def read(self, path: str) -> bytes | None:
            """Return the bytes of a file, None where there is none that can be read."""

        def exists(self, path: str) -> bool:
            """Return whether there is a file or a folder of that name."""

        def kind(self, path: str) -> str | None:
            """Return the kind of a path."""

        def locate(self, path: str) -> str:
            """Return the canonical path of a file."""

        def counted(self, path: str, count: Count[Counted]) -> Counted | None:
            """Return the result of `count` for a data file."""


#: Bytes that are read of data at once, and the number of files whose counts are cached.
_BLOCK, _KEPT = 1 << 16, 1_000
#: The result of a mere test for existence.
_SEEN = ("file", "folder")
#: What was counted in files of data, by what was, where they are, and how they were then.
_COUNTED: Remembered[Any] = Remembered(_KEPT)


class DiskFiles:
    """Files below the first of `folders` that has them; `given` ones come before the disk.

    A path may be written in the manner of Windows. Only plain files inside the `roots` are read,
    and no more of them than shows that they are too large.
    """

    __slots__ = ("_folders", "_given", "_roots")

    def __init__(
        self,
        folders: Sequence[str] = ("",),
        given: Mapping[str, bytes] | None = None,
        roots: Roots = ANYWHERE,
    ) -> None:
        self._folders = folders
        self._given = given or {}
        self._roots = roots

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        if path in self._given:
            return self._given[path]
        found = self.find(path)
        if found is None:
            return None
        try:
            return read_plain(found, CONFIGURATION_BYTES.most + 1, follow=False)
        except OSError:
            return None

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where it may not be read or is large.

        A file is read again when it has changed.
        """
        if path in self._given:
            return count((self._given[path],))
        found = self.find(path) if self._roots.data else None
        try:
            return None if found is None else _counted(found, count)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder of that name."""
        if path in self._given:
            return True
        inside = map(self._roots.place, self._places(path))
        return any(place is not None and kind_at(place) in _SEEN for place in inside)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path, "file", "folder" or "pipe", a file first; opens nothing."""
        if path in self._given:
            return "file"
        inside = map(self._roots.place, self._places(path))
        kinds = [kind_at(place) for place in inside if place is not None]
        return "file" if "file" in kinds else next(filter(None, kinds), None)

    def outside(self, path: str) -> bool:
        """Return whether a file may be in a place that is not read, seen from each folder, and is
        nowhere else.
        """
        if "\0" in path or self.exists(path):
            return False
        return not any(
            all(map(self._roots.holds, _spelt(folder, path))) for folder in self._folders
        )

    def locate(self, path: str) -> str:
        """Return the real path of a file, or the one that it would have."""
        return self.find(path) or os.path.realpath(os.path.join(self._folders[0], path))

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none where it cannot be read."""
        place = self._roots.place(os.path.join(self._folders[0], folder.replace("\\", "/")) or ".")
        if place is None:
            return []
        try:
            with os.scandir(place) as found:
                return sorted(one.name for one in found if self._is_inside(one))
        except OSError:
            return []

    def find(self, path: str) -> str | None:
        """Return where a file lies, links followed; None where there is none."""
        for place in map(self._roots.place, self._places(path)):
            if place is not None and os.path.isfile(place):
                return place
        return None

    def _places(self, path: str) -> Iterator[str]:
        """Yield where a file may be, in the order in which it is looked for."""
        for folder in self._folders if "\0" not in path else ():
            yield from _spelt(folder, path)

    def _is_inside(self, entry: os.DirEntry[str]) -> bool:
        """Return whether an entry of a folder inside is a file, and a link no way out."""
        return (not entry.is_symlink() or self._roots.holds(entry.path)) and entry.is_file()


class FilesOfAMoment(DiskFiles):
    """The files of a disk as they are found when they are first asked for.

    For short work that asks for the same names repeatedly: a disk's answer may cost more than
    the check that uses it.
    """

    __slots__ = ("_exist", "_found", "_located")

    def __init__(self, roots: Roots = ANYWHERE) -> None:
        super().__init__(roots=roots)
        self._found: dict[str, str | None] = {}
        self._located: dict[str, str] = {}
        self._exist: dict[str, bool] = {}

    def find(self, path: str) -> str | None:
        """Return where a file lies, links followed; None where there is none."""
        if path not in self._found:
            self._found[path] = super().find(path)
        return self._found[path]

    def locate(self, path: str) -> str:
        """Return the real path of a file, or the one that it would have."""
        if path not in self._located:
            self._located[path] = super().locate(path)
        return self._located[path]

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder of that name."""
        if path not in self._exist:
            self._exist[path] = super().exists(path)
        return self._exist[path]


def _counted(place: str, count: Count[Counted]) -> Counted | None:
    """Count what a file holds, unless it is known or larger than `count` takes; OSError where it
    is none.
    """
    with open_plain(place, follow=False) as stream:
        state = os.fstat(stream.fileno())
        if state.st_size > getattr(count, "most_bytes", COUNTED_BYTES.most):
            return None
        key = (count, place, state.st_mtime_ns, state.st_size, state.st_ino)
        known: Counted | None = _COUNTED.find(key)
        if known is None:
            known = count(_blocks(stream, state.st_size))
            _COUNTED.keep(key, known, 1)
        return known


def _blocks(stream: BinaryIO, left: int) -> Iterator[bytes]:
    """Yield the bytes of a file, no more than it had when it was opened."""
    while left > 0 and (block := stream.read(min(_BLOCK, left))):
        left -= len(block)
        yield block


def _spelt(folder: str, path: str) -> list[str]:
    """Return a path below a folder as it is written, and as Windows would have it."""
    return [os.path.join(folder, one) for one in dict.fromkeys((path, path.replace("\\", "/")))]


class BoundFiles:
    """Files of another source, without those outside the roots."""

    __slots__ = ("_files", "_roots", "locate")

    def __init__(self, files: Located, roots: Roots) -> None:
        self._files = files
        self._roots = roots
        self.locate = files.locate

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        return None if self.outside(path) else self._files.read(path)

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder of that name."""
        return not self.outside(path) and self._files.exists(path)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path; None where nothing is visible there."""
        return None if self.outside(path) else self._files.kind(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where it may not be read."""
        return None if self.outside(path) else self._files.counted(path, count)

    def outside(self, path: str) -> bool:
        """Return whether a file would be where nothing is looked at."""
        return not self._roots.holds(self.locate(path))
