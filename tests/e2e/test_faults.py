"""Bad input of every kind: exit code 2, one clear sentence, no file left half written."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command_line import Answer, netsharp
from tests.e2e.workshop import LABELLED

MODEL = "digits.safetensors"
RUN = ("run", "net.nn", "--quiet", "--epochs", "1", *LABELLED, "--model", "new.safetensors")


def one_sentence(answer: Answer, *words: str) -> None:
    """Nothing on stdout, one line on stderr that says these words."""
    assert answer.code == 2, (answer.code, answer.out, answer.err)
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("netsharp: ")
    assert lines[0].endswith((".", "?")), lines[0]
    for word in words:
        assert word in lines[0]


def files(folder: Path) -> set[str]:
    return set(os.listdir(folder))


# Tables.

Spoil = Callable[[bytes], bytes]


def line(number: int, change: Callable[[bytes], bytes]) -> Spoil:
    """Change one line of a table, counted from 1."""

    def spoil(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    return spoil


def second_cell(value: bytes) -> Callable[[bytes], bytes]:
    return lambda row: b",".join([*row.split(b",")[:1], value, *row.split(b",")[2:]])


#: A name, how the table is spoilt, and words that the sentence must hold.
TABLES: dict[str, tuple[str, Spoil, tuple[str, ...]]] = {
    "empty": ("t.csv", lambda data: b"", ("t.csv", "empty")),
    "header only": ("t.csv", lambda data: data.splitlines(keepends=True)[0], ("no rows",)),
    "NaN": ("t.csv", line(4, second_cell(b"NaN")), ("t.csv, line 4", "p00", "missing")),
    "word": ("t.csv", line(4, second_cell(b"abc")), ("line 4", "'p00'", "'abc'")),
    "infinite": ("t.csv", line(4, second_cell(b"1e999")), ("line 4", "'p00'")),
    "ragged": ("t.csv", line(5, lambda row: row.rpartition(b",")[0] + b"\n"), ("line 5", "64")),
    "open quote": ("t.csv", line(6, second_cell(b'"1')), ("line 6", "quote")),
    "cut gzip": ("t.csv.gz", lambda data: gzip.compress(data)[:2000], ("t.csv.gz", "cut off")),
    "no gzip": ("t.csv.gz", lambda data: b"\x1f\x8b" + data[:50], ("t.csv.gz",)),
    "binary": ("t.csv", lambda data: bytes(range(256)) * 9, ("t.csv",)),
    "UTF-16": ("t.csv", lambda data: data.decode().encode("utf-16")[:-1], ("UTF-16", "UTF-8")),
    "Windows-1252": ("t.csv", line(2, second_cell(b"\xe9")), ("line 2", "'p00'", "'\xe9'")),
    "Latin-1": ("t.csv", line(2, second_cell("\xe9".encode() + b"\xe9")), ("line 2", "UTF-8")),
    "no archive": ("t.npz", lambda data: data, ("t.npz",)),
    "empty archive": ("t.npz", lambda data: zip_of({}), ("t.npz",)),
    "cut IDX": ("t-images-idx3-ubyte", lambda data: b"\0\0\x08\3\0\0\0\7", ("idx3",)),
    "no Parquet": ("t.parquet", lambda data: b"PAR1" + data[:90], ("t.parquet",)),
    "other table": ("t.csv", lambda data: b"a,b\n1,2\n3,4\n", ("label", "digit")),
}


def zip_of(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("name", TABLES)
def test_no_run_on_a_spoilt_table(name: str, folder: Path) -> None:
    file, spoil, words = TABLES[name]
    (folder / file).write_bytes(spoil((folder / "digits.csv").read_bytes()))
    before = files(folder)
    one_sentence(netsharp(*RUN, "--train", file, cwd=folder), *words)
    assert files(folder) == before


@pytest.mark.parametrize("name", ["empty", "NaN", "ragged", "cut gzip", "binary", "UTF-16"])
def test_no_predictions_for_a_spoilt_table(name: str, folder: Path) -> None:
    file, spoil, words = TABLES[name]
    (folder / file).write_bytes(spoil((folder / "digits.csv").read_bytes()))
    for output in ("out.csv", "out.jsonl", "out.parquet"):
        before = files(folder)
        answer = netsharp("predict", MODEL, "--data", file, "--output", output, cwd=folder)
        one_sentence(answer, *words)
        assert files(folder) == before


def test_a_fault_far_down_leaves_the_old_predictions(folder: Path) -> None:
    head, *rows = (folder / "digits.csv").read_bytes().splitlines(keepends=True)
    (folder / "long.csv").write_bytes(b"".join([head, *rows * 80, b"1,oops\n"]))
    (folder / "out.csv").write_text("old\n")
    answer = netsharp("predict", MODEL, "--data", "long.csv", "--output", "out.csv", cwd=folder)
    one_sentence(answer, f"line {80 * len(rows) + 2}")
    assert (folder / "out.csv").read_text() == "old\n"
    assert not [name for name in files(folder) if name.endswith((".part", ".tmp"))]


def test_a_fault_in_standard_input_is_called_so(folder: Path) -> None:
    command = ("run", "net.nn", "--train", "-", "--label", "c", "--model", "new.safetensors")
    answer = netsharp(*command, cwd=folder, stdin=b"a,b,c\n1,2\n")
    one_sentence(answer, "standard input, line 2: 2 values where the first row has 3")


@pytest.mark.costly
def test_missing_and_misnamed(folder: Path) -> None:
    (folder / "folder.csv").mkdir()
    train = (*RUN, "--train")
    one_sentence(netsharp(*train, "digit.csv", cwd=folder), "digit.csv", "'digits.csv'")
    one_sentence(netsharp(*train, "folder.csv", cwd=folder), "folder.csv", "directory")
    one_sentence(netsharp(*train, "none*.csv", cwd=folder), "none*.csv")
    wrong_label = ("--train", "digits.csv", "--label", "digt")
    one_sentence(netsharp("run", "net.nn", *wrong_label, cwd=folder), "'digt'", "'digit'")
    one_sentence(netsharp("run", "nett.nn", "--train", "digits.csv", cwd=folder), "nett.nn")
    one_sentence(netsharp("run", "net.nn", cwd=folder), "--train")
    (folder / "old.cntk").write_text("command = Train\n")
    found = netsharp("run", "old.cntk", cwd=folder)
    assert (found.code, "CK081" in found.err) == (1, True)
    predict = ("predict", MODEL, "--data", "digits.csv")
    one_sentence(netsharp(*predict, "--keep", "digt", cwd=folder), "'digt'", "'digit'")
    one_sentence(netsharp(*predict, "--rows", "0", cwd=folder), "at least 1")
    one_sentence(
        netsharp("evaluate", MODEL, "--data", "digits.csv", "--label", "didgit", cwd=folder),
        "'didgit'",
        "'digit'",
    )


def test_a_kept_column_that_is_called_as_an_answer(folder: Path) -> None:
    text = (folder / "digits.csv").read_text()
    (folder / "again.csv").write_text(text.replace("digit", "predicted", 1))
    command = ("predict", MODEL, "--data", "again.csv", "--keep", "predicted")
    one_sentence(netsharp(*command, cwd=folder), "'predicted'", "--keep")
    assert netsharp(*command, "--names", "rx", cwd=folder).code == 0


# Arguments and run files.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "net.nn", "--epoch", "3"), ("'--epoch'", "'--epochs'")),
        (("run", "net.nn", "--epochs", "many"), ("--epochs", "whole number", "'many'")),
        (("run", "net.nn", "--epochs", "0"), ("--epochs", "at least 1")),
        (("run", "net.nn", "--learning-rate", "-1"), ("--learning-rate",)),
        (("run", "net.nn", "--optimizer", "sdg"), ("'sdg'", "sgd")),
        (("run",), ("SPEC",)),
        (("run", "net.nn", "other.nn"), ("'other.nn'",)),
        (("predict", MODEL), ("--data",)),
        (("predict", MODEL, "--data", "digits.csv", "--ouput", "p.csv"), ("'--output'",)),
        (("evaluate", MODEL, "--data", "digits.csv", "--format", "xml"), ("'xml'", "json")),
        (("weights", MODEL, "--sepc"), ("'--sepc'", "'--spec'")),
        (("weights", MODEL, "--spec", "--list"), ("--list",)),
        (("describe", "net.nn", "--format", "yaml"), ("'yaml'",)),
        (("diff", "net.nn"), ("B",)),
    ],
)
def test_arguments_that_are_none(
    arguments: tuple[str, ...], words: tuple[str, ...], folder: Path
) -> None:
    one_sentence(netsharp(*arguments, cwd=folder), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[train\nepochs = 3\n", ("net.toml", "TOML", "line 1")),
        ("[train]\nepoch = 3\n", ("'epoch'", "'epochs'")),
        ("[trian]\nepochs = 3\n", ("[trian]", "'train'")),
        ('[train]\nepochs = "three"\n', ("epochs", "'three'")),
        ("[train]\nvalidation = 1.5\n", ("validation", "1.5")),
        ("[train]\nnormalizer = 'minmx'\n", ("normalizer", "'minmx'", "minmax")),
        ("[data]\ntrain = 3\n", ("train", "3")),
        ("train = 3\n", ("'train'", "section")),
    ],
)
def test_run_files_that_are_none(text: str, words: tuple[str, ...], folder: Path) -> None:
    (folder / "net.toml").write_text(text)
    one_sentence(netsharp("run", "net.nn", "--train", "digits.csv", cwd=folder), *words)


def test_run_files_that_are_no_text(folder: Path) -> None:
    (folder / "net.toml").write_bytes(b"\xff\xfe\0")
    one_sentence(netsharp("run", "net.nn", cwd=folder), "net.toml")
    one_sentence(netsharp("run", "net.nn", "--run-file", "no.toml", cwd=folder), "no.toml")


# Models.


@pytest.mark.costly
def test_models_that_are_none(folder: Path) -> None:
    class Dangerous:
        def __reduce__(self) -> tuple[Callable[..., int], tuple[str]]:
            return os.system, (f"touch {folder / 'harm'}",)

    whole = (folder / MODEL).read_bytes()
    spoilt = {
        "pickle": pickle.dumps(Dangerous()),
        "zip": zip_of({"data.pkl": pickle.dumps(Dangerous())}),
        "cut": whole[: len(whole) // 2],
        "cut head": whole[:100],
        "empty": b"",
        "text": b"input A [3];\n",
        "other": whole.replace(b"specification", b"spezifikation"),
    }
    for name, content in spoilt.items():
        (folder / f"{name}.safetensors").write_bytes(content)
        for command in (
            ("predict", f"{name}.safetensors", "--data", "digits.csv"),
            ("evaluate", f"{name}.safetensors", "--data", "digits.csv"),
            ("weights", f"{name}.safetensors"),
            ("describe", f"{name}.safetensors"),
            ("diff", "net.nn", f"{name}.safetensors"),
        ):
            one_sentence(netsharp(*command, cwd=folder), name)
    assert not (folder / "harm").exists()


# Places to write to.


@pytest.mark.costly
def test_places_that_cannot_be_written_are_named_before_the_run(folder: Path) -> None:
    (folder / "shelf").mkdir()
    for option in ("--model", "--log", "--plot"):
        run = ("run", "net.nn", "--train", "digits.csv", *LABELLED, "--epochs", "1")
        for place in ("nowhere/x.svg", "shelf"):
            before = files(folder)
            one_sentence(netsharp(*run, option, place, cwd=folder), place)
            assert files(folder) == before
    one_sentence(netsharp(*RUN, "--train", "digits.csv", "--plot", "c.gif", cwd=folder), ".svg")
    predict = ("predict", MODEL, "--data", "digits.csv", "--output")
    for place in ("nowhere/x.csv", "nowhere/x.parquet", "x.xlsx", "x"):
        one_sentence(netsharp(*predict, place, cwd=folder), place)
    (folder / "shelf.csv").mkdir()
    one_sentence(netsharp(*predict, "shelf.csv", cwd=folder), "shelf.csv")
    one_sentence(netsharp("weights", MODEL, "--output", "nowhere/w.nn", cwd=folder), "nowhere")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(folder: Path) -> None:
    shelf = folder / "shelf"
    shelf.mkdir(mode=0o555)
    for command in (
        (*RUN[:-1], "shelf/new.safetensors", "--train", "digits.csv"),
        ("predict", MODEL, "--data", "digits.csv", "--output", "shelf/x.csv"),
        ("weights", MODEL, "--output", "shelf/w.nn"),
    ):
        one_sentence(netsharp(*command, cwd=folder), "shelf")
    assert files(shelf) == set()


def test_a_faulty_specification_is_not_trained(folder: Path) -> None:
    (folder / "bad.nn").write_text("input A [64];\noutput O [10] softmax from B all;\n")
    answer = netsharp("run", "bad.nn", "--train", "digits.csv", *LABELLED, cwd=folder)
    assert (answer.code, answer.out) == (1, "")
    assert "bad.nn:2:" in answer.err
    assert "NS035" in answer.err
    (folder / "narrow.nn").write_text("input A [63];\noutput O [10] softmax from A all;\n")
    answer = netsharp("run", "narrow.nn", "--train", "digits.csv", *LABELLED, cwd=folder)
    assert answer.code in (1, 2)
    assert "63" in answer.err
    assert "64" in answer.err
    assert not (folder / "narrow.safetensors").exists()


def test_a_run_that_diverges_keeps_the_last_good_state(folder: Path) -> None:
    (folder / "line.nn").write_text("input A auto;\noutput O auto linear from A all;\n")
    command = ("run", "line.nn", "--train", "digits.csv", "--label", "digit")
    answer = netsharp(
        *(*command, "--task", "regression", "--learning-rate", "1e20"),
        *("--model", "wild.safetensors", "--quiet"),
        cwd=folder,
    )
    assert answer.code == 1
    assert "rate" in answer.err
    assert "step" in answer.err
    listed = netsharp("weights", "wild.safetensors", cwd=folder)
    assert listed.code == 0
    assert "nan" not in listed.out
    assert "inf" not in listed.out


def test_figures_that_are_not_finite_are_null_in_json(folder: Path) -> None:
    # Weights that are finite and give values that are not.
    text = (
        (folder / "net.nn").read_text().replace("from Full all;", "from Full all { Weights = W; }")
    )
    values = ", ".join(["3e38", "-3e38"] * 100)
    (folder / "net.nn").write_text(f"{text}const W = [{values}];\n")
    run = ("run", "net.nn", "--train", "digits.csv", *LABELLED, "--epochs", "1", "--quiet")
    assert netsharp(*run, "--model", "wild.safetensors", cwd=folder).code == 1
    command = ("wild.safetensors", "--data", "digits.csv")
    report = netsharp("evaluate", *command, "--format", "json", cwd=folder)
    assert json.loads(report.out, parse_constant=pytest.fail)["loss"] is None
    assert netsharp("predict", *command, "--output", "p.jsonl", cwd=folder).code == 0
    for row in (folder / "p.jsonl").read_text().splitlines():
        json.loads(row, parse_constant=pytest.fail)
