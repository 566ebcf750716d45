"""Writing files whole or not at all; knows nothing of what is in them."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress

from netsharp_engine.atomic_files import AtomicFile, ChangedError, remove_leftovers
from netsharp_engine.plain_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ChangedError",
    "refusal",
    "remove_if",
    "remove_leftovers",
    "write_atomic",
    "write_linked",
    "write_new",
    "write_over",
    "write_together",
]


class LinkedError(OSError):
    """A file of several names: written under one, it would be another than under the others."""

    def __init__(self, path: str, names: int) -> None:
        super().__init__(errno.EMLINK, _linked(names), path)


def refusal(path: str) -> str | None:
    """Return why no file can be written at a path, as far as can be known before; else None."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"{path}: the folder {folder} does not exist. Create it first."
    if os.path.isdir(path):
        return f"{path}: is a folder. Name a file."
    if os.path.exists(path) and not os.path.isfile(path):
        return f"{path}: is a device or a pipe, which would be replaced. Name a file."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{path}: the folder {folder} cannot be written to. Choose another."
    names = _names(path)
    return None if names < 2 else f"{path}: cannot be written: {_linked(names)}."


def write_atomic(path: str, data: bytes) -> None:
    """Write a file aside and rename it into place, so that no reader sees half of it.

    Keeps permissions and owner of the file it replaces and writes through a symbolic link; a
    device or a pipe is written to as it is. Raises OSError, and then leaves the old file as it was.
    """
    if _is_special(path):
        _write_through(path, data)
        return
    with AtomicFile(path) as aside:
        # Only now: a leftover that is gone may have been the second name.
        _refuse_links(path)
        aside.stream.write(data)
        aside.commit()


def write_together(files: Mapping[str, bytes]) -> None:
    """Write files that belong together as `write_atomic` writes one: each is on the disk before
    the first is renamed into place.  Raises OSError; what is not written yet is then as it was.
    """
    with ExitStack() as stack:
        asides = []
        for path, data in files.items():
            if _is_special(path):
                raise OSError(errno.EINVAL, "is a device or a pipe", path)
            asides.append(stack.enter_context(AtomicFile(path)))
            _refuse_links(path)
            asides[-1].stream.write(data)
        for aside in asides:
            aside.stream.flush()
            os.fsync(aside.stream.fileno())
        for aside in asides:
            aside.commit()


def write_linked(first: str, files: Mapping[str, bytes], meanwhile: str) -> None:
    """Write two files of which `first` reads the other, or one at `meanwhile` if there is any.

    A stop at any point leaves what was there before or what is written now, never a mixture: what
    is read is at `meanwhile` before `first` is renamed into place.
    Raises OSError as `write_together`.
    """
    (read,) = (data for path, data in files.items() if path != first)
    try:
        write_atomic(meanwhile, read)
        write_together({first: files[first], **files})
    except BaseException:
        if _data(first) != files[first]:
            with suppress(OSError):
                os.unlink(meanwhile)
        raise
    os.unlink(meanwhile)


def write_over(path: str, data: bytes, before: bytes | None) -> None:
    """Write a file as `write_atomic` does, if it is still what was read; None: there was none.

    Raises ChangedError where it is not, unless it already is what would be written.
    """
    try:
        if before is None:
            write_new(path, data)
        elif _is_special(path):
            _write_through(path, data)
        else:
            with AtomicFile(path) as aside:
                _refuse_links(path)
                aside.stream.write(data)
                aside.commit_over(before)
    except (ChangedError, FileExistsError):
        if _data(path) != data:
            raise ChangedError(path) from None


def write_new(path: str, data: bytes) -> None:
    """Write a file that does not exist yet, whole or not at all.

    Raises FileExistsError where something has that name by now, and other OSErrors.
    """
    with AtomicFile(path) as aside:
        aside.stream.write(data)
        aside.commit_new()


def remove_if(path: str, data: bytes) -> None:
    """Remove a file that holds just this; ChangedError where it does not."""
    if _data(path) != data:
        raise ChangedError(path)
    os.unlink(path)


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _write_through(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)


def _refuse_links(path: str) -> None:
    names = _names(path)
    if names > 1:
        raise LinkedError(path, names)


def _names(path: str) -> int:
    """Return the number of hard links of a file, 0 where there is no file."""
    try:
        return os.stat(path).st_nlink
    except OSError:
        return 0


def _linked(names: int) -> str:
    return (
        f"it has {names} names (hard links), of which only this one would change; "
        "put a copy in its place first"
    )


def _data(path: str) -> bytes | None:
    try:
        with open_plain(path) as stream:
            return stream.read()
    except OSError:
        return None
