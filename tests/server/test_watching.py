"""Which files a client is asked to watch, and what happens when one of them changes."""

from __future__ import annotations

from pathlib import Path

from tests.server.places import AUTO, TABLE, becomes, furnish, hover, opened
from tests.server.wire import Message, Wire, serving

DYNAMIC = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}


def registrations(wire: Wire) -> list[Message]:
    return [
        registration
        for message in wire.heard
        if message.get("method") == "client/registerCapability"
        for registration in message["params"]["registrations"]
    ]


def patterns(registration: Message) -> list[str]:
    return [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]


def changed(wire: Wire, *paths: Path) -> None:
    changes = [{"uri": path.as_uri(), "type": 2} for path in paths]
    wire.notify("workspace/didChangeWatchedFiles", {"changes": changes})


def test_tables_are_watched_as_run_files_come_to_name_them(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO)
    run_file, strange = tmp_path / "net.toml", tmp_path / "t{1}.csv"
    strange.write_text(TABLE.replace("kind", "height,kind").replace(",a", ",0,a"))
    with serving(DYNAMIC, rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert "net.toml" not in hover(wire, uri, 0, 8)
        (everywhere,) = registrations(wire)
        assert "**/*.toml" in patterns(everywhere)
        run_file.write_text('[data]\ntrain = "t.csv"\nlabel = "kind"\n')
        changed(wire, run_file)
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")
        assert patterns(registrations(wire)[-1]) == [str(tmp_path / "t.csv")]
        run_file.write_text('[data]\ntrain = "./t{1}.csv"\nlabel = "kind"\n')
        changed(wire, run_file, tmp_path / "t.csv")
        becomes(wire, uri, (0, 8), "3, one for each feature, from net.toml")
        assert patterns(registrations(wire)[-1]) == [str(tmp_path / "t?1?.csv")]
        gone = next(m for m in wire.heard if m.get("method") == "client/unregisterCapability")
        assert gone["params"]["unregisterations"][0]["id"] == registrations(wire)[1]["id"]


def test_a_client_that_watches_nothing_is_asked_nothing(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO, '[data]\ntrain = "t.csv"\nlabel = "kind"\n')
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        hover(wire, uri, 0, 8)
        assert registrations(wire) == []


def test_closing_a_document_forgets_its_surroundings(tmp_path: Path) -> None:
    path = furnish(tmp_path, AUTO, '[data]\ntrain = "t.csv"\nlabel = "kind"\n')
    with serving(DYNAMIC, rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        gone = wire.wait(lambda heard: heard.get("method") == "client/unregisterCapability")
        assert gone["params"]["unregisterations"][0]["id"] == "netsharp-tables"
        (tmp_path / "net.toml").unlink()
        opened(wire, path)
        wire.published(uri)
        assert "net.toml" not in hover(wire, uri, 0, 8)


def test_without_watching_the_files_are_looked_at_when_a_document_opens(tmp_path: Path) -> None:
    run_file = '[data]\ntrain = "t.csv"\nlabel = "kind"\n'
    path = furnish(tmp_path, AUTO, run_file)
    (tmp_path / "other.nn").write_text(AUTO)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")
        (tmp_path / "net.toml").write_text(f"{run_file}exclude = ['width']\n")
        opened(wire, tmp_path / "other.nn")
        becomes(wire, uri, (0, 8), "1, one for each feature, from net.toml")
