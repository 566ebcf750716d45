"""Settings that change while a server runs: pushed, pulled by folder, or in files on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.command_line import netsharp
from tests.server.places import AUTO, becomes, codes, furnish, hover, opened, shown
from tests.server.wire import Message, Wire, serving

PULLS = {"workspace": {"configuration": True}}
#: NS017, an unknown activation; and a hint of style.
FAULTY = AUTO.replace("Hidden auto", "Hidden auto tanq")


def push(wire: Wire, settings: object) -> None:
    wire.notify("workspace/didChangeConfiguration", {"settings": settings})


def warned(wire: Wire, number: int = 1) -> str:
    """The message of a number: it comes before or after what is published."""
    while len(shown(wire)) < number:
        wire.wait(lambda heard: heard.get("method") == "window/showMessage")
    return shown(wire)[number - 1]


def hints(wire: Wire, uri: str) -> list[str]:
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": whole}
    return [hint["label"] for hint in wire.request("textDocument/inlayHint", params)]


def test_a_push_holds_at_once(tmp_path: Path) -> None:
    path = furnish(tmp_path, FAULTY)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert "NS017" in codes(wire.published(uri))
        push(wire, {"netsharp": {"check": {"ignore": ["NS017"], "features": 4}}})
        assert "NS017" not in codes(wire.published(uri))
        assert "4, one for each feature, from the editor's settings" in hover(wire, uri, 0, 8)
        shapes = hints(wire, uri)
        assert shapes != []
        push(wire, {"inlayHints": {"shapes": False, "parameters": False}})
        assert "NS017" in codes(wire.published(uri))
        assert hints(wire, uri) == []
        assert shown(wire) == []


def test_settings_are_pulled_for_each_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    attributes: dict[str | None, Any] = {
        None: {"check": {"features": 1}},
        one.as_uri(): {"check": {"features": 11}},
        two.as_uri(): None,
    }

    def answer(params: Message) -> list[Any]:
        assert all(item["section"] == "netsharp" for item in params["items"])
        return [attributes[item.get("scopeUri")] for item in params["items"]]

    folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in (one, two)]
    wire = Wire()
    wire.answers["workspace/configuration"] = answer
    wire.initialize(PULLS, workspaceFolders=folders)
    first, second = (opened(wire, furnish(folder)) for folder in (one, two))
    becomes(wire, first, (0, 8), "11, one for each feature")
    becomes(wire, second, (0, 8), "1, one for each feature")
    attributes[one.as_uri()] = {"check": {"features": 12}}
    push(wire, None)
    becomes(wire, first, (0, 8), "12, one for each feature")
    event = {"removed": [folders[0]], "added": []}
    wire.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    becomes(wire, first, (0, 8), "1, one for each feature")
    assert wire.stop() == 0


def test_a_client_that_tells_no_settings_has_those_of_the_start(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    reported: list[Any] = [None, None]
    wire = Wire()
    wire.answers["workspace/configuration"] = lambda params: reported
    options = {"settings": {"check": {"features": 31}}}
    wire.initialize(PULLS, rootUri=tmp_path.as_uri(), initializationOptions=options)
    uri = opened(wire, path)
    becomes(wire, uri, (0, 8), "31, one for each feature")
    reported[:] = [{"check": {"features": 32}}, {}]
    push(wire, None)
    becomes(wire, uri, (0, 8), "32, one for each feature")
    reported[:] = [{}, None]
    push(wire, None)
    becomes(wire, uri, (0, 8), "31, one for each feature")
    wire.answers["workspace/configuration"] = "nonsense"
    push(wire, None)
    becomes(wire, uri, (0, 8), "31, one for each feature")
    assert wire.stop() == 0


def test_what_cannot_be_used_is_one_warning(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    wrong = {"inlayHint": True, "check": {"features": 0, "hidden-nodes": 6}}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions={"settings": wrong}) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert "6" in hover(wire, uri, 1, 8)
        (message,) = shown(wire)
        assert "unknown key 'netsharp.inlayHint'" in message
        assert "'netsharp.check.features' must be a whole number" in message
        push(wire, wrong)
        push(wire, {"check": {"select": ["ABC"]}})
        assert "'ABC' is not a code" in warned(wire, 2)
        assert len(shown(wire)) == 2


def test_a_device_is_checked_as_the_network_is_typed(tmp_path: Path) -> None:
    (tmp_path / "netsharp.toml").write_text('[target]\nflash = "64k"\n')
    text = (
        "input X [784];\nhidden Big [512] tanh from X all;\noutput Y [10] softmax from Big all;\n"
    )
    path = furnish(tmp_path, text)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        (found,) = [one for one in wire.published(uri) if one["code"] == "NS140"]
        assert found["range"]["start"] == {"line": 1, "character": 7}
        assert "784 × 512" in found["message"]
        for number, size in enumerate(("51", "5"), start=2):
            wire.send(wire.change(uri, number, {"text": text.replace("512", size)}))
            assert "NS140" not in codes(wire.published(uri, number))


def test_settings_files_are_read_again_when_they_change(tmp_path: Path) -> None:
    path = furnish(tmp_path, FAULTY)
    settings = tmp_path / "netsharp.toml"
    changed = {"changes": [{"uri": settings.as_uri(), "type": 2}]}
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert "NS017" in codes(wire.published(uri))
        settings.write_text('ignore = ["NS017"]\nfeatures = 21\n')
        wire.notify("workspace/didChangeWatchedFiles", changed)
        assert "NS017" not in codes(wire.published(uri))
        assert "21, one for each feature, from netsharp.toml" in hover(wire, uri, 0, 8)
        settings.write_text("feature = 22\n")
        wire.notify("workspace/didChangeWatchedFiles", changed)
        assert "NS017" in codes(wire.published(uri))
        message = warned(wire)
        assert message.startswith(f"{settings}:1: unknown key 'feature'. Did you mean 'features'?")
        (tmp_path / "pyproject.toml").write_text("[tool.netsharp]\nfeatures = 23\n")
        settings.unlink()
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        becomes(wire, uri, (0, 8), "23, one for each feature, from pyproject.toml")


def test_what_a_baseline_knows_is_not_shown(tmp_path: Path) -> None:
    path = furnish(tmp_path, FAULTY)
    answer = netsharp("check", "net.nn", "--update-baseline", "--baseline", "b.json", cwd=tmp_path)
    assert answer.code == 0
    (tmp_path / "netsharp.toml").write_text('baseline = "b.json"\n')
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert wire.published(uri) == []
        wire.send(wire.change(uri, 2, {"text": f"{FAULTY}hidden Hidden [2] from Data all;\n"}))
        assert "NS017" not in codes(found := wire.published(uri, 2))
        assert found != []
        (tmp_path / "b.json").unlink()
        wire.send(wire.change(uri, 3, {"text": FAULTY}))
        assert "NS017" in codes(wire.published(uri, 3))
        assert "the baseline cannot be read: No such file" in warned(wire)
    with serving(rootUri=tmp_path.as_uri(), initializationOptions={"trusted": False}) as wire:
        assert "NS017" in codes(wire.published(opened(wire, path)))
        assert shown(wire) == []


def test_settings_that_only_a_walk_meets_are_reported_too(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    furnish(tmp_path / "deep")
    (tmp_path / "deep" / "netsharp.toml").write_text("feature = 3\n")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        wire.request("workspace/symbol", {"query": "Hidden"})
        message = warned(wire)
        assert shown(wire) == [message]
        assert "unknown key 'feature'. Did you mean 'features'?" in message


COLUMNS = "a   = 1\nbcd = 2\nef  = 3\n"


def test_the_setting_of_a_family_holds_for_formatting(tmp_path: Path) -> None:
    (tmp_path / "netsharp.toml").write_text("[cntk]\nkeep-columns = false\n")
    uri = (tmp_path / "a.cntk").as_uri()
    layout = {"tabSize": 4, "insertSpaces": True}
    asked = {"textDocument": {"uri": uri}, "options": layout}
    third = {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    line = {**asked, "range": third}
    with serving(rootUri=tmp_path.as_uri()) as wire:
        wire.open(uri, COLUMNS, "cntk")
        assert len(wire.request("textDocument/formatting", asked)) == 2
        assert len(wire.request("textDocument/rangeFormatting", line)) == 1
        push(wire, {"check": {"cntk": {"keep-columns": True}}})
        assert not wire.request("textDocument/formatting", asked)
        assert not wire.request("textDocument/rangeFormatting", line)
