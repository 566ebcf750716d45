"""The server as a process, spoken to in plain JSON: for what no client library would send."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

Message = dict[str, Any]

COMMAND = [sys.executable, "-m", "netsharp_lsp", "lsp"]
TIMEOUT = 60.0


def frame(message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def frames(stream: IO[bytes]) -> Iterator[Message]:
    """Messages of a stream; anything between them is a fault."""
    while head := stream.readline():
        name, _, value = head.partition(b":")
        assert name == b"Content-Length", head
        assert stream.readline() == b"\r\n"
        yield json.loads(stream.read(int(value)))


class Wire:
    """One server process and all that it has said."""

    def __init__(self, command: list[str] | None = None, **options: Any) -> None:
        self.process = subprocess.Popen(
            command or COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.sink = self.process.stdin
        self.heard: list[Message] = []
        #: What the server's requests get as their result, by method: a value, or what makes one.
        self.answers: dict[str, Any] = {}
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._next = 0
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()

    def _listen(self, stream: IO[bytes]) -> None:
        try:
            for message in frames(stream):
                self._messages.put(message)
        finally:
            self._messages.put(None)

    def send(self, *messages: object) -> None:
        """Send messages in one piece, so that they wait together."""
        self.sink.write(b"".join(map(frame, messages)))
        self.sink.flush()

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object = None) -> Message:
        """The next request, not yet sent."""
        self._next += 1
        return {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}

    def request(self, method: str, params: object = None) -> Any:
        """The result of a request; its error fails the test."""
        answer = self.exchange(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def exchange(self, method: str, params: object = None) -> Message:
        message = self.ask(method, params)
        self.send(message)
        return self.answer(message["id"])

    def answer(self, request: int) -> Message:
        return self.wait(lambda heard: heard.get("id") == request and "method" not in heard)

    def wait(self, wanted: Callable[[Message], bool], timeout: float = TIMEOUT) -> Message:
        """The first message from now on that is wanted; requests of the server are answered."""
        end = time.monotonic() + timeout
        while True:
            message = self._messages.get(timeout=max(0.01, end - time.monotonic()))
            assert message is not None, "the server has ended"
            self.heard.append(message)
            if "method" in message and "id" in message:
                answer = self.answers.get(message["method"])
                result = answer(message["params"]) if callable(answer) else answer
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            if wanted(message):
                return message

    def published(self, uri: str, version: int | None = None) -> list[Message]:
        """The diagnostics of a document, of a version."""

        def is_it(heard: Message) -> bool:
            params = heard.get("params") or {}
            return (
                heard.get("method") == "textDocument/publishDiagnostics"
                and params.get("uri") == uri
                and version in (None, params.get("version"))
            )

        found: list[Message] = self.wait(is_it)["params"]["diagnostics"]
        return found

    def initialize(self, capabilities: object = None, **params: object) -> Message:
        """Go through the beginning; the server's answer."""
        result: Message = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": capabilities or {},
                **params,
            },
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "netsharp", version: int = 1) -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: object) -> Message:
        """A change of a document, not yet sent."""
        params = {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": list(changes),
        }
        return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}

    def stop(self) -> int:
        """End the server as a client should; its exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(TIMEOUT)


@contextlib.contextmanager
def serving(capabilities: object = None, **params: object) -> Iterator[Wire]:
    """A server that has answered `initialize`; it must end cleanly."""
    wire = Wire()
    try:
        wire.initialize(capabilities, **params)
        yield wire
        assert wire.stop() == 0
    finally:
        if wire.process.poll() is None:
            wire.process.kill()
            wire.process.wait()


def replace(first: tuple[int, int], last: tuple[int, int], text: str) -> Message:
    """A change of a range."""
    start = {"line": first[0], "character": first[1]}
    end = {"line": last[0], "character": last[1]}
    return {"range": {"start": start, "end": end}, "text": text}
