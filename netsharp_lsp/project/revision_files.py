"""Files as they were in a revision of git, by the paths that they would have now."""

from __future__ import annotations

import os
import subprocess

from netsharp_lsp.project.disk_files import DiskFiles


class NoGitError(Exception):
    """Git cannot show a file, as a sentence without the file's name."""


class RevisionFiles:
    """What git holds of a revision; data is asked for on disk, for nobody commits it."""

    __slots__ = ("_disk", "_known", "_revision")

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._disk = DiskFiles()
        self._known: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where the revision has none."""
        located = self.locate(path)
        if located not in self._known:
            try:
                self._known[located] = shown(self._revision, located)
            except NoGitError:
                self._known[located] = None
        return self._known[located]

    def exists(self, path: str) -> bool:
        """Whether the revision has a file of that name, or the disk a file or a folder."""
        return self.read(path) is not None or self._disk.exists(path)

    def locate(self, path: str) -> str:
        """Return the real path that a file would have now."""
        return os.path.realpath(path.replace("\\", "/"))


def shown(revision: str, path: str) -> bytes:
    """Return a file, by its absolute path, as it was; NoGitError where git cannot show it."""
    folder, base = os.path.split(path)
    while not os.path.isdir(folder):
        folder, outer = os.path.split(folder)
        base = f"{outer}/{base}"
    command = ["git", "-C", folder, "show", f"{revision}:./{base}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise NoGitError("git is needed to read a revision, and is not there.") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoGitError(f"git cannot show it: {reason[-1] if reason else 'unknown'}.")
    return done.stdout
