"""Texts and files of every language through the public interface, and experiments as values.

The results are what the command line says of the same; nothing outside the roots is read.
"""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import netsharp
from netsharp_lsp.specification import path_meant
from tests.cli.command_line import netsharp as command
from tests.cntk.collection import collect as collect_cntk
from tests.collection import collect

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cntk"
BRAINSCRIPT = "x = Input {4} ; z = LinearLayer {3} (x) ; outputNodes = (z)"
CONFIGURATION = (
    f"command = T\nT = {{ action = train ; BrainScriptNetworkBuilder = {{ {BRAINSCRIPT} }} }}\n"
)
NDL = "f = Input(4)\nz = Tanh(f, tag=output)\n"
MEL = "m = LoadModel(a.dnn)\nSetDefaultModel(m)\n"
TEXTS = {"cntk": CONFIGURATION, "brainscript": BRAINSCRIPT, "ndl": NDL, "mel": MEL}
TEXTS |= {"netsharp": "input A [4]; output B [2] softmax from A all;"}
SUFFIXES = {"cntk": "cntk", "brainscript": "bs", "ndl": "ndl", "mel": "mel", "netsharp": "nn"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples of CNTK, which is the test's working directory."""
    place = tmp_path / "here"
    shutil.copytree(EXAMPLES, place)
    larger = "Hidden = 160\nTrain = [ SGD = [ maxEpochs = 20 ] ]\n"
    (place / "larger.cntk").write_text(larger)
    monkeypatch.chdir(place)
    return place


def json_answer(*arguments: str, folder: Path) -> Any:
    done = command(*arguments, "--format", "json", cwd=folder)
    return json.loads(done.out)


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_and_its_file_are_answered_alike(language: Any, folder: Path) -> None:
    text = TEXTS[language]
    file = folder / f"own.{SUFFIXES[language]}"
    file.write_text(text)
    alone = netsharp.check(text, language=language)
    for path in (file, file.name, str(file)):
        found = netsharp.check(path)
        assert [one._replace(file=None) for one in found] == alone
        assert netsharp.format(path) == netsharp.format(text, language=language)
    formatted = netsharp.format(text, language=language)
    assert netsharp.format(formatted, language=language) == formatted
    if language != "mel":
        sizes = [netsharp.describe(one)["parameters"] for one in (file, file.name)]
        assert sizes == [netsharp.describe(text, language=language)["parameters"]] * 2
        assert netsharp.compare(file, file.name).same
        assert netsharp.compare(text, formatted, language=language).same


@pytest.mark.parametrize("name", ["digits.cntk", "titles.cntk", "titles.cntk+larger.cntk"])
def test_the_command_line_says_the_same(name: str, folder: Path) -> None:
    reported = json_answer("check", name, folder=folder)["diagnostics"]
    assert [
        (one["code"], one["file"], one["start"]["line"], one["start"]["column"]) for one in reported
    ] == [(one.code, one.file, one.line, one.column) for one in netsharp.check(name)]
    assert json_answer("describe", name, folder=folder) == netsharp.describe(name)
    run = netsharp.experiment(name)
    assert list(run.findings) == netsharp.check(name)
    described = json_answer("describe", name, folder=folder)
    assert [one.command for one in run.networks] == described["commands"]
    (network,) = run.networks
    for node, row in zip(network.nodes, described["nodes"], strict=True):
        assert (node.name, node.operation, list(node.inputs)) == (
            row["name"],
            row["operation"],
            row["inputs"],
        )
        assert (node.shape and list(node.shape)) == row["shape"]
        assert (node.file, node.line) == (row["file"], row["start"]["line"])
        assert network.node(node.name) is node
    values = json_answer("config", name, folder=folder)["values"]
    assert [(one.path, one.value) for one in run.values] == [
        (row["path"], row["value"]) for row in values
    ]
    assert pickle.loads(pickle.dumps(run)) == run


def test_layers_and_assignments_are_put_on_top(folder: Path) -> None:
    layered = netsharp.experiment(Path("titles.cntk+larger.cntk"), set={"WordDim": 7})
    assert layered.files == ("titles.cntk", "larger.cntk", "titles.ndl")
    assert layered.networks[0].node("before").shape == (160,)
    assert layered.commands[0].actions == ("train",)
    found = netsharp.compare("titles.cntk", "titles.cntk+larger.cntk")
    assert ("changed", "value", "Hidden") in [one[:3] for one in found.differences]
    reported = json_answer("diff", "titles.cntk", "titles.cntk+larger.cntk", folder=folder)
    assert len(reported["differences"]) == len(found.differences)
    assert found.parameters == tuple(reported["parameters"].values())


def test_faults_of_an_experiment_are_findings_and_errors_have_files(folder: Path) -> None:
    text = Path("digits.bs").read_text().replace("DenseLayer", "DenseLayr")
    assert text != Path("digits.bs").read_text()
    Path("digits.bs").write_text(text)
    run = netsharp.experiment("digits.cntk")
    assert run.networks == ()
    assert {"digits.bs"} <= {one.file for one in run.findings if one.severity == "error"}
    with pytest.raises(netsharp.SpecificationError, match=r"^digits.bs, line \d+") as caught:
        netsharp.describe("digits.cntk")
    assert caught.value.file == "digits.bs"
    assert pickle.loads(pickle.dumps(caught.value)).file == "digits.bs"


def test_nothing_outside_the_roots_is_read(folder: Path) -> None:
    (folder.parent / "secret.bs").write_text(BRAINSCRIPT)
    builder = 'BrainScriptNetworkBuilder = { include "../secret.bs" }'
    text = f"command = T\nT = {{ action = train ; {builder} }}\n"
    (folder / "own.cntk").write_text(text)
    for run in (
        netsharp.experiment("own.cntk"),
        netsharp.experiment(text, language="cntk"),
        netsharp.experiment(text.replace("../secret", "digits"), language="cntk"),
    ):
        assert "CK119" in [one.code for one in run.findings]
        assert run.networks == ()
    # Naming a file is a word on it.
    assert netsharp.describe("../secret.bs")["parameters"] == 15


def test_a_migration_is_computed_and_not_written(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    migration = netsharp.migrate(folder)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert migration.complete
    assert migration.report == json_answer("migrate", str(folder), folder=folder)
    assert command("migrate", "--write", ".", cwd=folder).code == 0
    assert migration.files == {file: Path(file).read_bytes() for file in migration.files}
    assert netsharp.migrate("titles.cntk").files == {}


def test_no_text_of_the_collection_looks_like_a_path() -> None:
    texts = [sample.text.decode() for sample in collect()]
    texts += [sample.data.decode("latin-1") for sample in collect_cntk()]
    assert len(texts) > 450
    assert [text for text in texts if path_meant(text) is not None] == []


@pytest.mark.parametrize(
    "text",
    [
        *("// see net.nn", "# see a.cntk", "x = a.bs", "input A [4]; // b.nn", "a\nb.nn"),
        *("net.txt", "", "nn", f"{'a' * 5000}.nn"),
    ],
)
def test_what_is_no_path_is_a_text(text: str) -> None:
    assert path_meant(text) is None


@pytest.mark.parametrize("path", ["net.nn", "a b/c (x86).NN", "a.cntk+b.cntk", "C:\\d\\e.config"])
def test_a_line_that_ends_like_a_file_is_a_path_unless_its_language_is_given(path: str) -> None:
    assert path_meant(path) == path
    assert path_meant(path, "netsharp") is None
    for act in (netsharp.check, netsharp.format, netsharp.describe, netsharp.train):
        with pytest.raises(FileNotFoundError):
            act(path)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: netsharp.check("x", language="nd"), "language must be one of netsharp"),  # type: ignore[arg-type]
        (lambda: netsharp.check("input A [3];", set={"a": 1}), "set belongs to configurations"),
        (lambda: netsharp.check("digits.cntk", set={"a b": 1}), "set must have names"),
        (lambda: netsharp.experiment("input A [3];"), "which has no experiments"),
        (lambda: netsharp.describe("digits.cntk", command="Tran"), "Did you mean 'Train'"),
        (lambda: netsharp.compare("digits.cntk", "input A [3];"), "of different kinds"),
        (lambda: netsharp.describe(MEL, language="mel"), "does not define one"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(act: Any, says: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=says):
        act()


def test_an_estimator_takes_a_path(folder: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: netsharp[sklearn]")
    (folder / "net.nn").write_text("input A auto; output B auto softmax from A all;")
    x, y = [[0.0], [1.0]] * 5, [0, 1] * 5
    for path in ("net.nn", Path("net.nn")):
        fitted = netsharp.NetSharpClassifier(path, max_iter=1).fit(x, y)
        assert fitted.model_.specification.startswith("input A auto")
