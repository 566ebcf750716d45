"""The newest edit wins: bursts, cancellation, answers about a text that has changed since."""

from __future__ import annotations

import random

import pytest

from tests.server.texts import NETWORK
from tests.server.wire import Message, replace, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

URI = "file:///nowhere/typed.nn"
IDENTITY = {"textDocument": {"uri": URI}}
CANCELLED, MODIFIED, SERVER_CANCELLED = -32800, -32801, -32802


def publications(heard: list[Message]) -> list[int]:
    """The versions for which diagnostics came."""
    return [
        message["params"]["version"]
        for message in heard
        if message.get("method") == "textDocument/publishDiagnostics"
    ]


def test_of_a_burst_only_the_last_versions_are_checked() -> None:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        wire.published(URI, 1)
        chance = random.Random(1)
        burst = []
        for version in range(2, 201):
            place = (chance.randrange(11), 0)
            burst.append(wire.change(URI, version, replace(place, place, chance.choice("x;{ \n"))))
        whole = wire.change(URI, 201, {"text": NETWORK + "oops"})
        wire.send(*burst, whole)
        found = wire.published(URI, 201)
        assert [each["severity"] for each in found].count(1) == 1
        versions = publications(wire.heard)
        assert versions == sorted(versions)
        assert len(versions) < 40
        with serving({}) as fresh:
            fresh.open(URI, NETWORK + "oops", version=201)
            assert fresh.published(URI, 201) == found


def test_a_request_that_waits_can_be_cancelled() -> None:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        wire.published(URI)
        first = wire.ask("textDocument/documentSymbol", IDENTITY)
        second = wire.ask("textDocument/documentSymbol", IDENTITY)
        cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": second["id"]}}
        late = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 12345}}
        burst = [wire.change(URI, version, {"text": NETWORK * 3}) for version in range(2, 9)]
        wire.send(*burst, first, second, cancel, late)
        answers = {}
        while len(answers) < 2:
            heard = wire.wait(lambda each: each.get("id") in (first["id"], second["id"]))
            answers[heard["id"]] = heard
        assert answers[second["id"]]["error"]["code"] == CANCELLED
        assert answers[first["id"]]["result"]


def test_a_long_request_can_be_cancelled_while_it_runs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for number in range(300):
        (tmp_path / f"net{number}.nn").write_text(NETWORK)
    folders = [{"uri": tmp_path.as_uri(), "name": "many"}]
    with serving({"textDocument": {"diagnostic": {}}}, workspaceFolders=folders) as wire:
        asked = wire.ask("workspace/diagnostic", {"previousResultIds": []})
        wire.send(asked)
        wire.request("workspace/symbol", {"query": "zzz"})
        wire.notify("$/cancelRequest", {"id": asked["id"]})
        ended = [heard for heard in wire.heard if heard.get("id") == asked["id"]]
        answer = ended[0] if ended else wire.answer(asked["id"])
        assert "result" in answer or answer["error"]["code"] == CANCELLED


def test_answers_about_an_old_text_are_left_out_for_clients_that_ask_again() -> None:
    again = {"retryOnContentModified": ["textDocument/semanticTokens/full"], "cancel": True}
    with serving({"general": {"staleRequestSupport": again}}) as wire:
        wire.open(URI, NETWORK)
        wire.published(URI)
        tokens = wire.ask("textDocument/semanticTokens/full", IDENTITY)
        symbols = wire.ask("textDocument/documentSymbol", IDENTITY)
        newest = wire.ask("textDocument/semanticTokens/full", IDENTITY)
        wire.send(
            wire.change(URI, 2, {"text": NETWORK * 20}),
            tokens,
            symbols,
            wire.change(URI, 3, {"text": NETWORK}),
            newest,
        )
        answers = {
            heard["id"]: heard
            for heard in (
                wire.wait(lambda each: "id" in each and "method" not in each) for _ in range(3)
            )
        }
        assert answers[symbols["id"]]["result"]
        assert answers[newest["id"]]["result"]["data"]
        old = answers[tokens["id"]]
        assert old.get("error", {}).get("code") == MODIFIED


def test_requests_see_the_version_that_was_newest_when_they_were_sent() -> None:
    with serving({}) as wire:
        wire.open(URI, NETWORK)
        wire.published(URI)
        asked = []
        for version in range(2, 30):
            text = NETWORK.replace("Middle", f"Middle{version}")
            question = wire.ask("textDocument/documentSymbol", IDENTITY)
            asked.append((version, question["id"]))
            wire.send(wire.change(URI, version, {"text": text}), question)
        for version, request in asked:
            names = [each["name"] for each in wire.answer(request)["result"]]
            assert f"Middle{version}" in names


def test_diagnostics_of_an_old_text_are_left_out_and_asked_for_again() -> None:
    with serving({"textDocument": {"diagnostic": {}}}) as wire:
        wire.open(URI, NETWORK)
        old = wire.ask("textDocument/diagnostic", IDENTITY)
        new = wire.ask("textDocument/diagnostic", IDENTITY)
        wire.send(
            wire.change(URI, 2, {"text": NETWORK * 20}),
            old,
            wire.change(URI, 3, {"text": NETWORK}),
            new,
        )
        refused = wire.answer(old["id"])["error"]
        assert refused["code"] == SERVER_CANCELLED
        assert refused["data"] == {"retriggerRequest": True}
        assert [each["code"] for each in wire.answer(new["id"])["result"]["items"]] == ["NS033"]
