"""`netsharp config` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import Answer, netsharp
from tests.cli.test_schemas import schema
from tests.cntk.texts import TEXTS

LOGS = """\
command = SpeechTrain
stderr = "$Root$\\$RunName$.log"
speechTrain = [
    modelPath = "$Root$\\$RunName$.cn"
    SGD = [
        reader = [
            features = [
                type = "real"
                dim = "$DataSet1_Dim$"
            ]
        ]
    ]
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.cntk").write_text(text)
    (tmp_path / "more.cntk").write_text("include=deep.cntk\nTrain = [SGD=[maxEpochs=9]]\n")
    (tmp_path / "logs.cntk").write_text(LOGS)
    (tmp_path / "bad.cntk").write_text("a = [ b = 1 }\n")
    (tmp_path / "circle.cntk").write_text("A = $B$\nB = $A$\nc = 1\n")
    return tmp_path


def config(folder: Path, *arguments: str, stdin: bytes = b"") -> Answer:
    return netsharp("config", *arguments, cwd=folder, stdin=stdin)


def document(folder: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    answer = config(folder, *arguments, "--format", "json")
    assert answer.code == 0, answer.err
    result = json.loads(answer.out)
    schema("config.json").validate(result)
    assert isinstance(result, dict)
    return result


def test_layers_as_json(folder: Path) -> None:
    reported = document(folder, "digits.cntk+more.cntk", "deviceId=0")
    assert reported["files"] == ["digits.cntk", "more.cntk", "deep.cntk"]
    values = {str(value["path"]): value for value in reported["values"]}
    epochs = values["Train.SGD.maxEpochs"]
    assert epochs["value"] == "9"
    assert epochs["origin"] == {
        "file": "more.cntk",
        "start": {"line": 2, "column": 25},
        "end": {"line": 2, "column": 26},
    }
    (before,) = epochs["overridden"]  # type: ignore[misc]
    assert before["file"] == "digits.cntk"
    assert values["deviceId"]["origin"]["file"] == "<command line>"  # type: ignore[index]
    assert values["Train.SGD.minibatchSize"]["elements"] == ["128", "256", "256", "256", "1024"]
    assert values["modelPath"]["variables"][0]["name"] == "RunDir"  # type: ignore[index]


GETS = [
    (("Train.SGD.maxEpochs",), 0, "8\n"),
    (("train.sgd.MAXEPOCHS",), 0, "8\n"),
    (("Train.SGD.modelPath",), 0, "out/models/digits.dnn\n"),
    (("Train.SGD.modelPath", "--exact"), 1, ""),
    (("Train.SGD.none",), 1, ""),
    (("Train.reader.input.labels.dim",), 0, "10\n"),
]


@pytest.mark.parametrize(("arguments", "code", "out"), GETS)
def test_one_value(folder: Path, arguments: tuple[str, ...], code: int, out: str) -> None:
    answer = config(folder, "digits.cntk", "--get", *arguments)
    assert (answer.code, answer.out) == (code, out)


def test_the_guides_variables(folder: Path) -> None:
    given = ("Root=/r", "RunName=one", "DataSet1_Dim=40")
    answer = config(folder, "logs.cntk", *given, "--get", "speechTrain.SGD.reader.features.dim")
    assert answer.out == "40\n"
    assert config(folder, "logs.cntk", *given, "--get", "stderr").out == "/r\\one.log\n"
    alone = document(folder, "logs.cntk")
    values = {str(value["path"]): value for value in alone["values"]}
    assert values["stderr"]["value"] is None
    assert values["stderr"]["elements"] is None
    assert values["speechTrain.SGD.reader.features.type"]["value"] == "real"
    reported = config(folder, "logs.cntk")
    assert reported.err.count("'Root' is not defined") == 1
    assert "unknown: Root, RunName" in reported.out
    answer = config(folder, "logs.cntk", "--get", "stderr")
    assert (answer.code, answer.out) == (1, "")


def test_one_command(folder: Path) -> None:
    reported = document(folder, "digits.cntk", "--command", "train")
    inherited = {str(v["path"]): v["inherited_from"] for v in reported["values"]}
    assert inherited["Train.SGD.maxEpochs"] is None
    assert inherited["Train.modelPath"] == "modelPath"
    assert inherited["Train.deviceId"] == "deviceId"
    assert not any(path.startswith("Test") for path in inherited)
    answer = config(folder, "digits.cntk", "--command", "none")
    assert answer.code == 1
    assert "Train, Test" in answer.err


def test_flattened(folder: Path) -> None:
    answer = config(folder, "digits.cntk+more.cntk", "deviceId=0", "--flatten")
    assert answer.code == 0, answer.err
    assert "# in this order" in answer.out
    assert "include=" not in answer.out
    (folder / "flat.cntk").write_text(answer.out)
    before = document(folder, "digits.cntk+more.cntk", "deviceId=0")["values"]
    after = document(folder, "flat.cntk")["values"]
    facts = ("path", "kind", "raw", "value", "elements")
    assert [[v[f] for f in facts] for v in before] == [[v[f] for f in facts] for v in after]


def test_an_argument_that_a_file_cannot_say_is_not_flattened(folder: Path) -> None:
    answer = config(folder, 'a="x #y"', "b=1", "--flatten")
    assert (answer.code, answer.out) == (1, "")
    assert "an argument contains a '#'" in answer.err


FAILURES = [
    (("bad.cntk",), 2, "does not close '['"),
    (("none.cntk",), 2, "none.cntk: there is no such file."),
    (("deep.cntk", "deep.cntk"), 2, "named twice"),
    (("circle.cntk",), 1, "A -> B -> A"),
    ((), 2, "no configuration"),
    ((".",), 2, "is a folder"),
    (("deep.cntk+.",), 2, ".: is a folder. Name a file in it."),
    (("deep.cntk", "--exact"), 2, "--get"),
    (("deep.cntk", "--cd", "nowhere"), 2, "no such folder"),
    (("--list", "nowhere"), 2, "no such folder"),
    (("deep.cntk", "--list", "."), 2, "no items"),
    (("deep.cntk", "--get", "a", "--flatten"), 2, "not allowed"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), FAILURES)
def test_what_goes_wrong(
    folder: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    answer = config(folder, *arguments)
    assert answer.code == code
    assert sentence in answer.err
    assert code == 1 or not answer.out


def test_standard_input_and_another_folder(folder: Path) -> None:
    answer = config(folder, "-", "--get", "x", "--stdin-filename", "s.cntk", stdin=b"x = 5\n")
    assert answer.out == "5\n"
    below = folder / "below"
    below.mkdir()
    assert config(below, "deep.cntk", "--cd", "..", "--get", "x").out == "1\n"


@pytest.mark.parametrize("data", [b"a = 1\n" * 2_000_000, bytes(range(256)) * 4000, b"a=\0"])
def test_huge_and_binary_files_end_with_a_sentence(folder: Path, data: bytes) -> None:
    (folder / "odd.cntk").write_bytes(data)
    answer = config(folder, "odd.cntk")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("netsharp: error: odd.cntk: ") or "odd.cntk: The" in answer.err
    assert len(answer.err.splitlines()) == 1


def test_what_is_in_a_folder(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "macros.ndl").write_text("M(x) = [ y = Mean(x) ]\n")
    (folder / "lost.ndl").write_text("a = Input(1)\n")
    (folder / "used.bs").write_text('include "inner.bs"\n')
    (folder / "inner.bs").write_text("f(x) = x\n")
    (folder / "game.bs").write_text("sub main()\nend sub\n")
    (folder / "other.config").write_text("[net]\nwidth=1\n")
    (folder / "test.txt").write_text("|features 1\n")
    (folder / "by_file.cntk").write_text(
        'command = T\nT = {\n BrainScriptNetworkBuilder = { include "used.bs" }\n'
        " reader = { readerType = ImageReader ; file = test.txt } }\n"
    )
    reported = document(folder, "--list", ".")
    rows = {str(row["file"]): row for row in reported["configurations"]}
    (train, test) = rows["digits.cntk"]["commands"]  # type: ignore[misc]
    assert train["name"] == "Train"
    assert train["network"] == {"builder": "BrainScriptNetworkBuilder", "files": []}
    assert train["readers"] == ["CNTKTextFormatReader"]
    assert test["network"] is None
    assert test["model"] == "out/models/digits.dnn"
    assert rows["digits.cntk"]["data"] == [
        {"path": "out/train.txt", "present": False},
        {"path": "test.txt", "present": True},
    ]
    (only,) = rows["by_file.cntk"]["commands"]  # type: ignore[misc]
    assert only["network"]["files"] == ["used.bs"]
    assert only["readers"] == ["ImageReader"]
    assert reported["unused"] == [{"file": "lost.ndl", "language": "ndl"}]
    assert {row["file"] for row in reported["skipped"]} == {"game.bs", "other.config"}
    plain = config(folder, "--list", ".")
    assert plain.code == 0
    assert "lost.ndl: no configuration refers to it" in plain.out
