"""The roots: the folders outside of which nothing is read or written because a file says so.

All code that opens a file named by another file asks here, and no other compares paths.  Follows
links and reads no file except the user's own settings.
"""

from __future__ import annotations

import os

from netsharp_lsp.project.git.work_tree import work_tree
from netsharp_lsp.settings import OWN_FILE, read_own_roots
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: Why a link that a walk finds is left out.
LEADS_OUT = "it is a link that leads outside"
#: The prefixes of paths on another machine: looking one up would open a connection.
_REMOTE = ("\\\\", "//")


def _resolved(paths: Iterable[str]) -> tuple[str, ...]:
    found = (os.path.normcase(os.path.realpath(path)) for path in paths)
    return tuple(dict.fromkeys(found))


def _with_separator(top: str) -> str:
    return top if top.endswith(os.sep) else top + os.sep


class Roots:
    """Folders with all that lies below them, and the files that a person has `named`.

    Paths are compared once links and `..` are resolved, at each question again: what was a folder
    may be a link by now.  What ends soon `keeps` where folders lead.  `folders` is None where
    everything is inside.  `data` is whether data may be read in them.
    """

    __slots__ = ("_known", "data", "folders", "named")

    def __init__(
        self, folders: Iterable[str] | None, named: Iterable[str] = (), *, keeps: bool = False
    ) -> None:
        self.folders = None if folders is None else _resolved(folders)
        self.named = frozenset(_resolved(named))
        self.data = True
        self._known: dict[str, str] | None = {} if keeps else None

    def __getstate__(self) -> tuple[object, ...]:
        return self.folders, self.named, self.data, self._known is not None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.folders, self.named, self.data, keeps = state
        self._known = {} if keeps else None

    def place(self, path: str) -> str | None:
        """Return where a path leads, None where that is outside."""
        real = self._real(path)
        if real is None or os.path.normcase(real) in self.named or self._below(real):
            return real
        return None

    def target(self, path: str) -> str | None:
        """Return where a path leads to be written, None where that is outside.

        Naming a link does not allow writing to its target: a named file counts for reading alone.
        """
        real = self._real(path)
        return real if real is not None and self._below(real) else None

    def named_by(self, settings: str | None, path: str) -> str | None:
        """Return where a path leads that a settings file names, None where that is outside.

        Settings above the roots are a person's, not the folder's: what lies below them is theirs.
        """
        target = self.target(path)
        if target is not None or settings is None or self.holds(os.path.dirname(settings)):
            return target
        return Roots((os.path.dirname(settings),)).target(path)

    def holds(self, path: str) -> bool:
        """Return whether a path leads to something inside."""
        return self.place(path) is not None

    def leads_out(self, path: str) -> bool:
        """Return whether a name inside leads to something outside: a link."""
        return not self.holds(path) and self.holds(os.path.dirname(path))

    def _below(self, real: str) -> bool:
        if self.folders is None:
            return True
        key = os.path.normcase(real)
        return any(key == top or key.startswith(_with_separator(top)) for top in self.folders)

    def _real(self, path: str) -> str | None:
        if "\0" in path:
            return None
        if os.name == "nt" and self._is_elsewhere(path):
            return None
        if self._known is None:
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir):
            return os.path.realpath(path)
        if folder not in self._known:
            self._known[folder] = os.path.realpath(folder)
        real = os.path.join(self._known[folder], name)
        return os.path.realpath(real) if os.path.islink(real) else real

    def _is_elsewhere(self, path: str) -> bool:
        """Return whether a path of Windows is on a machine that has none of the roots."""
        drive = os.path.normcase(os.path.splitdrive(path)[0])
        tops = () if self.folders is None else self.folders
        return drive.startswith(_REMOTE) and not any(top.startswith(drive) for top in tops)


#: For paths that a person names, and those that a caller passes.
ANYWHERE = Roots(None)


def roots_around(arguments: Iterable[str], added: Iterable[str] = ()) -> Roots:
    """Return the roots of files and folders that a person names, and the folders that are added.

    The root of a file or folder is the work tree of git around it, else the folder itself.
    """
    folders = list(added)
    named = []
    for argument in arguments:
        if os.path.isdir(argument):
            folders.append(root_of(argument))
        else:
            folders.append(root_of(os.path.dirname(os.path.abspath(argument))))
            named.append(argument)
    return Roots(folders, named, keeps=True)


def root_of(folder: str) -> str:
    """Return the work tree of git around a folder, else the folder."""
    real = os.path.realpath(folder)
    return work_tree(real) or real


def own_settings_file() -> str | None:
    """Return where a person's own settings are, which hold in every folder; None for nowhere."""
    if os.name == "nt":
        base = os.environ.get("APPDATA", "")
    else:
        base = os.environ.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(base):
            base = os.path.expanduser("~/.config")
    return os.path.join(base, "netsharp", OWN_FILE) if os.path.isabs(base) else None


def own_roots() -> tuple[str, ...]:
    """Return the folders that a person's own settings add; SettingsError where they are wrong."""
    file = own_settings_file()
    return () if file is None or not os.path.isfile(file) else read_own_roots(file)


def not_written(path: str) -> str:
    """Return why a file that a name inside leads to is not written, to follow that name."""
    return f"is not written, for it is a link: {outside(os.path.realpath(path))}"
