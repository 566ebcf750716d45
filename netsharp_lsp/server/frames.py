"""Messages of the protocol as bytes: read from a stream, and waiting to be handled.

Knows no method's meaning but two: a cancellation acts before its turn, and a change to come makes
answers about the present text stale.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

Message = dict[str, Any]

CANCEL = "$/cancelRequest"
CHANGE = "textDocument/didChange"


class MalformedError(Exception):
    """A body that is no JSON object, as a sentence."""


def read_frames(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bodies of messages until the stream ends; headers without a length are skipped."""
    while True:
        length = None
        while line := stream.readline():
            if not line.strip():
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        else:
            return
        if length is None:
            continue
        body = stream.read(length)
        if len(body) < length:
            return
        yield body


def parse_body(body: bytes) -> Message:
    """Return the message in a body; MalformedError where there is none."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"A message is no JSON: {error}.") from None
    if not isinstance(message, dict):
        raise MalformedError("A message is no JSON object.")
    return message


class Inbox:
    """Messages that have come and wait; filled by a thread that reads, emptied by the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Message | MalformedError | None] = deque()
        self._cancelled: set[int | str] = set()
        self._arrived = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def read(self, stream: BinaryIO) -> None:
        """Put in all that a stream brings, and None at its end; runs in a thread."""
        # The other side is gone, or this one closes the stream: both are an end.
        with suppress(OSError, ValueError):
            for body in read_frames(stream):
                self._put(body)
        self.end()

    def end(self) -> None:
        """Let the stream be at its end; from any thread."""
        self._waiting.append(None)
        self.wake()

    async def arrival(self) -> None:
        """Wait until there is something to take, or somebody wakes the loop."""
        await self._arrived.wait()
        self._arrived.clear()

    def take(self) -> Message | MalformedError | None:
        """Return the oldest message; None at the end of the stream."""
        message = self._waiting.popleft()
        if isinstance(message, dict) and message.get("method") == CANCEL:
            self._cancelled.discard(_cancelled_id(message))
        return message

    def is_cancelled(self, request: int | str) -> bool:
        """Whether a cancellation of a request waits."""
        return request in self._cancelled

    def expects_change(self, uri: str) -> bool:
        """Whether a change of a document waits, so that what is known of it is stale."""
        return any(_changed_document(message) == uri for message in tuple(self._waiting))

    def wake(self) -> None:
        """Let the loop come round though no message has come; from any thread."""
        # Where the loop has ended, nobody takes messages any more.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrived.set)

    def _put(self, body: bytes) -> None:
        try:
            message = parse_body(body)
        except MalformedError as malformed:
            self._waiting.append(malformed)
        else:
            if message.get("method") == CANCEL:
                self._cancelled.add(_cancelled_id(message))
            self._waiting.append(message)
        self.wake()


def _changed_document(message: Message | MalformedError | None) -> object:
    """The URI of the document that a message changes; None where it changes none."""
    if not isinstance(message, dict) or message.get("method") != CHANGE:
        return None
    params = message.get("params")
    identity = params.get("textDocument") if isinstance(params, dict) else None
    return identity.get("uri") if isinstance(identity, dict) else None


def _cancelled_id(message: Message) -> int | str:
    params = message.get("params")
    found = params.get("id") if isinstance(params, dict) else None
    return found if isinstance(found, (int, str)) else ""
