"""Opens a file for reading if it is one; a pipe or a device could keep its reader waiting for ever.

Every input is opened here (a test looks for others); it must not know contents or sentences.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader

_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)
#: Opening must not wait for a writer, nor make a terminal ours. Windows has neither.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

#: Bytes that are read at once where a file is at least said to be smaller.
_BLOCK = 1 << 12


class NotPlainError(OSError):
    """Something with a file's name that is none; ``strerror`` is the part of a sentence."""


def open_plain(path: str | os.PathLike[str], *, follow: bool = True) -> BufferedReader:
    """Open a file for reading bytes.

    Raises OSError, a NotPlainError for anything but a file. Without `follow` the name must not be a
    link: the path was resolved, and leads elsewhere now.
    """
    # Checked before, since opening a device may have effects, and after, since it may be another.
    _require_plain(os.stat(path, follow_symlinks=follow).st_mode, path)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    try:
        _require_plain(os.fstat(descriptor).st_mode, path)
        if hasattr(os, "set_blocking") and os.name != "nt":
            os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_plain(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """Return the first `most` bytes of a file, or all of it.  Raises OSError as `open_plain` does.

    Room is made for what the file says that it holds, not for what it may hold: a folder has many
    small files, and a large buffer for each costs more than reading it.
    """
    _require_plain(os.stat(path, follow_symlinks=follow).st_mode, path)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    try:
        state = os.fstat(descriptor)
        _require_plain(state.st_mode, path)
        pieces, left, room = [], most, state.st_size
        # A file may have more bytes than its size: it grows, or its system does not count.
        while left and (piece := os.read(descriptor, min(left, max(room, _BLOCK)))):
            pieces.append(piece)
            left -= len(piece)
            room -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def read_writable(path: str | os.PathLike[str]) -> bytearray:
    """Return all of a file in memory that may be written again.  Raises OSError as `open_plain`.

    It is memory of our own and no view on the file: what becomes of that later changes nothing.
    """
    with open_plain(path) as stream:
        found = bytearray(os.fstat(stream.fileno()).st_size)
        read = 0
        with memoryview(found) as room:
            while read < len(found) and (count := stream.readinto(room[read:])):
                read += count
        del found[read:]
        # A file may have more bytes than its size: it grows, or its system does not count.
        found += stream.read()
    return found


def may_be_file(path: str) -> bool:
    """Return whether the name is taken by something other than a folder: a pipe there is to be
    refused with a message.
    """
    return os.path.exists(path) and not os.path.isdir(path)


def kind_at(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a name's target, links followed: "file", "folder", "pipe"; None where
    there is none.
    """
    try:
        return _kind(os.stat(path).st_mode)
    except (OSError, ValueError):
        return None


def _kind(mode: int) -> str:
    return next((word for test, word in _KINDS if test(mode)), "file of another kind")


def _require_plain(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(mode):
        return
    name = os.fspath(path)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    kind = _kind(mode)
    hint = "; give what comes through it as '-'" if kind == "pipe" else ""
    raise NotPlainError(errno.EINVAL, f"it is a {kind}, not a file{hint}", name)
