"""Diagnostics for clients that ask: documents, the workspace, and never both ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.limits import FINDINGS_SHOWN
from tests.server.texts import NETWORK
from tests.server.wire import Message, Wire, serving

PULLS = {"textDocument": {"diagnostic": {}}}
URI = "file:///nowhere/pulled.nn"


def pull(wire: Wire, uri: str, known: str | None = None) -> Message:
    params = {"textDocument": {"uri": uri}, "previousResultId": known}
    found: Message = wire.request("textDocument/diagnostic", params)
    return found


def codes(report: Message) -> list[str]:
    return [each["code"] for each in report["items"]]


def folder(root: Path, name: str, settings: str = "") -> Message:
    """A folder of a workspace with a sound network, one with a finding, and one left out."""
    (root / name / "deep").mkdir(parents=True)
    (root / name / "sound.nn").write_text(NETWORK.replace("const Unused = 3;\n", ""))
    (root / name / "deep" / "found.nn").write_text(NETWORK)
    (root / name / ".hidden.nn").write_text(NETWORK)
    (root / name / "netsharp.toml").write_text(settings)
    return {"uri": (root / name).as_uri(), "name": name}


def test_a_document_is_reported_once_and_then_unchanged() -> None:
    with serving(PULLS) as wire:
        wire.open(URI, NETWORK)
        first = pull(wire, URI)
        assert (first["kind"], codes(first)) == ("full", ["NS033"])
        assert pull(wire, URI, first["resultId"]) == {
            "kind": "unchanged",
            "resultId": first["resultId"],
        }
        wire.send(wire.change(URI, 2, {"text": NETWORK.replace("Unused", "Useless")}))
        second = pull(wire, URI, first["resultId"])
        assert second["kind"] == "full"
        assert second["resultId"] != first["resultId"]
        assert pull(wire, "file:///nowhere/closed.nn")["items"] == []


def test_who_pulls_is_pushed_nothing() -> None:
    with serving(PULLS) as wire:
        offered = wire.heard[0]["result"]["capabilities"]["diagnosticProvider"]
        assert offered == {
            "identifier": "netsharp",
            "interFileDependencies": False,
            "workspaceDiagnostics": True,
        }
        wire.open(URI, NETWORK)
        wire.send(wire.change(URI, 2, {"text": NETWORK + "x"}))
        assert pull(wire, URI)["items"]
        wire.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        wire.request("workspace/symbol", {"query": ""})
        assert not [m for m in wire.heard if m.get("method") == "textDocument/publishDiagnostics"]


def test_the_workspace_is_reported_over_two_roots_with_their_settings(tmp_path: Path) -> None:
    folders = [folder(tmp_path, "one"), folder(tmp_path, "two", 'ignore = ["NS033"]\n')]
    one, two = tmp_path / "one", tmp_path / "two"
    with serving(PULLS, workspaceFolders=folders) as wire:
        wire.open((one / "sound.nn").as_uri(), NETWORK + "oops", version=7)
        reports = wire.request("workspace/diagnostic", {"previousResultIds": []})["items"]
        found = {report["uri"]: report for report in reports}
        assert set(found) == {
            (place / name).as_uri()
            for place in (one, two)
            for name in ("sound.nn", "deep/found.nn")
        }
        assert found[(one / "sound.nn").as_uri()]["version"] == 7
        assert "NS033" in codes(found[(one / "sound.nn").as_uri()])
        assert codes(found[(one / "deep" / "found.nn").as_uri()]) == ["NS033"]
        assert codes(found[(two / "deep" / "found.nn").as_uri()]) == []
        known = [{"uri": uri, "value": found[uri]["resultId"]} for uri in found]
        gone = {"uri": (one / "gone.nn").as_uri(), "value": "x"}
        (two / "deep" / "found.nn").write_text(NETWORK + "oops")
        again = wire.request("workspace/diagnostic", {"previousResultIds": [*known, gone]})
        kinds = {report["uri"]: report["kind"] for report in again["items"]}
        changed = {uri for uri, kind in kinds.items() if kind == "full"}
        assert changed == {(two / "deep" / "found.nn").as_uri(), gone["uri"]}


def test_the_workspace_is_reported_piece_by_piece_to_who_wants_so(tmp_path: Path) -> None:
    folders = [folder(tmp_path, "one")]
    with serving(PULLS, workspaceFolders=folders) as wire:
        asked = {"previousResultIds": [], "partialResultToken": "pieces"}
        assert wire.request("workspace/diagnostic", asked) == {"items": []}
        pieces = [
            item
            for message in wire.heard
            if message.get("method") == "$/progress"
            for item in message["params"]["value"]["items"]
        ]
        assert sorted(Path(piece["uri"]).name for piece in pieces) == ["found.nn", "sound.nn"]


def test_symbols_are_found_in_files_that_are_not_open(tmp_path: Path) -> None:
    folders = [folder(tmp_path, "one")]
    with serving({}, workspaceFolders=folders) as wire:
        found = wire.request("workspace/symbol", {"query": "edges"})
        assert len(found) == 2
        assert {Path(each["location"]["uri"]).name for each in found} == {"sound.nn", "found.nn"}


def test_no_more_than_a_thousand_findings_are_shown() -> None:
    text = NETWORK + "".join(f"const Spare{number} = 1;\n" for number in range(1500))
    with serving({}) as wire:
        wire.open(URI, text)
        found = wire.published(URI)
        assert len(found) == 1001
        assert found[-1]["message"].startswith("501 more findings are not shown")
        assert "code" not in found[-1]


#: The number of infos before, and again after, the more severe finding.
MANY = FINDINGS_SHOWN.most // 2 + 100
SPARE = "".join(f"const Spare{number} = 1;\n" for number in range(MANY))
CROWDED = f"{SPARE}{NETWORK}hidden Torn [2] from Nowhere all;\n{SPARE.replace('Spare', 'More')}"


def gravest_first(found: list[Message]) -> None:
    severities = [each["severity"] for each in found]
    assert len(found) == FINDINGS_SHOWN.most + 1
    assert severities[0] == 1
    assert severities[:-1] == sorted(severities[:-1])
    for severity in set(severities[:-1]):
        rows = [
            each["range"]["start"]["line"] for each in found[:-1] if each["severity"] == severity
        ]
        assert rows == sorted(rows)
    assert "more findings are not shown" in found[-1]["message"]


@pytest.mark.costly
def test_an_error_comes_before_informations() -> None:
    with serving({}) as wire:
        wire.open(URI, CROWDED)
        gravest_first(wire.published(URI))
    with serving(PULLS) as wire:
        wire.open(URI, CROWDED)
        gravest_first(pull(wire, URI)["items"])
        reports = wire.request("workspace/diagnostic", {"previousResultIds": []})["items"]
        gravest_first(reports[0]["items"])


@pytest.mark.parametrize("language", ["python", "markdown"])
def test_in_a_cell_too(language: str) -> None:
    fenced = language == "markdown"
    text = (
        f"```netsharp\n{CROWDED}```\n"
        if fenced
        else f'net = """\n{CROWDED}"""\nNeuralNetwork(net_definition=net)\n'
    )
    cell = {"uri": "vscode-notebook-cell:/a.ipynb#1", "languageId": language, "version": 1}
    notebook = {"uri": "file:///a.ipynb", "notebookType": "x", "version": 1, "cells": []}
    opened = {"notebookDocument": notebook, "cellTextDocuments": [{**cell, "text": text}]}
    with serving({"notebookDocument": {"synchronization": {}}}) as wire:
        wire.notify("notebookDocument/didOpen", opened)
        gravest_first(wire.published(str(cell["uri"])))
