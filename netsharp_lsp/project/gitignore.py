"""Which files git ignores; asks git itself, and only inside a work tree."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A hook runs with these set for its own repository; each work tree is asked for itself here.
_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def without_ignored(paths: Sequence[str]) -> list[str]:
    """Return the absolute paths that git does not ignore, in their order.

    Paths outside a work tree are kept, and so are all where git is missing or fails.
    """
    roots: dict[str, str | None] = {}
    trees: dict[str, list[str]] = {}
    for path in paths:
        root = _root(os.path.dirname(path), roots)
        if root is not None:
            trees.setdefault(root, []).append(path)
    ignored: set[str] = set()
    for root, inside in trees.items():
        ignored |= _ask(root, inside)
    return [path for path in paths if path not in ignored]


def _root(folder: str, known: dict[str, str | None]) -> str | None:
    """The nearest folder upwards that holds `.git`."""
    if folder not in known:
        parent = os.path.dirname(folder)
        if os.path.exists(os.path.join(folder, ".git")):
            known[folder] = folder
        else:
            known[folder] = _root(parent, known) if parent != folder else None
    return known[folder]


def _ask(root: str, paths: list[str]) -> set[str]:
    import subprocess

    names = {os.path.relpath(path, root).replace(os.sep, "/"): path for path in paths}
    environment = {key: value for key, value in os.environ.items() if key not in _INHERITED}
    try:
        answer = subprocess.run(
            ["git", "-C", root, "check-ignore", "-z", "--stdin"],
            input=b"\0".join(map(os.fsencode, names)),
            capture_output=True,
            env=environment,
            check=False,
        )
    except OSError:
        return set()
    if answer.returncode != 0:
        return set()
    return {names[os.fsdecode(name)] for name in answer.stdout.split(b"\0") if name}
