"""Every command that is offered works with any client, and says in a sentence what came of it."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from netsharp_lsp.server.commands import COMMANDS
from tests.server.places import AUTO, asked, becomes, example, execute, furnish, opened, shown
from tests.server.wire import Message, Wire, serving

ABLE = {
    "window": {"showDocument": {"support": True}},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
UNTIDY = "input  X [4] ;\nhidden H [3] from X all;\noutput Y [2] sofmax from H all;\n"
TIDY = "input X [4];\nhidden H [3] from X all;\noutput Y [2] sofmax from H all;\n"


def able(wire: Wire) -> Wire:
    """Answer as a client that does what it is asked."""
    wire.answers = {
        "window/showDocument": {"success": True},
        "workspace/applyEdit": {"applied": True},
    }
    return wire


def path_shown(wire: Wire) -> Path:
    """The file that the client was last asked to show."""
    return Path(unquote(urlsplit(asked(wire, "window/showDocument")[-1]["uri"]).path))


def reported_path(wire: Wire) -> Path:
    """The file that the last message names at its end."""
    return Path(shown(wire)[-1].rpartition(": ")[2])


def edited(text: str, edit: Message) -> str:
    """A text after a workspace edit of plain ASCII."""
    changes = edit.get("documentChanges")
    edits = changes[0]["edits"] if changes else next(iter(edit["changes"].values()))
    lines = text.splitlines(keepends=True)

    def offset(position: Message) -> int:
        before = sum(len(each) for each in lines[: position["line"]])
        return before + int(position["character"])

    for each in reversed(edits):
        start, end = (offset(each["range"][side]) for side in ("start", "end"))
        text = text[:start] + each["newText"] + text[end:]
    return text


@pytest.mark.costly
def test_a_client_that_can_nothing_executes_every_command(tmp_path: Path) -> None:
    path = furnish(tmp_path, UNTIDY)
    sound = example("iris", tmp_path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        begun = wire.request("textDocument/hover", dict(at(opened(wire, path), 0, 7)))
        assert begun is not None
        offered = capabilities(wire)["executeCommandProvider"]["commands"]
        assert offered == list(COMMANDS)
        uri, other = path.as_uri(), opened(wire, sound)
        assert execute(wire, "explain", "ns074")["result"] is None
        assert reported_path(wire).read_text().startswith("# NS074:")
        assert edited(UNTIDY, execute(wire, "format", uri)["result"]) == TIDY
        repaired = edited(UNTIDY, execute(wire, "fixAll", uri)["result"])
        assert repaired == UNTIDY.replace("sofmax", "softmax")
        assert execute(wire, "describe", other)["result"] is None
        assert "| Hidden |" in reported_path(wire).read_text()
        assert execute(wire, "showNetwork", other)["result"] is None
        picture = reported_path(wire)
        assert picture.read_text().startswith("<svg")
        place = execute(wire, "showLayer", uri, "H")["result"]
        assert place["range"]["start"] == {"line": 1, "character": 7}
        assert shown(wire)[-1] == f"H is declared at: {path}:2"
        assert execute(wire, "migrate", uri)["result"] is None
        assert "needs no migration" in shown(wire)[-1]
        assert execute(wire, "stopTraining")["result"] is False
        run = execute(wire, "train", other)["result"]["id"]
        wire.wait(lambda heard: is_end(heard, run))
        wire.wait(lambda heard: "finished" in str(heard.get("params", {}).get("message")))
        assert execute(wire, "examine", other)["result"]["seen"] >= 0
        bound = execute(wire, "bindData", uri)["result"]
        assert bound == {"runFile": str(tmp_path / "net.toml"), "data": "t.csv", "label": "kind"}
        assert reported_path(wire) == tmp_path / "net.toml"
    assert not picture.exists(), "what was made to be looked at ends with the session"


def at(uri: str, line: int, character: int) -> Message:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def is_end(heard: Message, run: str) -> bool:
    params = heard.get("params") or {}
    return heard.get("method") == "netsharp/runProgress" and (
        (params["id"], params["event"]) == (run, "end")
    )


def capabilities(wire: Wire) -> Any:
    return next(m["result"]["capabilities"] for m in wire.heard if m.get("id") == 1)


def test_an_able_client_shows_and_changes(tmp_path: Path) -> None:
    path = furnish(tmp_path, UNTIDY)
    sound = example("iris", tmp_path)
    with serving(ABLE, rootUri=tmp_path.as_uri()) as wire:
        able(wire)
        uri, other = opened(wire, path), opened(wire, sound)
        for command in ("format", "fixAll"):
            assert execute(wire, command, uri)["result"] is None
        first, second = (each["edit"] for each in asked(wire, "workspace/applyEdit"))
        assert edited(UNTIDY, first) == TIDY
        assert first["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 1}
        assert "softmax" in edited(UNTIDY, second)
        execute(wire, "explain", "NS001")
        assert path_shown(wire).name == "NS001.md"
        execute(wire, "describe", other)
        assert path_shown(wire).name == "iris.md"
        execute(wire, "showNetwork", other)
        assert path_shown(wire).name == "iris.svg"
        assert asked(wire, "window/showDocument")[-1]["external"] is True
        execute(wire, "showLayer", uri, "Y")
        wanted = asked(wire, "window/showDocument")[-1]
        assert wanted["uri"] == uri
        assert wanted["selection"]["start"] == {"line": 2, "character": 7}
        execute(wire, "bindData", uri)
        assert path_shown(wire).name == "net.toml"
        assert shown(wire) == [
            "Wrote net.toml: trains on t.csv, predicting 'kind' (the last column; name another "
            "there if that is wrong)."
        ]


def test_binding_data_gives_the_numbers_at_once(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert execute(wire, "bindData", uri, (tmp_path / "t.csv").as_uri())["result"] is not None
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")
        table = tomllib.loads((tmp_path / "net.toml").read_text())
        assert table == {"data": {"train": "t.csv", "label": "kind"}}
        assert execute(wire, "bindData", uri, "t.csv")["result"] is None
        assert "is there already" in shown(wire)[-1]


def test_of_several_tables_a_person_chooses(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO)
    (tmp_path / "other.tsv").write_text("a\tlabel\n1\tx\n2\ty\n")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert execute(wire, "bindData", uri)["result"] is None
        assert "other.tsv, t.csv" in shown(wire)[-1]
        question = asked(wire, "window/showMessageRequest")[-1]
        assert [action["title"] for action in question["actions"]] == ["other.tsv", "t.csv"]
        wire.answers["window/showMessageRequest"] = {"title": "other.tsv"}
        assert execute(wire, "bindData", uri)["result"]["label"] == "label"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [
        ("explain", ["NS9999"], "'NS9999' is not a code."),
        ("describe", ["URI"], "has an error, so its numbers would mean nothing."),
        ("showNetwork", ["URI"], "has an error, so its numbers would mean nothing."),
        ("showLayer", ["URI", "Nobody"], "net.nn has no layer 'Nobody'."),
        ("format", ["file:///nowhere/x.nn"], "x.nn is not open"),
        ("bindData", ["untitled:Untitled-1"], "save the document first"),
        ("bindData", ["URI", "no.csv"], "no.csv: there is no such file"),
        ("stopTraining", ["run-77"], "No training is running."),
    ],
)
def test_what_cannot_be_done_is_reported(
    tmp_path: Path, command: str, arguments: list[str], sentence: str
) -> None:
    path = furnish(tmp_path, UNTIDY)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        given = [uri if argument == "URI" else argument for argument in arguments]
        assert not execute(wire, command, *given)["result"]
        assert sentence in shown(wire)[-1]
    assert sorted(os.listdir(tmp_path)) == ["net.nn", "t.csv"]


def test_a_malformed_call_is_an_error(tmp_path: Path) -> None:
    with serving(rootUri=tmp_path.as_uri()) as wire:
        unknown = execute(wire, "explian")["error"]
        assert "Did you mean 'netsharp.server.explain'?" in unknown["message"]
        lacking = execute(wire, "format")["error"]
        assert lacking["message"] == (
            "netsharp.server.format needs the URI of a document as argument 1."
        )
        assert execute(wire, "showLayer", "file:///x.nn", 7)["result"] is None
        for method in ("netsharp/graph", "netsharp/run", "netsharp/stop"):
            for params in ({}, {"textDocument": 3, "id": 4}, []):
                assert wire.exchange(method, params)["error"]["code"] == -32602
