"""Models whose files are there: their networks go before those that texts build."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from netsharp_lsp.cntk.networks.node import Node
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cli.command_line import netsharp
from tests.cntk.rules.experiments import reported
from tests.cntk.texts import Memory
from tests.cntk.training.experiments import made, run

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

TESTS = """\
command = Test
modelPath = "net.dnn"
Test = {
    action = ACTION
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model "net.dnn" of a network with the nodes H1, W0, features and others."""
    folder = made(tmp_path_factory.mktemp("trained"))
    assert run(folder, "command=learn")[0].code == 0
    shutil.copy(folder / "out" / "net.dnn", folder / "net.dnn")
    return folder


def summary(folder: Path, name: str, *arguments: str) -> list[tuple[str, str, str]]:
    answer = netsharp("check", name, *arguments, "--format", "json", cwd=folder)
    assert answer.code in (0, 1), answer.err
    return [
        (one["code"], one["severity"], one["message"])
        for one in json.loads(answer.out)["diagnostics"]
    ]


def alone(folder: Path, where: Path, text: str) -> Path:
    """A folder with a configuration, its data and the model, and nothing that trained it."""
    for name in ("net.dnn", "data.ctf"):
        shutil.copy(folder / name, where / name)
    (where / "test.cntk").write_text(text)
    return where


@pytest.mark.parametrize(
    ("action", "before", "after", "code", "words"),
    [
        ("test", "", "", None, ""),
        ("eval", "", "", None, ""),
        ("test", "dim = 2", "dim = 5", "CK108", "has 5 numbers per sample"),
        ("eval", "features =", "feature =", "CK106", "the input 'features'"),
        ("test", "reader =", "evalNodeNames = err ; reader =", "CK114", "from the model 'net.dnn'"),
        ("test", "reader =", "evalNodeNames = EvalClassificationError ; reader =", None, ""),
        ("write", "reader =", "outputNodeNames = H1 ; outputPath = o ; reader =", None, ""),
        ("write", "reader =", "outputNodeNames = H7 ; outputPath = o ; reader =", "CK114", "'H7'"),
        ("dumpNodes", "reader =", "nodeName = W7 ; reader =", "CK114", "no node 'W7'"),
    ],
)
def test_what_reads_a_stranger_s_model_is_checked_against_it(
    action: str,
    before: str,
    after: str,
    code: str | None,
    words: str,
    trained: Path,
    tmp_path: Path,
) -> None:
    assert before in TESTS
    text = TESTS.replace("ACTION", action).replace(before, after, 1)
    found = summary(alone(trained, tmp_path, text), "test.cntk")
    assert [one for one in found if one[1] == "error"] == []
    reported_here = [
        one for one in found if one[0] in ("CK091", "CK106", "CK108", "CK114", "CK115")
    ]
    assert [one[0] for one in reported_here] == ([] if code is None else [code]), found
    assert all(words in one[2] for one in reported_here), found


@pytest.mark.parametrize(("name", "codes"), [("H1", []), ("H7", ["ME010"])])
def test_an_edit_in_mel_finds_what_the_file_holds(
    name: str, codes: list[str], trained: Path, tmp_path: Path
) -> None:
    text = 'command = Edit\nEdit = { action = edit ; editPath = "e.mel" }\n'
    folder = alone(trained, tmp_path, text)
    (folder / "e.mel").write_text(
        f'm = LoadModel("net.dnn")\nRename({name}, low)\nSaveModel(m, "new.dnn")\n'
    )
    assert [one[0] for one in summary(folder, "test.cntk")] == codes


def test_the_file_goes_before_the_text_that_trains_it(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "net.cntk"
    assert summary(tmp_path, "net.cntk") == []
    # The text that trains it has a third layer now: the file has not.
    text = path.read_text().replace("2:8:3", "2:8:4:3")
    path.write_text(text.replace("ScaledLogLikelihood :", "H2 : ScaledLogLikelihood :"))
    found = summary(tmp_path, "net.cntk")
    assert [one[:2] for one in found if one[0] == "CK126"] == [("CK126", "info")]
    (outdated,) = (one[2] for one in found if one[0] == "CK126")
    assert "'out/net.dnn' exists and has another network than 'learn' builds" in outdated
    assert "and here [4 x 1]" in outdated or "it has no 'H2'" in outdated
    assert "Training is finished with it" in outdated
    (lacking,) = (one[2] for one in found if one[0] == "CK114")
    assert "from the model 'out/net.dnn'," in lacking
    assert "'H2'" in lacking
    # Trained again in this run, or missing: the text decides what the other commands load.
    again = summary(tmp_path, "net.cntk", "--set", "learn=[SGD=[makeMode=false]]")
    assert [one for one in again if one[0] in ("CK114", "CK126")] == []
    (tmp_path / "out" / "net.dnn").unlink()
    epochs = [one[2] for one in summary(tmp_path, "net.cntk") if one[0] in ("CK114", "CK126")]
    assert len(epochs) == 1
    assert "'out/net.dnn.3' exists" in epochs[0]
    assert "Training continues with it" in epochs[0]
    shutil.rmtree(tmp_path / "out")
    assert summary(tmp_path, "net.cntk") == []


def test_the_network_that_a_load_gives_is_that_of_the_file(trained: Path) -> None:
    text = """\
command = First:Adapt
modelPath = "x"
First = {
    action = train
    modelPath = "net.dnn"
    SimpleNetworkBuilder = { layerSizes = 2:9:3 ; layerTypes = "Tanh"
        trainingCriterion = "CrossEntropyWithSoftmax" ; evalCriterion = "ErrorPrediction" }
    SGD = { maxEpochs = 1 MODE ; learningRatesPerMB = 0.1 }
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
Adapt = {
    action = train
    BrainScriptNetworkBuilder = {
        old = BS.Network.Load ("net.dnn")
        features = Input {2}
        h = BS.Network.CloneFunction (old.features, old.H1, parameters="constant") (features)
        featureNodes = (features)
        outputNodes = (h)
    }
    SGD = { maxEpochs = 1 ; learningRatesPerMB = 0.1 }
}
"""
    held = (trained / "net.dnn").read_bytes()
    for mode, size in (("", 8), ("; makeMode = false", 9)):
        files = {"a.cntk": text.replace("MODE", mode).encode(), "net.dnn": held}
        experiment = Experiment(Run(("configFile=a.cntk",), declared=False), Memory(files))
        built = experiment.network_of("Adapt")
        assert built is not None
        assert built.network is not None
        shape = node(built.network.nodes, "h").shape
        assert shape is not None
        assert shape[0] == size


def node(nodes: object, name: str) -> Node:
    assert isinstance(nodes, dict)
    found = nodes[name]
    assert isinstance(found, Node)
    return found


def test_no_data_is_read_where_none_may_be(trained: Path, tmp_path: Path) -> None:
    """A damaged file, or a foreign one, says nothing."""
    folder = alone(trained, tmp_path, TESTS.replace("ACTION", "test").replace("dim = 2", "dim = 5"))
    whole = (folder / "net.dnn").read_bytes()
    for data in (b"", whole[:300], whole.replace(b"T\0a\0n\0h", b"Q\0a\0n\0h"), b"not a model"):
        (folder / "net.dnn").write_bytes(data)
        assert summary(folder, "test.cntk") == []


def test_a_folder_full_of_epochs_is_asked_no_more_than_once() -> None:
    text = """\
command = Train
Train = { action = train ; modelPath = "m"
    SimpleNetworkBuilder = { layerSizes = 2:3 ; trainingCriterion = "CrossEntropyWithSoftmax" }
    SGD = { maxEpochs = 400 ; learningRatesPerMB = 0.1 } }
"""
    found = reported(text, files={f"m.{number}": "no model" for number in range(300)})
    assert [one for one in found if one.code == "CK126"] == []
