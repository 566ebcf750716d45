"""Names of models in texts of CNTK lead to their files, where these may be read."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.roots import Roots
from netsharp_lsp.workspace import Run, Workspace

MODEL = b"B\0C\0N\0\0\0rest"
TEXT = """\
command = Train:Test:Change
Dir = "models"
modelPath = "⟦$Dir$/net⟧"
Train = { action = train ; BrainScriptNetworkBuilder = {
    old = BS.Network.Load ("⟦models/net⟧") # Load ("models/net")
    none = BS.Network.Load ("models/text")
    far = BS.Network.Load ("../far.dnn")
} }
Test = { action = test ; modelPath = ⟦old.weights⟧ }
Lost = { action = write ; modelPath = models/lost }
Change = { action = edit ; editPath = "e.mel" }
"""
EDIT = """\
m = LoadModel("⟦models/net⟧", format=cntk)
LoadModelWithName(other, ⟦old.weights⟧)
SaveModel(m, "models/new")
"""


def links(folder: Path, name: str, language: str, marked: str, roots: Roots) -> list[str]:
    """Each link to a file that is not one of a rule, as the text between its ends and where to."""
    data = re.sub("[⟦⟧]", "", marked).encode()
    (folder / name).write_bytes(data)
    run = Run(("configFile=a.cntk",), str(folder), declared=False)
    files = DiskFiles(roots=roots)
    context = Context(workspace=Workspace(str(folder / name), files, (run,)))
    snapshot = language_by_id(language).open(data, context)
    return [
        f"{data[one.start : one.end].decode()} {Path(urlsplit(one.url).path).relative_to(folder)}"
        for one in snapshot.links()
        if one.url is not None
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with models by three names, a text that is none, and one outside."""
    top = tmp_path.resolve() / "inside"
    (top / "models").mkdir(parents=True)
    (tmp_path / "far.dnn").write_bytes(MODEL)
    for name, data in (("models/net", MODEL), ("models/text", b"BCN"), ("old.weights", MODEL)):
        (top / name).write_bytes(data)
    (top / "a.cntk").write_text(re.sub("[⟦⟧]", "", TEXT))
    (top / "e.mel").write_text(re.sub("[⟦⟧]", "", EDIT))
    return top


EXPECTED = {
    "a.cntk": [
        "$Dir$/net models/net",
        "models/net models/net",
        "old.weights old.weights",
        "e.mel e.mel",
    ],
    "e.mel": ["models/net models/net", "old.weights old.weights"],
}


@pytest.mark.parametrize(
    ("name", "language", "text"), [("a.cntk", "cntk", TEXT), ("e.mel", "mel", EDIT)]
)
def test_names_of_models_are_links(folder: Path, name: str, language: str, text: str) -> None:
    assert links(folder, name, language, text, Roots([str(folder)])) == EXPECTED[name]
    outside = Roots([str(folder / "models")], [str(folder / "a.cntk"), str(folder / "e.mel")])
    assert not any("old.weights" in one for one in links(folder, name, language, text, outside))


@pytest.mark.parametrize(
    ("name", "language", "text"), [("a.cntk", "cntk", TEXT), ("e.mel", "mel", EDIT)]
)
def test_where_no_data_may_be_read_no_model_is_one(
    folder: Path, name: str, language: str, text: str
) -> None:
    roots = Roots([str(folder)])
    roots.data = False
    assert not any("models/net" in one for one in links(folder, name, language, text, roots))
