"""What no client should send, and how the server ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from statistics import median

import pytest

from tests.server.texts import NETWORK
from tests.server.wire import COMMAND, Wire, frame, frames, replace, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

URI = "file:///nowhere/a.nn"
#: How often a start is tried where others use the machine.
ROUNDS = 12
FAR = {"line": 999999, "character": 999999}
PLACED = (
    "hover",
    "completion",
    "signatureHelp",
    "definition",
    "declaration",
    "implementation",
    "documentHighlight",
    "prepareCallHierarchy",
)


def code(answer: dict[str, object]) -> int:
    error = answer["error"]
    assert isinstance(error, dict)
    assert error["message"].endswith((".", ")"))
    number: int = error["code"]
    return number


def test_positions_outside_the_text_are_answered() -> None:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        identity = {"textDocument": {"uri": URI}}
        for method in PLACED:
            assert "error" not in wire.exchange(
                f"textDocument/{method}", {**identity, "position": FAR}
            )
        here = {"start": FAR, "end": {"line": 0, "character": 0}}
        for method in ("inlayHint", "semanticTokens/range"):
            wire.request(f"textDocument/{method}", {**identity, "range": here})
        selection = wire.request("textDocument/selectionRange", {**identity, "positions": [FAR]})
        assert len(selection) == 1
        wire.send(wire.change(URI, 2, replace((5000, 0), (9, 9), "\nx")))
        assert wire.published(URI, 2)


def test_documents_that_are_not_open_are_answered() -> None:
    with serving({}) as wire:
        identity = {"textDocument": {"uri": "file:///nowhere/else.nn"}}
        origin = {"line": 0, "character": 0}
        for method in PLACED:
            answer = wire.request(f"textDocument/{method}", {**identity, "position": origin})
            assert answer in (None, [])
        for method in ("documentSymbol", "foldingRange", "documentLink", "codeLens"):
            assert wire.request(f"textDocument/{method}", identity) == []
        tokens = wire.request("textDocument/semanticTokens/full", identity)
        assert tokens["data"] == []
        options = {"tabSize": 2, "insertSpaces": True}
        asked = {**identity, "options": options}
        assert wire.request("textDocument/formatting", asked) == []
        wire.send(wire.change("file:///nowhere/else.nn", 2, {"text": "x"}))
        wire.notify("textDocument/didClose", identity)
        wire.open(URI, NETWORK)
        assert wire.published(URI)


def test_texts_of_other_languages_are_left_unchanged() -> None:
    with serving({}) as wire:
        wire.open("file:///nowhere/a.txt", "hidden", language="plaintext")
        assert wire.published("file:///nowhere/a.txt") == []
        wire.open("file:///nowhere/b.nn", "hidden", language="plaintext")
        assert wire.published("file:///nowhere/b.nn") != []


def test_messages_that_are_none_are_refused_and_the_next_is_answered() -> None:
    with serving({}) as wire:
        wire.sink.write(b"Content-Length: 5\r\n\r\n{nope")
        wire.sink.write(b"Content-Length: 4\r\n\r\n[ 1]")
        wire.sink.write(b"Nonsense: here\r\nContent-Length: nine\r\n\r\n")
        wire.send({"jsonrpc": "2.0", "id": 77})
        wire.sink.flush()
        assert code(wire.wait(lambda heard: "error" in heard)) == -32700
        assert code(wire.wait(lambda heard: "error" in heard)) == -32700
        assert code(wire.answer(77)) == -32600
        assert code(wire.exchange("netsharp/unheard")) == -32601
        assert code(wire.exchange("textDocument/hover", {"textDocument": 3})) == -32602
        assert code(wire.exchange("textDocument/didOpen", {})) == -32601
        wire.notify("netsharp/unheard")
        wire.notify("textDocument/didOpen", {"oops": 1})
        wire.send({"jsonrpc": "2.0", "id": 999, "result": None})
        wire.open(URI, NETWORK)
        assert wire.published(URI)


def test_headers_may_come_in_any_order_and_spelling() -> None:
    with serving({}) as wire:
        body = frame(wire.ask("workspace/symbol", {"query": ""})).partition(b"\r\n\r\n")[2]
        kind = b"content-type: application/vscode-jsonrpc; charset=utf-8\r\n"
        wire.sink.write(kind + b"content-LENGTH:%d\r\n\r\n" % len(body) + body)
        wire.sink.flush()
        assert wire.answer(wire._next)["result"] == []


def test_nothing_is_answered_before_the_beginning_and_after_the_end() -> None:
    wire = Wire()
    assert code(wire.exchange("textDocument/hover", {})) == -32002
    wire.initialize()
    assert code(wire.exchange("initialize", {"capabilities": {}})) == -32600
    wire.request("shutdown")
    assert code(wire.exchange("workspace/symbol", {"query": ""})) == -32600
    wire.notify("exit")
    assert wire.process.wait(10) == 0


@pytest.mark.parametrize("ready", [False, True])
def test_exit_without_shutdown_is_a_failure(ready: bool) -> None:
    wire = Wire()
    if ready:
        wire.initialize()
    wire.notify("exit")
    assert wire.process.wait(10) == 1


def test_the_end_of_the_stream_is_the_end() -> None:
    wire = Wire()
    wire.initialize()
    wire.sink.close()
    assert wire.process.wait(10) == 1
    assert wire.process.stderr is not None
    assert wire.process.stderr.read() == b""


def test_a_client_that_stops_listening_is_no_crash() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    server = subprocess.Popen(COMMAND, **pipes)  # type: ignore[call-overload]
    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    server.stdin.write(frame(ask))
    server.stdin.flush()
    next(frames(server.stdout))
    server.stdout.close()
    server.stdin.write(frame({**ask, "id": 2, "method": "workspace/symbol"}) * 3)
    server.stdin.close()
    assert server.wait(20) == 1
    assert server.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="there the closed pipe must do")
def test_the_end_of_the_client_is_the_end_though_the_pipe_stays_open() -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    wire = Wire()
    wire.request("initialize", {"processId": editor.pid, "rootUri": None, "capabilities": {}})
    editor.send_signal(signal.SIGKILL)
    editor.wait()
    assert wire.process.wait(10) == 1


def test_a_connection_over_tcp() -> None:
    command = [*COMMAND, "--tcp", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stderr is not None
    output = server.stderr.readline().decode()
    place = re.fullmatch(r"netsharp: listens on (127\.0\.0\.1):(\d+)\.\n", output)
    assert place, output
    with socket.create_connection((place[1], int(place[2]))) as connection:
        stream = connection.makefile("rwb")
        ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
        stream.write(frame(ask))
        stream.flush()
        answers = frames(stream)
        assert next(answers)["result"]["serverInfo"]["name"] == "netsharp"
        stream.write(frame({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}))
        stream.write(frame({"jsonrpc": "2.0", "method": "exit"}))
        stream.flush()
        assert next(answers) == {"jsonrpc": "2.0", "id": 2, "result": None}
    assert server.wait(10) == 0
    assert server.stdout is not None
    assert server.stdout.read() == b""


@pytest.mark.parametrize("address", ["nowhere", "host:port", "1:2:99999"])
def test_an_address_that_is_none_is_refused_with_a_sentence(address: str) -> None:
    done = subprocess.run(
        [*COMMAND, "--tcp", address], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 2
    assert address in done.stderr


def test_nothing_heavy_is_loaded_before_the_answer() -> None:
    program = (
        "import sys; import netsharp_lsp.server.turns.launch;"
        "import netsharp_lsp.server.handlers.workspace.lifecycle;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"tree_sitter", "netsharp_grammar", "parso", "numpy", "rich", "safetensors"}


def test_it_is_ready_before_a_person_can_be() -> None:
    """In the middle of as many turns as it takes on a machine that does other work too."""
    bare: list[float] = []
    server: list[float] = []
    while len(bare) < ROUNDS:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import pygls.lsp.server"], check=True)
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        wire = Wire()
        wire.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        server.append(time.perf_counter() - start)
        wire.process.kill()
        wire.process.wait()
        if len(bare) > 2 and median(server) <= 1.3 * median(bare) + 0.05:
            return
    pytest.fail(f"{server} seconds where the bare import takes {bare}")
