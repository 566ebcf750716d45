"""Checking a network yields to the user's actions, and leaves nothing half done."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import cntk_generate
from netsharp_lsp.cancellation import WorkCancelled, cancel_when
from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.server.session import Session
from netsharp_lsp.server.transport.frames import Inbox
from netsharp_lsp.server.transport.protocol import Server
from netsharp_lsp.server.turns.dispatch import RESTARTS, Dispatcher
from netsharp_lsp.text.edits import Edit, apply_edits
from netsharp_lsp.workspace import Run, Workspace
from tests.costs import assert_measured, now
from tests.drawing import FULL
from tests.editors.places import write_files
from tests.server.typed_places import FILES

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

Message = dict[str, Any]
SEED = 23
LANGUAGES = {"cntk": "cntk", "bs": "brainscript", "ndl": "ndl", "mel": "mel"}
URI = "file:///nowhere/judged.bs"
#: Lines of a text whose network takes seconds to check.
LONG = 6_000
#: Seconds of processor time that a message may wait for work that gives way.
WAIT = 0.25


@pytest.fixture(autouse=True)
def without_a_collector() -> Iterator[None]:
    """The collector does not scan what other tests have left in memory during these."""
    gc.disable()
    yield
    gc.enable()


def everything(code: str) -> bool:
    return True


#: A line of each text of a run, the words at whose end completion is requested, and every how many
#: steps of the check it is cancelled; with FULL=1 it is cancelled at each.
ASKED = {
    "a.cntk": (11, "        h = z.", 29),
    "a.ndl": (10, "    h = z.", 29),
    "a.mel": (2, "SetProperty(first.", 5),
    "old.cntk": (8, "T = { action = ", 29),
}


@pytest.mark.drawn
@pytest.mark.parametrize("name", ASKED)
def test_a_run_that_was_given_up_answers_as_a_fresh_one(name: str, tmp_path: Path) -> None:
    """Wherever the check was cancelled.  Before: an edit of a model that was left half followed
    counted as followed, and its models were unknown from then on.
    """
    write_files(tmp_path)
    line, words, between = ASKED[name]
    lines = FILES[name].split("\n")
    at = len("\n".join(lines[:line])) + len(lines[line]) + 1 + len(words)
    lines[line] += words
    language = language_by_id(LANGUAGES[name.rpartition(".")[2]])
    assert language is not None
    runs = tuple(Run((f"configFile={one}",), str(tmp_path)) for one in ("a.cntk", "old.cntk"))
    around = Workspace(str(tmp_path / name), DiskFiles(), runs)

    def opened() -> Any:
        return language.open("\n".join(lines).encode(), Context(workspace=around))

    def answers(snapshot: Any) -> tuple[list[str], list[str]]:
        listed = [each.label for each in snapshot.complete(at).items]
        return listed, [str(each) for each in snapshot.check().diagnostics]

    wanted = answers(opened())
    for steps in itertools.count(SEED % between, 1 if FULL else between):
        snapshot = opened()
        left = iter(range(steps))
        try:
            with cancel_when(lambda left=left: next(left, None) is None):
                snapshot.check()
            break
        except WorkCancelled:
            assert answers(snapshot) == wanted, steps
    assert steps > 10


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_work_that_was_given_up_leaves_no_trace(suffix: str) -> None:
    """Wherever it was left, and however often: afterwards a text is checked as a fresh one."""
    chance = random.Random(SEED)
    language = language_by_id(LANGUAGES[suffix])
    text = cntk_generate.text(suffix, 90, SEED)
    snapshot = language.open(text, Context())
    for _ in range(12):
        at = chance.randrange(len(text))
        made = Edit(at, min(len(text), at + chance.randrange(3)), chance.choice("q({=;\n "))
        text = apply_edits(text, [made])
        snapshot = snapshot.edited(text, [made])
        for _ in range(6):
            steps = iter(range(chance.choice((1, 10, 100, 1_000, 5_000))))
            try:
                with cancel_when(lambda steps=steps: next(steps, None) is None):
                    snapshot.most_severe(1_000, everything)
            except WorkCancelled:
                continue
        fresh = language.check(text, Context())
        assert list(map(repr, snapshot.check().diagnostics)) == list(
            map(repr, fresh.diagnostics)
        ), (SEED, text)


class Written:
    """Keeps what the server sends."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def write(self, data: bytes, standing: object) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def published(self) -> list[Message]:
        return [one["params"] for one in self.messages if "diagnostics" in one.get("params", {})]


class Talk:
    """A server in this process, and messages that come to it while it works."""

    def __init__(self, **capabilities: Any) -> None:
        server, self.written = Server(), Written()
        server.protocol.outbox = self.written
        self.inbox = Inbox(asyncio.get_running_loop())
        self.session = Session(server, self.inbox)
        self.dispatcher = Dispatcher(self.session, self.inbox)
        params = {"capabilities": {"textDocument": capabilities}}
        self.dispatcher.handle({"id": 0, "method": "initialize", "params": params})
        self.came = 0.0

    def open(self, text: bytes) -> None:
        item = {"uri": URI, "languageId": "brainscript", "version": 1, "text": text.decode()}
        params = {"textDocument": item}
        self.dispatcher.handle({"method": "textDocument/didOpen", "params": params})

    def arrive(self, message: Message, after: float) -> None:
        """Let a message come once so much processor time was spent."""
        begun = now()

        def put() -> None:
            while now() - begun < after:
                time.sleep(0.002)
            self.came = now()
            self.inbox._put(json.dumps(message).encode())

        threading.Thread(target=put, daemon=True).start()

    async def waited(self) -> float:
        """Rest until a message waits; the processor time that it has waited."""
        while not self.inbox:
            await self.dispatcher._rest()
            await asyncio.sleep(0)
        return now() - self.came

    async def finish(self) -> None:
        """Handle what waits, and rest until nothing is left to say."""
        while self.inbox or self.session.unpublished or self.dispatcher._running:
            while self.inbox:
                message = self.inbox.take()
                assert message is not None
                self.dispatcher.handle(message)
            await self.dispatcher._rest()
            await asyncio.sleep(0)


def change(version: int, text: str) -> Message:
    place = {"line": 0, "character": 0}
    made = {"range": {"start": place, "end": place}, "text": text}
    params = {"textDocument": {"uri": URI, "version": version}, "contentChanges": [made]}
    return {"method": "textDocument/didChange", "params": params}


def test_a_keystroke_waits_for_no_check() -> None:
    """Before: for all of it, 1.3 s at 1,000 lines."""
    text = cntk_generate.text("bs", LONG, SEED)

    async def typed() -> list[float]:
        talk = Talk()
        talk.open(text)
        waited = []
        for version in (2, 3):
            talk.arrive(change(version, "# "), after=0.5)
            waited.append(await talk.waited())
            assert talk.written.published() == []
            talk.dispatcher.handle(talk.inbox.take())  # type: ignore[arg-type]
        talk.dispatcher.handle(change(4, "x = y\n" * 2))
        talk.session.documents[URI].change(5, [{"text": "x = 1\n"}])
        await talk.finish()
        assert [one["version"] for one in talk.written.published()] == [5]
        return waited

    assert_measured(lambda: asyncio.run(typed()), lambda waited: max(waited) < WAIT)


def test_a_client_that_never_rests_gets_diagnostics_in_the_end() -> None:
    """Whatever else comes: of a version that stays, findings are published after some restarts."""
    text = cntk_generate.text("bs", 120, SEED)

    async def asked() -> None:
        talk = Talk()
        talk.open(text)
        params = {"textDocument": {"uri": URI}}
        for number in range(RESTARTS + 1):
            assert talk.written.published() == []
            asked = {"id": number + 1, "method": "textDocument/foldingRange", "params": params}
            talk.inbox._put(json.dumps(asked).encode())
            talk.dispatcher._publish()
        assert [one["version"] for one in talk.written.published()] == [1]
        await talk.finish()

    asyncio.run(asked())


def test_who_pulls_waits_alone() -> None:
    """What a client asks by itself is answered later, and said to be outdated by a change."""
    text = cntk_generate.text("bs", LONG, SEED)

    async def pulled() -> float:
        talk = Talk(diagnostic={})
        talk.open(text)
        params = {"textDocument": {"uri": URI}}
        pull = {"id": 7, "method": "textDocument/diagnostic", "params": params}
        talk.arrive(change(2, "# "), after=0.5)
        talk.dispatcher.handle(pull)
        waited = await talk.waited()
        await talk.finish()
        (answer,) = [one for one in talk.written.messages if one.get("id") == 7]
        assert answer["error"]["data"] == {"retriggerRequest": True}
        talk.session.documents[URI].change(3, [{"text": "x = y\n"}])
        talk.dispatcher.handle({**pull, "id": 8})
        await talk.finish()
        (answer,) = [one for one in talk.written.messages if one.get("id") == 8]
        assert [one["code"] for one in answer["result"]["items"]] == ["BS020"]
        return waited

    assert_measured(lambda: asyncio.run(pulled()), lambda waited: waited < WAIT)
