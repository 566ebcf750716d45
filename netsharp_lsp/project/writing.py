"""Writing files whole or not at all; knows nothing of what is in them."""

from __future__ import annotations

import errno
import os


def refusal(path: str) -> str | None:
    """Why no file can be written at a path, as far as that can be told before; else None."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"{path}: the folder {folder} does not exist. Create it first."
    if os.path.isdir(path):
        return f"{path}: is a folder. Name a file."
    if os.path.exists(path) and not os.path.isfile(path):
        return f"{path}: is a device or a pipe, which would be replaced. Name a file."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{path}: the folder {folder} cannot be written to. Choose another."
    return None


def write_atomic(path: str, data: bytes) -> None:
    """Write a file aside and rename it into place, so that no reader sees half of it.

    Keeps the permissions of the file it replaces and writes through a symbolic link; a device or
    a pipe is written to as it is. Raises OSError, and then leaves the old file as it was.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    aside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(aside, "xb") as stream:
            stream.write(data)
        if os.path.exists(target):
            os.chmod(aside, os.stat(target).st_mode & 0o7777)
        os.replace(aside, target)
    except FileExistsError:
        raise  # somebody else's file
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def write_new(path: str, data: bytes) -> None:
    """Write a file that does not exist yet, whole or not at all.

    Raises FileExistsError where something has that name by now, and other OSErrors.
    """
    folder, name = os.path.split(os.path.abspath(path))
    aside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(aside, "xb") as stream:
            stream.write(data)
        _name_once(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


def _name_once(aside: str, path: str) -> None:
    """Give a file written aside its name, but never that of another file."""
    try:
        os.link(aside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(aside, path)
