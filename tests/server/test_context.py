"""What lies around a document turns `auto` into numbers, in the order that is promised."""

from __future__ import annotations

import os
from pathlib import Path

from netsharp_lsp.server.surroundings.contexts import COUNTED_HERE
from tests.server.places import AUTO, TABLE, becomes, codes, example, furnish, hover, opened, shown
from tests.server.wire import serving

WATCHES = {
    "workspace": {
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "inlayHint": {"refreshSupport": True},
    }
}
BOUND = '[data]\ntrain = "t.csv"\nlabel = "kind"\n'


def test_the_run_file_and_its_data_give_the_numbers(tmp_path: Path) -> None:
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, example("iris", tmp_path))
        assert wire.published(uri) == []
        reported = hover(wire, uri, 1, 8)
        assert "4" in reported
        assert "iris.toml" in reported
        assert "iris.toml" in hover(wire, uri, 3, 9)


def test_the_first_that_knows_a_value_wins(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file=BOUND)
    (tmp_path / "netsharp.toml").write_text("features = 50\nhidden-nodes = 60\noutputs = 70\n")
    options = {"settings": {"check": {"hidden-nodes": 61, "outputs": 71}}}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        features, hidden, outputs = (hover(wire, uri, line, 8) for line in range(3))
        assert "2, one for each feature, from net.toml" in features
        assert "61" in hidden
        assert "the editor's settings" in hidden
        assert "3" in outputs
        assert "net.toml" in outputs
        os.unlink(tmp_path / "net.toml")
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        becomes(wire, uri, (0, 8), "50, one for each feature, from netsharp.toml")


def test_the_call_around_a_specification_comes_first(tmp_path: Path) -> None:
    furnish(tmp_path, run_file=BOUND.replace("label", "exclude = ['width']\nlabel"))
    script = tmp_path / "net.py"
    script.write_text(
        f'NeuralNetwork(\n    num_hidden_nodes=7,\n    net_definition="""\n{AUTO}""",\n)\n'
    )
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, script, "python")
        wire.published(uri)
        assert "7" in hover(wire, uri, 4, 8)
        assert "net.toml" in hover(wire, uri, 3, 7)


def test_in_an_untrusted_workspace_no_data_is_read(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file=f"{BOUND}[train]\nhidden_nodes = 9\n")
    os.unlink(tmp_path / "t.csv")
    os.mkfifo(tmp_path / "t.csv")  # opening it would block for ever
    options = {"trusted": False}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert "from net.toml" not in hover(wire, uri, 0, 8)
        assert "9" in hover(wire, uri, 1, 8)
        os.unlink(tmp_path / "t.csv")
        (tmp_path / "t.csv").write_text(TABLE)
        wire.notify("netsharp/trust", {"trusted": True})
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")


def test_typing_continues_while_a_table_cannot_be_read(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file=BOUND)
    os.unlink(tmp_path / "t.csv")
    os.mkfifo(tmp_path / "t.csv")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert "NS087" not in codes(wire.published(uri))
        assert "feature" in hover(wire, uri, 0, 8)
        os.unlink(tmp_path / "t.csv")
        (tmp_path / "t.csv").write_text(TABLE)
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")


def test_files_are_watched_where_the_client_can(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file=BOUND)
    with serving(WATCHES, rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert "2, one for each feature" in hover(wire, uri, 0, 8)
        patterns = [
            watcher["globPattern"]
            for message in wire.heard
            if message.get("method") == "client/registerCapability"
            for registration in message["params"]["registrations"]
            for watcher in registration["registerOptions"].get("watchers", ())
        ]
        assert "**/*.toml" in patterns
        assert {"baseUri": tmp_path.as_uri(), "pattern": "t.csv"} in patterns
        (tmp_path / "t.csv").write_text("length,width,height,kind\n1,2,3,a\n3,4,5,b\n5,6,7,c\n")
        changed = {"uri": (tmp_path / "t.csv").as_uri(), "type": 2}
        wire.notify("workspace/didChangeWatchedFiles", {"changes": [changed]})
        becomes(wire, uri, (0, 8), "3, one for each feature, from net.toml")
        assert any(m.get("method") == "workspace/inlayHint/refresh" for m in wire.heard)


def test_a_run_file_that_is_no_toml_is_reported_once(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file="[data")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        (tmp_path / "t.csv").write_text(TABLE)
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        hover(wire, uri, 0, 8)
        reported = shown(wire)
        assert len(reported) == 1
        assert reported[0].startswith(f"{tmp_path / 'net.toml'}: is not valid TOML")


def test_a_large_table_is_counted_aside(tmp_path: Path) -> None:
    path = furnish(tmp_path, run_file=BOUND)
    rows = "".join(f"{number},2,{'abc'[number % 3]}\n" for number in range(40_000))
    (tmp_path / "t.csv").write_text(f"length,width,kind\n{rows}")
    assert (tmp_path / "t.csv").stat().st_size > COUNTED_HERE
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        becomes(wire, uri, (2, 8), "3")
        becomes(wire, uri, (0, 8), "2, one for each feature, from net.toml")
        (tmp_path / "net.toml").write_text(BOUND.replace("t.csv", "no.csv"))
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        becomes(wire, uri, (0, 8), "the number is not known yet")
