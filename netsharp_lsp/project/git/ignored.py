"""Which files git ignores, found by reading what git reads; starts no program.

A work tree's own configuration is not read: only the person says where further patterns are.
"""

from __future__ import annotations

import os
from os.path import join

from netsharp_lsp.limits import GIT_FILE_BYTES, GIT_INDEX_BYTES
from netsharp_lsp.project.git.work_tree import WorkTree, plain_file, work_tree_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.project.git.ignore_patterns import Patterns


def without_ignored(paths: Sequence[str]) -> list[str]:
    """Return the absolute paths that git does not ignore, in their order.

    Each is decided by the nearest work tree around it, as git would there; one outside is kept.
    """
    known: dict[str, WorkTree | None] = {}
    matchers: dict[str, _Matcher] = {}
    folders: dict[str, tuple[_Matcher, str] | None] = {}
    ignored: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            real = os.path.realpath(folder)
            tree = work_tree_around(real, known)
            if tree is not None:
                matcher = matchers.setdefault(tree.root, _Matcher(tree))
                folders[folder] = (matcher, real)
            else:
                folders[folder] = None
        found = folders[folder]
        if found is not None and found[0].ignores(*found[1:], name):
            found[0].candidates[found[0].relative(join(found[1], name))] = path
            ignored.add(path)
    for matcher in matchers.values():
        if matcher.candidates:
            ignored.difference_update(matcher.tracked())
    return [path for path in paths if path not in ignored]


class _Folder:
    """A folder of a work tree: whether it is ignored, and the patterns that hold in it."""

    __slots__ = ("ignored", "patterns")

    def __init__(self, ignored: bool, patterns: list[tuple[int, Patterns]]) -> None:
        self.ignored = ignored
        #: The nearest first, each with the length of what paths have before its folder.
        self.patterns = patterns


class _Matcher:
    """The ignore rules of one work tree; `candidates` are ignored unless they are tracked."""

    def __init__(self, tree: WorkTree) -> None:
        self.candidates: dict[bytes, str] = {}
        self._tree = tree
        self._folders: dict[str, _Folder] = {}
        # `git init` tests in the same way whether the file system is case-sensitive.
        self._fold = os.path.lexists(join(tree.own, "hEaD"))

    def ignores(self, folder: str, name: str) -> bool:
        """Return whether patterns ignore a file of a real folder in the work tree."""
        return self._is_ignored(self._folder(folder), join(folder, name), folder=False)

    def relative(self, path: str) -> bytes:
        """Return a path as git writes it, from the root of the work tree."""
        return os.fsencode(path[len(join(self._tree.root, "")) :].replace(os.sep, "/"))

    def tracked(self) -> Iterable[str]:
        """Return those of the candidates that git tracks: no pattern concerns them."""
        from netsharp_lsp.project.git.index import tracked

        data = plain_file(join(self._tree.own, "index"), GIT_INDEX_BYTES)
        names = tracked(data, self._tree.common, self.candidates) if data is not None else ()
        return [self.candidates[name] for name in names]

    def _folder(self, path: str) -> _Folder:
        """Return the rules for a folder, asked from the root downwards, as nothing below an
        ignored one is read.
        """
        missing = []
        while path not in self._folders and path != self._tree.root:
            missing.append(path)
            path = os.path.dirname(path)
        if path not in self._folders:
            self._folders[path] = _Folder(False, [*self._own_patterns(path), *self._general()])
        found = self._folders[path]
        for inner in reversed(missing):
            if found.ignored or self._is_ignored(found, inner, folder=True):
                found = _Folder(True, [])
            else:
                found = _Folder(False, [*self._own_patterns(inner), *found.patterns])
            self._folders[inner] = found
        return found

    def _is_ignored(self, inside: _Folder, path: str, *, folder: bool) -> bool:
        if inside.ignored:
            return True
        relative = self.relative(path)
        for before, patterns in inside.patterns:
            verdict = patterns.decision(relative[before:], folder=folder)
            if verdict is not None:
                return verdict
        return False

    def _own_patterns(self, folder: str) -> list[tuple[int, Patterns]]:
        """Return the patterns of a folder's `.gitignore`, not read through a link."""
        before = len(self.relative(join(folder, "")))
        return self._patterns(join(folder, ".gitignore"), before, follow=False)

    def _general(self) -> list[tuple[int, Patterns]]:
        """Return the patterns for the whole repository, and those of the user's global excludes."""
        files = (join(self._tree.common, "info", "exclude"), excludes_of_person(self._tree.root))
        return [each for path in files for each in self._patterns(path, 0, follow=True)]

    def _patterns(self, path: str, before: int, *, follow: bool) -> list[tuple[int, Patterns]]:
        text = plain_file(path, GIT_FILE_BYTES, follow=follow)
        if not text:
            return []
        from netsharp_lsp.project.git.ignore_patterns import Patterns

        return [(before, Patterns(text, fold_case=self._fold))]


def excludes_of_person(root: str) -> str:
    """Return the user's global excludes file, from the user's configuration of git."""
    home = os.environ.get("XDG_CONFIG_HOME") or join(os.path.expanduser("~"), ".config")
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    files = [named] if named is not None else [join(home, "git", "config"), "~/.gitconfig"]
    for path in reversed(files):
        written = _excludes_in(os.path.expanduser(path))
        if written is not None:
            return join(root, os.path.expanduser(written)) if written else os.devnull
    return join(home, "git", "ignore")


def _excludes_in(path: str) -> str | None:
    """Return `core.excludesFile` of a configuration; most have none, and are not parsed.

    dulwich reads the others, because a configuration may include more of them.
    """
    text = (plain_file(path, GIT_FILE_BYTES) or b"").lower()
    if b"excludesfile" not in text and b"include" not in text:
        return None
    from dulwich.config import ConfigFile

    try:
        return os.fsdecode(ConfigFile.from_path(path).get((b"core",), b"excludesFile"))
    except (KeyError, ValueError, OSError):
        return None
