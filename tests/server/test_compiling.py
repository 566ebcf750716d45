"""A trained network compiled for a device beside an editor: reports, refusals, an end by hand."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.cli.command_line import netsharp
from tests.server.places import asked, example, execute, furnish, opened, shown
from tests.server.test_training import lenses_of, line
from tests.server.wire import Wire, serving

TRAIN, COMPILE = "Train with iris.toml", "Compile for a device"
# A process that imports the compiler, and a model that is trained: seconds.
pytestmark = pytest.mark.costly


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The model of the flowers."""
    path = example("iris", tmp_path_factory.mktemp("model"))
    answer = netsharp("run", "iris.nn", "--quiet", cwd=path.parent)
    assert answer.code == 0, answer.err
    return path.with_suffix(".safetensors").read_bytes()


def folder(tmp_path: Path, model: bytes) -> Path:
    """A copy of the example with its model; the specification."""
    path = example("iris", tmp_path)
    path.with_suffix(".safetensors").write_bytes(model)
    return path


def titles(wire: Wire, uri: str, wanted: list[str]) -> bool:
    """Whether the lenses of a document come to be these: disk is looked at beside the typing."""
    end = time.monotonic() + 20
    while [lens["command"]["title"] for lens in lenses_of(wire, uri)] != wanted:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def file_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def test_a_lens_compiles_what_was_trained_and_the_report_is_shown(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    abilities = {"window": {"showDocument": {"support": True}}}
    with serving(abilities, rootUri=tmp_path.as_uri()) as wire:
        wire.answers["window/showDocument"] = {"success": True}
        uri = opened(wire, path)
        assert titles(wire, uri, [TRAIN])
        assert execute(wire, "compile", uri)["result"] is None
        assert "iris.nn has no trained model yet" in shown(wire)[-1]
        assert "train it by the line above it or with 'netsharp run iris.nn'" in shown(wire)[-1]
        run = execute(wire, "train", uri)["result"]["id"]
        assert line(wire, run, "end")["status"] == "finished"
        assert titles(wire, uri, [TRAIN, COMPILE])
        (lens,) = [one for one in lenses_of(wire, uri) if one["command"]["title"] == COMPILE]
        assert lens["command"]["arguments"] == [uri]
        made = execute(wire, "compile", uri)["result"]
        device = path.with_name("iris-device")
        assert made["folder"] == str(device)
        assert made["files"] == sorted(one.name for one in device.iterdir())
        assert file_of(made["report"]) == device / "report.md"
        (there,) = asked(wire, "window/showDocument")
        assert there["uri"] == made["report"]
        assert shown(wire)[-1] == ("iris.nn: its model is compiled, 13 files are in iris-device.")
        # A second time takes the place of the first; the client may show the report by itself.
        other = path.read_text().replace("tanh", "sigmoid")
        wire.send(wire.change(uri, 2, {"text": other}))
        assert execute(wire, "compile", uri, {"shown": True})["result"] == made
        assert len(asked(wire, "window/showDocument")) == 1
        assert shown(wire)[-1].endswith("Its text has changed since that was trained.")
        path.with_suffix(".safetensors").unlink()
        wire.notify(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": path.with_suffix(".safetensors").as_uri(), "type": 3}]},
        )
        assert titles(wire, uri, [TRAIN])


def test_the_model_is_where_the_run_file_says(tmp_path: Path, model: bytes) -> None:
    path = example("iris", tmp_path)
    run_file = path.with_suffix(".toml")
    run_file.write_text(run_file.read_text() + '\n[output]\nmodel = "models/flowers.safetensors"\n')
    stored = path.parent / "models" / "flowers.safetensors"
    stored.parent.mkdir()
    stored.write_bytes(model)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert titles(wire, uri, [TRAIN, COMPILE])
        # The run file is not the one beside the model, and still says what its rows are.
        made = execute(wire, "compile", uri)["result"]
        assert made["folder"] == str(stored.with_name("flowers-device")), shown(wire)
        assert (stored.parent / "flowers-device" / "net.c").is_file()


def test_what_loses_too_much_has_a_report_and_nothing_else(tmp_path: Path, model: bytes) -> None:
    path = folder(tmp_path, model)
    rows = path.with_suffix(".csv").read_text().splitlines()
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        made = execute(wire, "compile", uri)["result"]
        before = (path.with_name("iris-device") / "net.c").read_bytes()
        # Ranges calibrated on equal rows cut off the values of the held-out rows.
        same = [",".join(["5.0", "3.5", "1.5", "0.2", row.rsplit(",", 1)[1]]) for row in rows[1:]]
        (path.parent / "same.csv").write_text("\n".join([rows[0], *same]) + "\n")
        run_file = path.with_suffix(".toml")
        named = run_file.read_text().replace('"iris.csv"', '"same.csv"\ntest = "iris.csv"')
        run_file.write_text(named.replace("validation = 0.25\npatience = 30\n", ""))
        lost = execute(wire, "compile", uri, {"shown": True})["result"]
        assert lost is not None, shown(wire)
        assert lost["files"] == []
        assert "more is lost than --max-drop allows" in shown(wire)[-1]
        report = file_of(lost["report"])
        assert report.parent != path.with_name("iris-device")
        assert "FAILED" in report.read_text()
        assert (report.parent / "report.svg").is_file()
        assert (path.with_name("iris-device") / "net.c").read_bytes() == before
        assert "FAILED" not in file_of(made["report"]).read_text()


def test_the_device_is_the_one_that_the_editor_names(tmp_path: Path, model: bytes) -> None:
    path = folder(tmp_path, model)
    (tmp_path / "netsharp.toml").write_text('[target]\nflash = "1M"\n')
    settings = {"check": {"target": {"flash": 100, "processor": "cortex-m4"}}}
    options = {"settings": settings}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        made = execute(wire, "compile", opened(wire, path), {"shown": True})["result"]
        assert "the device has no room for it" in shown(wire)[-1]
        assert made["files"] == ["report.json", "report.md", "report.svg"]
        assert "of code for cortex-m4" in file_of(made["report"]).read_text()


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_compilation_can_be_ended_and_leaves_nothing(
    tmp_path: Path, model: bytes, by_hand: bool
) -> None:
    path = folder(tmp_path, model)
    before = sorted(path.parent.iterdir())
    abilities = {"window": {"workDoneProgress": True}}
    wire = Wire()
    wire.initialize(abilities, rootUri=tmp_path.as_uri())
    uri = opened(wire, path)
    params = {"command": "netsharp.server.compile", "arguments": [uri]}
    request = wire.ask("workspace/executeCommand", params)
    wire.send(request)
    begun = wire.wait(
        lambda heard: (
            heard.get("method") == "$/progress" and heard["params"]["value"]["kind"] == "begin"
        )
    )["params"]
    assert begun["value"]["title"] == "Compiling iris.nn"
    assert begun["value"]["cancellable"] is True
    assert execute(wire, "compile", uri)["result"] is None
    assert shown(wire)[-1] == "iris.safetensors is being compiled already."
    if by_hand:
        wire.notify("window/workDoneProgress/cancel", {"token": begun["token"]})
        assert wire.answer(request["id"])["result"] is None
        assert shown(wire)[-1] == "Compiling iris.nn: stopped, and nothing was written."
    assert wire.stop() == 0
    assert sorted(path.parent.iterdir()) == before


def test_two_that_come_at_once_are_one_compilation(tmp_path: Path, model: bytes) -> None:
    """The second comes while the process of the first is being started."""
    path = folder(tmp_path, model)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        params = {"command": "netsharp.server.compile", "arguments": [opened(wire, path)]}
        first, second = (wire.ask("workspace/executeCommand", params) for _ in range(2))
        wire.send(first, second)
        assert wire.answer(second["id"])["result"] is None
        assert shown(wire)[-1] == "iris.safetensors is being compiled already."
        assert wire.answer(first["id"])["result"]["files"]


def test_ended_twice_is_ended_once(tmp_path: Path, model: bytes) -> None:
    """And the model is compiled on the next request."""
    path = folder(tmp_path, model)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        params = {
            "command": "netsharp.server.compile",
            "arguments": [uri],
            "workDoneToken": "compiling",
        }
        request = wire.ask("workspace/executeCommand", params)
        attributes = {"method": "window/workDoneProgress/cancel", "params": {"token": "compiling"}}
        cancel = {"jsonrpc": "2.0", **attributes}
        wire.send(request, cancel, cancel)
        assert wire.answer(request["id"])["result"] is None
        assert shown(wire)[-1] == "Compiling iris.nn: stopped, and nothing was written."
        assert not path.with_name("iris-device").exists()
        assert execute(wire, "compile", uri)["result"]["files"]


def test_what_cannot_be_compiled_is_reported(tmp_path: Path, model: bytes) -> None:
    path = folder(tmp_path, model)
    script = path.with_name("script.py")
    script.write_text(f'net = """\n{path.read_text()}"""\nNeuralNetwork(net_definition=net)\n')
    path.with_name("script.safetensors").write_bytes(model)
    damaged = furnish(tmp_path, path.read_text())
    damaged.with_suffix(".safetensors").write_bytes(model[:100])
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, script, "python")
        assert execute(wire, "compile", uri)["result"] is None
        assert "a specification in a file of its own" in shown(wire)[-1]
        uri = opened(wire, damaged)
        assert titles(wire, uri, [COMPILE])
        assert execute(wire, "compile", uri)["result"] is None
        assert shown(wire)[-1].startswith("net.nn: ")
        assert "is damaged" in shown(wire)[-1]
        alone = tmp_path / "alone.nn"
        alone.write_text(path.read_text())
        assert execute(wire, "compile", opened(wire, alone))["result"] is None
        assert "--train DATA --label COLUMN" in shown(wire)[-1]
    options = {"trusted": False}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        assert wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []
        assert execute(wire, "compile", uri)["result"] is None
        assert "not trusted" in shown(wire)[-1]
    outside = tmp_path / "inside"
    outside.mkdir()
    (outside / "net.nn").write_text(path.read_text())
    (outside / "net.safetensors").symlink_to(path.with_suffix(".safetensors"))
    with serving(rootUri=outside.as_uri()) as wire:
        assert execute(wire, "compile", opened(wire, outside / "net.nn"))["result"] is None
        assert "lies outside of the folders that are open" in shown(wire)[-1]
