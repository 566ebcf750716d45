"""A client that stops reading: memory stays bounded, and when it reads again nothing is missing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from netsharp_lsp.limits import UNREAD_BYTES, WAITING_BYTES
from netsharp_lsp.server.transport.outbox import Outbox, Standing
from netsharp_lsp.server.transport.protocol import priority_of
from tests.server.texts import NETWORK
from tests.server.wire import COMMAND, Message, frame, frames

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

URI = "file:///nowhere/unread.nn"
IDENTITY = {"textDocument": {"uri": URI}}
PATIENCE = 60.0


class Deaf:
    """A server whose output is read only when a test says so."""

    def __init__(self, text: str = NETWORK) -> None:
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.sink: IO[bytes] = self.process.stdin
        self.heard: Iterator[Message] = frames(self.process.stdout)
        self.send(self.ask(0, "initialize", {"capabilities": {}}))
        assert next(self.heard)["id"] == 0
        self.send(self.notice("initialized", {}))
        item = {"uri": URI, "languageId": "netsharp", "version": 1, "text": text}
        self.send(self.notice("textDocument/didOpen", {"textDocument": item}))
        self.most = self.memory()

    @staticmethod
    def ask(number: int, method: str, params: object) -> bytes:
        return frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    @staticmethod
    def notice(method: str, params: object) -> bytes:
        return frame({"jsonrpc": "2.0", "method": method, "params": params})

    def change(self, version: int, text: str) -> bytes:
        identity = {"uri": URI, "version": version}
        params = {"textDocument": identity, "contentChanges": [{"text": text}]}
        return self.notice("textDocument/didChange", params)

    def send(self, *pieces: bytes) -> None:
        self.sink.write(b"".join(pieces))
        self.sink.flush()

    def memory(self) -> int:
        """Bytes that the server has in memory."""
        rows = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (row,) = (row for row in rows if row.startswith("VmRSS"))
        return 1024 * int(row.split()[1])

    def settle(self) -> int:
        """Wait until the server works no more; the most memory that it had on the way."""
        most, idle, before = self.memory(), 0, -1
        end = time.monotonic() + PATIENCE
        while idle < 6 and time.monotonic() < end:
            time.sleep(0.1)
            stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            spent = int(stat[11]) + int(stat[12])
            idle, before = (idle + 1 if spent == before else 0), spent
            most = max(most, self.memory())
        return most

    def end(self) -> None:
        self.send(self.ask(-1, "shutdown", None), self.notice("exit", None))
        assert any(heard.get("id") == -1 for heard in self.heard)
        assert self.process.wait(PATIENCE) == 0
        assert self.process.stderr is not None
        assert self.process.stderr.read() == b""

    def __enter__(self) -> Deaf:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def read_until(deaf: Deaf, wanted: set[int]) -> list[Message]:
    """All that is heard until requests are answered."""
    heard: list[Message] = []
    missing = set(wanted)
    while missing:
        message = next(deaf.heard)
        heard.append(message)
        if "method" not in message:
            missing.remove(message["id"])
    return heard


@pytest.mark.costly
def test_each_request_is_answered_when_the_client_reads_again() -> None:
    asked = 3_000
    with Deaf() as deaf:
        for number in range(1, asked + 1):
            deaf.send(
                deaf.change(number + 1, NETWORK + f"oops{number}"),
                deaf.ask(number, "textDocument/documentSymbol", IDENTITY),
                deaf.notice("textDocument/didChange", {"textDocument": 3}),
            )
        assert deaf.settle() < deaf.most + 3 * UNREAD_BYTES.most
        heard = read_until(deaf, set(range(1, asked + 1)))
        while not (published := [each for each in heard if version(each) == asked + 1]):
            heard.append(next(deaf.heard))
        found = published[-1]["params"]["diagnostics"]
        assert [each["severity"] for each in found].count(1) == 1
        assert len([each for each in heard if version(each) is not None]) < 100
        deaf.end()


def version(heard: Message) -> int | None:
    """The version of a document whose diagnostics a message contains."""
    params = heard.get("params") or {}
    found: int | None = params.get("version") if "diagnostics" in params else None
    return found


def large(deaf: Deaf, number: int) -> bytes:
    """A request whose answer is a megabyte, and costs nothing: a proposal that is whole already."""
    return deaf.ask(number, "completionItem/resolve", {"label": "x" * 2**20})


def test_more_than_can_wait_holds_the_client_up_and_nothing_else() -> None:
    """Answers of twice what may wait: the server stops reading, and continues later."""
    with Deaf() as deaf:
        asked = range(1, 2 * UNREAD_BYTES.most // 2**20)
        writer = threading.Thread(
            target=deaf.send, args=[large(deaf, number) for number in asked], daemon=True
        )
        writer.start()
        assert deaf.settle() < deaf.most + 2 * UNREAD_BYTES.most + 4 * WAITING_BYTES.most
        assert writer.is_alive(), "the pipe is full, for the server does not read on"
        heard = read_until(deaf, set(asked))
        assert all("result" in each for each in heard if "method" not in each)
        writer.join(PATIENCE)
        assert not writer.is_alive()
        deaf.end()


@pytest.mark.costly
def test_a_client_that_reads_no_more_and_ends_its_own_stream_ends_the_server() -> None:
    with Deaf() as deaf:
        count = (UNREAD_BYTES.most + WAITING_BYTES.most // 2) // 2**20
        deaf.send(*(large(deaf, number) for number in range(1, count)))
        deaf.sink.close()
        assert deaf.process.wait(PATIENCE) == 1
        assert deaf.process.stderr is not None
        assert deaf.process.stderr.read() == b""


def test_what_was_asked_before_the_end_of_the_stream_is_answered() -> None:
    """`printf ... | netsharp lsp | slow`: the reader takes its time."""
    with Deaf() as deaf:
        asked = range(1, 400)
        deaf.send(*(deaf.ask(n, "textDocument/documentSymbol", IDENTITY) for n in asked))
        deaf.sink.close()
        time.sleep(1.0)
        assert len(read_until(deaf, set(asked))) >= len(asked)
        assert deaf.process.wait(PATIENCE) == 1


def test_pipes_that_do_not_wait_are_waited_for() -> None:
    """Who starts the server may have made its own ends of the pipes so."""
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_NONBLOCK)
    server = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=theirs)
    os.close(theirs)
    assert server.stdin is not None
    asked = range(1, 300)
    pieces = [Deaf.ask(0, "initialize", {"capabilities": {}})]
    pieces += [Deaf.ask(n, "x" * 50, {"query": ""}) for n in asked]
    server.stdin.write(b"".join(pieces))
    server.stdin.flush()
    time.sleep(1.0)
    with os.fdopen(ours, "rb") as stream:
        heard = frames(stream)
        assert [next(heard)["id"] for _ in pieces] == [0, *asked]
        server.stdin.close()
        assert server.wait(PATIENCE) == 1


class Pipe:
    """A pipe that takes nothing until it is read: in this process, without a server."""

    def __init__(self) -> None:
        ours, theirs = os.pipe()
        self.stream = os.fdopen(ours, "rb")
        self.sink: Any = os.fdopen(theirs, "wb", buffering=0)

    def fill(self, outbox: Outbox) -> None:
        outbox.write(b"." * 100_000)


@pytest.mark.costly
def test_the_newest_stands_for_the_older_and_the_oldest_that_may_go_are_left_out() -> None:
    async def write() -> bytes:
        pipe = Pipe()
        outbox = Outbox(pipe.sink, most=1_000)
        pipe.fill(outbox)
        while outbox.full:
            await asyncio.sleep(0.01)  # What is half written is not counted.
        for number in range(300):
            outbox.write(b"d%03d " % number, Standing("same document"))
            outbox.write(b"l%03d " % number, Standing(may_go=True))
        for number in range(300):
            outbox.write(b"r%03d " % number)
        assert outbox.full
        assert not await asyncio.wait_for(outbox.room(lambda: True), PATIENCE)
        reader = threading.Thread(target=read, args=(pipe,))
        reader.start()
        assert await outbox.room(lambda: False)
        outbox.flush()
        pipe.sink.close()
        reader.join()
        return reported[0].lstrip(b".")

    def read(pipe: Pipe) -> None:
        reported.append(pipe.stream.read())

    reported: list[bytes] = []
    words = asyncio.run(write()).split()
    assert words == [b"d299", *(b"r%03d" % number for number in range(300))]


def test_who_reads_no_more_is_forgotten() -> None:
    async def write() -> None:
        pipe = Pipe()
        outbox = Outbox(pipe.sink, most=10)
        pipe.fill(outbox)
        outbox.write(b"x" * 50)
        pipe.stream.close()
        assert await outbox.room(lambda: False)
        assert outbox.gone
        outbox.write(b"y")
        outbox.flush()

    asyncio.run(write())


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("textDocument/publishDiagnostics", {"uri": "a"}, (("diagnostics", "a"), False)),
        ("window/logMessage", {"message": ""}, (None, True)),
        ("window/showMessage", {"message": ""}, (None, False)),
        ("$/progress", {"token": 1, "value": {"kind": "report"}}, (("progress", 1), True)),
        ("$/progress", {"token": 1, "value": {"kind": "begin"}}, (None, False)),
        ("$/progress", {"token": 1, "value": {"kind": "end"}}, (None, False)),
        ("$/progress", {"token": 1, "value": {"items": []}}, (None, False)),
        ("netsharp/runProgress", {"id": "a", "event": "step"}, (None, True)),
        ("netsharp/runProgress", {"id": "a", "event": "end"}, (None, False)),
        (None, None, (None, False)),
    ],
)
def test_what_may_be_left_out(method: str | None, params: Any, expected: tuple[Any, bool]) -> None:
    standing = priority_of({"method": method, "params": params})
    assert (standing.key, standing.may_go) == expected
