"""The action edit: models made of others by a script or a text, with every number kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import LearntNetwork, ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import made, run

SCRIPT = """\
m = LoadModel("out/net.dnn", format="cntk")
SetDefaultModel(m)
Rename(H1, Hidden)
CopyNode(W1, W9)
Extra = Parameter(3, 1, init="fixedValue", value=2)
Shifted = Plus(HLast, Extra)
SetProperty(Shifted, "output", "true")
SetProperty(W0, "learningRateMultiplier", 0)
RemoveNode(W9)
SaveModel(m, "out/edited.dnn", format="cntk")
SaveModel(m, "out/twice.dnn", format="cntk")
"""
COMMAND = """
change = { action = "edit" ; editPath = "change.mel" }
tell9 = { action = "write" ; modelPath = "out/edited.dnn" ; outputPath = "out/nine"
    outputNodeNames = Shifted : HLast
    reader = { file = "data.ctf" ; input = { features = { dim = 2 ; format = "dense" } } } }
"""
TEXT = """
change = { action = "edit" ; outputModelPath = "out/cloned.dnn"
    BrainScriptNetworkBuilder = {
        m = BS.Network.Load ("out/net.dnn")
        f = BS.Network.CloneFunction (m.features, m.HLast, parameters="constant")
        features = Input {2}
        labels = Input {3}
        z = ParameterTensor {(3:3), init='fixedValue', value=0.5} * f (features)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        outputNodes = (z) } }
"""


def folder_of(tmp_path: Path, script: str = SCRIPT, more: str = COMMAND) -> Path:
    folder = made(tmp_path / "run")
    (folder / "change.mel").write_text(script)
    with (folder / "net.cntk").open("a") as stream:
        stream.write(more)
    return folder


def model_of(folder: Path, name: str) -> LearntNetwork:
    return ModelFiles(ANYWHERE).load(str(folder / "out" / name))


def test_a_script_makes_a_model_of_another(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    done = netsharp("run", "net.cntk", "command=learn:change:tell9", cwd=folder)
    assert done.code == 0, done.err
    assert "change: wrote out/edited.dnn" in done.out.splitlines()
    before, after = model_of(folder, "net.dnn"), model_of(folder, "edited.dnn")
    added = {"Extra", "Shifted", "Hidden"}
    assert after.network.nodes.keys() == (before.network.nodes.keys() - {"H1"}) | added
    for name, values in before.values.items():
        assert after.values[name].tobytes() == values.tobytes(), name
    assert after.values["Extra"].tolist() == [2.0, 2.0, 2.0]
    assert not after.network.nodes["W0"].trainable
    assert after.network.nodes["W1"].trainable
    written = [one.name for one in after.network.groups["output"]]
    assert "Shifted" in written
    shifted, plain = (np.loadtxt(folder / "out" / f"nine.{one}") for one in ("Shifted", "HLast"))
    assert np.abs(shifted - plain - 2).max() < 1e-5
    first, second = (folder / "out" / one for one in ("edited.dnn", "twice.dnn"))
    assert first.read_bytes() == second.read_bytes()


def test_a_script_works_on_a_model_that_is_there(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert run(folder, "command=learn")[0].code == 0
    (folder / "out" / "net.dnn").rename(folder / "out" / "old.dnn")
    script = folder / "change.mel"
    script.write_text(SCRIPT.replace("net.dnn", "old.dnn"))
    done = netsharp("run", "net.cntk", "command=change", cwd=folder)
    assert done.code == 0, done.err
    before, after = model_of(folder, "old.dnn"), model_of(folder, "edited.dnn")
    assert all(after.values[one].tobytes() == before.values[one].tobytes() for one in before.values)


def test_a_model_may_be_written_over_itself(tmp_path: Path) -> None:
    script = 'm = LoadModel("out/net.dnn")\nRename(H1, Hidden)\nSaveModel(m, "out/net.dnn")\n'
    folder = folder_of(tmp_path, script)
    assert run(folder, "command=learn")[0].code == 0
    before = model_of(folder, "net.dnn")
    answer, _ = run(folder, "command=change")
    assert answer.code == 0, (answer.complaints, answer.reports)
    after = model_of(folder, "net.dnn")
    assert all(after.values[one].tobytes() == before.values[one].tobytes() for one in before.values)
    assert run(folder, "command=score")[0].code == 0


def test_a_text_makes_a_model_of_another(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, more=TEXT)
    done = netsharp("run", "net.cntk", "command=learn:change", cwd=folder)
    assert done.code == 0, done.err
    before, after = model_of(folder, "net.dnn"), model_of(folder, "cloned.dnn")
    kept = {values.tobytes() for values in after.values.values()}
    for name in ("W0", "B0", "W1", "B1"):
        assert before.values[name].tobytes() in kept, name
    trained = [node.name for node in after.network.nodes.values() if node.trainable]
    assert len(trained) == 1
    assert set(after.values[trained[0]].tolist()) == {0.5}
    first = (folder / "out" / "cloned.dnn").read_bytes()
    done = netsharp("run", "net.cntk", "command=change", "--cntk-log=2016-11", cwd=folder)
    assert done.code == 0, done.err
    line = (
        "'out/cloned.dnn' exists, skipping. Specify makeMode=false to force executing the action."
    )
    assert line in done.err.splitlines()
    done = netsharp("run", "net.cntk", "command=change", "makeMode=false", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "out" / "cloned.dnn").read_bytes() == first


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("RemoveNode(W9)", 'ReviseParameter(W9, "data.ctf")', "data.ctf"),
        ('"out/twice.dnn"', '"../twice.dnn"', "outside"),
        ('LoadModel("out/net.dnn"', 'LoadModel("none.dnn"', "none.dnn"),
        ("RemoveNode(W9)", "RemoveNode(W7)", "W7"),
    ],
)
def test_what_a_script_cannot_do_is_reported_first(
    before: str, after: str, word: str, tmp_path: Path
) -> None:
    assert before in SCRIPT
    folder = folder_of(tmp_path)
    assert run(folder, "command=learn")[0].code == 0
    (folder / "change.mel").write_text(SCRIPT.replace(before, after))
    done = netsharp("run", "net.cntk", "command=change", cwd=folder)
    assert done.code in (1, 2), done.out
    assert word in done.err
    assert not (folder / "out" / "edited.dnn").exists()


def test_a_model_that_is_not_the_one_it_was_prepared_for(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert run(folder, "command=learn", "precision=double")[0].code == 0
    done = netsharp("run", "net.cntk", "command=change", cwd=folder)
    assert done.code == 2
    assert "is not the model that 'change' was prepared for" in done.err
