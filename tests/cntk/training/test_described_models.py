"""Model files of both formats, described in every form; blocks of the second one are folded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.training.large_models import FORMATS

WIDTH, LAYERS = 3, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, made in FORMATS.items():
        (folder / f"{name}.dnn").write_bytes(made(WIDTH, LAYERS))
    return folder


def described(folder: Path, name: str, *more: str) -> str:
    done = netsharp("describe", f"{name}.dnn", *more, cwd=folder)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("name", FORMATS)
def test_every_form_says_the_same_nodes(name: str, folder: Path) -> None:
    reported = json.loads(described(folder, name, "--format", "json"))
    assert reported["model"]["format"] == name
    assert reported["parameters"] == LAYERS * WIDTH * WIDTH
    nodes = [one["name"] for one in reported["nodes"]]
    assert len(nodes) == len(set(nodes)) > LAYERS
    text = described(folder, name)
    assert text.startswith(f"model of format {name}, version ")
    table = described(folder, name, "--format", "markdown")
    graph = described(folder, name, "--format", "dot")
    assert graph.startswith("digraph network {")
    for node in nodes:
        assert re.search(rf"^{re.escape(node)} ", text, re.MULTILINE), node
        assert f"| {node} |" in table
    computed = {
        one["name"] for one in reported["nodes"] if one["operation"] != "LearnableParameter"
    }
    assert computed <= set(re.findall(r'^  "([^"]+)" \[label', graph, re.MULTILINE))
    assert ElementTree.fromstring(described(folder, name, "--format", "svg")).tag.endswith("svg")


def test_a_depth_folds_the_blocks_of_the_second_format(folder: Path) -> None:
    drawn = {
        depth: ElementTree.fromstring(
            described(folder, "v2", "--format", "svg", "--depth", str(depth))
        )
        for depth in (0, 1)
    }
    words = {depth: "\n".join(one.itertext()) for depth, one in drawn.items()}
    for number in range(LAYERS):
        assert f"layer{number}" in words[0]
    assert "Tanh" not in words[0]
    assert "Tanh" in words[1]
