"""Bad input of `netsharp compile`: a sentence each, the exit code of the contract, nothing
half-written, and no name that the user has not given.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import netsharp
from tests.cli.command_line import netsharp as command
from tests.compiling.networks import ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
NAMES = [f"column{number + 1}" for number in range(6)]
#: A folder in which no user can create a folder, not even root.
NOWHERE = Path("/proc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, one of a version to come, and files of rows."""
    made = tmp_path_factory.mktemp("bad")
    _, x = trained(ONE.format("rlinear", "softmax"))
    lines = [",".join(map(str, row)) for row in x.tolist()]
    head = ",".join(NAMES)
    files = {
        "rows.csv": [head, *lines],
        "empty.csv": [],
        "head.csv": [head],
        "one.csv": [head, lines[0]],
        "same.csv": [head, *lines[:1] * 50],
        "others.csv": [head.replace("column3", "width"), *lines],
        "fewer.csv": [head.rpartition(",")[0], *(one.rpartition(",")[0] for one in lines)],
        "words.csv": [head, *lines, "1,2,three,4,5,6"],
    }
    for name, rows in files.items():
        (made / name).write_text("".join(f"{row}\n" for row in rows))
    labelled = [f"{row},{'no' if number % 3 else 'yes'}" for number, row in enumerate(lines)]
    (made / "train.csv").write_text("\n".join([f"{head},label", *labelled]) + "\n")
    (made / "m.nn").write_text(ONE.format("rlinear", "softmax") + "\n")
    rows_of_training = ("--train", "train.csv", "--label", "label", "--epochs", "2")
    done = command("run", "m.nn", *rows_of_training, cwd=made)
    assert done.code == 0, done.err
    data = (made / "m.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"]["version"] = "999"
    text = json.dumps(header).encode()
    (made / "later.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + data[8 + size :]
    )
    return made


@pytest.mark.parametrize(
    ("model", "rest", "message"),
    [
        ("m", ("--calibrate", "empty.csv"), "empty.csv"),
        ("m", ("--calibrate", "head.csv"), "head.csv"),
        ("m", ("--calibrate", "others.csv"), "column3"),
        ("m", ("--calibrate", "fewer.csv"), "fewer.csv"),
        ("m", ("--calibrate", "words.csv"), "three"),
        ("m", ("--calibrate", "rows.csv", "--holdout", "head.csv"), "head.csv"),
        ("later", ("--calibrate", "rows.csv"), "version"),
        ("m", ("--calibrate", "rows.csv", "--prefix", "2fast"), "'2fast' cannot"),
        ("m", ("--calibrate", "rows.csv", "--prefix", "while"), "'while' cannot"),
        ("m", ("--calibrate", "rows.csv", "--prefix", "a-b"), "'a-b' cannot"),
        ("m", ("--calibrate", "rows.csv", "--output", "rows.csv"), "rows.csv: cannot be written"),
        ("m", ("--calibrate", "rows.csv", "--output", "no/where"), "no: cannot be written"),
        ("m", ("--calibrate", "rows.csv", "--output", f"{NOWHERE}/made"), "/proc/made: cannot be"),
    ],
)
def test_a_sentence_and_nothing_is_written(
    model: str, rest: tuple[str, ...], message: str, folder: Path
) -> None:
    if str(NOWHERE) in " ".join(rest) and not (NOWHERE / "self").exists():
        pytest.skip("no folder here is closed to everybody")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    output = () if "--output" in rest else ("--output", "never")
    answer = command("compile", f"{model}.safetensors", *output, *rest, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert message in line, line
    assert "Traceback" not in line
    assert ".netsharp-" not in line
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("rows", "message"),
    [("one.csv", "One row was"), ("same.csv", "never changed in these rows")],
)
def test_rows_that_show_little_are_a_note(
    rows: str, message: str, folder: Path, tmp_path: Path
) -> None:
    """What can be compiled is, with what a device makes of all else."""
    made = tmp_path / "made"
    answer = command(
        "compile", "m.safetensors", "--calibrate", rows, "--output", str(made), cwd=folder
    )
    assert answer.code == 0, answer.err
    assert message in answer.out
    assert sorted(os.listdir(tmp_path)) == ["made"]


def test_a_layer_that_no_row_reaches_is_a_note(folder: Path, tmp_path: Path) -> None:
    model, x = trained(ONE.format("rlinear", "softmax"))
    model.tensors["H/biases"][:] = -1e4
    (note,) = netsharp.compile(model, x).report.doubts
    assert "'H'" in note
    netsharp.save(model, tmp_path / "m.safetensors")
    rows = ("--calibrate", str(folder / "rows.csv"))
    answer = command("compile", "m.safetensors", "--output", "made", *rows, cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert note in answer.out
