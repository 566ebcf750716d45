"""A fault in one answer is reported and logged; the server continues.

A language whose answers fail replaces the real one, in a session in this process: the real
one has no known fault to wait for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from netsharp_lsp import language
from netsharp_lsp.netsharp import LANGUAGE, NetSharp
from netsharp_lsp.netsharp.snapshot import Snapshot
from netsharp_lsp.server.session import Session
from netsharp_lsp.server.transport.frames import Inbox
from netsharp_lsp.server.transport.protocol import Server
from netsharp_lsp.server.turns.dispatch import Dispatcher
from tests.server.texts import NETWORK
from tests.server.wire import Message

URI = "file:///nowhere/faulty.nn"
TRIGGER = b"// fault"


class FaultySnapshot(Snapshot):
    """Fails wherever the text asks for it."""

    def hover(self, offset: int) -> Any:
        if TRIGGER in self.data:
            raise ZeroDivisionError("a fault for the test")
        return super().hover(offset)

    def check(self) -> Any:
        if TRIGGER in self.data:
            raise ZeroDivisionError("a fault for the test")
        return super().check()

    def most_severe(self, most: int, wants: Any) -> Any:
        if TRIGGER in self.data:
            raise ZeroDivisionError("a fault for the test")
        return super().most_severe(most, wants)

    def edited(self, data: bytes, edits: Any) -> Any:
        if b"// cannot follow" in data:
            raise IndexError("a fault for the test")
        return super().edited(data, edits)


class Faulty(NetSharp):
    """Net#, except for its snapshots."""

    def open(self, data: bytes, context: Any) -> Snapshot:
        return FaultySnapshot.opened(data, context)


class Written:
    """Keeps what the server sends."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def write(self, data: bytes, standing: object) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))


def converse(*messages: Message) -> list[Message]:
    """What a server in this process says to messages, given one after the other."""

    async def run() -> list[Message]:
        server, written = Server(), Written()
        server.protocol.outbox = written
        inbox = Inbox(asyncio.get_running_loop())
        session = Session(server, inbox)
        dispatcher = Dispatcher(session, inbox)
        dispatcher.handle({"id": 0, "method": "initialize", "params": {"capabilities": {}}})
        for message in messages:
            dispatcher.handle(message)
            while session.unpublished:
                await dispatcher._rest()
        session.close()
        return written.messages

    return asyncio.run(run())


def opened(text: str) -> Message:
    item = {"uri": URI, "languageId": "netsharp", "version": 1, "text": text}
    return {"method": "textDocument/didOpen", "params": {"textDocument": item}}


def changed(version: int, text: str) -> Message:
    identity = {"uri": URI, "version": version}
    params = {"textDocument": identity, "contentChanges": [{"text": text}]}
    return {"method": "textDocument/didChange", "params": params}


def hover(request: int) -> Message:
    position = {"line": 2, "character": 8}
    params = {"textDocument": {"uri": URI}, "position": position}
    return {"id": request, "method": "textDocument/hover", "params": params}


@pytest.fixture(autouse=True)
def _faulty_language(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[[str], Any] = language.language_by_id
    faulty = Faulty()

    def by_id(language_id: str) -> Any:
        found = real(language_id)
        return faulty if found is LANGUAGE else found

    monkeypatch.setattr("netsharp_lsp.server.documents.views.language_by_id", by_id)


def logged(reported: list[Message]) -> list[str]:
    return [
        message["params"]["message"]
        for message in reported
        if message.get("method") == "window/logMessage" and message["params"]["type"] == 1
    ]


def test_a_failing_answer_is_an_error_and_the_next_is_given() -> None:
    broken = NETWORK + "// fault\n"
    reported = converse(opened(broken), hover(1), changed(2, NETWORK), hover(2))
    answers = {message["id"]: message for message in reported if "id" in message}
    assert answers[1]["error"]["code"] == -32603
    assert "textDocument/hover" in answers[1]["error"]["message"]
    assert "Edges" in answers[2]["result"]["contents"]["value"]
    (of_hover,) = [line for line in logged(reported) if line.startswith("textDocument/hover")]
    assert URI in of_hover
    assert "version 1" in of_hover
    assert "ZeroDivisionError" in of_hover
    assert "Traceback" not in of_hover


def test_failing_diagnostics_are_logged_and_the_next_are_sent() -> None:
    reported = converse(opened(NETWORK + "// fault\n"), changed(2, NETWORK))
    assert [
        line for line in logged(reported) if "publishDiagnostics" in line and "version 1" in line
    ]
    published = [m for m in reported if m.get("method") == "textDocument/publishDiagnostics"]
    assert [message["params"]["version"] for message in published] == [2]


def test_a_text_that_cannot_be_followed_is_read_afresh() -> None:
    reported = converse(
        opened(NETWORK), changed(2, NETWORK + "// cannot follow\n"), hover(1), changed(3, NETWORK)
    )
    answers = {message["id"]: message for message in reported if "id" in message}
    assert "Edges" in answers[1]["result"]["contents"]["value"]
    published = [m for m in reported if m.get("method") == "textDocument/publishDiagnostics"]
    assert published[-1]["params"]["version"] == 3
    assert len(logged(reported)) == 1
