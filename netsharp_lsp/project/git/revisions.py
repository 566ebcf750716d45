"""A revision of git: its name resolved, its objects read; no program, no configuration.

Only the repository's own objects are read: none is fetched, none replaced, none taken from
another folder that this one names.
"""

from __future__ import annotations

import os
import re
import stat

from dulwich.object_format import SHA1, SHA256
from dulwich.object_store import BaseObjectStore, DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tag, Tree

from netsharp_lsp.limits import GIT_FILE_BYTES, GIT_INDEX_BYTES, GIT_OBJECT_BYTES
from netsharp_lsp.project.git.object_sizes import declared_sizes
from netsharp_lsp.project.git.work_tree import HASHES, WorkTree, plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Value = TypeVar("Value")

#: Where git looks for a name, in this order.
_PLACES = (
    "{}",
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
_STEP = re.compile(r"~(\d{0,9})|\^(\d{0,9})(?:\{(\w*)\})?")
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_FOLLOWED = 5
#: The most characters that are shown of an unknown name.
_SHOWN = 60


class RevisionError(Exception):
    """A revision, or a file in it, that cannot be shown: why, as the rest of a sentence."""


class Revision:
    """A revision of a repository, named as people name it to git."""

    def __init__(self, tree: WorkTree, name: str) -> None:
        self._repository = _Repository(tree)
        self._root = _read_and_close(
            self._repository, lambda: self._repository.tree_of(self._repository.resolved(name))
        )

    def file(self, path: str) -> bytes:
        """Return a file by its path from the root, with `/`; RevisionError where there is none."""
        return _read_and_close(self._repository, lambda: self._repository.file(self._root, path))


def _read_and_close(repository: _Repository, read: Callable[[], Value]) -> Value:
    """Return the result of `read`, and close the repository.

    Whatever the library stumbles on in a damaged repository becomes a sentence.
    """
    try:
        return read()
    except RevisionError as error:
        sentence = str(error)
    except Exception as error:
        sentence = f"the repository cannot be read ({type(error).__name__})"
    finally:
        # After the last error is forgotten, whose frames hold on to what is closed.
        repository.close()
    raise RevisionError(sentence)


class _Repository:
    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._objects = os.path.join(tree.common, "objects")
        self._packed: dict[str, str] | None = None
        self._require_plain_files()
        head = self._reference("HEAD")
        self._store = _OwnObjects(
            self._objects,
            object_format=SHA256 if head is not None and len(head) == HASHES[1] else SHA1,
            loose_object_size_limit=GIT_OBJECT_BYTES.most,
        )

    def close(self) -> None:
        """Close the files of the store; they are opened again on demand."""
        self._store.close()

    def resolved(self, name: str) -> ShaFile:
        """Return the object that a revision names: a base, and steps from it to a parent."""
        base = re.split(r"[~^]", name, maxsplit=1)[0] or name
        found = self._object(self._named(base))
        at = len(base)
        while at < len(name):
            step = _STEP.match(name, at)
            if step is None:
                raise RevisionError(f"'{_short(name)}' has a part that is not understood here")
            found = self._stepped(found, step)
            at = step.end()
        return found

    def tree_of(self, found: ShaFile) -> Tree:
        """Return the folder that a commit, a tag or a tree holds."""
        found = self._peeled(found)
        if isinstance(found, Commit):
            found = self._object(found.tree)
        if not isinstance(found, Tree):
            raise RevisionError("it names no commit")
        return found

    def file(self, root: Tree, path: str) -> bytes:
        """Return the content of a file below a folder."""
        found: ShaFile = root
        mode = stat.S_IFDIR
        for part in path.split("/"):
            if not isinstance(found, Tree):
                raise RevisionError(f"there is no '{path}' in that revision")
            try:
                mode, name = found[os.fsencode(part)]
            except KeyError:
                raise RevisionError(f"there is no '{path}' in that revision") from None
            if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                raise RevisionError(f"'{path}' leads through a link or into another repository")
            found = self._object(name)
        if not isinstance(found, Blob):
            raise RevisionError(f"'{path}' is a folder in that revision")
        return found.data

    def _stepped(self, found: ShaFile, step: re.Match[str]) -> ShaFile:
        back, parent, kind = step.groups()
        if kind is not None:
            peeled = self._peeled(found)
            if parent or kind not in ("", "commit", "tree"):
                raise RevisionError(f"'{step.group()}' is not understood here")
            return self.tree_of(peeled) if kind == "tree" else peeled
        way = 0 if back is not None else int(parent or 1) - 1
        for _ in range(int(back or 1) if back is not None else 1):
            commit = self._peeled(found)
            if not isinstance(commit, Commit):
                raise RevisionError("it names no commit")
            if way < 0:
                return commit
            if way >= len(commit.parents):
                raise RevisionError(f"commit {commit.id.decode()[:10]} has no such parent")
            found = self._object(commit.parents[way])
        return found

    def _peeled(self, found: ShaFile) -> ShaFile:
        for _ in range(_FOLLOWED):
            if not isinstance(found, Tag):
                return found
            found = self._object(found.object[1])
        raise RevisionError("it names a tag of tags")

    def _named(self, base: str) -> ObjectID:
        """Return the hash that a name means: a reference, `@`, or a hash or its first digits."""
        if base == "@":
            base = "HEAD"
        if not _is_sound(base):
            raise RevisionError(
                f"'{_short(base)}' is not understood here: name a commit, branch or tag"
            )
        whole = len(base) in HASHES and _HASH.fullmatch(base)
        found = None if whole else self._reference(base)
        if found is None and _HASH.fullmatch(base):
            found = base.lower() if whole else self._completed(base.lower())
        elif found is None and (described := re.fullmatch(r".+-\d+-g([0-9a-f]{4,64})", base)):
            found = self._completed(described[1])
        if found is None:
            raise RevisionError(f"it has no commit, branch or tag '{_short(base)}'")
        return ObjectID(found.encode())

    def _completed(self, digits: str) -> str | None:
        """Return the one hash of a commit or tag that begins so."""
        known = sorted(set(self._store.iter_prefix(digits.encode())))
        if len(known) > 1:
            known = [each for each in known if isinstance(self._object(each), (Commit, Tag))]
        if len(known) > 1:
            raise RevisionError(f"{len(known)} commits begin with '{digits}': give more digits")
        return known[0].decode() if known else None

    def _reference(self, name: str) -> str | None:
        """Return the hash that a reference holds, through others where it names one."""
        for place in _PLACES:
            found: str | None = place.format(name)
            for _ in range(_FOLLOWED):
                found = self._held(found) if found is not None else None
                if found is None or not found.startswith("ref:"):
                    break
                found = found.removeprefix("ref:").strip()
                found = found if _is_sound(found) else None
            if found is not None and len(found) in HASHES and _HASH.fullmatch(found):
                return found.lower()
        return None

    def _held(self, name: str) -> str | None:
        """Return the content of a reference, from its own file or from packed-refs."""
        for folder in dict.fromkeys((self._tree.own, self._tree.common)):
            path = os.path.join(folder, *name.split("/"))
            data = plain_file(path, GIT_FILE_BYTES)
            if data:
                return data.decode("utf-8", "replace").strip()
            if os.path.lexists(path) and not os.path.isdir(path):
                raise RevisionError(f"the repository cannot be read ('{_short(name)}': not a file)")
        if self._packed is None:
            data = (
                plain_file(os.path.join(self._tree.common, "packed-refs"), GIT_INDEX_BYTES) or b""
            )
            lines = (line.partition(" ") for line in data.decode("utf-8", "replace").splitlines())
            self._packed = {name: digits for digits, _, name in lines if digits[:1] not in "#^"}
        return self._packed.get(name)

    def _object(self, name: ObjectID) -> ShaFile:
        """Return an object by its hash; RevisionError where this repository lacks it."""
        digits = name.decode()
        path = os.path.join(self._objects, digits[:2], digits[2:])
        if os.path.lexists(path) and not os.path.isfile(path):
            raise RevisionError("the repository cannot be read (an object is not a file)")
        if max(declared_sizes(self._store, name), default=0) > GIT_OBJECT_BYTES.most:
            raise RevisionError(f"it is larger than {GIT_OBJECT_BYTES}")
        try:
            return self._store[name]
        except KeyError:
            raise RevisionError(self._missing(digits)) from None

    def _missing(self, digits: str) -> str:
        """Return why an object is not there."""
        packs = os.path.join(self._objects, "pack")
        if os.path.isdir(packs) and any(name.endswith(".promisor") for name in os.listdir(packs)):
            return (
                f"object {digits[:10]} was left out of this partial clone; have git fetch it first"
            )
        if os.path.exists(os.path.join(self._tree.common, "shallow")):
            return f"object {digits[:10]} is not in this shallow clone; have git fetch it first"
        if os.path.exists(os.path.join(self._objects, "info", "alternates")):
            return (
                f"object {digits[:10]} lies in another repository ('git repack -a' brings it here)"
            )
        return f"object {digits[:10]} is missing"

    def _require_plain_files(self) -> None:
        """Refuse a store in which something else stands for a file: opening it might never end."""
        packs = os.path.join(self._objects, "pack")
        if not os.path.isdir(packs):
            return
        with os.scandir(packs) as entries:
            if not all(entry.is_file() or entry.is_dir() for entry in entries):
                raise RevisionError("the repository cannot be read (a pack is not a file)")


class _OwnObjects(DiskObjectStore):
    """The objects that lie in a repository itself."""

    @property
    def alternates(self) -> list[BaseObjectStore]:
        """Other stores that this one names: none is looked at."""
        return []

    def get_midx(self) -> None:
        """No index of many packs: sizes are asked of each pack's own, and must be of the same."""
        return


def _is_sound(name: str) -> bool:
    """Return whether a name of a reference stays in its folder."""
    parts = name.split("/")
    return bool(name) and not re.search(r"[\\:{}\0]", name) and not {"", ".", ".."} & set(parts)


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
