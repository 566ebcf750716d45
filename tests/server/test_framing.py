"""Bytes that are not messages are refused; the server continues, or ends with a sentence."""

from __future__ import annotations

import json

import pytest

from netsharp_lsp.limits import HEADER_BYTES, MESSAGE_BYTES
from tests.server.wire import Message, Wire, frame, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

NO_JSON, NO_MESSAGE = -32700, -32600
ASK = {"jsonrpc": "2.0", "id": 7, "method": "workspace/symbol", "params": {"query": ""}}
BODY = json.dumps(ASK).encode()
#: Bytes sent instead of a message, the code of the answer, and words of its sentence.
MENDED = {
    "no length": (b"Content-Type: x\r\n\r\n", NO_MESSAGE, "no Content-Length"),
    "a word as length": (b"Content-Length: nine\r\n\r\n", NO_MESSAGE, '"nine"'),
    "a negative length": (b"Content-Length: -5\r\n\r\n", NO_MESSAGE, '"-5"'),
    "a hexadecimal length": (b"Content-Length: 0x10\r\n\r\n", NO_MESSAGE, '"0x10"'),
    "an empty body": (b"Content-Length: 0\r\n\r\n", NO_JSON, "not JSON"),
    "no UTF-8": (b'Content-Length: 4\r\n\r\n"\xff\xfe"', NO_JSON, "not UTF-8 at byte 1"),
    "UTF-16": (b"Content-Length: 4\r\n\r\n{\0}\0", NO_JSON, "not JSON"),
    "half a surrogate": (b'Content-Length: 5\r\n\r\n"\xed\xa0\x80"', NO_JSON, "not UTF-8"),
    "a batch": (b"Content-Length: %d\r\n\r\n[%b]" % (len(BODY) + 2, BODY), NO_JSON, "not a JSON"),
    "a number": (b"Content-Length: 2\r\n\r\n42", NO_JSON, "not a JSON object"),
    "NaN": (b'Content-Length: 10\r\n\r\n{"id": NaN', NO_JSON, "NaN"),
    "an infinite number": (b'Content-Length: 13\r\n\r\n{"id": 1e999}', NO_JSON, "too large"),
    "5,000 digits": (
        b'Content-Length: 5008\r\n\r\n{"id": %b}' % (b"9" * 5000),
        NO_JSON,
        "too many digits",
    ),
    "depth": (b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000, NO_JSON, "nested too deep"),
}
#: The same where the id of the request is known.
KNOWN = {
    "a character set": b"Content-Type: a/b; charset=utf-16\r\nContent-Length: %d\r\n\r\n%b",
    "a line that is none": b"Content-Length: %d\r\nno line\r\n\r\n%b",
    "no ASCII": b"Content-Length: %d\r\nA: \xc3\xa4\r\n\r\n%b",
    "a length and a word": b"Content-Length: %d\r\nContent-Length: many\r\n\r\n%b",
}
#: What leaves nothing that can be read.
LOST = {
    "10^12 bytes": (b"Content-Length: 1000000000000\r\n\r\n", "1000000000000"),
    "one byte too many": (b"Content-Length: %d\r\n\r\n" % (MESSAGE_BYTES.most + 1), "256 MiB"),
    "5,000 digits": (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", "256 MiB"),
    "two lengths": (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "twice"),
    "a body without header": (BODY + b"\r\n\r\n", "not a header line"),
    "a header without end": (b"A: b\r\n" * (HEADER_BYTES.most // 6 + 1), "more than 1 MiB"),
    "a line without end": (b"A" * (HEADER_BYTES.most + 1), "more than 1 MiB"),
}


def refused(heard: Message) -> bool:
    return "error" in heard


@pytest.fixture(scope="module")
def wire() -> object:
    with serving({}) as wire:
        yield wire


@pytest.mark.parametrize("name", MENDED)
def test_what_is_no_message_is_refused_and_the_next_is_answered(wire: Wire, name: str) -> None:
    piece, code, words = MENDED[name]
    wire.sink.write(piece)
    wire.sink.flush()
    answer = wire.wait(refused)
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    assert words in answer["error"]["message"]
    assert wire.exchange("workspace/symbol", {"query": ""})["result"] == []


@pytest.mark.parametrize("name", KNOWN)
def test_a_request_after_a_damaged_header_is_refused_by_its_id(wire: Wire, name: str) -> None:
    wire.sink.write(KNOWN[name] % (len(BODY), BODY))
    wire.sink.flush()
    answer = wire.wait(refused)
    assert (answer["id"], answer["error"]["code"]) == (7, NO_MESSAGE)
    assert wire.exchange("workspace/symbol", {"query": ""})["result"] == []


def test_what_is_unusual_and_clear_is_taken(wire: Wire) -> None:
    for head in (
        b"content-length:%d\n\n%b",
        b"\r\n\r\nContent-Length: 00%d \r\n\r\n%b",
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n%b",
    ):
        wire.sink.write(head % (len(BODY), BODY))
        wire.sink.flush()
        assert wire.answer(7)["result"] == []


@pytest.mark.parametrize("name", LOST)
def test_where_nothing_more_can_be_read_it_is_answered_and_over(name: str) -> None:
    piece, words = LOST[name]
    wire = Wire()
    wire.initialize()
    pending = wire.ask("workspace/symbol", {"query": ""})
    wire.send(pending)
    wire.sink.write(piece)
    wire.sink.flush()
    answer = wire.wait(lambda heard: refused(heard) and heard["id"] is None)
    assert answer["error"]["code"] == NO_MESSAGE
    assert words in answer["error"]["message"]
    if not any(heard.get("id") == pending["id"] for heard in wire.heard):
        assert wire.answer(pending["id"])
    assert wire.process.wait(20) == 1
    assert wire.process.stderr is not None
    assert wire.process.stderr.read().decode() == f"netsharp: {answer['error']['message']}\n"


@pytest.mark.parametrize("cut", [3, -3])
def test_a_stream_that_ends_inside_a_message_is_a_failure(cut: int) -> None:
    wire = Wire()
    wire.initialize()
    wire.sink.write(frame(ASK)[:cut])
    wire.sink.close()
    assert wire.process.wait(20) == 1
    assert wire.process.stderr is not None
    output = wire.process.stderr.read().decode()
    assert ("netsharp: The stream ended after" in output) == (cut < 0)
    assert "Traceback" not in output
