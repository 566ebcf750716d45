"""Files as they were at their first reading, so that what is compared, edited and written belongs
together; decides nothing more.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.workspace import Count, Counted, Files


class ReadOnce:
    """The files of a disk, or what else is there, each read once."""

    __slots__ = ("_disk", "_known")

    def __init__(self, disk: Files) -> None:
        self._disk = disk
        self._known: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file at its first read, None where it could not be read."""
        name = self._disk.locate(path)
        if name not in self._known:
            self._known[name] = self._disk.read(name)
        return self._known[name]

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder of that name."""
        return self._disk.exists(path)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path; None where nothing is visible there."""
        return self._disk.kind(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where it may not be read."""
        return self._disk.counted(path, count)

    def outside(self, path: str) -> bool:
        """Return whether a file may be where nothing is looked at."""
        return self._disk.outside(path)

    def locate(self, path: str) -> str:
        """Return the real path of a file, or the one that it would have."""
        return self._disk.locate(path)
