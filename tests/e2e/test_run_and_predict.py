"""From text to predictions through the command line, as a person works."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cli.command_line import netsharp
from tests.e2e.workshop import LABELLED, QUICK, ROWS, table, train, write_idx

MODEL = "digits.safetensors"
PROBABILITIES = [f"probability_{digit}" for digit in range(10)]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def tensors(path: Path) -> dict[str, bytes]:
    """Every array of a model file, the state of its optimiser too."""
    return {name: array.tobytes() for name, array in load_file(path).items()}


def test_check_format_describe_the_network(folder: Path) -> None:
    assert netsharp("check", "net.nn", cwd=folder).code == 0
    assert netsharp("fmt", "net.nn", cwd=folder).code == 0
    assert netsharp("fmt", "--check", "net.nn", cwd=folder).code == 0
    described = json.loads(netsharp("describe", "net.nn", "--format", "json", cwd=folder).out)
    assert described["parameters"] == 4 * 10 + (144 * 20 + 20) + (20 * 10 + 10)
    of_model = json.loads(netsharp("describe", MODEL, "--format", "json", cwd=folder).out)
    assert of_model == described
    same = netsharp("diff", "net.nn", MODEL, cwd=folder)
    assert (same.code, "same" in same.out) == (0, True)


def test_a_run_reports_beside_the_trivial_baseline(trained: Path) -> None:
    report = (trained / "report.txt").read_text(encoding="utf-8")
    for words in ("accuracy", "log-loss", "confusion", "most frequent class", f"model: {MODEL}"):
        assert words in report
    progress = (trained / "progress.txt").read_text(encoding="utf-8")
    assert progress.startswith("epoch 1/2  loss ")


def test_the_log_follows_its_contract(trained: Path) -> None:
    lines = (trained / "run.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    known = {"event", "epoch", "step", "samples", "loss", "metrics", "validation", "rate"}
    assert all(set(event) <= known | {"seconds"} for event in events)
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("start", "end")
    assert set(kinds) <= {"start", "step", "epoch", "end"}
    epochs = [event for event in events if event["event"] == "epoch"]
    assert [event["epoch"] for event in epochs] == [1, 2]
    assert all({"loss", "metrics", "validation", "rate", "seconds"} <= set(e) for e in epochs)
    assert [event["step"] for event in events] == sorted(event["step"] for event in events)


def test_the_curve_is_a_picture(trained: Path, tmp_path: Path) -> None:
    svg = (trained / "curve.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "validation" in svg
    pytest.importorskip("matplotlib")
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    assert train(tmp_path, "--plot", "curve.png", "--quiet").code == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_model(folder: Path) -> None:
    for model in ("one.safetensors", "two.safetensors"):
        answer = train(folder, "--quiet", model=model)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert tensors(folder / "one.safetensors") == tensors(folder / "two.safetensors")


def test_flags_win_over_the_run_file(folder: Path) -> None:
    (folder / "net.toml").write_text(
        '[data]\ntrain = "digits.csv"\nlabel = "digit"\n[train]\nepochs = 7\nmomentum = 0.5\n'
    )
    shown = netsharp("run", "net.nn", "--epochs", "3", "--show-settings", cwd=folder)
    values = {line.split()[1]: line.split()[2:] for line in shown.out.splitlines()}
    assert values["epochs"] == ["3", "flag"]
    assert values["momentum"] == ["0.5", "file"]
    assert values["batch_size"] == ["64", "default"]
    assert values["optimizer"] == ['"sgd"', "default"]
    assert values["dtype"] == ['"float32"', "default"]


def test_predictions_keep_the_order_of_the_rows(folder: Path) -> None:
    lines = (folder / "digits.csv").read_text().splitlines()
    head, body = lines[0], lines[1:] * 90
    with (folder / "many.csv").open("w") as stream:
        stream.write(f"id,{head}\n")
        stream.writelines(f"r{number},{line}\n" for number, line in enumerate(body))
    done = netsharp(
        *("predict", MODEL, "--data", "many.csv", "--keep", "id,digit", "--quiet"), cwd=folder
    )
    assert (done.code, done.err) == (0, "")
    rows = rows_of(done.out)
    assert [row["id"] for row in rows] == [f"r{number}" for number in range(len(body))]
    assert list(rows[0]) == ["id", "digit", "predicted", *PROBABILITIES]
    first = [row["predicted"] for row in rows[:ROWS]]
    assert [row["predicted"] for row in rows[-ROWS:]] == first
    hits = sum(row["digit"] == row["predicted"] for row in rows)
    assert hits > 0.5 * len(rows)
    for row in rows[:ROWS]:
        chances = [float(row[name]) for name in PROBABILITIES]
        assert sum(chances) == pytest.approx(1, abs=1e-6)
        assert int(row["predicted"]) == int(np.argmax(chances))


def test_every_kind_of_output_says_the_same(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("p.csv", "p.jsonl", "p.parquet"):
        command = ("predict", MODEL, "--data", "digits.csv", "--output", name, "--keep", "digit")
        done = netsharp(*command, cwd=folder)
        assert (done.code, done.out) == (0, "")
    rows = rows_of((folder / "p.csv").read_text())
    objects = [json.loads(line) for line in (folder / "p.jsonl").read_text().splitlines()]
    columns = parquet.read_table(folder / "p.parquet").to_pylist()
    assert objects == columns
    assert len(rows) == len(objects) == ROWS
    for row, reported in zip(rows, objects, strict=True):
        assert list(row) == list(reported)
        assert (row["digit"], row["predicted"]) == (reported["digit"], reported["predicted"])
        for name in PROBABILITIES:
            assert float(row[name]) == pytest.approx(reported[name], abs=1e-9)


def test_the_originals_names_of_columns(folder: Path) -> None:
    command = ("predict", MODEL, "--data", "digits.csv", "--names", "rx", "--rows", "3")
    rows = rows_of(netsharp(*command, cwd=folder).out)
    assert list(rows[0]) == ["PredictedLabel", *(f"Score.{digit}" for digit in range(10))]
    assert len(rows) == 3


def test_no_label_needed_and_other_columns_in_any_order(folder: Path) -> None:
    rows = list(csv.reader((folder / "digits.csv").open()))
    turned = [["more", *reversed(row[1:])] for row in rows]
    with (folder / "turned.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(turned)
    answers = [
        netsharp("predict", MODEL, "--data", name, cwd=folder).out
        for name in ("digits.csv", "turned.csv")
    ]
    assert answers[0] == answers[1]


@pytest.mark.costly
def test_other_forms_of_the_data_give_the_same_model(folder: Path) -> None:
    read_csv = pytest.importorskip("pyarrow.csv").read_csv
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    pixels, digits = table(folder)
    np.savez(folder / "digits.npz", x=pixels, y=digits)
    write_idx(folder / "train-images-idx3-ubyte", pixels)
    write_idx(folder / "train-labels-idx1-ubyte", digits)
    write_table(read_csv(folder / "digits.csv"), folder / "digits.parquet")
    given = {
        "csv": ("digits.csv", *LABELLED[:2]),
        "npz": ("digits.npz",),
        "idx": ("train-images-idx3-ubyte", "--labels", "train-labels-idx1-ubyte"),
        "parquet": ("digits.parquet", *LABELLED[:2]),
    }
    weights = {}
    for form, arguments in given.items():
        done = netsharp(
            *("run", "net.nn", "--quiet", *QUICK, "--task", "multiclass"),
            *("--model", f"{form}.safetensors", "--train", *arguments),
            cwd=folder,
        )
        assert (done.code, done.err) == (0, ""), form
        weights[form] = tensors(folder / f"{form}.safetensors")
    assert all(found == weights["csv"] for found in weights.values())
    plain = netsharp("predict", "csv.safetensors", "--data", "digits.csv", cwd=folder)
    packed = netsharp("predict", "csv.safetensors", "--data", "digits.parquet", cwd=folder)
    assert packed.out == plain.out
    for form, data in (("npz", "digits.npz"), ("idx", "train-images-idx3-ubyte")):
        done = netsharp("predict", f"{form}.safetensors", "--data", data, cwd=folder)
        assert done.out == plain.out, done.err


def test_several_files_and_a_glob_are_one_table(folder: Path) -> None:
    lines = (folder / "digits.csv").read_text().splitlines(keepends=True)
    for number, part in enumerate((lines[1:101], lines[101:])):
        (folder / f"part{number}.csv").write_text("".join([lines[0], *part]))
    command = ("predict", MODEL, "--data")
    whole = netsharp(*command, "digits.csv", cwd=folder).out
    assert netsharp(*command, "part0.csv", "part1.csv", cwd=folder).out == whole
    assert netsharp(*command, "part*.csv", cwd=folder).out == whole


def test_evaluate_says_what_predict_does(folder: Path) -> None:
    output = netsharp("evaluate", MODEL, "--data", "digits.csv", "--format", "json", cwd=folder)
    assert output.code == 0
    report = json.loads(output.out)
    rows = rows_of(
        netsharp("predict", MODEL, "--data", "digits.csv", "--keep", "digit", cwd=folder).out
    )
    hits = sum(row["digit"] == row["predicted"] for row in rows)
    assert report["version"] == 1
    assert report["metrics"]["accuracy"] == pytest.approx(hits / ROWS)
    text = netsharp("evaluate", MODEL, "--data", "digits.csv", cwd=folder)
    assert f"{hits / ROWS:.2%}" in text.out


@pytest.mark.costly
def test_a_specification_too_large_to_be_read_again_reports_it(tmp_path: Path) -> None:
    """Its 1,600,000 numbers have as many commas between them; `predict` reads the model."""
    (tmp_path / "wide.nn").write_text(
        "input x [1600];\nhidden H [1000] from x all;\noutput y [2] softmax from H all;\n"
    )
    names = [f"c{column}" for column in range(1600)]
    rows = [[f"{(row * column) % 7}" for column in range(1600)] for row in range(4)]
    lines = [[*names, "kind"], *([*row, "ab"[number % 2]] for number, row in enumerate(rows))]
    (tmp_path / "wide.csv").write_text("".join(f"{','.join(line)}\n" for line in lines))
    run = ("run", "wide.nn", "--train", "wide.csv", "--label", "kind", "--epochs", "1", "--quiet")
    assert netsharp(*run, cwd=tmp_path).code == 0
    done = netsharp("weights", "wide.safetensors", "--spec", "--output", "heavy.nn", cwd=tmp_path)
    assert done.code == 0
    assert done.err == (
        "netsharp: heavy.nn has more than 3,000,000 words and marks, and is not read. "
        "'predict' and 'evaluate' take the model itself.\n"
    )
    assert "3,000,000 words" in netsharp("check", "heavy.nn", cwd=tmp_path).err
    assert netsharp("predict", "wide.safetensors", "--data", "wide.csv", cwd=tmp_path).code == 0


def test_a_specification_with_its_weights_predicts_bit_equally(folder: Path) -> None:
    done = netsharp("weights", MODEL, "--spec", "--output", "heavy.nn", cwd=folder)
    assert (done.code, done.out) == (0, "")
    assert netsharp("check", "heavy.nn", "--fail-on", "error", cwd=folder).code == 0
    again = netsharp(
        # So small a rate moves no float32.
        *("run", "heavy.nn", "--train", "digits.csv", *LABELLED, "--epochs", "1"),
        *("--learning-rate", "1e-45", "--validation", "0.25", "--seed", "3", "--quiet"),
        cwd=folder,
    )
    assert (again.code, again.err) == (0, "")
    answers = [
        netsharp("predict", model, "--data", "digits.csv", cwd=folder).out
        for model in (MODEL, "heavy.safetensors")
    ]
    assert answers[0] == answers[1]
    of_weights = [
        {name: value for name, value in tensors(folder / model).items() if "state/" not in name}
        for model in (MODEL, "heavy.safetensors")
    ]
    assert of_weights[0] == of_weights[1]


def test_weights_are_listed(folder: Path) -> None:
    listed = netsharp("weights", MODEL, cwd=folder).out.splitlines()
    assert {line.split()[0] for line in listed} == {
        *("Edges/Image/weights", "Full/Edges/weights", "Full/biases"),
        *("Digit/Full/weights", "Digit/biases"),
    }


def test_the_specification_may_come_from_stdin(folder: Path) -> None:
    text = (folder / "net.nn").read_bytes()
    command = ("run", "-", "--train", "digits.csv", *LABELLED, *QUICK, "--quiet")
    done = netsharp(*command, "--stdin-filename", "piped.nn", cwd=folder, stdin=text)
    assert (done.code, done.err) == (0, "")
    assert (folder / "piped.safetensors").is_file()


def test_regression_and_a_network_all_auto(folder: Path) -> None:
    (folder / "auto.nn").write_text(
        "input Data auto;\nhidden H auto from Data all;\noutput Result auto linear from H all;\n"
    )
    command = ("--train", "digits.csv", "--label", "digit", "--task", "regression")
    done = netsharp("run", "auto.nn", *command, *QUICK, "--learning-rate", "0.001", cwd=folder)
    assert done.code == 0, done.err
    assert "RMSE" in done.out
    output = netsharp("predict", "auto.safetensors", "--data", "digits.csv", cwd=folder)
    rows = rows_of(output.out)
    assert list(rows[0]) == ["predicted"]
    assert len(rows) == ROWS
    rx = netsharp(
        "predict", "auto.safetensors", "--data", "digits.csv", "--names", "rx", cwd=folder
    )
    assert rx.out.splitlines()[0] == "Score"
