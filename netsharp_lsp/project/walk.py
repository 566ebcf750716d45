"""The specifications below a folder: no hidden, excluded or git-ignored ones; reads none."""

from __future__ import annotations

import os

from netsharp_lsp.project.roots import ANYWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from netsharp_lsp.project.roots import Roots


def specifications_below(
    folder: str,
    excludes: Callable[[str], bool],
    suffixes: Collection[str],
    roots: Roots = ANYWHERE,
    leave: Callable[[str], object] = lambda path: None,
) -> list[str]:
    """Return the files with one of the suffixes below a folder, in order of their names.

    `excludes` decides whether to leave an absolute path out; `leave` is called with links that lead
    out of the `roots`, which are left out, too. The paths begin as `folder` does.
    """
    found = []
    for path, is_link in _walk(folder, excludes, suffixes):
        if not is_link or roots.holds(path):
            found.append(path)
        else:
            leave(path)
    names = {os.path.abspath(name): name for name in found}
    if not names:
        return []
    from netsharp_lsp.project.git.ignored import without_ignored

    return [names[path] for path in without_ignored(list(names))]


def _walk(
    folder: str, excludes: Callable[[str], bool], suffixes: Collection[str]
) -> Iterator[tuple[str, bool]]:
    """Yield the files below a folder, and whether each is a link."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith(".") or excludes(os.path.abspath(entry.path)):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, excludes, suffixes)
        elif os.path.splitext(entry.name)[1].lower() in suffixes and _is_file(entry):
            yield entry.path, entry.is_symlink()


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is or leads to a file; a link that leads to itself is none."""
    try:
        return entry.is_file()
    except OSError:
        return False
