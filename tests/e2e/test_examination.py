"""`netsharp run SPEC --examine` and `netsharp doctor SPEC --data FILE`: nothing is trained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.diagnostics.reports import FORMATS
from tests.cli.command_line import netsharp
from tests.e2e.test_faults import one_sentence

DEEP = """\
input Data auto;
hidden First [20] sigmoid from Data all;
hidden Second [20] sigmoid from First all;
hidden Third [20] sigmoid from Second all;
hidden Fourth [20] sigmoid from Third all;
output Kind auto softmax from Fourth all;
"""
FLAGS = ("--label", "kind", "--batch-size", "8", "--init", "uniform")
EXAMINE = ("run", "deep.nn", "--train", "some.csv", *FLAGS, "--examine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    rows = [
        f"{a:.3f},{b:.3f},{'xyz'[i % 3]}" for i, (a, b) in enumerate(random.normal(size=(60, 2)))
    ]
    (tmp_path / "some.csv").write_text("a,b,kind\n" + "\n".join(rows) + "\n")
    (tmp_path / "deep.nn").write_text(DEEP)
    return tmp_path


def test_what_is_seen_stands_at_its_layer(folder: Path) -> None:
    answer = netsharp(*EXAMINE, cwd=folder)
    assert (answer.code, answer.err) == (1, "")
    assert "start: 60 rows examined" in answer.out
    assert "best constant prediction: 1.099" in answer.out
    assert "warning[NS133]: The gradient of 'First'" in answer.out
    assert " --> deep.nn:2:8" in answer.out
    assert sorted(path.name for path in folder.iterdir()) == ["deep.nn", "some.csv"]


def test_doctor_says_the_same(folder: Path) -> None:
    doctor = netsharp("doctor", "deep.nn", "--data", "some.csv", *FLAGS, cwd=folder)
    examined = netsharp(*EXAMINE, cwd=folder)
    assert (doctor.code, doctor.out) == (examined.code, examined.out)
    alone = netsharp("doctor", cwd=folder)
    assert alone.code == 0
    assert alone.out.startswith("cpu: numpy ")


def test_json_is_that_of_check(folder: Path) -> None:
    answer = netsharp(*EXAMINE, "--format", "json", cwd=folder)
    found = json.loads(answer.out)
    checked = json.loads(netsharp("check", "deep.nn", "--format", "json", cwd=folder).out)
    assert found.keys() == checked.keys()
    assert checked["diagnostics"] == []
    first = found["diagnostics"][0]
    assert (first["code"], first["file"], first["start"]) == (
        "NS133",
        "deep.nn",
        {"line": 2, "column": 8},
    )


@pytest.mark.parametrize("form", [one for one in FORMATS if one != "json"])
def test_every_format_of_check_is_written(form: str, folder: Path) -> None:
    answer = netsharp(*EXAMINE, "--format", form, cwd=folder)
    assert (answer.code, answer.err) == (1, "")
    assert "NS133" in answer.out


def test_a_suppression_holds_and_is_never_idle(folder: Path) -> None:
    text = DEEP.replace("Data all;", "Data all; // netsharp: ignore[NS133]")
    (folder / "deep.nn").write_text(text)
    answer = netsharp(*EXAMINE, "--format", "json", cwd=folder)
    lines = [one["start"]["line"] for one in json.loads(answer.out)["diagnostics"]]
    assert lines
    assert 2 not in lines
    assert netsharp("check", "deep.nn", cwd=folder).code == 0


def test_a_usual_network_is_fine(folder: Path) -> None:
    (folder / "deep.nn").write_text(
        "input Data auto;\nhidden H [8] tanh from Data all;\noutput Kind auto softmax from H all;\n"
    )
    answer = netsharp(*EXAMINE, "--init-diameter", "1", cwd=folder)
    found = [line for line in answer.out.splitlines() if "[NS13" in line]
    # Labels of the table are drawn by chance: nothing says that they can be learned by heart.
    assert all("NS136" in line for line in found)


def test_what_cannot_be_looked_at_is_reported(folder: Path) -> None:
    one_sentence(netsharp("doctor", "--data", "some.csv", cwd=folder), "needs a specification")
    one_sentence(netsharp("doctor", "deep.nn", cwd=folder), "No training data is named")
    one_sentence(netsharp("doctor", "none.nn", "--data", "some.csv", cwd=folder), "none.nn")
    one_sentence(netsharp(*EXAMINE[:-1], "--format", "json", cwd=folder), "goes with --examine")
    (folder / "a.cntk").write_text("command=Train\n")
    one_sentence(netsharp("doctor", "a.cntk", cwd=folder), "only the start of a specification's")


def test_what_would_take_long_is_left_out_and_said(folder: Path) -> None:
    text = DEEP.replace("[20]", "[1500]")
    (folder / "deep.nn").write_text(text)
    answer = netsharp(*EXAMINE, cwd=folder)
    assert answer.code in (0, 1)
    assert "overfitting a few rows: not tried" in answer.out
