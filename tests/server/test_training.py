"""Training beside an editor: runs that are followed, stopped, resumed, and refused in sentences."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.model import load_model
from netsharp_lsp.netsharp.lower import build_graph
from tests.server.places import asked, example, execute, opened, shown
from tests.server.wire import Message, Wire, serving

LONG = "epochs = 100\n", "epochs = 1000000\n"


def lengthen(specification: Path) -> None:
    """Let a run go on until it is stopped."""
    run_file = specification.with_suffix(".toml")
    run_file.write_text(run_file.read_text().replace(*LONG).replace("patience = 30\n", ""))


def start(wire: Wire, uri: str, **more: Any) -> str:
    return str(wire.request("netsharp/run", {"textDocument": {"uri": uri}, **more})["id"])


def lenses_of(wire: Wire, uri: str) -> list[Message]:
    """The lenses of a document, as soon as it has some: a run file is found after a while where the
    machine is busy, and an editor asks again.
    """
    end = time.monotonic() + 20
    while not (lenses := wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}})):
        assert time.monotonic() < end
        time.sleep(0.02)
    found: list[Message] = lenses
    return found


def line(wire: Wire, run: str, event: str) -> Message:
    """The next line of a run's log of a kind; its end may have been heard already."""

    def is_it(heard: Message) -> bool:
        if heard.get("method") != "netsharp/runProgress":
            return False
        return heard["params"]["id"] == run and heard["params"]["event"] == event

    ended = [heard for heard in wire.heard if event == "end" and is_it(heard)]
    found: Message = (ended[0] if ended else wire.wait(is_it))["params"]
    return found


def lines(wire: Wire, run: str) -> list[Message]:
    return [
        heard["params"]
        for heard in wire.heard
        if heard.get("method") == "netsharp/runProgress" and heard["params"]["id"] == run
    ]


def test_a_run_is_followed_line_by_line(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    run_file = path.with_suffix(".toml")
    run_file.write_text(run_file.read_text() + '\n[output]\nlog = "run.jsonl"\n')
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        run = start(wire, uri)
        last = line(wire, run, "end")
        assert (last["status"], last["model"]) == (
            "finished",
            str(path.with_suffix(".safetensors")),
        )
        assert "error" not in last
        logged = [json.loads(each) for each in (path.parent / "run.jsonl").read_text().splitlines()]
        reported = lines(wire, run)
        assert [{**each, "id": run} for each in logged[:-1]] == reported[:-1]
        assert reported[-1] == {
            **logged[-1],
            "id": run,
            "status": "finished",
            "model": last["model"],
        }
        assert [each["event"] for each in reported].count("epoch") == 100


def test_a_stopped_run_keeps_its_model_and_continues(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    lengthen(path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        run = start(wire, uri)
        line(wire, run, "epoch")
        assert wire.request("netsharp/stop", {"id": run}) is True
        stopped = line(wire, run, "end")
        assert stopped["status"] == "stopped"
        model = load_model(stopped["model"], build_graph)
        assert model.specification == path.read_text()
        assert wire.request("netsharp/stop", {"id": run}) is False
        again = start(wire, uri, resume=True)
        assert again != run
        assert line(wire, again, "epoch")["epoch"] > stopped["epoch"] - 2
        wire.request("netsharp/stop", {"id": again})
        assert line(wire, again, "end")["epoch"] >= stopped["epoch"]


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.3])
def test_a_run_can_be_stopped_before_it_has_begun(tmp_path: Path, pause: float) -> None:
    path = example("iris", tmp_path)
    lengthen(path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        run = start(wire, opened(wire, path))
        time.sleep(pause)
        assert wire.request("netsharp/stop", {"id": run}) is True
        last = line(wire, run, "end")
        assert last["status"] == "stopped"
        assert "error" not in last


def test_the_lens_of_a_specification_in_a_script_trains_that_one(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    text = path.read_text()
    script = path.with_name("script.py")
    calls = "".join(f"NeuralNetwork(net_definition={name})\n" for name in ("small", "large"))
    other = text.replace("tanh", "sigmoid")
    script.write_text(f'small = """\n{text}"""\nlarge = """\n{other}"""\n{calls}')
    path.with_suffix(".toml").rename(script.with_suffix(".toml"))
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, script, "python")
        lenses = lenses_of(wire, uri)
        commands = [lens["command"] for lens in lenses]
        assert [command["arguments"][1]["name"] for command in commands] == ["small", "large"]
        params = {key: commands[1][key] for key in ("command", "arguments")}
        run = wire.request("workspace/executeCommand", params)["id"]
        last = line(wire, run, "end")
        assert last["status"] == "finished", last
        model = load_model(last["model"], build_graph)
        assert "sigmoid" in model.specification


@pytest.mark.costly
def test_several_runs_go_on_beside_typing(tmp_path: Path) -> None:
    first, second = example("iris", tmp_path), example("diabetes", tmp_path)
    lengthen(first)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri, other = opened(wire, first), opened(wire, second)
        run, short = start(wire, uri), start(wire, other)
        line(wire, run, "epoch")
        text = first.read_text()
        wire.send(wire.change(uri, 2, {"text": f"{text}\nhidden"}))
        assert wire.published(uri, 2) != []
        assert line(wire, short, "end")["status"] == "finished"
        refused = wire.exchange("netsharp/run", {"textDocument": {"uri": uri}})
        assert "unsaved changes" in refused["error"]["message"]
        wire.send(wire.change(uri, 3, {"text": text}))
        refused = wire.exchange("netsharp/run", {"textDocument": {"uri": uri}})
        assert "is being trained already" in refused["error"]["message"]
        wire.request("netsharp/stop", {"id": run})
        assert line(wire, run, "end")["status"] == "stopped"


@pytest.mark.parametrize(
    ("name", "before", "after", "sentence"),
    [
        ("iris.toml", "iris.csv", "no.csv", "no.csv"),
        ("iris.toml", "epochs = 100", "epoks = 100", "Did you mean 'epochs'?"),
        ("iris.nn", "Hidden auto tanh", "Hidden auto tanq", "NS"),
    ],
)
def test_a_fault_of_a_run_is_a_sentence(
    tmp_path: Path, name: str, before: str, after: str, sentence: str
) -> None:
    path = example("iris", tmp_path)
    faulty = path.parent / name
    faulty.write_text(faulty.read_text().replace(before, after))
    with serving(rootUri=tmp_path.as_uri()) as wire:
        last = line(wire, start(wire, opened(wire, path)), "end")
        assert last["status"] == "failed"
        assert sentence in last["error"]
        assert "Traceback" not in last["error"]
        assert "\n" not in last["error"]
        assert "model" not in last


def test_what_cannot_be_trained_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    options = {"trusted": False}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        refused = wire.exchange("netsharp/run", {"textDocument": {"uri": uri}})["error"]
        assert (refused["code"], "not trusted" in refused["message"]) == (-32803, True)
        missing = {"uri": "untitled:Untitled-1"}
        refused = wire.exchange("netsharp/run", {"textDocument": missing})["error"]
        assert "save the document first" in refused["message"]
        assert execute(wire, "train", uri)["result"] is None
        assert any("not trusted" in message for message in shown(wire))


def test_a_run_is_offered_where_the_workspace_is_trusted(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    abilities = {"workspace": {"codeLens": {"refreshSupport": True}}}
    options = {"trusted": False}
    with serving(abilities, rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        uri = opened(wire, path)
        document = {"textDocument": {"uri": uri}}
        assert wire.request("textDocument/codeLens", document) == []
        wire.notify("netsharp/trust", {"trusted": True})
        lenses = lenses_of(wire, uri)
        assert any(heard.get("method") == "workspace/codeLens/refresh" for heard in wire.heard)
        assert [lens["command"]["title"] for lens in lenses] == ["Train with iris.toml"]


def test_progress_is_shown_and_can_be_cancelled(tmp_path: Path) -> None:
    path = example("iris", tmp_path)
    lengthen(path)
    abilities = {"window": {"workDoneProgress": True}}
    with serving(abilities, rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        answer = execute(wire, "train", uri)
        run = answer["result"]["id"]
        reported = wire.wait(
            lambda heard: (
                heard.get("method") == "$/progress" and heard["params"]["value"]["kind"] == "report"
            )
        )
        (token,) = (created["token"] for created in asked(wire, "window/workDoneProgress/create"))
        assert reported["params"]["token"] == token
        assert "epoch" in reported["params"]["value"]["message"]
        wire.notify("window/workDoneProgress/cancel", {"token": token})
        assert line(wire, run, "end")["status"] == "stopped"
        ended = wire.wait(
            lambda heard: (
                heard.get("method") == "$/progress" and heard["params"]["value"]["kind"] == "end"
            )
        )
        assert ended["params"]["token"] == token
        assert wire.wait(lambda heard: heard.get("method") == "window/showMessage")
        assert "stopped. The model is" in shown(wire)[-1]


@pytest.mark.parametrize("kindly", [True, False])
def test_runs_end_with_the_server_and_keep_their_models(tmp_path: Path, kindly: bool) -> None:
    path = example("iris", tmp_path)
    lengthen(path)
    wire = Wire()
    wire.initialize(rootUri=tmp_path.as_uri())
    run = start(wire, opened(wire, path))
    line(wire, run, "epoch")
    if kindly:
        assert wire.stop() == 0
    else:
        wire.process.send_signal(signal.SIGKILL)
        wire.process.wait()
    model, end = path.with_suffix(".safetensors"), time.monotonic() + 20
    while not model.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert load_model(model, build_graph).specification == path.read_text()
    assert not running(path)


def running(specification: Path) -> list[str]:
    """The processes that train a specification, after a moment to end."""
    end = time.monotonic() + 20
    while found := [name for name in commands() if str(specification) in name]:
        if time.monotonic() > end:
            return found
        time.sleep(0.02)
    return []


def commands() -> list[str]:
    """The command lines of all processes."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_text(errors="replace").replace("\0", " "))
        except OSError:
            continue
    return found
