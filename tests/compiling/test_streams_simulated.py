"""`netsharp simulate` of a compiled network of CNTK reads samples by the names of its inputs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.refusal import CompileError
from netsharp_compile.simulating import SimulatedNetwork
from tests.cli.command_line import netsharp as command
from tests.cli.test_schemas import schema
from tests.cntk.training.model_writing import First
from tests.conftest import SEED

pytestmark = pytest.mark.costly
ROWS = 90
#: The bytes after a product of one dimension in this version of the format.
PRODUCT = b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of two inputs with three classes, its samples, and what it was compiled to."""
    made = tmp_path_factory.mktemp("streams")
    chance = np.random.default_rng(SEED)
    stored = First(27)
    stored.input("left", (3,))
    stored.input("right", (2,))
    stored.input("kind", (3,))
    for name, source, width in (("V", "left", 3), ("W", "right", 2)):
        stored.parameter(name, chance.normal(size=(width, 3)))
        stored.add("Times", f"{source}Sums", PRODUCT, name, source)
    stored.add("Plus", "sums", b"", "leftSums", "rightSums")
    stored.add("Tanh", "z", b"", "sums")
    stored.add("CrossEntropyWithSoftmax", "ce", b"", "kind", "z")
    groups = [
        ("FeatureNodes", ["left", "right"]),
        ("CriteriaNodes", ["ce"]),
        ("OutputNodes", ["z"]),
    ]
    (made / "net.dnn").write_bytes(stored.data(groups))
    left, right = chance.normal(size=(ROWS, 3)), chance.normal(size=(ROWS, 2))
    kinds = chance.integers(0, 3, ROWS)
    lines = [
        f"|kind {kind}:1 |right {' '.join(map(str, b))} |left {' '.join(map(str, a))}\n"
        for a, b, kind in zip(left, right, kinds, strict=True)
    ]
    (made / "rows.ctf").write_text("".join(lines))
    (made / "names.txt").write_text("red\ngreen\nblue\n")
    (made / "other.ctf").write_text("".join(lines).replace("|left", "|L"))
    np.savez(made / "rows.npz", left=left, right=right)
    np.savetxt(made / "rows.csv", np.hstack((left, right)), delimiter=",")
    given = ("--calibrate", "rows.ctf", "--classes", "names.txt", "--output", "out")
    answer = command("compile", "net.dnn", *given, cwd=made)
    assert answer.code == 0, answer.err
    return made


def answers(folder: Path, *given: str) -> list[dict[str, str]]:
    answer = command(*given, cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    return list(csv.DictReader(io.StringIO(answer.out)))


def test_text_format_is_answered_as_predict_answers_it(folder: Path) -> None:
    found = answers(folder, "simulate", "out/net.json", "--data", "rows.ctf")
    known = answers(folder, "predict", "net.dnn", "--data", "rows.ctf", "--classes", "names.txt")
    assert len(found) == ROWS
    assert list(found[0]) == list(known[0])
    assert [one["predicted"] for one in found] == [one["predicted"] for one in known]
    assert {one["predicted"] for one in found} <= {"red", "green", "blue"}
    named = [np.array([list(one.values())[1:] for one in each], float) for each in (found, known)]
    assert 0 < np.abs(named[0] - named[1]).max() < 0.02


@pytest.mark.parametrize(
    "given", [("rows.npz",), ("rows.csv", "--no-header"), ("other.ctf", "--stream", "left=L")]
)
def test_other_forms_of_the_same_samples_have_the_same_answers(
    given: tuple[str, ...], folder: Path
) -> None:
    found = answers(folder, "simulate", "out/net.json", "--data", *given)
    assert found == answers(folder, "simulate", "out/net.json", "--data", "rows.ctf")


def test_several_files_and_so_many_rows(folder: Path) -> None:
    whole = answers(folder, "simulate", "out/net.json", "--data", "rows.ctf")
    twice = ("simulate", "out/net.json", "--data", "rows.ctf", "rows.ctf", "--rows", "100")
    assert answers(folder, *twice) == whole + whole[:10]


def test_it_is_compared_with_its_model_though_that_names_no_classes(folder: Path) -> None:
    given = ("simulate", "out/net.json", "--data", "rows.ctf", "--compare", "net.dnn")
    answer = command(*given, cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("on 90 rows: ")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("other.ctf",), "other.ctf has no stream 'left' in its first lines."),
        (("rows.ctf", "--stream", "lef=L"), "--stream names 'lef', which is not an input"),
        (("rows.csv", "--stream", "left=L"), "--stream and --reader are for data that have names"),
        (("rows.ctf", "--keep", "left"), "samples by names have none"),
        (("rows.ctf", "--stream", "left"), "INPUT=STREAM is expected"),
    ],
)
def test_what_fits_no_input_is_a_sentence(
    given: tuple[str, ...], message: str, folder: Path
) -> None:
    answer = command("simulate", "out/net.json", "--data", *given, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err


def test_the_manifest_names_inputs_and_is_damaged_where_they_fit_no_features(
    folder: Path, tmp_path: Path
) -> None:
    whole = json.loads((folder / "out" / "net.json").read_text())
    schema("manifest.json").validate(whole)
    streams = [{"name": "left", "size": 3}, {"name": "right", "size": 2}]
    assert whole["model"]["streams"] == streams
    for wrong in (
        [],
        streams[:1],
        [*streams, {"name": "more", "size": 0}],
        [{"name": "left", "size": 3}, {"name": "left", "size": 2}],
        [{"name": "left"}, {"name": "right", "size": 2}],
        None,
    ):
        model = {**whole["model"], "streams": wrong}
        (tmp_path / "net.json").write_text(json.dumps({**whole, "model": model}))
        with pytest.raises(CompileError, match="The manifest is damaged"):
            SimulatedNetwork.read(tmp_path / "net.json")
    without = {key: one for key, one in whole["model"].items() if key != "streams"}
    (tmp_path / "net.json").write_text(json.dumps({**whole, "model": without}))
    assert SimulatedNetwork.read(tmp_path / "net.json").form.streams == ()


def test_no_other_model_than_the_one_it_was_made_of_is_compared(folder: Path) -> None:
    model = netsharp.load(folder / "net.dnn")
    turned = netsharp.compile(model, np.zeros((3, 5)) + np.arange(5))
    turned.write(folder / "turned")
    found = json.loads((folder / "turned" / "net.json").read_text())
    found["model"]["streams"].reverse()
    (folder / "turned.json").write_text(json.dumps(found))
    given = ("simulate", "turned.json", "--data", "rows.ctf", "--compare", "net.dnn")
    answer = command(*given, cwd=folder)
    assert answer.code == 2
    assert "is of another model" in answer.err
