"""The files of a run by the paths that its texts give them; knows nothing of what is in them."""

from __future__ import annotations

import os

from netsharp_lsp.cntk.configuration.items import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.workspace import Files, Run


class RunFiles:
    """The files of one run: paths are relative to the folder it is started in, else to those
    where its files are looked for, too.

    `texts` keeps what was read, by the path as it was asked for; None for what is not there.
    """

    __slots__ = ("_files", "_folders", "_open", "texts")

    def __init__(self, files: Files, run: Run) -> None:
        self._files = files
        self._folders = ["" if one == "." else one for one in (run.directory, *run.also)]
        self._open = any(
            item.lower().startswith(FOLDER) and any(hole.item == number for hole in run.holes)
            for number, item in enumerate(run.items)
        )
        self.texts: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none that can be read."""
        if path not in self.texts:
            found = (self._files.read(os.path.join(one, path)) for one in self._folders)
            self.texts[path] = next((data for data in found if data is not None), None)
        return self.texts[path]

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of that name; reads nothing."""
        return any(self._files.exists(os.path.join(one, path)) for one in self._folders)

    def outside(self, path: str) -> bool:
        """Whether nothing can be known of a file, which then is nowhere else.

        Where it is only looked for besides tells nothing about where it should be, and in a
        working directory that is open nobody can look.
        """
        is_open = self._open and not os.path.isabs(path)
        beyond = is_open or self._files.outside(os.path.join(self._folders[0], path))
        return beyond and not self.exists(path)

    def locate(self, path: str) -> str:
        """Return the one name of a file, however a path to it is spelt."""
        places = [os.path.join(one, path) for one in self._folders]
        return self._files.locate(next(filter(self._files.exists, places), places[0]))
