"""The files of the git work tree around a folder; starts nothing, obeys no configuration.

Such a folder may come from anyone: whatever is not a plain file of a normal size is absent.
"""

from __future__ import annotations

import os

from netsharp_engine.plain_files import read_plain
from netsharp_lsp.limits import GIT_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_engine.limits import Limit

#: The number of digits of a hash, SHA-1 and SHA-256.
HASHES = (40, 64)


class WorkTree:
    """A folder that holds `.git`: `own` is what belongs to it alone (HEAD, the index), `common`
    what all work trees of the repository share (objects, branches, info/exclude).
    """

    __slots__ = ("common", "own", "root")

    def __init__(self, root: str, own: str, common: str) -> None:
        self.root = root
        self.own = own
        self.common = common


def work_tree_around(folder: str, known: dict[str, WorkTree | None]) -> WorkTree | None:
    """Return the nearest work tree upwards of a real folder; `known` keeps what was found."""
    path: list[str] = []
    while folder not in known:
        path.append(folder)
        tree = _work_tree(folder)
        parent = os.path.dirname(folder)
        if tree is not None or parent == folder:
            known[folder] = tree
        else:
            folder = parent
    found = known[folder]
    known.update(dict.fromkeys(path, found))
    return found


def plain_file(path: str, limit: Limit, *, follow: bool = True, whole: bool = True) -> bytes | None:
    """Return a file's bytes, None where it is absent, too large, or not a regular file.

    `follow`: whether a link may stand for it, as git decides for each of its files. Not `whole`:
    of one that is too large the beginning.
    """
    try:
        data = read_plain(path, limit.most + 1, follow=follow)
    except (OSError, ValueError):
        return None
    return data if len(data) <= limit.most or not whole else None


def _work_tree(folder: str) -> WorkTree | None:
    """Return the work tree whose root a folder is.

    The `.git` of a submodule or a linked work tree is a file that names a folder elsewhere, and
    that is followed: names are read there to be compared, never shown, and objects only where a
    person asks for a revision.
    """
    dot = os.path.join(folder, ".git")
    if os.path.isdir(dot):
        return WorkTree(folder, dot, dot) if _is_repository(dot, dot) else None
    line = plain_file(dot, GIT_FILE_BYTES)
    if line is None or not line.startswith(b"gitdir: "):
        return None
    own = _named(folder, line.removeprefix(b"gitdir: "))
    if own is None:
        return None
    shared = plain_file(os.path.join(own, "commondir"), GIT_FILE_BYTES)
    common = own if shared is None else _named(own, shared)
    if common is None or not _is_repository(own, common):
        return None
    return WorkTree(folder, own, common)


def _named(folder: str, written: bytes) -> str | None:
    """Return the folder that a line names, None on another drive, which may be a network's."""
    path = os.path.normpath(os.path.join(folder, os.fsdecode(written.rstrip(b"\r\n"))))
    same_drive = os.path.splitdrive(path)[0].lower() == os.path.splitdrive(folder)[0].lower()
    return path if same_drive and "\0" not in path else None


def _is_repository(own: str, common: str) -> bool:
    """Return whether everything is there without which git takes a folder for no repository."""
    head = (plain_file(os.path.join(own, "HEAD"), GIT_FILE_BYTES) or b"").rstrip()
    folders = (os.path.join(common, name) for name in ("objects", "refs"))
    return (head.startswith(b"ref:") or len(head) in HASHES) and all(map(os.path.isdir, folders))


def work_tree(folder: str) -> str | None:
    """Return the nearest folder upwards that holds a `.git` of any kind, by its absolute path."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
