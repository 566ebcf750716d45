"""The files of a disk for configurations: looked for in folders in turn; decides nothing more."""

from __future__ import annotations

import os

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.limits import CONFIGURATION_BYTES
from netsharp_lsp.project.roots import ANYWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    from netsharp_lsp.project.roots import Roots

    class Located(Protocol):
        """Files that know nothing of roots."""

        def read(self, path: str) -> bytes | None:
            """Return the bytes of a file, None where there is none that can be read."""

        def exists(self, path: str) -> bool:
            """Whether there is a file or a folder of that name."""

        def locate(self, path: str) -> str:
            """Return the one name of a file."""


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
            with open_plain(found, follow=False) as stream:
                return stream.read(CONFIGURATION_BYTES.most + 1)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name."""
        if path in self._given or self.find(path) is not None:
            return True
        inside = map(self._roots.place, self._places(path))
        return any(place is not None and os.path.isdir(place) for place in inside)

    def outside(self, path: str) -> bool:
        """Whether a file may be where nothing is looked at, seen from every folder, and is not
        elsewhere.
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
        """Where a file may be, in the order in which it is looked for."""
        for folder in self._folders if "\0" not in path else ():
            yield from _spelt(folder, path)

    def _is_inside(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry of a folder inside is a file, and a link no way out."""
        return (not entry.is_symlink() or self._roots.holds(entry.path)) and entry.is_file()


def _spelt(folder: str, path: str) -> list[str]:
    """A path below a folder as it is written, and as Windows would have it."""
    return [os.path.join(folder, one) for one in dict.fromkeys((path, path.replace("\\", "/")))]


class BoundFiles:
    """Files from wherever, of which those outside the roots are not told."""

    __slots__ = ("_files", "_roots", "locate")

    def __init__(self, files: Located, roots: Roots) -> None:
        self._files = files
        self._roots = roots
        self.locate = files.locate

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        return None if self.outside(path) else self._files.read(path)

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name."""
        return not self.outside(path) and self._files.exists(path)

    def outside(self, path: str) -> bool:
        """Whether a file would be where nothing is looked at."""
        return not self._roots.holds(self.locate(path))
