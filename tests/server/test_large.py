"""Large networks are described and drawn beside the typing, and a person can cancel that."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from netsharp_lsp.server.jobs.worker import AT_ONCE
from tests.server.places import PATIENCE, asked, execute, furnish, opened, shown
from tests.server.test_commands import reported_path
from tests.server.wire import Message, replace, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

LAYERS = 900


def large() -> str:
    """A chain of layers, too long to be looked at in one go."""
    lines = ["input Data [8];"]
    names = ["Data", *(f"Hidden{number}" for number in range(LAYERS))]
    lines += [f"hidden {name} [8] from {names[i]} all;" for i, name in enumerate(names[1:])]
    lines.append(f"output Result [2] from {names[-1]} all;")
    text = "\n".join([*lines, ""])
    assert len(text) > AT_ONCE
    return text


def graph(uri: str) -> Message:
    return {"textDocument": {"uri": uri}}


def test_a_large_graph_is_made_beside_the_typing(tmp_path: Path) -> None:
    path = furnish(tmp_path, large())
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        first = wire.ask("netsharp/graph", graph(uri))
        wire.send(first)
        changed = large().replace("output Result [2]", "output Result [3]")
        wire.send(wire.change(uri, 2, {"text": changed}))
        wire.published(uri, 2)
        assert first["id"] not in [m.get("id") for m in wire.heard], "it did not wait"
        made = wire.request("netsharp/graph", graph(uri))
        assert (len(made["layers"]), made["layers"][-1]["shape"]) == (LAYERS + 2, [3])
        assert made["version"] == 2
        refused = next(m for m in wire.heard if m.get("id") == first["id"])
        assert refused["error"]["code"] in (-32800, -32801)
        assert wire.request("netsharp/graph", graph(uri)) == made


def test_a_large_description_shows_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    path = furnish(tmp_path, large())
    with serving({"window": {"workDoneProgress": True}}, rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.published(uri)
        assert execute(wire, "describe", uri)["result"] is None
        assert f"Hidden{LAYERS - 1}" in reported_path(wire).read_text()
        order = wire.ask(
            "workspace/executeCommand",
            {"command": "netsharp.server.showNetwork", "arguments": [uri]},
        )
        reported = len(shown(wire))
        wire.send(order)
        begun = wire.wait(lambda heard: progress(heard) == "begin")
        wire.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
        assert wire.answer(order["id"])["error"]["code"] == -32800
        assert len(asked(wire, "window/workDoneProgress/create")) == 2
        assert len(shown(wire)) == reported
        assert children(wire.process.pid) == []


def test_of_very_many_names_those_that_are_left_out_can_be_asked_for(tmp_path: Path) -> None:
    path = furnish(tmp_path, large())
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        row = large().split("\n").index("hidden Hidden700 [8] from Hidden699 all;")
        after = len("hidden Hidden700 [8] from ")
        position = {"line": row, "character": after}
        question = {"textDocument": {"uri": uri}, "position": position}
        found = wire.request("textDocument/completion", question)
        assert found["isIncomplete"]
        assert [item["label"] for item in found["items"]][:2] == ["Hidden699", "Hidden698"]
        change = replace((row, after), (row, after + len("Hidden699")), "hid42")
        wire.send(wire.change(uri, 2, change))
        position["character"] = after + len("hid42")
        typed = wire.request("textDocument/completion", question)
        ordered = sorted(typed["items"], key=lambda item: item["sortText"])
        assert [item["label"] for item in ordered][:3] == ["Hidden642", "Hidden542", "Hidden492"]
        assert "Hidden42" in [item["label"] for item in ordered]


def progress(heard: Message) -> str | None:
    if heard.get("method") != "$/progress":
        return None
    return str(heard["params"]["value"]["kind"])


def children(process: int) -> list[str]:
    """The processes that a process started and that are still at work, after a moment to end."""
    end = time.monotonic() + PATIENCE
    while found := [path.name for path in Path("/proc").glob("[0-9]*") if parent(path) == process]:
        if time.monotonic() > end:
            return found
        time.sleep(0.02)
    return []


def parent(process: Path) -> int | None:
    try:
        state = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state[0] == "Z" else int(state[1])


def test_errors_in_a_large_text_are_reported(tmp_path: Path) -> None:
    path = furnish(tmp_path, large().replace("[2] from", "[2] sofmax from"))
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert execute(wire, "describe", uri)["result"] is None
        assert "has an error, so its numbers would mean nothing" in shown(wire)[-1]
