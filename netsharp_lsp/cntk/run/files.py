"""The files of a run by the paths that its texts give them; knows nothing of what is in them."""

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
    """Reads the networks of model files, of up to `most_bytes` each."""

    most_bytes = STORED_BYTES.most

    def __call__(self, blocks: Iterable[bytes]) -> Network | str:
        """Read one; a sentence where there is none."""
        from netsharp_lsp.cntk.networks.stored import read_network

        return read_network(blocks)


_NETWORK = _NetworkReading()


class RunFiles:
    """The files of one run: paths are relative to the folder it works in, else to those where its
    files are looked for, too.

    `started` is the folder in which it is started, empty where it works there.  `texts` keeps what
    was read, by the path as it was asked for; None for what is not there.
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
        """The folder that paths of the run lead from."""
        return self._folders[0] or os.curdir

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        if path not in self.texts:
            found = (self._files.read(os.path.join(one, path)) for one in self._folders)
            self.texts[path] = next((data for data in found if data is not None), None)
        return self.texts[path]

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name; reads nothing."""
        return any(self._files.exists(os.path.join(one, path)) for one in self._folders)

    def kind(self, path: str) -> str | None:
        """Return what has a name, a file first; None where nothing is seen there."""
        kinds = [self._files.kind(os.path.join(one, path)) for one in self._folders]
        return "file" if "file" in kinds else next(filter(None, kinds), None)

    def not_a_file(self, path: str) -> str | None:
        """Return what has a name that no file has, such as "folder"; None where nothing has it."""
        kind = self.kind(path)
        return None if kind == "file" else kind

    def matrix(self, path: str) -> Matrix | None:
        """Return what a text of numbers holds, None where it cannot be known."""
        from netsharp_lsp.text.matrices import matrix_of

        return self.counted(path, matrix_of)

    def labels(self, path: str) -> int | None:
        """Return how many labels a list has, None where it cannot be known."""
        from netsharp_lsp.text.matrices import labels_in

        found = self.counted(path, labels_in)
        return None if found is None or found < 1 else found

    def network(self, path: str) -> Network | None:
        """Return the network of a model file, None where it cannot be known."""
        found = self.counted(path, _NETWORK)
        return None if isinstance(found, str) else found

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return what `count` makes of a file of data, None where none may be read."""
        # The program takes these for its input and for the output of another program.
        if path in ("", "-") or path.endswith("|"):
            return None
        places = (os.path.join(one, path) for one in self._folders)
        found = (self._files.counted(one, count) for one in places)
        return next((one for one in found if one is not None), None)

    def outside(self, path: str) -> bool:
        """Whether nothing can be known of a file, which then is nowhere else.

        Where it is only looked for besides tells nothing about where it should be, and in a
        working directory that is open nobody can look.
        """
        beyond = self._files.outside(os.path.join(self._folders[0], path))
        return self.adrift(path) or (beyond and not self.exists(path))

    def adrift(self, path: str) -> bool:
        """Whether a file would lie in the working directory, and that is open."""
        return self._open and not os.path.isabs(path) and not self.exists(path)

    def locate(self, path: str) -> str:
        """Return the one name of a file, however a path to it is spelt."""
        places = [os.path.join(one, path) for one in self._folders]
        return self._files.locate(next(filter(self._files.exists, places), places[0]))
