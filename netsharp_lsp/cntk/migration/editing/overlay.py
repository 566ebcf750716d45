"""Files with some texts in place of others: the state after a migration, before it is written."""

from __future__ import annotations

from netsharp_lsp.text.decode import Source, decode_legacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.workspace import Count, Counted, Files


class Overlay:
    """Files of which some, by canonical path, have another text or are new."""

    __slots__ = ("_files", "_given")

    def __init__(self, files: Files, given: Mapping[str, bytes]) -> None:
        self._files = files
        self._given = given

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where no file can be read."""
        return self._given.get(self.locate(path)) or self._files.read(path)

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder of that name exists; reads nothing."""
        return self.locate(path) in self._given or self._files.exists(path)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path; None where nothing is seen there."""
        return "file" if self.locate(path) in self._given else self._files.kind(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where it may not be read."""
        return self._files.counted(path, count)

    def outside(self, path: str) -> bool:
        """Return whether nothing can be known about a file."""
        return self.locate(path) not in self._given and self._files.outside(path)

    def locate(self, path: str) -> str:
        """Return the canonical path of a file."""
        return self._files.locate(path)


class Texts:
    """Files as decoded texts, each read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, Source] = {}

    def source(self, file: str) -> Source:
        """Return a decoded file; an empty text where there is none."""
        if file not in self._known:
            self._known[file] = decode_legacy(self._files.read(file) or b"")
        return self._known[file]

    def data(self, file: str) -> bytes:
        """Return the text of a file in UTF-8."""
        return self.source(file).text

    def with_line_ends(self, text: str, file: str) -> str:
        """Return a text with the line ends of a file."""
        return text.replace("\r\n", "\n").replace("\n", self.source(file).line_end)
