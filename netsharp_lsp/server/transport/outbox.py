"""Bytes for the client: written at once while it reads, else kept by a thread until it does.

What is kept is bounded: a newer message takes the place of an older one under the same key, the
oldest that may be left out are, and who asks `room` waits until the client has read.  Knows no
method's meaning.
"""

from __future__ import annotations

import asyncio
import select
import threading
from collections import OrderedDict
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, BinaryIO

from netsharp_lsp.limits import UNREAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

#: Bytes that a pipe takes without making the writer wait, where it says that it takes any.
CHUNK = getattr(select, "PIPE_BUF", 512)
#: Seconds that a client whose own stream has ended may take to read each remaining piece.
PATIENCE = 5.0


class Standing:
    """The priority of a message: `key` of those that replace it, whether it may be left out."""

    __slots__ = ("key", "may_go")

    def __init__(self, key: Hashable = None, may_go: bool = False) -> None:
        self.key = key
        self.may_go = may_go


NEEDED = Standing()


class Outbox:
    """A queue of output for a stream without a buffer of its own."""

    def __init__(self, sink: BinaryIO, most: int = UNREAD_BYTES.most) -> None:
        self._sink = sink
        self._most = most
        self._ready = _ready_to_take(sink)
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Condition()
        self._waiting: OrderedDict[Hashable, bytes | memoryview] = OrderedDict()
        #: Keys of messages that may be dropped, the oldest first.
        self._spare: OrderedDict[Hashable, None] = OrderedDict()
        self._numbers = count()
        self._size = 0
        self._busy = self._started = False
        self._taken = 0
        self._room = asyncio.Event()
        self._room.set()
        #: Whether the client has stopped reading.
        self.gone = False

    @property
    def full(self) -> bool:
        """Return whether so much waits that nothing more should be made."""
        return self._size > self._most

    def write(self, data: bytes, standing: Standing = NEEDED) -> None:
        """Have a message written; never waits for the client."""
        with self._lock:
            if self.gone:
                return
            rest: bytes | memoryview = data
            if not self._waiting and not self._busy:
                rest = self._write_at_once(memoryview(data))
            if rest:
                # A message that was begun is always completed.
                self._keep(rest, standing if len(rest) == len(data) else NEEDED)

    async def room(self, is_ending: Callable[[], bool]) -> bool:
        """Wait until there is room; False where the client, whose stream ended, reads no more."""
        while self._needs_room():
            before = self._taken
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._room.wait(), PATIENCE)
            if is_ending() and self._taken == before:
                return False
        return True

    def flush(self) -> None:
        """Wait until all is written, or the client reads no more."""
        with self._lock:
            before = -1
            while (self._waiting or self._busy) and not self.gone and self._taken != before:
                before = self._taken
                self._lock.wait(PATIENCE)

    def _needs_room(self) -> bool:
        with self._lock:
            if self.full:
                self._room.clear()
            return self.full

    def _write_at_once(self, data: memoryview) -> memoryview:
        """Write as much as the stream takes without waiting; the rest."""
        try:
            while data and self._ready():
                data = data[self._sink.write(data[:CHUNK]) or 0 :]
        except (OSError, ValueError):
            self._leave()
            return data[:0]
        return data

    def _keep(self, data: bytes | memoryview, standing: Standing) -> None:
        key = standing.key if standing.key is not None else next(self._numbers)
        self._drop(key)
        self._waiting[key] = data
        self._size += len(data)
        if standing.may_go:
            self._spare[key] = None
        while self._size > self._most and self._spare:
            self._drop(next(iter(self._spare)))
        if not self._started:
            self._started = True
            threading.Thread(target=self._write_on, daemon=True).start()
        self._lock.notify_all()

    def _drop(self, key: Hashable) -> None:
        self._size -= len(self._waiting.pop(key, b""))
        self._spare.pop(key, None)

    def _write_on(self) -> None:
        """Write what waits, as the client reads it; runs in a thread."""
        with suppress(OSError, ValueError):
            while True:
                data = memoryview(self._next())
                while data:
                    written = self._sink.write(data) or 0
                    self._taken += written
                    data = data[written:]
        with self._lock:
            self._leave()

    def _next(self) -> bytes | memoryview:
        """Return the oldest message, when there is one."""
        with self._lock:
            self._busy = False
            if not self.full and not self._room.is_set():
                self._announce_room()
            while not self._waiting:
                self._lock.notify_all()
                self._lock.wait()
            key, data = self._waiting.popitem(last=False)
            self._spare.pop(key, None)
            self._size -= len(data)
            self._busy = True
            return data

    def _leave(self) -> None:
        """Drop the output, as the reader has gone."""
        self.gone = True
        self._busy = False
        self._waiting.clear()
        self._spare.clear()
        self._size = 0
        self._announce_room()
        self._lock.notify_all()

    def _announce_room(self) -> None:
        # If the loop has ended, no writer waits any more.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._room.set)


def _ready_to_take(sink: BinaryIO) -> Callable[[], bool]:
    """Return whether a stream takes a chunk without waiting; unknown for a pipe on Windows."""
    if not hasattr(select, "poll"):
        return lambda: False
    poll = select.poll()
    poll.register(sink.fileno(), select.POLLOUT)
    return lambda: bool(poll.poll(0))
