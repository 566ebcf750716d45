"""Messages whose parts are not what they must be: one answer each, which names the field."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from netsharp_lsp.server.handlers import NOTIFICATIONS, REQUESTS
from tests.costs import within
from tests.server.texts import NETWORK
from tests.server.wire import Message, Wire, replace, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

URI = "file:///nowhere/malformed.nn"
HERE = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 9}}
SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
FOREIGN, CODE = "This data is not from this server", -32602
NO_IDS: list[Any] = [[1], {"id": 1}, 1.5, True, None, [[]]]
GARBAGE: list[Any] = [0, -1, 2**63, 1e300, True, "x", "\ud800", "x" * 100_000, [], {}, [[]], None]
#: A method, its parameters, and how the sentence begins.
NAMED = [
    ("textDocument/hover", None, "params.textDocument: an object is needed, found nothing."),
    ("textDocument/hover", [1], "params: an object is needed, found a list."),
    ("textDocument/hover", {**HERE, "position": 3}, "params.position: an object"),
    (
        "textDocument/hover",
        {**HERE, "position": {"line": "x", "character": 0}},
        'params.position.line: an integer is needed, found "x".',
    ),
    (
        "textDocument/definition",
        {**HERE, "position": {"line": 1, "character": 0.5}},
        "params.position.character: an integer is needed, found 0.5.",
    ),
    (
        "textDocument/completion",
        {**HERE, "position": {"line": -1, "character": 0}},
        "params.position.line: an integer from 0 to 2147483647 is needed, found -1.",
    ),
    (
        "textDocument/references",
        {**HERE, "context": {"includeDeclaration": "yes"}},
        'params.context.includeDeclaration: true or false is needed, found "yes".',
    ),
    ("textDocument/rename", {**HERE, "newName": 5}, "params.newName: a text is needed, found 5."),
    (
        "textDocument/codeAction",
        {**HERE, "range": SPAN, "context": {"diagnostics": [{"range": SPAN}]}},
        "params.context.diagnostics[0].message: a text is needed, found nothing.",
    ),
    (
        "textDocument/selectionRange",
        {**HERE, "positions": [{"line": 0, "character": 0}, 7]},
        "params.positions[1]: an object is needed, found 7.",
    ),
    ("workspace/symbol", {"query": {}}, "params.query: a text is needed, found {}."),
    ("netsharp/graph", {"textDocument": {}}, "params.textDocument.uri: a text is needed"),
    ("netsharp/graph", {**HERE, "position": {"line": 1}}, "params.position.character: an integer"),
    ("netsharp/run", {**HERE, "runFile": 3}, "params.runFile: a text is needed, found 3."),
    ("netsharp/stop", {"id": 3}, "params.id: a text is needed, found 3."),
    ("workspace/executeCommand", {"command": 3}, "params.command: a text is needed, found 3."),
    (
        "workspace/executeCommand",
        {"command": "netsharp.server.format", "arguments": [3]},
        "params.arguments[0]: netsharp.server.format needs the URI of a document",
    ),
    (
        "workspace/executeCommand",
        {"command": "netsharp.server.stopTraining", "arguments": [[1]]},
        "params.arguments[0]: netsharp.server.stopTraining needs the id of a run",
    ),
    (
        "workspace/executeCommand",
        {"command": "netsharp.server.train", "arguments": [URI, {"runFile": 3}]},
        "params.arguments[1].runFile: a text is needed, found 3.",
    ),
]
#: Requests that return data of the server to it, and their parameters with these data.
BACK = {
    "completionItem/resolve": lambda data: {"label": "x", "data": data},
    "codeLens/resolve": lambda data: {"range": SPAN, "data": data},
    "codeAction/resolve": lambda data: {"title": "x", "data": data},
    "callHierarchy/incomingCalls": lambda data: {"item": {"name": "x", "data": data}},
    "callHierarchy/outgoingCalls": lambda data: {"item": {"name": "x", "data": data}},
}


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        wire.published(URI)
        yield wire


def refusal(wire: Wire, method: str, params: Any, code: int = CODE) -> str:
    error = wire.exchange(method, params)["error"]
    assert error["code"] == code, error
    sentence: str = error["message"]
    return sentence


def is_null(heard: Message) -> bool:
    return "id" in heard and heard["id"] is None


@pytest.mark.parametrize("request_id", NO_IDS)
def test_an_id_that_is_none_gets_an_error(wire: Wire, request_id: object) -> None:
    wire.send({"jsonrpc": "2.0", "id": request_id, "method": "workspace/symbol"})
    error = wire.wait(is_null)["error"]
    assert error["code"] == -32600
    assert error["message"].startswith("id: an integer or a text is needed, found ")
    assert wire.request("workspace/symbol", {"query": "zzz"}) == []


@pytest.mark.parametrize("request_id", [0, -1, 10**4000, "", "x" * 100_000, "\ud800", "1"])
def test_any_number_and_any_text_is_an_id(wire: Wire, request_id: object) -> None:
    wire.send({"jsonrpc": "2.0", "id": request_id, "method": "workspace/symbol"})
    assert wire.wait(lambda heard: heard.get("id") == request_id)["error"]["code"] == CODE


@pytest.mark.parametrize("params", [{"id": one} for one in NO_IDS] + [{}, None, 3, [1]])
def test_a_cancellation_of_nothing_gets_an_error(wire: Wire, params: object) -> None:
    wire.notify("$/cancelRequest", params)
    error = wire.wait(is_null)["error"]
    assert error["code"] == CODE
    assert error["message"].startswith("params")
    assert wire.request("workspace/symbol", {"query": "zzz"}) == []


def test_a_request_under_an_id_in_use_is_answered_as_well(wire: Wire) -> None:
    ask = wire.ask("workspace/symbol", {"query": "zzz"})
    wire.send(*[ask] * 5)
    for _ in range(5):
        assert wire.answer(ask["id"])["result"] == []


@pytest.mark.parametrize("answered", [[1], {}, None, 1.5, "nobody's", 0])
def test_answers_to_nothing_are_ignored(wire: Wire, answered: object) -> None:
    wire.send({"jsonrpc": "2.0", "id": answered, "result": 1})
    wire.send({"jsonrpc": "2.0", "id": answered, "error": {"code": "x", "message": []}})
    since = len(wire.heard)
    assert wire.request("workspace/symbol", {"query": "zzz"}) == []
    assert not [heard for heard in wire.heard[since:] if "error" in heard]


@pytest.mark.parametrize("error", [3, [], {}, {"code": "x"}, {"code": [], "message": {}}])
def test_whatever_a_client_answers_is_taken(error: object) -> None:
    with serving({"workspace": {"configuration": True}}) as wire:
        asked = wire.wait(lambda heard: heard.get("method") == "workspace/configuration")
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        wire.answers["workspace/configuration"] = error
        wire.notify("workspace/didChangeConfiguration", {"settings": 3})
        wire.wait(lambda heard: heard.get("method") == "workspace/configuration")
        assert wire.request("workspace/symbol", {"query": "zzz"}) == []


@pytest.mark.parametrize(("method", "params", "sentence"), NAMED)
def test_wrong_parameters_are_named(wire: Wire, method: str, params: Any, sentence: str) -> None:
    message = refusal(wire, method, params)
    assert message.startswith(sentence)
    assert len(message) < 300


@pytest.mark.parametrize("method", BACK)
def test_foreign_data_is_refused_with_a_sentence(wire: Wire, method: str) -> None:
    view = {"uri": URI, "view": 0}
    foreign: list[Any] = [
        3,
        "x",
        [],
        {},
        {"uri": URI},
        {**view, "view": "0"},
        {"uri": 1, "view": 0},
    ]
    if method != "codeAction/resolve":
        foreign += [view, {**view, "topic": 3, "key": 3, "name": 3}]
    for data in foreign[:4] if method == "codeAction/resolve" else foreign:
        message = refusal(wire, method, BACK[method](data))
        assert message.startswith("params.")
        assert "data" in message.partition(":")[0]
        assert FOREIGN in message


def test_what_came_without_data_is_whole_already(wire: Wire) -> None:
    for method, item in (
        ("completionItem/resolve", {"label": "x"}),
        ("codeAction/resolve", {"title": "x", "command": {"title": "x", "command": "y"}}),
        ("codeLens/resolve", {"range": SPAN, "command": {"title": "x", "command": "y"}}),
    ):
        assert wire.request(method, item) == item


def test_what_is_not_offered_is_no_method(wire: Wire) -> None:
    for method in (
        "inlayHint/resolve",
        "documentLink/resolve",
        "workspaceSymbol/resolve",
        "x" * 9999,
    ):
        assert len(refusal(wire, method, {"data": 3}, -32601)) < 200


def test_whatever_a_method_gets_it_answers_once(wire: Wire) -> None:
    """Every method with every kind of value, in place of its parameters and of each of them."""
    whole = {
        **HERE,
        "range": SPAN,
        "ranges": [SPAN],
        "positions": [HERE["position"]],
        "context": {"diagnostics": [], "includeDeclaration": True},
        "newName": "y",
        "query": "zzz",
        "previousResultId": "1",
        "previousResultIds": [],
        "options": {"tabSize": 2, "insertSpaces": True},
        "ch": ";",
        "command": "netsharp.server.explain",
        "arguments": ["NS001"],
        "item": {"data": {"uri": URI, "view": 0, "name": "Edges"}},
        "id": "x",
    }
    since = len(wire.heard)

    def answered() -> None:
        asked = []
        for method in [*REQUESTS, "inlayHint/resolve", "exit"]:
            if method in ("shutdown", "netsharp/run"):
                continue
            for value in GARBAGE:
                asked += [wire.ask(method, value)]
                asked += [wire.ask(method, {**whole, field: value}) for field in whole]
        wire.send(*asked)
        wanted = {ask["id"] for ask in asked}
        answers = [wire.wait(lambda heard: heard.get("id") in wanted) for _ in asked]
        assert sorted(answer["id"] for answer in answers) == sorted(wanted)

    within(60, answered)
    assert not [heard for heard in wire.heard[since:] if "failed: " in str(heard)]
    assert wire.exchange("workspace/symbol", {"query": "zzz"})["result"] == []


def test_whatever_a_notification_holds_the_server_continues() -> None:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        for method in [*NOTIFICATIONS, "netsharp/unheard", "$/setTrace"]:
            for value in GARBAGE:
                identity = {"uri": value, "version": value}
                wire.notify(method, value)
                wire.notify(method, {"textDocument": value, "event": value, "token": value})
                wire.notify(method, {"textDocument": identity, "contentChanges": [value]})
                wire.notify(method, {"textDocument": {"uri": URI}, "contentChanges": [{"text": 1}]})
                wire.notify(method, {"cellTextDocuments": [value], "change": {"cells": value}})
                wire.notify(method, {"settings": {"netsharp": value}, "changes": [value]})
        wire.open(URI, NETWORK)
        wire.send(
            wire.change(URI, 9, {"text": NETWORK}),
            wire.change(URI, -4, replace((3, 1), (0, 0), "")),
            wire.change(URI, 2, {"text": NETWORK + "oops"}),
        )
        found = wire.published(URI, 2)
        assert [each["severity"] for each in found].count(1) == 1
        reported = [heard for heard in wire.heard if heard.get("method") == "window/logMessage"]
        assert not [heard for heard in reported if "failed: " in heard["params"]["message"]], (
            reported
        )
        assert any("params.textDocument" in heard["params"]["message"] for heard in reported)


URIS = [
    "", "x", "file:", "file:x", "file:///", "file:///a%00b.nn", "file:///%zz%.nn", "untitled:1",
    "file:///\ud800.nn", "file:///" + "x" * 100_000 + ".nn", "file://[::1/x.nn", "file:///a/../..",
    "vscode-notebook-cell:/a.ipynb#1", "http://[", "file://host/share/a.nn", "file:///\0.nn",
]  # fmt: skip


@pytest.mark.parametrize("uri", URIS, ids=range(len(URIS)))
def test_every_uri_names_a_document(wire: Wire, uri: str) -> None:
    since = len(wire.heard)
    wire.open(uri, NETWORK)
    assert isinstance(wire.published(uri), list)
    identity = {"textDocument": {"uri": uri}}
    for method in ("documentSymbol", "codeLens", "documentLink", "diagnostic"):
        assert "result" in wire.exchange(f"textDocument/{method}", identity)
    for command in ("format", "fixAll", "showNetwork", "describe", "train", "bindData"):
        order = {"command": f"netsharp.server.{command}", "arguments": [uri]}
        answer = wire.exchange("workspace/executeCommand", order)
        assert "result" in answer or answer["error"]["code"] == CODE
    assert wire.exchange("netsharp/graph", identity).get("error", {}).get("code") != -32603
    assert wire.exchange("netsharp/run", identity)["error"]["code"] != -32603
    folder = {"event": {"added": [{"uri": uri, "name": "x"}], "removed": []}}
    wire.notify("workspace/didChangeWorkspaceFolders", folder)
    assert "result" in wire.exchange("workspace/symbol", {"query": "zzz"})
    gone = {"event": {"added": [], "removed": [{"uri": uri, "name": "x"}]}}
    wire.notify("workspace/didChangeWorkspaceFolders", gone)
    wire.notify("textDocument/didClose", identity)
    wire.published(uri)
    assert not [heard for heard in wire.heard[since:] if "failed: " in str(heard)]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"processId": "x"}, "processId"),
        ({"processId": 2**63}, "processId"),
        ({"workspaceFolders": [{"name": "x"}]}, "workspaceFolders[0].uri"),
        ({"workspaceFolders": 3}, "workspaceFolders"),
        ({"rootUri": []}, "rootUri"),
        ({"capabilities": []}, "capabilities"),
    ],
)
def test_a_beginning_that_is_refused_can_be_made_again(params: Message, field: str) -> None:
    wire = Wire()
    assert refusal(wire, "initialize", params).startswith(f"params.{field}: ")
    assert refusal(wire, "workspace/symbol", {"query": ""}, -32002)
    wire.initialize()
    assert wire.stop() == 0


@pytest.mark.parametrize("value", [3, [], [[]], {"x": [1]}], ids=str)
def test_strange_abilities_and_options_are_taken(value: object) -> None:
    able = dict.fromkeys(("workspace", "window", "general", "notebookDocument"), value)
    inner = dict.fromkeys(("hover", "foldingRange", "completion", "publishDiagnostics"), value)
    options = {"settings": value, "trusted": value} if isinstance(value, list) else value
    with serving({**able, "textDocument": inner}, initializationOptions=options) as wire:
        wire.open(URI, NETWORK)
        assert "error" not in wire.exchange("textDocument/hover", HERE)
        assert "error" not in wire.exchange("textDocument/completion", HERE)
        folds = {"textDocument": {"uri": URI}}
        assert "error" not in wire.exchange("textDocument/foldingRange", folds)


@pytest.mark.skipif(os.name == "nt", reason="there the closed pipe must do")
def test_a_client_that_is_no_process_is_the_end() -> None:
    wire = Wire()
    wire.request("initialize", {"processId": 2**31 - 1, "capabilities": {}})
    assert wire.process.wait(20) == 1
    assert wire.process.stderr is not None
    assert wire.process.stderr.read() == b""


def test_nothing_is_taken_between_shutdown_and_exit() -> None:
    wire = Wire()
    wire.initialize()
    wire.request("shutdown")
    wire.notify("initialized", {})
    wire.open(URI, NETWORK)
    assert refusal(wire, "textDocument/hover", HERE, -32600)
    assert refusal(wire, "shutdown", None, -32600)
    wire.notify("exit")
    assert wire.process.wait(20) == 0
