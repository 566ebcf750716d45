"""Model files through the real server: picture, table and histograms, in trusted folders."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tests.cntk.training.experiments import made, run
from tests.cntk.training.model_writing import First
from tests.server.wire import Message, Wire, serving


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file under a name that says nothing."""
    folder = made(tmp_path_factory.mktemp("trained"))
    assert run(folder, "command=learn")[0].code == 0
    return (folder / "out" / "net.dnn").rename(folder / "weights of tuesday")


def weights(wire: Wire, path: Path) -> list[Message]:
    """The histograms of a model, asked for until there are no more."""
    rows: list[Message] = []
    first: int | None = 0
    while first is not None:
        found = wire.request("netsharp/modelWeights", {"uri": path.as_uri(), "first": first})
        assert found["weights"] or not rows
        rows += found["weights"]
        first = found["next"]
    return rows


def test_a_model_is_a_picture_with_a_table_and_histograms(trained: Path) -> None:
    with serving(rootUri=trained.parent.as_uri()) as wire:
        found = wire.request("netsharp/model", {"uri": trained.as_uri()})
        assert found["lines"][0] == "model of format v1, version 15"
        nodes = {node["name"]: node for node in found["nodes"]}
        assert nodes["W0"]["parameters"] == 16
        assert nodes["H1"]["inputs"] == ["W0*features+B0"]
        assert {layer["name"] for layer in found["layers"]} < set(nodes)
        assert all(layer["position"]["width"] > 0 for layer in found["layers"])
        rows = {row["name"]: row for row in weights(wire, trained)}
        assert {"W0", "B0", "W1", "B1"} <= set(rows)
        assert sum(rows["W0"]["bars"]) == rows["W0"]["size"] == 16
        assert rows["W0"]["least"] < rows["W0"]["mean"] < rows["W0"]["greatest"]


def test_a_damaged_model_shows_its_sentence_and_what_can_be_read(trained: Path) -> None:
    whole = trained.read_bytes()
    path = trained.with_name("torn.cmf")
    with serving(rootUri=trained.parent.as_uri()) as wire:
        for data, sentence in (
            (whole[:40], "torn.cmf, byte"),
            (b"", "not a model file"),
            (b"hello", "not a model file"),
        ):
            path.write_bytes(data)
            message = wire.exchange("netsharp/model", {"uri": path.as_uri()})["error"]["message"]
            assert sentence in message
            assert message.endswith(".")
        path.write_bytes(whole[: len(whole) - 300])
        found = wire.request("netsharp/model", {"uri": path.as_uri()})
        assert any(line.startswith("not read: ") for line in found["lines"])
        assert len(found["nodes"]) > 3
        assert isinstance(weights(wire, path), list)
        path.unlink()
        message = wire.exchange("netsharp/model", {"uri": path.as_uri()})["error"]["message"]
        assert message.endswith("there is no such file.")


def test_a_model_is_opened_again_when_it_has_changed(trained: Path) -> None:
    path = trained.with_name("changing.dnn")
    path.write_bytes(trained.read_bytes())
    with serving(rootUri=trained.parent.as_uri()) as wire:
        before = wire.request("netsharp/model", {"uri": path.as_uri()})
        other = First(27)
        other.input("only", (3,))
        path.write_bytes(other.data())
        after = wire.request("netsharp/model", {"uri": path.as_uri()})
        assert len(before["nodes"]) > 3
        assert [node["name"] for node in after["nodes"]] == ["only"]


def test_where_no_one_trusts_the_folder_no_model_is_read(trained: Path) -> None:
    options = {"trusted": False}
    with serving(rootUri=trained.parent.as_uri(), initializationOptions=options) as wire:
        for method in ("netsharp/model", "netsharp/modelWeights"):
            message = wire.exchange(method, {"uri": trained.as_uri()})["error"]["message"]
            assert message.endswith("no model is read in a workspace that is not trusted.")
        wire.notify("netsharp/trust", {"trusted": True})
        assert wire.request("netsharp/model", {"uri": trained.as_uri()})["nodes"]


@pytest.mark.costly
def test_typing_continues_while_a_large_model_is_looked_at(tmp_path: Path) -> None:
    """104 MB: the picture first, the histograms piece by piece, and hovers in between."""
    path = tmp_path / "large.dnn"
    rng = np.random.default_rng(1)
    model = First(27)
    model.input("x", (512,))
    for number in range(26):
        model.parameter(f"W{number}", rng.standard_normal((1000, 1000)))
    path.write_bytes(model.data())
    assert path.stat().st_size > 100_000_000
    with serving(rootUri=tmp_path.as_uri()) as wire:
        begun = time.monotonic()
        found = wire.request("netsharp/model", {"uri": path.as_uri()})
        print(f"opened in {time.monotonic() - begun:.2f} s")
        assert len(found["nodes"]) == 27
        asked = wire.ask("netsharp/modelWeights", {"uri": path.as_uri(), "first": 0})
        wire.send(asked)
        wire.request("workspace/symbol", {"query": "x"})
        answered = [one.get("id") for one in wire.heard]
        assert asked["id"] not in answered, "it did not wait"
        rows = weights(wire, path)
        assert [row["name"] for row in rows] == [f"W{number}" for number in range(26)]
        assert all(abs(row["deviation"] - 1) < 0.01 for row in rows)
