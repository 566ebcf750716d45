"""Binding a table: a run file that training understands, and never one in place of another."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from netsharp_engine.train import TrainingSettings, read_settings
from netsharp_lsp.project.binding import Bound, bind, tables_beside
from netsharp_lsp.project.run_file import model_file, read_run_file
from netsharp_lsp.project.writing import write_new


@pytest.mark.parametrize(
    ("header", "label", "guessed"),
    [("a,b,kind", "kind", True), ("Label,b,c", "Label", False), ("1,2,3", None, False)],
)
def test_the_run_file_names_table_and_label(
    tmp_path: Path, header: str, label: str | None, guessed: bool
) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n1,2,3\n")
    bound = bind(str(tmp_path / "net.nn"), str(tmp_path / "t.csv"))
    assert isinstance(bound, Bound)
    assert (bound.path, bound.data) == (str(tmp_path / "net.toml"), "t.csv")
    assert (bound.label, bound.guessed) == (label, guessed)
    table = tomllib.loads((tmp_path / "net.toml").read_text())
    settings = read_settings(table, {}, directory=str(tmp_path), file_name="net.toml")
    assert isinstance(settings, TrainingSettings)
    assert settings.train == (str(tmp_path / "t.csv"),)
    assert settings.label == label
    assert sorted(os.listdir(tmp_path)) == ["net.toml", "t.csv"]


@pytest.mark.parametrize("name", ['a "quoted" name', "back\\slash", "tab\tand\x7f", "über"])
def test_any_name_is_written_as_toml_reads_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,2\n")
    bound = bind(str(tmp_path / "net.nn"), str(folder / "t.csv"))
    assert isinstance(bound, Bound)
    table = tomllib.loads((tmp_path / "net.toml").read_text(encoding="utf-8"))
    assert table["data"]["train"] == f"{name}/t.csv"


def test_no_run_file_is_written_over_another(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "net.toml").write_text("mine")
    reported = bind(str(tmp_path / "net.nn"), str(tmp_path / "t.csv"))
    assert isinstance(reported, str)
    assert "is there already" in reported
    assert (tmp_path / "net.toml").read_text() == "mine"
    assert isinstance(bind(str(tmp_path / "netsharp.nn"), str(tmp_path / "t.csv")), str)
    assert isinstance(bind(str(tmp_path / "other.nn"), str(tmp_path / "no.csv")), str)
    assert sorted(os.listdir(tmp_path)) == ["net.toml", "t.csv"]


def test_a_new_file_is_never_another(tmp_path: Path) -> None:
    write_new(str(tmp_path / "a"), b"first")
    with pytest.raises(FileExistsError):
        write_new(str(tmp_path / "a"), b"second")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


def test_tables_beside_are_those_that_training_reads(tmp_path: Path) -> None:
    for name in ("b.csv", "a.tsv.gz", "c.parquet", "net.nn", "notes.txt", ".hidden.csv"):
        (tmp_path / name).write_text("")
    found = tables_beside(str(tmp_path / "net.nn"))
    assert [os.path.basename(path) for path in found] == ["a.tsv.gz", "b.csv", "c.parquet"]
    assert tables_beside(str(tmp_path / "no" / "net.nn")) == []


def test_the_model_goes_where_the_run_file_says(tmp_path: Path) -> None:
    place, path = str(tmp_path / "net.nn"), tmp_path / "net.toml"
    assert model_file(place, None) == str(tmp_path / "net.safetensors")
    path.write_text('[output]\nmodel = "models/best.safetensors"\n')
    run_file = read_run_file(str(path))
    assert not isinstance(run_file, str)
    assert model_file(place, run_file) == str(tmp_path / "models/best.safetensors")
