"""Files that are seen whole or not at all: written to a temporary file, flushed to disk, renamed
into place.

It must not know their contents, and imports only what every command has loaded anyway.
"""

from __future__ import annotations

import binascii
import errno
import os
import re
import stat
import sys
import time
from contextlib import suppress

if sys.platform != "win32":
    import fcntl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

#: A temporary file's name: a word for the machine that writes it, and random, not guessable digits.
_NAME = re.compile(r"\.netsharp-([0-9a-f]{8})-[0-9a-f]{16}\.part")
#: The age after which a leftover of another machine in a shared folder is removed here.
_SECONDS_OF_OTHERS = 86_400.0
#: Where files cannot be locked, the age below which a file may still have a writer.
_SECONDS_UNLOCKED = 60.0
_NEW = 0o666
_OWN = 0o600
_ACCESS_LIST = "system.posix_acl_access"

#: The folders that this process has looked for leftovers in.
_swept: set[str] = set()


class ChangedError(OSError):
    """A file that has changed since it was read; it is not replaced."""

    def __init__(self, path: str) -> None:
        sentence = "it has changed since it was read, and stays as it is; run the command again"
        super().__init__(errno.EBUSY, sentence, path)


class AtomicFile:
    """A file beside a path, which takes its place when everything is in it.

    `stream` takes the bytes. The file at the path gives its permissions, owner, access list and
    attributes, as far as the system allows; a symbolic link stays, and its target is replaced.
    Without a commit nothing is left of it. Raises OSError, and then the old file is as it was.
    """

    def __init__(self, path: str) -> None:
        self._target = os.path.realpath(path)
        self._folder = os.path.dirname(self._target)
        _sweep_once(self._folder)
        known = _status(self._target)
        self.path, descriptor = _create(self._folder, _NEW if known is None else _OWN)
        self.stream = open(descriptor, "wb")  # noqa: SIM115
        if known is not None:
            try:
                _resemble(descriptor, self._target, self.path, known)
            except BaseException:
                self.discard()
                raise

    def __enter__(self) -> AtomicFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def commit(self) -> None:
        """Put the file in its place, whatever is there."""
        self._flush()
        self._replace()
        self._end()

    def commit_new(self) -> None:
        """Put the file in its place; FileExistsError where there is something."""
        self._flush()
        try:
            os.link(self.path, self._target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(self._target):
                raise FileExistsError(
                    errno.EEXIST, os.strerror(errno.EEXIST), self._target
                ) from None
            self._replace()
        self._end()

    def commit_over(self, before: bytes) -> None:
        """Put the file in place of one that holds these bytes; ChangedError where it does not.

        Where names can be exchanged, the replaced file is compared once more, so that only bytes
        are lost that another program writes into a file that it opened before, and while it is
        compared. Elsewhere writes between the comparison and the rename are lost, too.
        """
        self._flush()
        old = _open_shared(self._target)
        try:
            if old is None or not _holds(old, before):
                raise ChangedError(self._target)
            if sys.platform == "win32":  # replaces no file that is open
                os.close(old)
                old = None
                self._replace()
            elif not self._exchanged(before):
                if not os.path.samestat(os.stat(self._target), os.fstat(old)):
                    raise ChangedError(self._target)
                self._replace()
        finally:
            if old is not None:
                os.close(old)
        self._end()

    def discard(self) -> None:
        """Remove the temporary file; harmless after a commit."""
        with suppress(OSError):  # a full disk cannot take the rest
            self.stream.close()
        _remove(self.path)

    def _flush(self) -> None:
        self.stream.flush()
        _synchronise(self.stream.fileno())

    def _replace(self) -> None:
        if sys.platform == "win32":  # renames no file that is open
            self.stream.close()
        os.replace(self.path, self._target)

    def _exchanged(self, before: bytes) -> bool:
        """Return whether the names could be exchanged; ChangedError where the replaced file is
        another.

        The lock that is held on the old file protects it from programs that remove leftovers.
        """
        from netsharp_engine.exchange import exchange

        if not exchange(self.path, self._target):
            return False
        old = _open_shared(self.path)
        try:
            if old is not None and _holds(old, before):
                return True
        finally:
            if old is not None:
                os.close(old)
        if not exchange(self.path, self._target):
            os.replace(self.path, self._target)
        raise ChangedError(self._target)

    def _end(self) -> None:
        """Let the new name be on disk, too; the lock on the file ends only now."""
        if sys.platform != "win32":
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                _synchronise(folder)
            finally:
                os.close(folder)
        self.discard()


def _create(folder: str, mode: int) -> tuple[str, int]:
    """Make a file of an unguessable name and lock it; return its path and descriptor.

    The lock shows others that its writer lives. One of them may find the file before it is locked,
    and removes it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, f".netsharp-{_machine()}-{os.urandom(8).hex()}.part")
        descriptor = os.open(path, flags, mode)
        if _lock(descriptor) and os.path.lexists(path):
            return path, descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file for its writer, where it can be; return False where another process has locked
    it.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
    return True


def _machine() -> str:
    """Return a word for this machine as others that share a folder see it."""
    if sys.platform == "win32":
        name = os.environ.get("COMPUTERNAME", "")
    else:
        name = os.uname().nodename
    return f"{binascii.crc32(name.encode('utf-8', 'surrogateescape')):08x}"


def _resemble(descriptor: int, target: str, path: str, known: os.stat_result) -> None:
    """Give a file that is still empty the permissions of its target, never more than those."""
    mode = stat.S_IMODE(known.st_mode)
    if sys.platform == "win32":
        os.chmod(path, mode)
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (known.st_uid, known.st_gid):
        mode = _give(descriptor, known, mode)
    os.fchmod(descriptor, mode)
    if sys.platform == "linux":
        _copy_attributes(descriptor, target)


def _give(descriptor: int, known: os.stat_result, mode: int) -> int:
    """Give a file the owner and group of another; keep the mode where that is forbidden."""
    if sys.platform == "win32":
        return mode
    try:
        os.fchown(descriptor, known.st_uid, known.st_gid)
    except OSError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    else:
        return mode
    try:
        os.fchown(descriptor, -1, known.st_gid)
    except OSError:
        # Our group is another one, which gets the permissions of all others.
        return mode & ~0o070 | (mode & 0o007) << 3
    return mode


def _copy_attributes(descriptor: int, target: str) -> None:
    """Copy people's attributes and the access list, as far as the file system has them."""
    if sys.platform != "linux":
        return
    try:
        names = os.listxattr(target)
        inherited = os.listxattr(descriptor)
    except OSError:
        return
    for name in names:
        if name.startswith("user.") or name == _ACCESS_LIST:
            try:
                os.setxattr(descriptor, name, os.getxattr(target, name))
            except OSError:
                continue
    if _ACCESS_LIST in inherited and _ACCESS_LIST not in names:
        os.removexattr(descriptor, _ACCESS_LIST)


def _open_shared(path: str) -> int | None:
    """Open a file to read it, with a shared lock that others can see; return None where it is not a
    file now.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_WAIT)
    except FileNotFoundError:
        return None
    if sys.platform != "win32":
        with suppress(OSError):  # without locks, or another user's
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


#: A pipe in a file's place must not make us wait for its writer.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def _holds(descriptor: int, data: bytes) -> bool:
    """Return whether a file that was just opened holds exactly these bytes."""
    if os.fstat(descriptor).st_size != len(data):
        return False
    with open(descriptor, "rb", closefd=False) as stream:
        return stream.read() == data


def _synchronise(descriptor: int) -> None:
    """Flush to disk; some file systems cannot, which is not a fault of the file."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise


def remove_leftovers(path: str) -> None:
    """Remove leftovers of killed writers beside a file, which itself need not be written again."""
    _sweep_once(os.path.dirname(os.path.realpath(path)))


def _sweep_once(folder: str) -> None:
    """Remove what killed writers left in a folder, the first time that we look there."""
    if folder in _swept:
        return
    _swept.add(folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        if found is not None:
            _remove_leftover(os.path.join(folder, name), found[1] == _machine())


def _remove_leftover(path: str, ours: bool) -> None:
    """Remove a temporary file, unless its writer may still be alive."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NO_WAIT
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return
    try:
        found = os.fstat(descriptor)
        age = time.time() - found.st_mtime
        if not stat.S_ISREG(found.st_mode) or (not ours and age < _SECONDS_OF_OTHERS):
            return
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
    except OSError:  # locked: its writer lives
        return
    finally:
        os.close(descriptor)
    if sys.platform == "win32" and age > _SECONDS_UNLOCKED:
        _remove(path)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
