"""A client of a language server over pipes, as thin as can be; knows nothing of what it measures.

Answers carry the moment at which their last byte was read, before any JSON was decoded.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measure import ENVIRONMENT

#: Seconds after which a server counts as dead.
PATIENCE = 300


class Received(NamedTuple):
    """A message and when it came, in seconds of `time.perf_counter`."""

    at: float
    message: dict[str, Any]


class Client:
    """One server process and what it says.  RuntimeError where it ends or answers an error."""

    def __init__(self, words: Sequence[str], folder: str) -> None:
        self.folder = folder
        self.started = time.perf_counter()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=folder,
            env=ENVIRONMENT,
        )
        self.received: queue.SimpleQueue[tuple[float, bytes] | None] = queue.SimpleQueue()
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            body = stream.read(length) if length else b""
            if not body:
                self.received.put(None)
                return
            self.received.put((time.perf_counter(), body))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        stream.flush()

    def notify(self, method: str, params: object = None) -> float:
        """Send a notification; the moment before it was sent."""
        at = time.perf_counter()
        self._send({"method": method, "params": params})
        return at

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> Received:
        """The next message that is wanted; what the server asks meanwhile is answered."""
        while True:
            item = self.received.get(timeout=PATIENCE)
            if item is None:
                self.errors.seek(0)
                raise RuntimeError(f"the server ended: {self.errors.read()[-400:]!r}")
            message = json.loads(item[1])
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": _harmless(message)})
            elif wanted(message):
                return Received(item[0], message)

    def request(self, method: str, params: object) -> tuple[float, Any]:
        """Seconds to the answer, and the answer."""
        self.number += 1
        number = self.number
        at = time.perf_counter()
        self._send({"id": number, "method": method, "params": params})
        received = self.wait(lambda message: message.get("id") == number)
        if "error" in received.message:
            raise RuntimeError(f"{method}: {received.message['error']}")
        return received.at - at, received.message["result"]

    def initialize(self) -> float:
        """Shake hands; seconds from the start of the process to the answer."""
        uri = Path(self.folder).as_uri()
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "bench"}],
                "capabilities": {
                    "textDocument": {
                        "publishDiagnostics": {"versionSupport": True},
                        "hover": {},
                        "completion": {},
                    },
                    "workspace": {"configuration": True},
                },
            },
        )
        took = time.perf_counter() - self.started
        self.notify("initialized", {})
        return took

    def published(self, uri: str, version: int) -> Received:
        """The diagnostics of a version of a document."""

        def wanted(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            return params["uri"] == uri and params.get("version", version) == version

        return self.wait(wanted)

    def memory(self) -> tuple[float, float]:
        """MiB of the process now and at its peak."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        rows = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        now, peak = (int(rows[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
        return now, peak

    def processor(self) -> float:
        """Seconds of processor time that the process has taken."""
        status = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        user, system = status.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Say goodbye."""
        self.request("shutdown", None)
        self.notify("exit")
        self.process.wait(PATIENCE)
        self.errors.close()


def _harmless(message: dict[str, Any]) -> object:
    """An answer that changes nothing."""
    if message["method"] == "workspace/configuration":
        return [None for _ in message["params"]["items"]]
    return None
