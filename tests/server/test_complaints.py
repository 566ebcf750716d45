"""What a session warns of by itself, when a thread beside the loop finds it and when
messages wait: nothing is lost, nothing is late."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING, cast

from netsharp_lsp.server.client.complaints import Complaints
from tests.server.wire import Wire

if TYPE_CHECKING:
    from netsharp_lsp.server.client.connection import Connection

#: Sentences that one thread finds, one after the other.
FOUND = 2_000


class Listener:
    """A connection of which only the warnings matter."""

    def __init__(self) -> None:
        self.warned: list[str] = []

    def warn(self, sentence: str) -> None:
        self.warned.append(sentence)


async def warnings_of_two_threads() -> list[str]:
    """What is shown while two threads find the same sentences and the loop is at work."""
    listener = Listener()
    complaints = Complaints(cast("Connection", listener))
    sentences = [f"<{number}>" for number in range(FOUND)]

    def find() -> None:
        for sentence in sentences:
            complaints.add([sentence])

    finders = [threading.Thread(target=find) for _ in range(2)]
    for finder in finders:
        finder.start()
    while any(finder.is_alive() for finder in finders):
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return listener.warned


def test_each_sentence_is_shown_once_whichever_thread_found_it() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        warned = asyncio.run(warnings_of_two_threads())
    finally:
        sys.setswitchinterval(before)
    assert "" not in warned
    assert sorted(" ".join(warned).split()) == sorted(f"<{number}>" for number in range(FOUND))


def test_what_one_message_warns_of_is_shown_before_the_next_is_answered() -> None:
    options = {"settings": {"inlayHint": True}}
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    wire = Wire()
    first = wire.ask("initialize", {**params, "initializationOptions": options})
    second = wire.ask("textDocument/hover", {"textDocument": {"uri": "file:///none.nn"}})
    initialized = {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    wire.send(first, initialized, second)
    wire.answer(second["id"])
    assert [heard.get("method", heard.get("id")) for heard in wire.heard] == [
        *(first["id"], "window/showMessage", second["id"])
    ]
    assert wire.stop() == 0
