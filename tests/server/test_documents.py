"""Laws of documents and of the specifications in them, under any changes a client may send."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.server.documents.document import Document
from netsharp_lsp.server.documents.positions import Ruler
from netsharp_lsp.server.documents.views import OpenDocument
from netsharp_lsp.text.edits import apply_edits
from tests.server.texts import NETWORK
from tests.server.wire import Message, replace

LAW = settings(max_examples=150, deadline=None, derandomize=True)
TEXTS = st.lists(
    st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\x0c", "a", "bc", "é", "数", "😀", "e\u0301"]),
    max_size=16,
).map("".join)
UNIT = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
SIZE = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
HOSTS = {
    "netsharp": NETWORK,
    "python": f'a = """{NETWORK}"""\nNeuralNetwork(net_definition=a)\nb = 3  # language=Net#\n',
    "markdown": f"# Text\n\n```netsharp\n{NETWORK}```\n\nMore.\n\n```netsharp\n{NETWORK}```\n",
    "r": f"net <- '{NETWORK}'\nrxNeuralNet(y ~ x, netDefinition = net)\n",
}


def slow_place(text: str, at: int, encoding: str) -> tuple[int, int]:
    """Line and character of an index, counted by hand."""
    line = start = 0
    for index in range(at):
        pair = text[index : index + 2]
        if text[index] == "\n" or (text[index] == "\r" and pair != "\r\n"):
            line, start = line + 1, index + 1
    return line, len(text[start:at].encode(UNIT[encoding])) // SIZE[encoding]


def inside_a_line_end(text: str, at: int) -> bool:
    return text[at - 1 : at + 1] == "\r\n"


@pytest.mark.parametrize("encoding", UNIT)
@LAW
@given(text=TEXTS, data=st.data())
def test_changes_do_to_the_bytes_what_they_say(
    encoding: str, text: str, data: st.DataObject
) -> None:
    ruler = Ruler(encoding)
    document = Document.opened("file:///a.nn", "netsharp", 1, text)
    now, changes = text, []
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(now)))
        end = data.draw(st.integers(start, len(now)))
        if inside_a_line_end(now, start) or inside_a_line_end(now, end):
            continue
        put_in = data.draw(TEXTS)
        first, last = slow_place(now, start, encoding), slow_place(now, end, encoding)
        changes.append(replace(first, last, put_in))
        now = now[:start] + put_in + now[end:]
    after, edits = document.changed(2, changes, ruler)
    assert after.text == now.encode()
    assert apply_edits(document.text, edits) == after.text
    assert (document.text, document.version) == (text.encode(), 1)


@pytest.mark.parametrize("encoding", UNIT)
@LAW
@given(text=TEXTS)
def test_every_offset_has_a_position_that_leads_back(encoding: str, text: str) -> None:
    ruler = Ruler(encoding)
    lines = Document.opened("file:///a.nn", "netsharp", 1, text).lines
    for at in range(len(text) + 1):
        offset = len(text[:at].encode())
        place = ruler.position(lines, offset)
        assert place == slow_place(text, at, encoding) or inside_a_line_end(text, at)
        if not inside_a_line_end(text, at):
            assert ruler.offset(lines, *place) == offset


def drawn_change(chance: random.Random, document: OpenDocument) -> Message:
    """A change as people and tools make them: a character, a line, a paste, a whole text."""
    text = document.text
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((0, 0, 0, 1, 1, 7, 60)))
    put_in = chance.choice(("", "x", ";", "{", "}", "\n", '"', "'", "```\n", "const N = 2;\n"))
    span = document.ruler.span(document.lines, start, end)
    return {"range": span, "text": put_in}


def findings_of(document: OpenDocument) -> list[Any]:
    """What is found in each specification, its place, and what it is known to be."""
    return [
        (
            view.lines.text,
            view.outer(0, len(view.lines.text)),
            sorted(found.sort_key for found in view.snapshot.check().diagnostics),
            [(symbol.name, symbol.start) for symbol in view.snapshot.symbols()],
        )
        for view in document.views
    ]


@pytest.mark.parametrize("language", HOSTS)
def test_a_document_that_was_typed_is_one_that_was_opened(language: str) -> None:
    chance = random.Random(7)
    ruler = Ruler("utf-16")
    uri = f"file:///a.{language}"
    opened = Document.opened(uri, language, 0, HOSTS[language])
    document = OpenDocument(opened, ruler, lambda _: Context())
    assert findings_of(document)
    for version in range(1, 61):
        document.change(version, [drawn_change(chance, document)])
        if chance.random() < 0.15:
            document.change(version, [{"text": HOSTS[language]}])
        if chance.random() < 0.6:
            text = document.text.decode()
            fresh = OpenDocument(
                Document.opened(uri, language, version, text), ruler, lambda _: Context()
            )
            assert findings_of(document) == findings_of(fresh), f"seed 7, version {version}"
