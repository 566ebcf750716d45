"""Commands of configurations beside an editor: their lenses, runs that are followed, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.test_training import lenses_of, line, lines
from tests.server.wire import Message, Wire, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

TEXT = """\
command = learn:score:tell
modelPath = "out/net.dnn"
learn = {
    action = train
    BrainScriptNetworkBuilder = {
        features = Input {2} ; labels = Input {2}
        z = LinearLayer {2} (features)
        ce = CrossEntropyWithSoftmax (labels, z) ; errs = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; evaluationNodes = (errs) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 3 ; minibatchSize = 10 ; learningRatesPerSample = 0.05 }
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = dense } ; labels = { dim = 2 ; format = dense } } }
    cvReader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = dense } ; labels = { dim = 2 ; format = dense } } }
}
score = { action = test ; reader = { file = "data.ctf" ; input = {
    features = { dim = 2 ; format = dense } ; labels = { dim = 2 ; format = dense } } } }
tell = { action = write ; outputPath = "out/told" ; reader = { file = "data.ctf" ; input = {
    features = { dim = 2 ; format = dense } } } }
"""


def written(folder: Path) -> Path:
    rows = [f"|features {n % 7} {n % 3} |labels {n % 2} {1 - n % 2}\n" for n in range(200)]
    (folder / "data.ctf").write_text("".join(rows))
    (folder / "net.cntk").write_text(TEXT)
    return folder / "net.cntk"


def opened(wire: Wire, path: Path) -> str:
    wire.open(path.as_uri(), path.read_text(), "cntk")
    return path.as_uri()


def press(wire: Wire, lenses: list[Message], place: int, title: str) -> list[Message]:
    """Do what a lens above a line is for; the messages about the run."""
    (command,) = (
        lens["command"]
        for lens in lenses
        if lens["range"]["start"]["line"] == place and lens["command"]["title"] == title
    )
    params = {key: command[key] for key in ("command", "arguments")}
    run = str(wire.request("workspace/executeCommand", params)["id"])
    last = line(wire, run, "end")
    while "status" not in last:
        last = wire.wait(
            lambda heard: (
                heard.get("method") == "netsharp/runProgress"
                and heard["params"]["id"] == run
                and "status" in heard["params"]
            )
        )["params"]
    assert last["status"] == "finished", last
    return lines(wire, run)


def test_each_command_is_run_resumed_and_tested_by_a_lens(tmp_path: Path) -> None:
    path = written(tmp_path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        lenses = lenses_of(wire, opened(wire, path))
        shown = [(one["range"]["start"]["line"], one["command"]["title"]) for one in lenses]
        assert shown == [(2, "Run"), (2, "Resume"), (2, "Test"), (17, "Test"), (19, "Run")]
        reported = press(wire, lenses, 2, "Run")
        epochs = [one for one in reported if one["event"] == "epoch"]
        assert [one["epoch"] for one in epochs] == [1, 2, 3]
        assert all({"loss", "evaluation", "validation"} <= set(one) for one in epochs)
        assert all(one["command"] == "learn" for one in epochs)
        assert reported[-1]["model"] == str(tmp_path / "out" / "net.dnn")
        (tmp_path / "out" / "net.dnn").unlink()
        path.write_text(TEXT.replace("maxEpochs = 3", "maxEpochs = 5"))
        wire.send(wire.change(path.as_uri(), 2, {"text": path.read_text()}))
        resumed = press(wire, lenses, 2, "Resume")
        assert [one["epoch"] for one in resumed if one["event"] == "epoch"] == [3, 4, 5]
        again = press(wire, lenses, 2, "Run")
        assert [one["epoch"] for one in again if one["event"] == "epoch"] == [1, 2, 3, 4, 5]
        tested = press(wire, lenses, 2, "Test")
        assert [one["command"] for one in tested if "loss" in one][:1] == ["score"]
        assert press(wire, lenses, 17, "Test")[0]["evaluation"] == tested[0]["evaluation"]
        press(wire, lenses, 19, "Run")
        assert (tmp_path / "out" / "told.z").is_file()


def test_a_run_takes_a_command_and_values(tmp_path: Path) -> None:
    path = written(tmp_path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        document = {"textDocument": {"uri": uri}}
        values = {"modelPath": "other/net.dnn", "precision": "double", "traceLevel": 1}
        order = {**document, "command": "learn:score", "set": values}
        run = wire.request("netsharp/run", order)["id"]
        last = wire.wait(
            lambda heard: (
                heard.get("method") == "netsharp/runProgress" and "status" in heard["params"]
            )
        )["params"]
        assert last["status"] == "finished", last
        commands = [one["command"] for one in lines(wire, run) if "command" in one]
        assert set(commands) == {"learn", "score"}
        assert (tmp_path / "other" / "net.dnn").is_file()
        for wrong in ({"--allow-commands": "x"}, {"a b": "x"}, {"a": [1]}):
            refused = wire.exchange("netsharp/run", {**document, "set": wrong})
            assert "cannot be set" in refused["error"]["message"]


def test_a_stopped_run_leaves_a_checkpoint_and_continues(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(TEXT.replace("maxEpochs = 3", "maxEpochs = 100000"))
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        order: dict[str, Any] = {"textDocument": {"uri": uri}, "command": "learn"}
        run = str(wire.request("netsharp/run", order)["id"])
        line(wire, run, "epoch")
        assert wire.request("netsharp/stop", {"id": run}) is True
        last = line(wire, run, "end")
        assert last["status"] == "stopped", last
        done = [one["epoch"] for one in lines(wire, run) if one["event"] == "epoch"][-1]
        assert (tmp_path / "out" / f"net.dnn.{done}").is_file()
        again = str(wire.request("netsharp/run", {**order, "resume": True})["id"])
        assert line(wire, again, "epoch")["epoch"] in (done + 1, done + 2)
        wire.request("netsharp/stop", {"id": again})
        assert line(wire, again, "end")["status"] == "stopped"


@pytest.mark.parametrize("trusted", [False, True])
def test_nothing_is_run_that_is_not_trusted_or_not_saved(trusted: bool, tmp_path: Path) -> None:
    path = written(tmp_path)
    options = {"trusted": trusted}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        document = {"textDocument": {"uri": uri}}
        if not trusted:
            assert wire.request("textDocument/codeLens", document) == []
        else:
            wire.send(wire.change(uri, 2, {"text": TEXT + "# more\n"}))
        refused = wire.exchange("netsharp/run", {**document, "command": "learn"})
        assert ("unsaved" if trusted else "not trusted") in refused["error"]["message"]
        assert not (tmp_path / "out").exists()
