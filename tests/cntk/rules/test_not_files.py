"""Paths of a run that lead to a folder, a pipe or a device: reported as such, and nothing is
opened.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.command_line import netsharp

COMMAND = "command = Train\nprecision = float\nmodelPath = m\nTrain = {\n action = train\n"
EMBEDDING = (
    f"{COMMAND} BrainScriptNetworkBuilder = {{\n"
    'x = Input {5}\ny = Input {3}\ne = EmbeddingLayer {2, embeddingPath="PATH", transpose=true}\n'
    'z = LinearLayer {3} (e (x))\nce = CrossEntropyWithSoftmax (y, z, tag="criterion")\n }\n}\n'
)
START = (
    f"{COMMAND} NDLNetworkBuilder = [\n  run = n\n ]\n}}\nn = [\n x = Input(5)\n"
    ' W = Parameter(2, 5, init = fromFile, initFromFilePath = "PATH")\n'
    " z = Times(W, x)\n y = Input(2)\n ce = SquareError(y, z)\n"
    " FeatureNodes = (x)\n LabelNodes = (y)\n CriteriaNodes = (ce)\n]\n"
)
READER = (
    f"{COMMAND} reader = {{ file = PATH ; input = {{ x = {{ dim = 4 ; format = dense }} }} }}\n}}\n"
)
NETWORK = f"{COMMAND} NDLNetworkBuilder = {{ networkDescription = PATH }}\n}}\n"
EDIT = "command = Edit\nEdit = { action = edit ; editPath = PATH }\n"
INCLUDE = "include=PATH\ncommand = Train\n"
INCLUDED = EMBEDDING.replace("x = Input", 'include "PATH"\nx = Input').replace(
    'embeddingPath="PATH", ', ""
)
CASES = {
    "embedding": ("CK117", EMBEDDING),
    "start": ("CK117", START),
    "reader": ("CK117", READER),
    "network": ("CK116", NETWORK),
    "edit": ("CK116", EDIT),
    "include": ("CK012", INCLUDE),
    "brainscript": ("BS018", INCLUDED),
}
MESSAGES = {
    "folder": "'folder' is a folder, and a file is read here.",
    "pipe": "'pipe' is a pipe: it is not opened, and what comes from it is not known here.",
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="file systems have no pipes here")
@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("case", CASES)
def test_what_has_the_name_of_a_file_and_is_none(case: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    code, text = CASES[case]
    (tmp_path / "a.cntk").write_text(text.replace("PATH", name), encoding="utf-8")
    answer = netsharp("check", "a.cntk", "--format", "json", cwd=tmp_path)
    assert answer.code in (0, 1), answer.err
    found = json.loads(answer.out)["diagnostics"]
    message = [one for one in found if MESSAGES[name] in one["message"]]
    assert [one["code"] for one in message] == [code], found
    assert not any(" no file '" in one["message"] or "not found" in one["message"] for one in found)
    if code.startswith("CK11"):
        assert message[0]["severity"] == ("warning" if name == "folder" else "hint")


@pytest.mark.skipif(os.name == "nt", reason="devices are no files there")
def test_a_device_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_text(EMBEDDING.replace("PATH", "/dev/null"), encoding="utf-8")
    answer = netsharp("check", "a.cntk", "--root", "/dev", cwd=tmp_path)
    assert "'/dev/null' is a device: it is not opened" in answer.out, answer.out
