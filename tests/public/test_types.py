"""A program that uses the installed package is checked by its types: `py.typed` is reached."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import netsharp
from tests.server.wire import Wire

#: What is right has to be right, and each `ignore` has to be needed.
CONSUMER = """\
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import netsharp

text = "input Data auto; output Out auto softmax from Data all;"
x = np.zeros((4, 2))

found = netsharp.check(text, features=2, outputs=2, task="binary", host="rx")
assert_type(found, list[netsharp.Diagnostic])
assert_type(found[0].line, int)
assert_type(netsharp.format(Path("net.nn")), str)
assert_type(netsharp.describe(text), dict[str, Any])
assert_type(netsharp.compare(text, "net.nn").same, bool)
assert_type(netsharp.check("x = 1", language="brainscript", set={"a": 1})[0].file, str | None)
run = netsharp.experiment("a.cntk")
assert_type(run.networks[0].nodes[0].shape, tuple[int, ...] | None)
assert_type(run.commands[0].network, netsharp.Network | None)
assert_type(run.values, tuple[netsharp.Value, ...])
assert_type(netsharp.migrate(Path("a.cntk")).files, dict[str, bytes])
model = netsharp.train(text, x, [0, 1, 0, 1], epochs=3, optimizer="adam", validation=0.2)
assert_type(model, netsharp.Model)
assert_type(model.classes, tuple[str, ...] | None)
assert_type(model.settings.epochs, int)
assert_type(model.reports[0], netsharp.Report)
assert_type(model.predict(x), netsharp.Predictions)
assert_type(netsharp.predict("m.safetensors", x), npt.NDArray[Any])
kept: netsharp.TrainSettings = {"epochs": 3, "label": "y", "train": Path("data.csv")}
assert_type(netsharp.train(text, **kept), netsharp.Model)
assert_type(netsharp.NetSharpClassifier(text).fit(x, [0, 1, 0, 1]), netsharp.NetSharpClassifier)
try:
    netsharp.save(netsharp.load(Path("m.safetensors")), "n.safetensors")
except netsharp.SpecificationError as error:
    assert_type((error.line, error.column, error.code), tuple[int, int, str])
except (netsharp.DataError, netsharp.ModelError, netsharp.TrainingError) as error:
    assert_type(str(error), str)

netsharp.train(text, x, [0, 1], epoch=3)  # type: ignore[call-arg]
netsharp.train(text, x, [0, 1], epochs="3")  # type: ignore[arg-type]
netsharp.train(text, x, [0, 1], optimizer="sgdd")  # type: ignore[arg-type]
netsharp.check(text, task="classes")  # type: ignore[arg-type]
netsharp.check(text, language="ndll")  # type: ignore[arg-type]
netsharp.check(text, host="excel")  # type: ignore[arg-type]
netsharp.trian(text)  # type: ignore[attr-defined]
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, away from the checkout."""
    folder = tmp_path_factory.mktemp("consumer")
    (folder / "consumer.py").write_text(CONSUMER, encoding="utf-8")
    return folder


def mypy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "MYPYPATH"}
    command = [sys.executable, "-I", "-m", "mypy", "--strict", "--config-file=", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.costly
def test_a_strict_program_sees_the_types_of_the_installed_package(outside: Path) -> None:
    done = mypy(outside, "consumer.py")
    assert done.returncode == 0, done.stdout + done.stderr


def completions(editor: Wire, folder: Path, line: str) -> set[str]:
    """What an editor offers at the end of a line, in a file of its own."""
    uri = f"{folder.as_uri()}/{len(editor.heard)}.py"
    text = f"import netsharp\nmodel = netsharp.load('m')\n{line}"
    editor.open(uri, text, "python")
    place = {"line": 2, "character": len(line)}
    asked = {"textDocument": {"uri": uri}, "position": place}
    found = editor.request("textDocument/completion", asked)
    return {item["label"] for item in found["items"]}


@pytest.mark.costly
def test_an_editor_completes_names_settings_and_their_values(outside: Path) -> None:
    pytest.importorskip("basedpyright", reason="it is not installed: group 'peers'")
    server = Path(sys.executable).with_name("basedpyright-langserver")
    editor = Wire([str(server), "--stdio"], cwd=outside)
    configured = {"pythonPath": sys.executable}
    editor.answers["workspace/configuration"] = lambda params: [configured for _ in params["items"]]
    folder = {"uri": outside.as_uri(), "name": "consumer"}
    try:
        editor.initialize({"workspace": {"configuration": True}}, workspaceFolders=[folder])
        assert set(netsharp.__all__) <= completions(editor, outside, "netsharp.")
        settings = completions(editor, outside, "netsharp.train('t', ")
        assert {f"{name}=" for name in netsharp.TrainSettings.__annotations__} <= settings
        values = completions(editor, outside, 'netsharp.train("t", optimizer="')
        assert values >= {'"sgd"', '"adadelta"', '"adam"'}
        assert {"classes", "reports", "predict"} <= completions(editor, outside, "model.")
    finally:
        editor.process.kill()
        editor.process.wait()
