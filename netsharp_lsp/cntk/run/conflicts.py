"""The files of a run with one side of every merge conflict in them; knows no rule."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.text.conflicts import conflicts_in, one_side
from netsharp_lsp.text.decode import decode_legacy, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.text.conflicts import Conflict
    from netsharp_lsp.workspace import Count, Counted, Files


class FileConflict:
    """A conflict in the file of a name."""

    __slots__ = ("conflict", "file")

    def __init__(self, file: str, conflict: Conflict) -> None:
        self.file = file
        self.conflict = conflict


class OneSide:
    """Files whose conflicts are all resolved to the same side."""

    __slots__ = ("_files", "_ours", "exists", "kind", "locate", "outside")

    def __init__(self, files: Files, *, ours: bool) -> None:
        self._files = files
        self._ours = ours
        self.exists = files.exists
        self.kind = files.kind
        self.locate = files.locate
        self.outside = files.outside

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where no file can be read."""
        data = self._files.read(path)
        if data is None:
            return None
        source = decode_legacy(data)
        conflicts = conflicts_in(source.text)
        if not conflicts:
            return data
        return encode(source, one_side(source.text, conflicts, ours=self._ours))

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where it may not be read."""
        return self._files.counted(path, count)


def conflicts_by_file(files: Files, names: Iterable[str]) -> dict[str, tuple[Conflict, ...]]:
    """Return the conflicts of the texts among some files."""
    found = {}
    for name in names:
        data = files.read(name)
        conflicts = conflicts_in(decode_legacy(data).text) if data is not None else ()
        if data is not None and conflicts and isinstance(read_text(name, data), Source):
            found[name] = conflicts
    return found
