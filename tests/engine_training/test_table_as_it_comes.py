"""Tables as they come: what is found by itself, and all faults of a table at once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.data import DataError, ReadOptions, Table, feature_count, read_table
from netsharp_engine.train.loading.load import load_data
from netsharp_engine.train.preparation import TrainingData, prepare
from netsharp_engine.train.settings import TrainingSettings, read_settings
from tests.cli.command_line import netsharp

ROWS = [(1.5, "red", "a"), (-2.25, "blue", "b"), (3e-5, "grün", "a"), (40.0, "red", "b")]
NETWORK = "input X auto; hidden H [3] from X all; output Y auto from H all;"
#: The defects of a table that a newcomer brings, and what the one answer says of each.
DEFECTS = {
    "a name twice": r"columns 2 and 9 are both named 'height'.*header = false",
    "an unknown column": r"no excluded column 'nmae'\. Did you mean 'name'\?",
    "rows of another width": r"2 rows have another number.*10 values, 3 values \(first in line 7\)",
    "missing values": r"3 values are missing in 2 columns: column 2 'height' 2 \(first in line 4\)"
    r".*column 3 'age' 1.*missing = \"mean\"",
    "texts among numbers": r"column 7 'answer': 2 values are text: yes, no \(first in line 3\)"
    r".*categorical = \[\"answer\"\]",
    "a date": r"column 4 'born': 18 values are not plain numbers: 2001-01-0"
    r".*exclude = \[\"born\"\]",
    "a decimal comma": r"column 2 'height': 1 value has a decimal comma: 1,75",
    "too large": r"column 3 'age': 1 value is too large or infinite: 1e\+99 \(first in line 8\)",
    "missing labels": r"column 8 'label': 2 labels are missing.*missing = \"drop\"",
    "a negative weight": r"column 6 'weight': 2 weights are missing, not finite or negative: x, -1",
    "a strange mark": r"column 5 'fold': 1 mark does not say.*: maybe",
}


def write(folder: Path, text: str, encoding: str = "utf-8") -> str:
    path = folder / "t.csv"
    path.write_bytes(text.encode(encoding))
    return str(path)


def defective() -> str:
    """Twenty rows with all of the defects."""
    rows = [
        ["7", "1.5", "30", f"2001-01-0{1 + number % 9}", "0", "1", "1", "a", "5"]
        for number in range(20)
    ]
    rows[1][6], rows[2][1], rows[3][1], rows[3][6] = "yes", "", "NA", "no"
    rows[4][2], rows[6][2], rows[7][7], rows[8][7] = "?", "1e99", "", ""
    rows[9][5], rows[10][5], rows[11][4] = "-1", "x", "maybe"
    rows[12][1] = '"1,75"'
    names = ["name", "height", "age", "born", "fold", "weight", "answer", "label", "height"]
    lines = [",".join(row) for row in (names, *rows)]
    lines[6], lines[15] = lines[6] + ",9", "1,2,3"
    return "\n".join(lines) + "\n"


OPTIONS = ReadOptions(label="label", weight="weight", split="fold", exclude=("nmae",))


def test_all_defects_of_a_table_are_reported_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, defective())
    with pytest.raises(DataError) as caught:
        read_table(path, OPTIONS)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: {len(DEFECTS)} kinds of faults, all that were found:"
    for defect, reported in DEFECTS.items():
        assert sum(bool(re.search(reported, line)) for line in lines) == 1, (defect, lines)
    assert len(lines) == 1 + len(DEFECTS)


@pytest.mark.costly
def test_what_is_reported_is_bounded_however_large_and_broken_a_table_is(tmp_path: Path) -> None:
    width, height = 300, 400
    head = ",".join(f"column_{'x' * 200}{number}" for number in range(width))
    rows = [",".join(["1"] * width)]
    rows += [",".join(f"oops {row} {'y' * 50}" for _ in range(width)) for row in range(height)]
    path = write(tmp_path, f"{head}\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError) as caught:
        read_table(path, ReadOptions(label=1))
    assert "119,600 values are text in 299 columns" in str(caught.value)
    assert len(str(caught.value)) < 4000


def test_a_fault_in_one_cell_is_the_one_sentence_that_it_was(tmp_path: Path) -> None:
    path = write(tmp_path, "x,y,label\n1,2,a\n1,red,b\n")
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}, line 3, column 'y': 'red' is not a number.")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["x{0}y{0}label", '"x"{0}"y"{0}"label"', ""])
def test_a_table_is_the_same_however_it_is_written(
    tmp_path: Path, encoding: str, delimiter: str, header: str
) -> None:
    lines = [header.format(delimiter)] if header else []
    for x, y, label in ROWS:
        number = repr(x) if delimiter == "," else repr(x).replace(".", ",")
        lines.append(delimiter.join((number, y, label)))
    text = "\n".join(lines) + "\n"
    path = write(tmp_path, "\ufeff" + text if encoding == "utf-16-be" else text, encoding)
    table = read_table(path, ReadOptions(label=3, dtype="float64"))
    assert table.named == bool(header)
    assert [column.levels for column in table.columns] == [None, ("blue", "grün", "red")]
    assert table.numbers[:, 0].tolist() == [row[0] for row in ROWS]
    assert table.codes[0].tolist() == [2, 0, 1, 2]
    assert table.classes == ("a", "b")
    assert any("decimal comma" in note for note in table.notes) == (delimiter != ",")
    assert any("Windows-1252" in note for note in table.notes) == (encoding == "cp1252")
    assert any("Taken as categories" in note and "3 levels" in note for note in table.notes)
    assert feature_count(path, ReadOptions(label=3)) == 1 + 4


def test_windows_letters_far_into_a_file_change_nothing_before_them(tmp_path: Path) -> None:
    rows = [f"{number},plain,a" for number in range(60_000)]
    rows[50_000] = "50000,caf\xe9,b"
    path = write(tmp_path, "x,y,label\n" + "\n".join(rows) + "\n", "latin-1")
    table = read_table(path)
    assert table.columns[1].levels == ("café", "plain")
    assert np.flatnonzero(table.codes[0] == 0).tolist() == [50_000]
    named = read_table(path, ReadOptions(encoding="latin-1"))
    np.testing.assert_array_equal(named.codes[0], table.codes[0])
    assert not any("1252" in note for note in named.notes)


def test_numbers_of_both_kinds_are_a_fault_and_no_guess(tmp_path: Path) -> None:
    path = write(tmp_path, "x;label\n1,5;a\n1.234;b\n" + "2,5;a\n" * 30)
    with pytest.raises(DataError, match=r"31 values have a decimal comma: 1,5, 2,5 \(first"):
        read_table(path)
    with pytest.raises(DataError, match=r"line 3, column 'x': '1\.234' is not a number"):
        read_table(path, ReadOptions(decimal="comma"))
    late = write(tmp_path, "x;label\n" + "1,5;a\n" * 30 + "1.234;b\n2.5;b\n")
    with pytest.raises(DataError, match=r"2 values have a point.*1\.234, 2\.5 .*line 32\)"):
        read_table(late)


def test_texts_that_begin_late_are_found_as_well(tmp_path: Path) -> None:
    gaps = "1,,a\n" * 40
    path = write(tmp_path, f"x,y,label\n{gaps}2,red,b\n3,blue,a\n")
    table = read_table(path)
    assert table.columns[1].levels == ("blue", "red")
    mixed = write(tmp_path, "x,y,label\n" + "1,red,a\n" * 40 + "2,7,b\n")
    with pytest.raises(DataError, match=r"column 2 'y': 40 values are text: red .*line 2\)"):
        read_table(mixed)
    assert read_table(mixed, ReadOptions(categorical=("y",))).columns[1].levels == ("7", "red")


@pytest.mark.parametrize("start", [0, 1])
def test_a_first_column_that_counts_rows_is_left_out(tmp_path: Path, start: int) -> None:
    rows = [f"{start + number},{number % 7},a" for number in range(30_000)]
    for head in (",x,label", '"","x","label"', '"x","label"'):
        table = read_table(write(tmp_path, head + "\n" + "\n".join(rows) + "\n"))
        assert [column.name for column in table.columns] == ["x"]
        assert "counts the rows" in table.notes[0]
        assert table.numbers[:9, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 0, 1]
    kept = read_table(write(tmp_path, "id,x,label\n" + "\n".join(rows) + "\n"))
    assert [column.name for column in kept.columns] == ["id", "x"]
    rows[25_000] = "7,1,a"
    broken = read_table(write(tmp_path, ",x,label\n" + "\n".join(rows) + "\n"))
    assert [column.name for column in broken.columns] == ["column1", "x"]
    assert not broken.notes


def settings(**given: object) -> TrainingSettings:
    read = read_settings({}, given)
    assert not isinstance(read, list), read
    return read


def prepared(path: str, **given: object) -> TrainingData:
    return load_data(settings(train=[path], **given))


def test_rows_without_labels_are_dropped_with_missing_drop(tmp_path: Path) -> None:
    classes = write(tmp_path, "x,label\n1,a\n2,\n,b\n4,b\n5,a\n")
    with pytest.raises(DataError, match="1 label is missing"):
        read_table(classes)
    data = prepared(classes, missing="drop")
    assert data.classes == ("a", "b")
    assert data.train.targets.tolist() == [0, 1, 0]
    numbers = write(tmp_path, "x,label\n1,10\n2,\n,30\n4,40\n")
    data = prepared(numbers, missing="drop", task="regression")
    assert data.train.targets.tolist() == [10, 40]
    table = replace(Table.from_arrays([[1.0], [2.0], [3.0]]), targets=np.array([1, np.nan, 3]))
    assert prepare(table, settings(missing="drop", task="regression")).train.rows == 2


def test_doubtful_columns_and_labels_get_a_note(tmp_path: Path) -> None:
    rows = [f"{number},5,same,person {number},class {number}" for number in range(60)]
    path = write(tmp_path, "x,five,word,who,label\n" + "\n".join(rows) + "\n")
    notes = prepared(path).notes
    assert any("'five', 'word' have the same value in all training rows" in n for n in notes)
    assert any("'who (60 levels)'" in n and "only names rows" in n for n in notes)
    assert any("60 classes in 60 training rows" in n for n in notes)
    rows = [f"{number},{number % 2},{'ab'[number % 2]}" for number in range(60)]
    assert not prepared(write(tmp_path, "x,y,label\n" + "\n".join(rows) + "\n")).notes


def test_the_command_says_all_defects_and_a_good_table_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(NETWORK)
    write(tmp_path, defective())
    flags = ("--label", "label", "--weight", "weight", "--exclude", "nmae", "--validation", "fold")
    answer = netsharp("run", "net.nn", "--train", "t.csv", *flags, cwd=tmp_path)
    assert answer.code == 2
    assert not answer.out
    lines = answer.err.splitlines()
    assert len(lines) == 1 + len(DEFECTS)
    assert all(line.startswith("netsharp: ") for line in lines)
    rows = [f"{number};{number % 7},5;{'red' if number % 2 else 'blue'};a" for number in range(40)]
    write(tmp_path, ";x;colour;label\n" + "\n".join(rows[:20]) + "\n20;1,5;red;b\n")
    answer = netsharp("run", "net.nn", "--train", "t.csv", "--epochs", "1", cwd=tmp_path)
    assert answer.code == 0, answer.err
    for note in ("decimal comma", "counts the rows", "'colour' (2 levels)"):
        assert f"{note}" in answer.out
