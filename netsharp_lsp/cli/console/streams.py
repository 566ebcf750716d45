"""The standard streams of a process, whatever it was started with: closed, full, a dead socket.

An error names its stream and comes once. What stderr cannot take is dropped.
"""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

STDIN, STDOUT, STDERR = range(3)
NAMES = ("standard input", "standard output", "standard error")
#: Python's names of them; a stream that was closed before Python began is None there.
_ATTRIBUTES = ("stdin", "stdout", "stderr")
#: A file name or source line that the terminal cannot show must not end the program.
_SHOWN = "backslashreplace"


class Standard(io.FileIO):
    """One of the three as the system has it; its errors name it, and the first is the last."""

    def __init__(self, number: int, closed: bool) -> None:
        super().__init__(number, "rb" if number == STDIN else "wb", closefd=False)
        self.number = number
        self.closed_before = closed
        self.lost: OSError | None = None
        #: The stream may have no reader: what is written to it is dropped.
        self.silent = False

    def readall(self) -> bytes:
        """Read until the end."""
        data: bytes = self._do(super().readall)
        return data

    def readinto(self, buffer: Any) -> int | None:
        """Read the available bytes into a buffer."""
        count: int | None = self._do(super().readinto, buffer)
        return count

    def write(self, data: Any) -> int:
        """Write all, waiting for a slow reader; pretend to where something failed before."""
        view = memoryview(data).cast("B")
        rest = view[:0] if self.silent or self.lost is not None else view
        try:
            while rest:
                written = self._do(super().write, rest)
                if written is None:
                    self._wait()
                else:
                    rest = rest[written:]
        except OSError as error:
            self.lost = error
            if self.number != STDERR:
                raise
        return len(view)

    def close_quietly(self) -> None:
        """Discard later output: Python flushes again when it ends, and would report an error."""
        self.lost = OSError(errno.EPIPE, os.strerror(errno.EPIPE), NAMES[self.number])

    def _do(self, act: Any, *arguments: Any) -> Any:
        if self.closed_before:
            raise OSError(errno.EBADF, "it is closed", NAMES[self.number])
        try:
            return act(*arguments)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, NAMES[self.number]) from None

    def _wait(self) -> None:
        """Wait until a non-blocking stream takes more."""
        import select

        select.select([], [self], [])


def protect() -> Standard | None:
    """Install streams that report their errors, and return the one that stdout writes to.

    Only a process of ours does this. A number that is free would go to the next file that is
    opened, and with it what is printed. None where stdout is not a file, as a console of Windows.
    """
    closed = [number for number in (STDIN, STDOUT, STDERR) if _fills(number)]
    for number, attribute in enumerate(_ATTRIBUTES):
        stream = getattr(sys, attribute)
        if stream is None or isinstance(_raw(stream), io.FileIO):
            setattr(sys, attribute, _opened(number, number in closed, stream))
        elif number == STDOUT:
            stream.reconfigure(errors=_SHOWN)
    raw = _raw(sys.stdout)
    return raw if isinstance(raw, Standard) else None


def silence(stream: TextIO) -> None:
    """Discard all output from now on, without an error."""
    raw = _raw(stream)
    if isinstance(raw, Standard):
        raw.silent, raw.lost = True, None
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def was_closed(stream: TextIO) -> bool:
    """Return whether a stream was closed before the process began."""
    raw = _raw(stream)
    return isinstance(raw, Standard) and raw.closed_before


def give_up(error: OSError) -> OSError:
    """Let what stdout still holds go nowhere: Python writes it once more when it ends.

    Returns the error by the stream's name.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    protect()
    return type(error)(error.errno, error.strerror, NAMES[STDOUT])


def _raw(stream: TextIO) -> Any:
    """Return the raw stream below a text stream; without buffering it is the buffer itself."""
    return getattr(stream.buffer, "raw", stream.buffer)


def _fills(number: int) -> bool:
    """Give a closed stream's number, the lowest free one, to the null device; whether it was."""
    try:
        os.fstat(number)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        return True
    return False


def _opened(number: int, closed: bool, like: TextIO | None) -> TextIO:
    """Return a stream of ours in place of one of Python's, written as that one would be."""
    raw = Standard(number, closed)
    unbuffered = like is not None and _raw(like) is like.buffer
    return io.TextIOWrapper(
        raw if unbuffered else _buffered(raw),
        encoding="utf-8" if like is None else like.encoding,
        errors="strict" if number == STDIN else _SHOWN,
        line_buffering=like is not None and bool(like.line_buffering),
        write_through=unbuffered,
    )


def _buffered(raw: Standard) -> io.BufferedReader | io.BufferedWriter:
    return io.BufferedReader(raw) if raw.number == STDIN else io.BufferedWriter(raw)
