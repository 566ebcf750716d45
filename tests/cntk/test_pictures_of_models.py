"""The editor's picture where nothing is built: of an edit in MEL, of models that are read."""

from __future__ import annotations

import pathlib

import pytest

from netsharp_lsp.cntk.ide.snapshot import Snapshot
from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import Graph
from netsharp_lsp.language import language_by_id
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.workspace import Run, Workspace
from tests.cntk.cli.experiments import NETWORK, TRAINS, write
from tests.cntk.cli.test_edits import folder_of
from tests.cntk.cli.test_models import BOTH, READS


def picture(folder: pathlib.Path, name: str, started: str = "") -> Graph:
    """The picture of a file; `started`: the configuration of the run that uses it."""
    path = folder / name
    decoded = decode(path.read_bytes())
    assert isinstance(decoded, Source)
    identifier = {"mel": "mel", "cntk": "cntk"}[name.rpartition(".")[2]]
    runs = (Run((f"configFile={started}",), str(folder), declared=False),) if started else ()
    workspace = Workspace(str(path), DiskFiles(), runs)
    language = language_by_id(identifier)
    assert language is not None
    snapshot = Snapshot.opened(language, decoded.text, Context(workspace=workspace))
    return snapshot.graph()


def names(graph: Graph) -> set[str]:
    return {one["name"] for one in graph.description["nodes"]}


def test_an_edit_shows_what_it_writes(tmp_path: pathlib.Path) -> None:
    folder_of(tmp_path, "Rename(z, top)")
    found = picture(tmp_path, "top.mel", "a.cntk")
    assert {"H2.W", "top", "err"} <= names(found)
    assert found.description["command"] == "Top"
    boxes = found.description["picture"]["boxes"]
    assert {one["name"] for one in found.description["layers"]} == set(boxes)


@pytest.mark.parametrize("name", ["both.cntk", "test.cntk"])
def test_a_model_shows_the_network_of_what_trains_it(tmp_path: pathlib.Path, name: str) -> None:
    both = BOTH.replace("$OutDir$", "out").replace("Train:Test", "Test")
    train = TRAINS.replace("$OutDir$", "out")
    text = both if name == "both.cntk" else READS
    write(tmp_path, net_dot_bs=NETWORK, train_dot_cntk=train, **{name.replace(".", "_dot_"): text})
    assert {"z", "ce", "features"} <= names(picture(tmp_path, name))


def test_a_model_of_which_nothing_is_known_shows_nothing(tmp_path: pathlib.Path) -> None:
    write(tmp_path, test_dot_cntk=READS)
    assert names(picture(tmp_path, "test.cntk")) == set()
