"""Rows for `netsharp compile` of CNTK's models: those of the run that trained one where that is
known, and what is named in formats of CNTK.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import netsharp
from tests.cli.command_line import Answer
from tests.cli.command_line import netsharp as command

pytestmark = pytest.mark.costly
EXAMPLES = Path(__file__).parents[2] / "examples" / "cntk"
QUICK = "learn=[SGD=[maxEpochs=1]]"
READ = "note: ranges are read from {}, on which {} of {} trains it"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes in the plane with a model of them, whose checkpoint names the run."""
    folder = tmp_path_factory.mktemp("runs") / "plane"
    shutil.copytree(EXAMPLES / "plane", folder)
    (folder / "labels.txt").write_text("below\nabove\n")
    done = command("run", "plane.cntk", "command=learn", QUICK, cwd=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def plane(trained: Path, tmp_path: Path) -> Path:
    """The same in a folder of its own."""
    return Path(shutil.copytree(trained, tmp_path / "plane"))


def forgotten(plane: Path) -> None:
    """Remove what names the run."""
    (plane / "out" / "plane.dnn.ckp.safetensors").unlink()


def compiled(folder: Path, *given: str, model: str = "out/plane.dnn") -> Answer:
    return command("compile", model, "--output", "device", *given, cwd=folder)


def report(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "device" / "report.json").read_text())
    return found


def test_the_checkpoint_names_the_run(plane: Path) -> None:
    """Of the last epoch and of others; the test rows are the held-out ones, and classes have their
    names.
    """
    for model in ("out/plane.dnn", "out/plane.dnn.0"):
        answer = compiled(plane, "--max-drop", "100", model=model)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.splitlines()[0] == READ.format("train.ctf", "learn", "plane.cntk")
        assert "on 603 held-out rows (test.ctf, the test rows of the training)" in answer.out
    assert '"below",\n    "above",\n' in (plane / "device" / "net.c").read_text()


def test_a_run_is_found_where_both_were_moved(plane: Path, tmp_path: Path) -> None:
    """Seen from above, and not from elsewhere: no file leads out of the folders that are named."""
    (tmp_path / "place").mkdir()
    shutil.move(plane, tmp_path / "place" / "moved")
    answer = compiled(tmp_path / "place", model="moved/out/plane.dnn")
    assert answer.code == 0, answer.err
    reported = READ.format("moved/train.ctf", "learn", "moved/plane.cntk")
    assert answer.out.splitlines()[0] == reported
    (tmp_path / "elsewhere").mkdir()
    answer = compiled(tmp_path / "elsewhere", model="../place/moved/out/plane.dnn")
    assert answer.code == 2
    assert "the run that the model's checkpoint names cannot be read: " in answer.err
    assert "Name rows with --calibrate FILE" in answer.err
    assert not (tmp_path / "elsewhere" / "device").exists()


def test_a_configuration_that_writes_the_model_tells_its_rows(plane: Path) -> None:
    """As for a model that CNTK wrote; also where settings alone say how it is started."""
    forgotten(plane)
    assert compiled(plane).out.startswith(READ.format("train.ctf", "learn", "plane.cntk"))
    text = (plane / "plane.cntk").read_text()
    (plane / "plane.cntk").write_text(text.replace('RunDir = "out"', 'RunDir = "nowhere"'))
    answer = compiled(plane)
    assert answer.code == 2
    assert "no run is known that trained the model" in answer.err
    (plane / "netsharp.toml").write_text(
        '[[cntk.run]]\nfiles = ["plane.cntk"]\nset = ["RunDir=out"]\n'
    )
    assert compiled(plane).out.startswith(READ.format("train.ctf", "learn", "plane.cntk"))


def test_runs_on_other_rows_are_a_question(plane: Path) -> None:
    forgotten(plane)
    text = (plane / "plane.cntk").read_text()
    (plane / "later.cntk").write_text(text.replace("train.ctf", "test.ctf"))
    answer = compiled(plane)
    assert answer.code == 2
    assert "different rows: learn of later.cntk, learn of plane.cntk. Name rows" in answer.err
    answer = compiled(plane, "--calibrate", "train.ctf", "--classes", "labels.txt")
    assert (answer.code, answer.err) == (0, "")
    assert "note: no held-out rows" in answer.out
    assert '"above"' in (plane / "device" / "net.c").read_text()


def test_a_checkpoint_of_another_model_counts_for_nothing(plane: Path) -> None:
    """The model was written again and the file beside it was left."""
    state = plane / "out" / "plane.dnn.ckp"
    state.write_bytes(state.read_bytes() + b" ")
    (plane / "plane.cntk").rename(plane / "plane.txt")
    answer = compiled(plane)
    assert "no run is known that trained the model" in answer.err
    assert list(plane.glob("device*")) == []


def test_a_mapping_of_other_classes_is_reported(plane: Path) -> None:
    (plane / "labels.txt").write_text("one\ntwo\nthree\n")
    answer = compiled(plane)
    assert "note: classes are numbered, as their mapping does not fit. " in answer.out
    assert '"0",\n    "1",\n' in (plane / "device" / "net.c").read_text()


def test_files_with_other_names_of_streams_and_archives(plane: Path) -> None:
    """All that `predict` and `evaluate` read of such a model, with the same answers."""
    assert compiled(plane, "--calibrate", "train.ctf", "--holdout", "test.ctf").code == 0
    wanted = report(plane)
    for name in ("train", "test"):
        text = (plane / f"{name}.ctf").read_text()
        other = text.replace("|features", "|S0").replace("|labels", "|S1")
        (plane / f"other_{name}.ctf").write_text(other)
        lines = [line.split("|")[1:] for line in text.splitlines()]
        found = [dict(one.split(maxsplit=1) for one in line) for line in lines]
        arrays = {
            key: np.array([one[key].split() for one in found], np.float32)
            for key in ("features", "labels")
        }
        np.savez(plane / f"{name}.npz", **arrays)
    named = ("--stream", "features=S0", "--stream", "labels=S1")
    others = ("--calibrate", "other_train.ctf", "--holdout", "other_test.ctf")
    assert compiled(plane, *others, *named).code == 0
    reported = report(plane)
    assert wanted.pop("gate")
    assert reported.pop("gate")
    assert reported == wanted
    assert compiled(plane, "--calibrate", "train.npz", "--holdout", "test.npz").code == 0
    reported = report(plane)
    assert reported.pop("gate")
    assert reported == wanted
    answer = compiled(plane, *others, "--stream", "feature=S0")
    assert answer.code == 2
    assert "--stream names 'feature', which is not an input of the network." in answer.err


def test_columns_of_a_reader_calibrate_as_the_run_reads_them(tmp_path: Path) -> None:
    """A table without names whose label comes first is understood by its reader alone."""
    shutil.copytree(EXAMPLES / "wave", tmp_path / "wave")
    folder = tmp_path / "wave"
    run = ("wave.cntk", "command=fitting", "fitting=[SGD=[maxEpochs=2]]")
    assert command("run", *run, cwd=folder).code == 0
    answer = compiled(folder, "--weights", "int16", "--activations", "uint12", model="out/wave.dnn")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(READ.format("train.txt", "fitting", "wave.cntk"))
    table = np.loadtxt(folder / "train.txt", dtype=np.float32)
    made = netsharp.compile(
        folder / "out" / "wave.dnn", table[:, 1:], weights="int16", activations="uint12"
    )
    (line,) = [one for one in answer.out.splitlines() if one.startswith("on 600 rows:")]
    assert line in str(made.report)


def test_what_cannot_be_compiled_is_reported_before_rows_are_looked_for(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "sentences", tmp_path / "sentences")
    run = ("sentences.cntk", "command=tagging", "tagging=[SGD=[maxEpochs=1]]")
    assert command("run", *run, cwd=tmp_path / "sentences").code == 0
    answer = compiled(tmp_path / "sentences", model="out/tags.dnn")
    assert answer.code == 2
    assert "it looks at other steps of a sequence" in answer.err
    assert not (tmp_path / "sentences" / "device").exists()
