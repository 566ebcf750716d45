"""A model file in the view, in a real browser: picture, table, and histograms that follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_lsp.server.pictures.stored import model_described, model_drawn, model_weights
from tests.cntk.training.model_writing import First
from tests.extension.browser import Act


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model of the first format: `z` is W times x, and W has a number that is none."""
    model = First(27)
    model.input("x", (4,))
    values = np.linspace(-1, 1, 12).reshape(3, 4)
    values[0, 0] = np.nan
    model.parameter("W", values.T)
    model.add("Times", "z", b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff", "W", "x")
    made = tmp_path / "small.dnn"
    made.write_bytes(model.data([("FeatureNodes", ["x"]), ("OutputNodes", ["z"])]))
    return made


def shown(path: Path) -> dict[str, Any]:
    """The message that the extension sends of a model."""
    described = model_described(str(path))
    assert isinstance(described, dict), described
    graph = {**model_drawn(described, None, {}), "version": None, "uri": path.as_uri()}
    return {"type": "graph", "title": path.name, "graph": graph}


def weights(path: Path) -> dict[str, Any]:
    found = model_weights(str(path), 0)
    assert isinstance(found, dict)
    return {"type": "weights", "weights": found["weights"]}


@pytest.mark.costly
def test_the_picture_comes_first_and_histograms_later(act: Act, path: Path) -> None:
    script = f"""
      const rows = () => $$(".model tbody tr").map((row) =>
        [...row.children].map((cell) => cell.textContent));
      const first = [rows(), $$(".bars").length, $$(".layer .name").map((one) => one.textContent),
        $(".model .line").textContent];
      await say({json.dumps(weights(path))});
      const bars = $$(".bars rect").map((bar) => +bar.getAttribute("height"));
      const figures = $(".numbers span");
      $$(".model tbody tr").find((row) => row.textContent.startsWith("z")).click();
      const chosen = [$(".layer.selected .name").textContent, $(".model .selected th").textContent];
      await say({json.dumps(shown(path))});
      return [first, bars, figures.textContent, figures.title,
        $(".bars").getAttribute("aria-label"), chosen, $$(".bars").length];"""
    found, sent = act("network", [shown(path)], script)
    (rows, none, names, line), bars, span, title, label, chosen, kept = found
    assert sent[0] == {"type": "ready"}
    assert none == 0
    assert line == "model of format v1, version 27"
    assert names == ["x", "z"]
    assert {row[0]: row[1:3] for row in rows} == {
        "x": ["InputValue", ""],
        "W": ["LearnableParameter", ""],
        "z": ["Times", "W, x"],
    }
    assert next(row for row in rows if row[0] == "W")[6] == "12"
    assert len(bars) == 32
    assert max(bars) == 24
    assert span.endswith("1 not finite")
    assert "norm" in title
    assert label.startswith("histogram of W: 12 numbers, from -0.8182 to 1")
    assert chosen == ["z", "z"]
    assert kept == 1, "a picture that is drawn again keeps the histograms"


def test_a_damaged_model_says_what_was_not_read(act: Act, path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.index("Times".encode("utf-16-le")) + 6])
    message = shown(path)
    script = """return [$$(".model .fault").map((one) => one.textContent),
      $$(".model tbody th").map((one) => one.textContent)];"""
    (faults, nodes), _ = act("network", [message], script)
    assert len(faults) == 1
    assert faults[0].startswith("not read: byte ")
    assert nodes == ["x", "W"]


def test_what_cannot_be_shown_is_a_sentence(act: Act, path: Path) -> None:
    sentence = "net.dnn: no model is read in a workspace that is not trusted."
    script = """return [$(".notice").textContent, $$(".layer").length, $$(".model tr").length];"""
    found, _ = act("network", [{"type": "stale", "message": sentence}], script)
    assert found == [sentence, 0, 0]


@pytest.mark.costly
def test_a_thousand_nodes_are_a_table_that_scrolls(act: Act, tmp_path: Path) -> None:
    model = First(27)
    model.input("x", (4,))
    for number in range(1000):
        before = "x" if number == 0 else f"n{number - 1}"
        model.add("Tanh", f"n{number}", b"", before)
    path = tmp_path / "deep.cmf"
    path.write_bytes(model.data([("OutputNodes", ["n999"])]))
    script = """
      const before = $(".model").scrollTop;
      $$(".layer").at(-1).dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
      await frame();
      return [$$(".model tbody tr").length, before, $(".model").scrollTop > 1000,
        $(".model").getBoundingClientRect().height < innerHeight / 2];"""
    found, _ = act("network", [shown(path)], script)
    assert found == [1001, 0, True, True]
