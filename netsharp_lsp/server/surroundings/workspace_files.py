"""Files around open documents: URIs and paths, folders of the workspace, what a client watches.

Knows which files matter to whom; reads none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.uris import to_fs_path

from netsharp_lsp.language import families
from netsharp_lsp.project.run_file import MODEL_SUFFIX
from netsharp_lsp.settings import OWN_FILE, SHARED_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.server.client.connection import Connection

_CELL = "vscode-notebook-cell:"
#: The ids of our registrations with the client.
EVERYWHERE_ID, TABLES_ID = "netsharp-files", "netsharp-tables"
WATCHED = "workspace/didChangeWatchedFiles"


def patterns() -> list[str]:
    """Return the patterns of all watched files: settings, run files, trained models, and those of
    the families.
    """
    found = ["**/*.toml", f"**/*{MODEL_SUFFIX}"]
    for family in families():
        experiments = family.experiments
        if experiments is None:
            found += [f"**/*{suffix}" for suffix in family.suffixes]
        else:
            found += [_any_of(family.suffixes), _any_of(experiments.scripts)]
    return found


def _any_of(suffixes: Iterable[str]) -> str:
    return f"**/*.{{{','.join(suffix[1:] for suffix in suffixes)}}}"


def path_of(uri: str) -> str | None:
    """Return the path of a document on disk, a cell's that of its notebook; None for others.

    None too for an impossible file name, so that callers need no guard for it.
    """
    if uri.startswith(_CELL):
        uri = f"file:{uri.removeprefix(_CELL).partition('#')[0]}"
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:
        return None
    if path is None or not os.path.isabs(path) or "\0" in path or not _is_writable(path):
        return None
    return os.path.normpath(path)


def _is_writable(path: str) -> bool:
    """Return whether a path can be written in bytes: half a surrogate pair cannot."""
    try:
        return path.isascii() or bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False


def uri_of(path: str) -> str:
    """Return the URI of an absolute path."""
    return Path(path).as_uri()


def folder_of(folders: Iterable[str], uri: str) -> str:
    """Return the innermost folder of the workspace that a document is in; empty for none."""
    around = (folder for folder in folders if _within(uri, folder))
    return max(around, key=len, default="")


def _within(uri: str, folder: str) -> bool:
    return uri == folder or uri.startswith(f"{folder.rstrip('/')}/")


def is_settings(path: str) -> bool:
    """Return whether a file is one that settings are read from."""
    return os.path.basename(path) in (OWN_FILE, SHARED_FILE)


class Watching:
    """The files that the client watches; none where it can only be asked at its start."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables: frozenset[str] = frozenset()

    @property
    def possible(self) -> bool:
        """Return whether the client watches files that it is asked for later."""
        return self._connection.client.can(f"{WATCHED.replace('/', '.')}.dynamicRegistration")

    def begin(self) -> None:
        """Ask for the files that matter everywhere."""
        if self.possible:
            self._register(EVERYWHERE_ID, [{"globPattern": pattern} for pattern in patterns()])

    def tables(self, paths: Iterable[str]) -> None:
        """Ask for the tables that run files name, instead of those asked for before."""
        wanted = frozenset(paths)
        if not self.possible or wanted == self._tables:
            return
        if self._tables:
            gone = {"unregisterations": [{"id": TABLES_ID, "method": WATCHED}]}
            self._connection.prompt("client/unregisterCapability", gone)
        self._tables = wanted
        if wanted:
            self._register(TABLES_ID, [self._watcher(path) for path in sorted(wanted)])

    def _watcher(self, path: str) -> dict[str, Any]:
        """Watch one file; what has a meaning in patterns stands for any character."""
        folder, name = os.path.split(path)
        if self._connection.client.can(f"{WATCHED.replace('/', '.')}.relativePatternSupport"):
            return {"globPattern": {"baseUri": uri_of(folder), "pattern": _literal(name)}}
        return {"globPattern": _literal(path.replace(os.sep, "/"))}

    def _register(self, name: str, watchers: list[dict[str, Any]]) -> None:
        options = {"watchers": watchers}
        registration = {"id": name, "method": WATCHED, "registerOptions": options}
        self._connection.prompt("client/registerCapability", {"registrations": [registration]})


def _literal(path: str) -> str:
    return "".join("?" if character in "*?[]{}" else character for character in path)
