"""The files of a run by the paths in its texts; knows nothing of their contents."""

from __future__ import annotations

import os

from netsharp_lsp.cntk.configuration.items import folders_of, read_items
from netsharp_lsp.limits import STORED_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.text.matrices import Matrix
    from netsharp_lsp.workspace import Count, Counted, Files, Run


class _NetworkReading:
    """A reader of the networks of model files, of up to `most_bytes` each."""

    most_bytes = STORED_BYTES.most

    def __call__(self, blocks: Iterable[bytes]) -> Network | str:
        """Read one; a sentence where there is none."""
        from netsharp_lsp.cntk.networks.stored import read_network

        return read_network(blocks)


_NETWORK = _NetworkReading()


class RunFiles:
    """The files of one run: paths are relative to its working directory, else to other folders
    where its files are searched.

    `started` is the folder in which it is started, empty where that is the working directory.
    `texts` caches what was read, by the requested path; None for missing files.
    """

    __slots__ = ("_files", "_folders", "_open", "started", "texts")

    def __init__(self, files: Files, run: Run) -> None:
        self._files = files
        items, unknown = read_items(run.items), {hole.item for hole in run.holes}
        _, folder = folders_of(items, unknown)
        begun = ["" if one == "." else one for one in (run.directory, *run.also)]
        self._folders = [os.path.join(one, folder) for one in begun] if folder else begun
        # Not by steps out of the folder that it works in, which may be a link to elsewhere.
        self.started = os.path.abspath(begun[0]) if folder else ""
        self._open = any(items[number].kind == "folder" for number in unknown)
        self.texts: dict[str, bytes | None] = {}

    @property
    def folder(self) -> str:
        """Return the folder that paths of the run are relative to."""
        return self._folders[0] or os.curdir

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where no file can be read."""
        if path not in self.texts:
            found = (self._files.read(os.path.join(one, path)) for one in self._folders)
            self.texts[path] = next((data for data in found if data is not None), None)
        return self.texts[path]

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder of that name exists; reads nothing."""
        return any(self._files.exists(os.path.join(one, path)) for one in self._folders)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path, a file first; None where nothing is seen there."""
        kinds = [self._files.kind(os.path.join(one, path)) for one in self._folders]
        return "file" if "file" in kinds else next(filter(None, kinds), None)

    def not_a_file(self, path: str) -> str | None:
        """Return the kind of a path that is not a file, such as "folder"; None for any other."""
        kind = self.kind(path)
        return None if kind == "file" else kind

    def matrix(self, path: str) -> Matrix | None:
        """Return the matrix in a text of numbers, None where it is unknown."""
        from netsharp_lsp.text.matrices import matrix_of

        return self.counted(path, matrix_of)

    def labels(self, path: str) -> int | None:
        """Return the number of labels in a list, None where it is unknown."""
        from netsharp_lsp.text.matrices import labels_in

        found = self.counted(path, labels_in)
        return None if found is None or found < 1 else found

    def network(self, path: str) -> Network | None:
        """Return the network of a model file, None where it is unknown."""
        found = self.counted(path, _NETWORK)
        return None if isinstance(found, str) else found

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file, None where it may not be read."""
        # CNTK takes these for its input and for the output of another program.
        if path in ("", "-") or path.endswith("|"):
            return None
        places = (os.path.join(one, path) for one in self._folders)
        found = (self._files.counted(one, count) for one in places)
        return next((one for one in found if one is not None), None)

    def outside(self, path: str) -> bool:
        """Return whether nothing can be known about a file, which then is nowhere else.

        The additional folders do not show where a missing file should be, and an open working
        directory cannot be searched.
        """
        beyond = self._files.outside(os.path.join(self._folders[0], path))
        return self.is_in_working_directory(path) or (beyond and not self.exists(path))

    def is_in_working_directory(self, path: str) -> bool:
        """Return whether a file would be in the working directory, and that is open."""
        return self._open and not os.path.isabs(path) and not self.exists(path)

    def locate(self, path: str) -> str:
        """Return the canonical path of a file."""
        places = [os.path.join(one, path) for one in self._folders]
        return self._files.locate(next(filter(self._files.exists, places), places[0]))
