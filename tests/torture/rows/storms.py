"""Storms: messages of every kind against one live server, which answers and does not grow."""

from __future__ import annotations

import json
import random
import resource
import statistics
import threading
import time
from typing import IO, Any

from tests.fuzz.edits import PIECES
from tests.server.wire import Message, Wire, frame
from tests.soak.typing import CAPABILITIES, QUESTIONS, TEXTS, Document, parameters
from tests.torture.campaign import Report, Row, Scale, Try
from tests.torture.process import COMMAND, MOST_MEMORY, OUR_TRACEBACK, memory
from tests.torture.rows.inputs import CONFIGURATION, MONSTERS
from tests.torture.rows.models import ODD

MESSAGES = {Scale.GLANCE: 200, Scale.SHORT: 2_400, Scale.LONG: 30_000}
#: Messages are sent together, and then all that they ask has to be answered.
TOGETHER = 40
PATIENCE = 60.0
#: Documents and answers come and go: between the second third and the last a server may not grow
#: more than allocators do by themselves.
MOST_GROWTH = 1.1
#: The most thirds by which a storm under which memory has grown is prolonged.
MOST_PROLONGED = 6
#: A text longer than this is replaced by a new one.
LONGEST = 6_000
METHODS = (
    *("workspace/symbol", "workspace/executeCommand", "netsharp/graph", "netsharp/run"),
    *("textDocument/rename", "textDocument/prepareRename", "completionItem/resolve"),
    *("textDocument/rangeFormatting", "textDocument/diagnostic", "nothing/atAll", "$/unknown"),
)
BODIES = (b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"{}" * 2, b"[" * 20_000, b"{}")


class Client(Wire):
    """A client that may stop reading for a while, with what the server writes to its log."""

    def __init__(self) -> None:
        self.reading = threading.Event()
        self.reading.set()

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

        super().__init__([COMMAND, "lsp"], preexec_fn=limit)
        self.log: list[bytes] = []
        assert self.process.stderr is not None
        threading.Thread(target=self._note, args=(self.process.stderr,), daemon=True).start()

    def _listen(self, stream: IO[bytes]) -> None:
        super()._listen(_Paused(stream, self.reading))  # type: ignore[arg-type]

    def _note(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.log.append(line)
            del self.log[:-500]


class _Paused:
    """A stream that is only read while an event is set."""

    def __init__(self, stream: IO[bytes], reading: threading.Event) -> None:
        self._stream = stream
        self._reading = reading

    def readline(self) -> bytes:
        self._reading.wait()
        return self._stream.readline()

    def read(self, size: int) -> bytes:
        self._reading.wait()
        return self._stream.read(size)


class Storm:
    """Makes messages, remembers which of them have to be answered, and hears the answers."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.client = Client()
        self.client.initialize(CAPABILITIES)
        self.documents = [
            self._open(f"file:///storm/{number}.{suffix}", language)
            for number, (suffix, language) in enumerate(
                (("nn", "netsharp"), ("nn", "netsharp"), ("cntk", "cntk"), ("bs", "brainscript"))
            )
        ]
        self.waiting: set[object] = set()
        self.asked = 0
        self.number = 1_000_000

    def _text(self, uri: str) -> str:
        if uri.endswith(".nn"):
            return self.chance.choice(TEXTS)
        return (
            CONFIGURATION if uri.endswith(".cntk") else "features = Input {3}\nz = features + 1\n"
        )

    def _open(self, uri: str, language: str) -> Document:
        document = Document(uri, self._text(uri))
        self.client.open(uri, document.text, language)
        return document

    def message(self) -> bytes:
        """The next message as it goes over the wire."""
        how = self.chance.random()
        if how < 0.03:
            body = self.chance.choice(BODIES)
            return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        if how < 0.08:
            return frame(self._cancel())
        valid = self._edit() if self.chance.random() < 0.35 else self._request()
        if how < 0.45:
            valid = self._mutated(valid)
        return frame(valid)

    def _request(self) -> Message:
        self.number += 1
        self.asked += 1
        self.waiting.add(self.number)
        document = self.chance.choice(self.documents)
        offset = self.chance.randrange(len(document.text) + 1)
        if self.chance.random() < 0.8:
            question = self.chance.choice(QUESTIONS)
            method = f"textDocument/{question}"
            params: Any = parameters(question, document, offset)
        else:
            method = self.chance.choice(METHODS)
            params = parameters("hover", document, offset)
            params |= {"query": "a", "newName": "b", "command": "x", "arguments": [], "label": "c"}
        return {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}

    def _edit(self) -> Message:
        document = self.chance.choice(self.documents)
        start = self.chance.randrange(len(document.text) + 1)
        end = min(len(document.text), start + self.chance.choice((0, 0, 1, 8, 60)))
        piece = self.chance.choice(PIECES)
        if self.chance.random() < 0.02:
            piece = self.chance.choice(MONSTERS)[:3_000].replace("\ud800", "")
        change: Message = {"range": document.span(start, end), "text": piece}
        text = document.text[:start] + piece + document.text[end:]
        if len(document.text) > LONGEST or self.chance.random() < 0.05:
            text = self._text(document.uri)
            change = {"text": text}
        document.text = text
        document.version += 1
        return self.client.change(document.uri, document.version, change)

    def _cancel(self) -> Message:
        known = sorted(one for one in self.waiting if isinstance(one, int))
        number: object = self.chance.choice((*known[-5:], 7, "x", None, [], [1], {}, 1.5, -1))
        return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}

    def _mutated(self, message: Message) -> Message:
        """A message in which something is odd or missing; its id stays what it was."""
        message = json.loads(json.dumps(message))
        part: Any = message
        place: Any = self.chance.choice(("params", "params", "params", "jsonrpc", "method"))
        while isinstance(part[place], (dict, list)) and part[place] and self.chance.random() < 0.75:
            part = part[place]
            place = self.chance.choice(list(part) if isinstance(part, dict) else range(len(part)))
        if self.chance.random() < 0.3 and part is not message:
            del part[place]
        else:
            part[place] = self.chance.choice([one for one in ODD if not _is_deep(one)])
        if message.get("method") is None or not isinstance(message["method"], str):
            self.waiting.discard(message.get("id"))  # It is not recognizable as a request.
        if not isinstance(message.get("jsonrpc"), str) or message["jsonrpc"] != "2.0":
            self.waiting.discard(message.get("id"))
        return message

    def hear(self) -> str | None:
        """Wait for all answers; a sentence where one does not come."""
        latest = time.monotonic() + PATIENCE
        while self.waiting:
            try:
                heard = self.client.wait(_is_answer, max(0.1, latest - time.monotonic()))
            except AssertionError:
                return f"the server has ended with {self.client.process.wait()}"
            except Exception:
                return f"{len(self.waiting)} requests without an answer for {PATIENCE:.0f} s"
            self.waiting.discard(heard["id"])
            del self.client.heard[:-50]
        return None

    def send(self, batch: list[bytes], pause: float) -> None:
        """Send messages, and hear nothing for so long."""
        if not pause:
            self._write(b"".join(batch))
            return
        self.client.reading.clear()
        writing = threading.Thread(target=self._write, args=(b"".join(batch),), daemon=True)
        writing.start()
        time.sleep(pause)
        self.client.reading.set()
        writing.join(PATIENCE)

    def _write(self, data: bytes) -> None:
        try:
            self.client.sink.write(data)
            self.client.sink.flush()
        except OSError:
            pass  # `hear`, which waits for the answers, reports that the server has ended.


def _is_deep(value: object) -> bool:
    return isinstance(value, str) and (len(value) > 1_000 or "\ud800" in value)


def _is_answer(heard: Message) -> bool:
    return "id" in heard and "method" not in heard


class Weather:
    """A storm under way: how much was sent, what went wrong, the memory after each batch."""

    def __init__(self, storm: Storm, chance: random.Random) -> None:
        self.storm = storm
        self.chance = chance
        self.sent = 0
        self.found: list[str] = []
        self.trace: list[int] = []

    def go_on(self, count: int) -> None:
        """Send `count` messages more, unless something went wrong."""
        until = self.sent + count
        while self.sent < until and not self.found:
            batch = [self.storm.message() for _ in range(TOGETHER)]
            self.storm.send(batch, 0.3 if self.chance.random() < 0.05 else 0.0)
            self.sent += len(batch)
            silent = self.storm.hear()
            if silent is not None:
                shown = [text[:300] for text in batch[-3:]]
                self.found.append(f"after {self.sent} messages: {silent}; the last were {shown}")
            used = memory(self.storm.client.process.pid)
            if used is not None:
                self.trace.append(used)

    def levels(self, batches: int) -> tuple[float, float]:
        """The median memory of the last batches, and of as many before them."""
        trace = self.trace
        before, after = trace[-2 * batches : -batches], trace[-batches:]
        return statistics.median(before), statistics.median(after)


def attempt(one: Try) -> Report:
    """One server, one storm.

    A first request of its kind may load code and tables, which is a step: where memory has grown,
    the storm continues until it levels off, and a leak does not.
    """
    count = MESSAGES[one.scale]
    third = count // TOGETHER // 3
    weather = Weather(Storm(one.chance), one.chance)
    process, found = weather.storm.client.process, weather.found
    levels: list[tuple[float, float]] = []
    try:
        weather.go_on(count)
        while not found and one.scale is not Scale.GLANCE and len(levels) <= MOST_PROLONGED:
            levels.append(weather.levels(third))
            if levels[-1][1] <= MOST_GROWTH * levels[-1][0]:
                break
            weather.go_on(third * TOGETHER)
        if not found and weather.storm.client.stop() != 0:
            found.append(f"the server ended with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    log = b"".join(weather.storm.client.log).decode("utf-8", "replace")
    if OUR_TRACEBACK.search(log):
        found.append(f"a traceback in the server's log: {log[-300:]!r}")
    figures: tuple[str, ...] = ()
    if levels and not found:
        before, after = levels[-1]
        figures = (
            f"{weather.sent:,} messages, {weather.storm.asked:,} requests, "
            f"{before / 2**20:.1f} MiB in the last third but one, {after / 2**20:.1f} MiB in the "
            "last",
        )
        if after > MOST_GROWTH * before:
            found.append(f"memory grows: {figures[0]}")
    return Report(weather.sent, found, figures)


ROW = Row(
    "storms",
    "valid, mutated and malformed messages, cancellations and a client that stops reading, against "
    "one live server: each request is answered, memory levels off",
    attempt,
)
