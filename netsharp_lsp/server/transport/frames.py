"""Messages of the protocol as bytes: read from a stream, and waiting to be handled.

Knows no method's meaning but two: a cancellation acts before its turn, and a change to come makes
answers about the present text stale.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter, deque
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, BinaryIO

from netsharp_lsp.limits import HEADER_BYTES, MESSAGE_BYTES, WAITING_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

Message = dict[str, Any]

CANCEL = "$/cancelRequest"
CHANGE = "textDocument/didChange"
#: JSON-RPC's codes for invalid JSON and for an invalid message.
NO_JSON, NO_MESSAGE = -32700, -32600

_HEADER = re.compile(rb"([A-Za-z0-9_-]+):[ \t]*(.*?)[ \t\r\n]*", re.DOTALL)
_CHARSET = re.compile(r"charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)
#: "utf8" is what old clients say.
_CHARSETS = ("utf-8", "utf8")


class MalformedError(Exception):
    """Not a message: a sentence, with the code and the request to answer if it is known."""

    def __init__(
        self, sentence: str, code: int = NO_JSON, request: int | str | None = None
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.request = request


class LostError(MalformedError):
    """The rest of the stream cannot be read: where a message begins is unknown."""


def is_id(value: object) -> TypeGuard[int | str]:
    """Return whether a value may name a request."""
    return isinstance(value, (int, str)) and not isinstance(value, bool)


class Headers:
    """The header of a body: its length, None where missing, and its faults."""

    __slots__ = ("charset", "damaged", "length", "seen", "torn")

    def __init__(self) -> None:
        self.length: int | None = None
        self.charset = _CHARSETS[0]
        self.seen = False
        #: What is wrong, as a sentence; empty where nothing is.
        self.damaged = ""
        #: Matches a line that is not a header, but perhaps a body without an announced length.
        self.torn = False

    def take(self, line: bytes) -> None:
        """Read one line; LostError where a length cannot be."""
        self.seen = True
        header = _HEADER.fullmatch(line)
        if header is None or not line.isascii():
            self.torn = True
            self.damaged = self.damaged or f"This is not a header line: {_shown(line)}."
            return
        name, value = header[1].lower(), header[2].decode("ascii")
        if name == b"content-length":
            self._measure(value)
        elif name == b"content-type" and (charset := _CHARSET.search(value)) is not None:
            self.charset = charset[1].lower()

    def _measure(self, value: str) -> None:
        if not value.isdigit():
            self.damaged = f"Content-Length: a number of bytes is needed, found {_shown(value)}."
            return
        digits = value.lstrip("0") or "0"
        if len(digits) > len(str(MESSAGE_BYTES.most)) or int(digits) > MESSAGE_BYTES.most:
            raise LostError(
                f"Content-Length: {_shown(value)} bytes announced, at most {MESSAGE_BYTES} are "
                "read: what follows cannot be told apart.",
                NO_MESSAGE,
            )
        if self.length not in (None, int(digits)):
            raise LostError("Content-Length is there twice with different values.", NO_MESSAGE)
        self.length = int(digits)


def read_frames(stream: BinaryIO) -> Iterator[bytes | MalformedError]:
    """Yield the bodies of messages until the stream ends, and errors in place of bodies.

    Headers without a length are taken to have no body; LostError is the last that is yielded.
    """
    try:
        while (headers := _read_headers(stream)) is not None:
            if headers.length is None:
                if headers.seen:
                    yield MalformedError(
                        headers.damaged or "A header says no Content-Length.", NO_MESSAGE
                    )
                continue
            body = stream.read(headers.length)
            if len(body) < headers.length:
                raise LostError(
                    f"The stream ended after {len(body):,} of {headers.length:,} bytes of a "
                    "message.",
                )
            wrong = headers.damaged
            if headers.charset not in _CHARSETS:
                wrong = f"Content-Type: UTF-8 is needed, found charset {_shown(headers.charset)}."
            yield MalformedError(wrong, NO_MESSAGE, _id_in(body)) if wrong else body
    except LostError as lost:
        yield lost


def _read_headers(stream: BinaryIO) -> Headers | None:
    """Return the headers of the next message; None where the stream ends before they do."""
    headers, left = Headers(), HEADER_BYTES.most
    while line := stream.readline(left):
        left -= len(line)
        if not line.strip():
            if headers.length is None and headers.torn:
                raise LostError(headers.damaged, NO_MESSAGE)
            return headers
        if left <= 0:
            raise LostError(f"A header has more than {HEADER_BYTES}.", NO_MESSAGE)
        headers.take(line)
    return None


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number is too large")
    return number


_JSON = json.JSONDecoder(parse_constant=_reject, parse_float=_finite)


def parse_body(body: bytes) -> Message:
    """Return the message in a body; MalformedError where there is none."""
    try:
        message = _JSON.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedError(f"A message is not UTF-8 at byte {error.start:,}.") from None
    except RecursionError:
        raise MalformedError("A message is nested too deep.") from None
    except json.JSONDecodeError as error:
        raise MalformedError(f"A message is not JSON: {error}.") from None
    except ValueError as error:
        reason = "a number has too many digits" if "digits" in str(error) else str(error)
        raise MalformedError(f"A message is not JSON: {reason}.") from None
    if not isinstance(message, dict):
        raise MalformedError("A message is not a JSON object.")
    return message


def _id_in(body: bytes) -> int | str | None:
    """Return the id of a message that is not taken; None where it has none that can be read."""
    try:
        request = parse_body(body).get("id")
    except MalformedError:
        return None
    return request if is_id(request) else None


def _shown(value: bytes | str) -> str:
    """Return a piece of a stream as a sentence repeats it."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    cut = text.strip()
    return json.dumps(cut[:40] + "..." if len(cut) > 40 else cut)


class Inbox:
    """Messages that have come and wait; filled by a thread that reads, emptied by the loop.

    The thread stops reading while very many wait, so that a client which sends faster than it is
    answered meets a full pipe.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Message | MalformedError | None, int]] = deque()
        self._size = 0
        self._room = threading.Condition()
        self._cancelled: set[int | str] = set()
        self._changes: Counter[str] = Counter()
        self._arrived = asyncio.Event()
        #: Whether the stream is at its end: nothing comes any more.
        self.ended = False

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def read(self, stream: BinaryIO) -> None:
        """Put in all that a stream brings, and None at its end; runs in a thread."""
        # The other side is gone, or this one closes the stream: both are an end.
        with suppress(OSError, ValueError):
            for frame in read_frames(stream):
                self._put(frame)
        self.end()

    def end(self) -> None:
        """Let the stream be at its end; from any thread."""
        self.ended = True
        self._waiting.append((None, 0))
        self.wake()

    async def arrival(self) -> None:
        """Wait until there is input, or the loop is woken."""
        await self._arrived.wait()
        self._arrived.clear()

    def take(self) -> Message | MalformedError | None:
        """Return the oldest message; None at the end of the stream."""
        message, size = self._waiting.popleft()
        with self._room:
            self._size -= size
            self._room.notify()
            if isinstance(message, dict):
                self._forget(message)
        return message

    def is_cancelled(self, request: int | str) -> bool:
        """Return whether a cancellation of a request waits."""
        return request in self._cancelled

    def expects_change(self, uri: str) -> bool:
        """Return whether a change of a document is pending, so that its facts are outdated."""
        return uri in self._changes

    def wake(self) -> None:
        """Let the loop come round though no message has come; from any thread."""
        # If the loop has ended, no message is handled any more.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrived.set)

    def _put(self, frame: bytes | MalformedError) -> None:
        size = len(frame) if isinstance(frame, bytes) else 0
        message: Message | MalformedError
        try:
            message = parse_body(frame) if isinstance(frame, bytes) else frame
        except MalformedError as malformed:
            message = malformed
        with self._room:
            self._room.wait_for(lambda: self._size <= WAITING_BYTES.most)
            self._size += size
            if isinstance(message, dict):
                self._remember(message)
            self._waiting.append((message, size))
        self.wake()

    def _remember(self, message: Message) -> None:
        """Know of what acts before its turn."""
        cancelled, changed = _cancelled_id(message), _changed_document(message)
        if cancelled is not None:
            self._cancelled.add(cancelled)
        if changed is not None:
            self._changes[changed] += 1

    def _forget(self, message: Message) -> None:
        """Know no more of it: its turn has come."""
        cancelled, changed = _cancelled_id(message), _changed_document(message)
        if cancelled is not None:
            self._cancelled.discard(cancelled)
        if changed is not None:
            self._changes[changed] -= 1
            if not self._changes[changed]:
                del self._changes[changed]


def _changed_document(message: Message) -> str | None:
    """Return the URI of the document that a message changes; None where it changes none."""
    if message.get("method") != CHANGE:
        return None
    params = message.get("params")
    identity = params.get("textDocument") if isinstance(params, dict) else None
    uri = identity.get("uri") if isinstance(identity, dict) else None
    return uri if isinstance(uri, str) else None


def _cancelled_id(message: Message) -> int | str | None:
    if message.get("method") != CANCEL:
        return None
    params = message.get("params")
    found = params.get("id") if isinstance(params, dict) else None
    return found if is_id(found) else None
