"""The files of a disk for configurations: looked for in folders in turn; decides nothing more."""

from __future__ import annotations

import os

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.limits import CONFIGURATION_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class DiskFiles:
    """Files below the first of `folders` that has them; `given` ones come before the disk.

    A path may be written in the manner of Windows. Only plain files are read, and no more of
    them than shows that they are too large.
    """

    __slots__ = ("_folders", "_given")

    def __init__(
        self, folders: Sequence[str] = ("",), given: Mapping[str, bytes] | None = None
    ) -> None:
        self._folders = folders
        self._given = given or {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        if path in self._given:
            return self._given[path]
        found = self.find(path)
        if found is None:
            return None
        try:
            with open_plain(found) as stream:
                return stream.read(CONFIGURATION_BYTES.most + 1)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name."""
        if path in self._given or self.find(path) is not None:
            return True
        spellings = (path, path.replace("\\", "/"))
        places = [os.path.join(folder, one) for folder in self._folders for one in spellings]
        return any("\0" not in place and os.path.isdir(place) for place in places)

    def locate(self, path: str) -> str:
        """Return the real path of a file, or the one that it would have."""
        return os.path.realpath(self.find(path) or os.path.join(self._folders[0], path))

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none where it cannot be read."""
        place = os.path.join(self._folders[0], folder.replace("\\", "/")) or "."
        try:
            with os.scandir(place) as found:
                return sorted(one.name for one in found if one.is_file())
        except (OSError, ValueError):
            return []

    def find(self, path: str) -> str | None:
        """Return where a file lies, None where there is none."""
        for folder in self._folders:
            for spelling in (path, path.replace("\\", "/")):
                place = os.path.join(folder, spelling)
                if "\0" not in place and os.path.isfile(place):
                    return place
        return None
