"""What a keystroke costs among existing findings, by processor time: of one as of a sound text."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import flawed, netsharp
from netsharp_lsp.limits import FINDINGS_SHOWN, OPEN_BRACKETS, TEXT_WORDS
from netsharp_lsp.netsharp.reading import parser
from netsharp_lsp.server.answers import publishing
from netsharp_lsp.server.answers.publishing import publish
from netsharp_lsp.server.handlers.workspace.synchronization import did_change, did_open
from netsharp_lsp.server.session import Session
from netsharp_lsp.server.transport.frames import Inbox
from netsharp_lsp.server.transport.outbox import Standing
from netsharp_lsp.server.transport.protocol import Server
from netsharp_lsp.text.extent import leeway, refused
from tests.costs import assert_measured, now
from tests.laws.typing import Typist

if TYPE_CHECKING:
    from collections.abc import Callable

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

URI = "file:///nowhere/typed.nn"
SEED = 11
ROUNDS = 15
#: What an editor can that shows all there is of a finding.
SHOWS = {
    "versionSupport": True,
    "codeDescriptionSupport": True,
    "tagSupport": {"valueSet": [1]},
    "relatedInformation": True,
    "dataSupport": True,
}


class Mailbox:
    """Keeps the last message."""

    last = b""

    def write(self, data: bytes, standing: Standing) -> None:
        self.last = data


class Editor:
    """A person's document in a server that runs in this process."""

    def __init__(self, text: bytes, language: str = "netsharp", uri: str = URI) -> None:
        server, self.mailbox = Server(), Mailbox()
        server.protocol.outbox = self.mailbox
        self.session = Session(server, Inbox(asyncio.get_running_loop()))
        self.session.begin({"capabilities": {"textDocument": {"publishDiagnostics": SHOWS}}})
        self.uri, self.version = uri, 1
        document = {"uri": uri, "languageId": language, "version": 1, "text": text.decode()}
        did_open(self.session, {"textDocument": document})
        publish(self.session, uri)

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The diagnostics of the newest version."""
        params = json.loads(self.mailbox.last.partition(b"\r\n\r\n")[2])["params"]
        assert params["version"] == self.version
        found: list[dict[str, Any]] = params["diagnostics"]
        return found

    def change(self, change: dict[str, Any]) -> None:
        """Send a change, and wait for its diagnostics."""
        self.version += 1
        identity = {"uri": self.uri, "version": self.version}
        did_change(self.session, {"textDocument": identity, "contentChanges": [change]})
        publish(self.session, self.uri)

    def type(self, row: int, column: int, length: int, text: str) -> float:
        """Seconds of processor time from a keystroke to its diagnostics."""
        start = now()
        ends = {"line": row, "character": column}, {"line": row, "character": column + length}
        self.change({"range": dict(zip(("start", "end"), ends, strict=True)), "text": text})
        return now() - start


def stroke(text: bytes) -> float:
    """The median of what a letter costs that is put into a name, or taken out of it."""

    async def typed() -> float:
        editor = Editor(text)
        chance = random.Random(SEED)
        uses = [
            (row, found.end(1))
            for row, line in enumerate(text.split(b"\n"))
            for found in re.finditer(rb"from +(\w+)", line)
        ]
        times = []
        for _ in range(ROUNDS):
            row, column = chance.choice(uses)
            times += [editor.type(row, column, 0, "q"), editor.type(row, column, 1, "")]
        return sorted(times)[len(times) // 2]

    return asyncio.run(typed())


def test_standing_findings_cost_a_keystroke_little() -> None:
    """Before: 10 times at 16,000 lines, and in proportion to the lines."""
    texts = [netsharp(lines, SEED) for lines in (4_000, 16_000)]
    assert_measured(
        lambda: [(stroke(text), stroke(flawed(text))) for text in texts],
        lambda costs: (
            all(found < 4 * sound for sound, found in costs) and costs[1][1] < 2.5 * costs[0][1]
        ),
    )


@pytest.mark.parametrize("change", [bytes, flawed])
def test_a_letter_costs_what_it_touches(
    change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own declaration is read, its findings written; before: 11 read, 318 written."""
    done: Counter[str] = Counter()

    def count(place: object, name: str) -> None:
        kept = getattr(place, name)

        def counted(*given: object) -> object:
            done[name] += 1
            return kept(*given)

        monkeypatch.setattr(place, name, counted)

    text = change(netsharp(1_000, SEED))

    async def typed() -> None:
        editor = Editor(text)
        standing = len(editor.shown)
        assert standing > 300 or change is bytes
        count(parser, "is_misnamed")  # Once for each layer that is read.
        count(publishing, "_piece")
        uses = [
            (row, line.index(b"from ") + 6)
            for row, line in enumerate(text.split(b"\n"))
            if b"from " in line
        ]
        for row, column in random.Random(SEED).sample(uses, 20):
            for length, letter in ((0, "q"), (1, "")):
                done.clear()
                editor.type(row, column, length, letter)
                assert done["is_misnamed"] <= 4, row
                assert done["_piece"] <= 8, row
        assert len(editor.shown) == standing

    asyncio.run(typed())


def test_what_is_reported_again_is_what_is_reported_first() -> None:
    """Pieces kept from one version to the next are those of a server that sees the last alone."""

    async def compared() -> None:
        chance = random.Random(SEED)
        many = flawed(netsharp(3_500, SEED))
        few = flawed(netsharp(200, SEED))
        named = few.replace(b"hidden", b"/* \xc3\xa9 */ hidden").replace(b"Photograph", b"Photo")
        for text, edits in ((many, 3), (few, 30), (named, 30)):
            typist, editor = Typist(text, chance), Editor(text)
            for _ in range(edits):
                made = typist.edit()
                editor.change({"text": typist.text.decode()})
                assert editor.shown == Editor(typist.text).shown, made
            assert len(editor.shown) <= FINDINGS_SHOWN.most + 1

    asyncio.run(compared())


def test_small_edits_are_counted_together() -> None:
    """A text that is typed beyond a limit is refused as one that is opened there."""

    async def typed() -> None:
        brackets = b"// " + b"[" * (OPEN_BRACKETS.most - 20)
        words = b"// " + b", " * (TEXT_WORDS.most - 20)
        for mark, text in (("[", brackets), ("a ", words)):
            editor = Editor(text)
            typed = 0
            while "not read" not in str(editor.shown):
                editor.type(0, 3, 0, mark)
                typed += 1
            assert 0 < typed <= 21
            reached = editor.session.documents[editor.uri].text
            assert editor.shown == Editor(reached).shown
            before = reached[:3] + reached[3 + len(mark) :]
            assert "not read" not in str(Editor(before).shown)

    asyncio.run(typed())


def test_a_text_may_grow_by_its_leeway() -> None:
    """Any bytes up to the leeway may be inserted without the text being refused."""
    chance = random.Random(SEED)
    for _ in range(40):
        pieces = chance.choices(
            (b"[", b"]", b"([{", b"a ", b"]]", b"\n"), k=chance.randrange(40_000)
        )
        text = b"".join(pieces)
        left = leeway(text)
        assert (left < 0) == (refused(text) is not None)
        if left > 0:
            at = chance.randrange(len(text) + 1)
            assert refused(text[:at] + b"[" * left + text[at:]) is None
