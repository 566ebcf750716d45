"""A client gone mad: what sound clients send, changed at random, thousands of times.

The server must live, answer every request once, say nothing on standard error, and keep to its
memory and time. `storm` reports what became of it; the caller evaluates that.
"""

from __future__ import annotations

import json
import queue
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsharp_lsp.netsharp.ide.completion import TOPICS as KINDS
from netsharp_lsp.server.handlers import NOTIFICATIONS, REQUESTS
from netsharp_lsp.server.transport.frames import is_id
from tests.server.texts import NETWORK
from tests.server.wire import Message, Wire

CNTK = 'command = "Train"\nTrain = { action = "train"\n BrainScriptNetworkBuilder = [ a = b ] }\n'
TEXTS = {
    "file:///nowhere/storm.nn": ("netsharp", NETWORK),
    "file:///nowhere/storm.cntk": ("cntk", CNTK),
    "file:///nowhere/storm.md": ("markdown", f"# A\n\n```netsharp\n{NETWORK}```\n"),
    "vscode-notebook-cell:/storm.ipynb#1": ("python", f'net = """\n{NETWORK}"""\n'),
}
#: Started again and again by other tests; here they would only take time, or end the session.
LEFT_OUT = ("shutdown", "netsharp/run")
COMMANDS = (
    *("explain", "format", "fixAll", "describe", "showNetwork", "showLayer", "stopTraining"),
    "compile",
)
#: About what proposals are documented, and names that there are and that there are not.
TOPICS = (*KINDS, "library", "ndl", "mel", "argument", "option:SGD", "option:x")
NAMES = ("Edges", "Digit", "Train", "Times", "sigmoid", "KernelShape@convolve", "Dim:x", "@", "")
#: What takes the place of a value.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, -(10**30), 1e300, "", "x", "\ud800", "\0", "é",
    "file:///nowhere/storm.nn", "x" * 10_000, [], {}, [[]], [None] * 100, {"uri": 1}, {"": []},
)  # fmt: skip
#: The number of messages that are sent before their answers are awaited.
WAVE = 50
#: Seconds in which a wave is answered, whatever else the machine does.
PATIENCE = 120.0
#: What a client may answer to what it is asked.
ANSWERS: tuple[Any, ...] = (None, [], [None] * 9, {}, "x", 3, {"applied": 1}, {"title": []})


@dataclass
class Report:
    """What became of a storm."""

    seed: int
    sent: int = 0
    requests: int = 0
    #: What was answered, by error code; 0 for results.
    answers: Counter[int] = field(default_factory=Counter)
    #: Bytes in memory, by the number of messages sent.
    memory: dict[int, int] = field(default_factory=dict)
    #: Seconds of the processor that a wave took a message, at most.
    slowest: float = 0.0
    #: Sentences about what should not have been.
    faults: list[str] = field(default_factory=list)


def storm(messages: int, seed: int) -> Report:
    """Send a number of changed messages to a server, and report what became of it."""
    report = Report(seed)
    client = _Client(report, random.Random(seed))
    try:
        while report.sent < messages and client.wave(min(WAVE, messages - report.sent)):
            pass
        client.end()
    finally:
        if client.wire.process.poll() is None:
            client.wire.process.kill()
        client.wire.process.wait()
    return report


class _Client:
    """Sends waves of messages to one server and keeps account of what comes back."""

    def __init__(self, report: Report, chance: random.Random) -> None:
        self.report = report
        self.chance = chance
        self.wire = Wire()
        able = {"workspace": {"configuration": True, "applyEdit": True}}
        self.wire.initialize(able)
        self._open()
        self.number = 10_000
        self.version = 1

    def _open(self) -> None:
        for uri, (language, text) in TEXTS.items():
            self.wire.open(uri, text, language)

    def wave(self, count: int) -> bool:
        """Send some messages and await their answers; whether the server lives."""
        spent = _spent(self.wire)
        if self.chance.random() < 0.2:
            self._open()
        sent = [self._message() for _ in range(count)]
        waiting = Counter(
            json.dumps(each["id"]) if is_id(each["id"]) else "null"
            for each in sent
            if "id" in each and "method" in each
        )
        self.wire.send(*sent)
        self.report.sent += count
        self.report.requests += sum(waiting.values())
        if not self._await(waiting, sent):
            return False
        if spent is not None:
            took = (_spent(self.wire) or spent) - spent
            self.report.slowest = max(self.report.slowest, took / count)
            self.report.memory[self.report.sent] = _memory(self.wire)
        return True

    def _await(self, waiting: Counter[str], sent: list[Message]) -> bool:
        """Take answers until none is missing; those to `$/cancelRequest` may come besides."""
        closing = self.wire.ask("workspace/symbol", {"query": "zzzz"})
        self.wire.send(closing)
        waiting[json.dumps(closing["id"])] += 1
        try:
            while waiting.total() > 0:
                heard = self.wire.wait(lambda each: True, PATIENCE)
                self._take(heard, waiting)
        except (AssertionError, queue.Empty, OSError):
            missing = [name[:80] for name, count in waiting.items() if count]
            self.report.faults.append(f"no answer to {missing} in {json.dumps(sent)[:20_000]}")
            return False
        self.wire.heard.clear()
        return True

    def _take(self, heard: Message, waiting: Counter[str]) -> None:
        reported = json.dumps(heard)
        if "failed: " in reported or "Internal error" in reported:
            self.report.faults.append(reported[:2_000])
        if "method" in heard:
            self.wire.answers = dict.fromkeys(
                ("workspace/configuration", "workspace/applyEdit"), self.chance.choice(ANSWERS)
            )
            return
        self.report.answers[heard.get("error", {}).get("code", 0)] += 1
        name = json.dumps(heard["id"])
        if waiting[name]:
            waiting[name] -= 1
            if not waiting[name]:
                del waiting[name]
        elif name != "null":
            self.report.faults.append(f"an answer that nobody waits for: {reported[:2_000]}")

    def end(self) -> None:
        """End the server as a client should; it must have said nothing besides."""
        if self.wire.process.poll() is None and not any(
            "no answer" in f for f in self.report.faults
        ):
            code = self.wire.stop()
            if code != 0:
                self.report.faults.append(f"exit code {code}")
        else:
            self.wire.process.kill()
        assert self.wire.process.stderr is not None
        output = self.wire.process.stderr.read().decode(errors="replace")
        if output:
            self.report.faults.append(f"on standard error: {output[:5_000]}")

    def _message(self) -> Message:
        """A sound message, changed in up to three places."""
        chance = self.chance
        if chance.random() < 0.3:
            method = chance.choice(["$/cancelRequest", "textDocument/didChange", *NOTIFICATIONS])
            message: Message = {"jsonrpc": "2.0", "method": method}
        else:
            method = chance.choice([name for name in REQUESTS if name not in LEFT_OUT])
            self.number += chance.random() < 0.95
            message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        message["params"] = self._params()
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            message = self._changed(message)
        # Messages that end the session or cannot be awaited are left to other tests.
        if message.get("method") in ("exit", *LEFT_OUT) or "method" not in message:
            message = {**message, "method": "netsharp/unheard"}
        if not isinstance(message["method"], str):
            message["method"] = "netsharp/unheard"
        return message

    def _params(self) -> Message:
        """All that any method takes, sound."""
        chance = self.chance
        uri = chance.choice(list(TEXTS))
        self.version += 1
        language, text = TEXTS[uri]
        here = {"line": chance.randrange(14), "character": chance.randrange(40)}
        there = {"line": chance.randrange(14), "character": chance.randrange(40)}
        span = {"start": here, "end": there}
        piece = chance.choice(("", "x", ";", "{", "\n", '"""', "```", "[1, 2]", "all;\nhidden"))
        whole = {"text": text}
        change = whole if chance.random() < 0.3 else {"range": span, "text": piece}
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        topic = chance.choice(("", "x", *(f"{kind}:{chance.choice(NAMES)}" for kind in TOPICS)))
        name = chance.choice(NAMES)
        data = {"uri": uri, "view": 0, "topic": topic, "key": name, "name": name, "version": 1}
        cells = {"structure": {"didOpen": [item], "didClose": []}, "textContent": []}
        return {
            "textDocument": {**item, "version": self.version},
            "contentChanges": [change],
            "position": here,
            "positions": [here, there],
            "range": span,
            "ranges": [span],
            "context": {"diagnostics": [], "includeDeclaration": True},
            "options": {"tabSize": 2, "insertSpaces": True},
            "ch": ";",
            "newName": piece or "y",
            "query": "e",
            "previousResultId": "1",
            "previousResultIds": [],
            "command": f"netsharp.server.{chance.choice(COMMANDS)}",
            "arguments": [uri, "Edges"],
            "item": {"data": data},
            "data": data,
            "label": "x",
            "id": self.number - chance.randrange(9),
            "cellTextDocuments": [item],
            "change": {"cells": cells},
            "event": {"added": [], "removed": []},
            "changes": [{"uri": uri, "type": 2}],
            "settings": {"netsharp": {"check": {"select": []}}},
            "token": "x",
            "trusted": False,
        }

    def _changed(self, message: Message) -> Message:
        """The message with something else, or nothing, in one place."""
        places = list(_places(message))
        path = self.chance.choice(places)
        copy: Message = json.loads(json.dumps(message))
        inside: Any = copy
        for step in path[:-1]:
            inside = inside[step]
        if self.chance.random() < 0.2 and isinstance(inside, dict):
            del inside[path[-1]]
        else:
            inside[path[-1]] = self.chance.choice(VALUES)
        return copy


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything inside a value; what lies high is as likely as what lies deep."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in entries:
        yield (*path, name)
        if isinstance(inner, (dict, list)):
            yield from _places(inner, (*path, name))


def _memory(wire: Wire) -> int:
    """Bytes that the server has in memory; 0 where they are unknown."""
    if sys.platform != "linux":
        return 0
    rows = Path(f"/proc/{wire.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(1024 * int(row.split()[1]) for row in rows if row.startswith("VmRSS"))


def _spent(wire: Wire) -> float | None:
    """Seconds of the processor that the server took; None where they are unknown."""
    if sys.platform != "linux":
        return None
    stat = Path(f"/proc/{wire.process.pid}/stat").read_text(encoding="utf-8")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100
