"""Files as they were in a revision of git, by the paths that they would have now."""

from __future__ import annotations

import os

from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.git.work_tree import WorkTree, work_tree_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.project.git.revisions import Revision
    from netsharp_lsp.workspace import Count, Counted


class NoGitError(Exception):
    """Git cannot show a file, as a sentence without the file's name."""


class RevisionFiles:
    """The files of a revision in git; data is looked up on disk, as it is rarely committed.

    `path`: a file of the work tree that the revision is of. Files of another one are not there.
    """

    __slots__ = ("_disk", "_known", "_path", "_read", "_revision", "_tree")

    def __init__(self, revision: str, path: str) -> None:
        self._revision = revision
        self._path = path
        self._disk = DiskFiles()
        self._known: dict[str, bytes | None] = {}
        self._read: Revision | None = None
        self._tree: WorkTree | None = None

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where the revision has none."""
        located = self.locate(path)
        if located not in self._known:
            try:
                self._known[located] = self.shown(located)
            except NoGitError:
                self._known[located] = None
        return self._known[located]

    def exists(self, path: str) -> bool:
        """Return whether the revision has a file of that name, or the disk a file or a folder."""
        return self.read(path) is not None or self._disk.exists(path)

    def kind(self, path: str) -> str | None:
        """Return the kind of a path in the revision or on the disk; None where neither has it."""
        return "file" if self.read(path) is not None else self._disk.kind(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file: the revision's, else that on the disk."""
        data = self.read(path)
        return self._disk.counted(path, count) if data is None else count((data,))

    def locate(self, path: str) -> str:
        """Return the real path that a file would have now."""
        return os.path.realpath(path.replace("\\", "/"))

    def shown(self, path: str) -> bytes:
        """Return a file as it was; NoGitError where git cannot show it."""
        from netsharp_lsp.project.git.revisions import Revision, RevisionError

        try:
            if self._read is None:
                self._tree = work_tree_around(_real_folder(self._path), {})
                if self._tree is None:
                    raise RevisionError("it lies in no work tree")
                self._read = Revision(self._tree, self._revision)
            assert self._tree is not None
            inside = os.path.relpath(_real(path), self._tree.root)
            if inside.startswith(os.pardir):
                raise RevisionError("it lies outside that work tree")
            return self._read.file(inside.replace(os.sep, "/"))
        except RevisionError as error:
            raise NoGitError(f"git cannot show it: {error}.") from None


def split_revision(argument: str) -> tuple[str | None, str]:
    """Return the revision that an argument names, None where it names a file alone, and the path.

    What is there under the whole name is a file, and one letter is a drive.
    """
    revision, colon, path = argument.partition(":")
    is_drive = len(revision) == 1 and revision.isalpha()
    if not colon or not revision or is_drive or os.path.exists(argument):
        return None, argument
    return revision, path


def _real(path: str) -> str:
    """Return a path with its folder resolved: the file itself may have been a link then."""
    folder, base = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), base)


def _real_folder(path: str) -> str:
    return os.path.dirname(_real(path))
