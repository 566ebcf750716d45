"""CSV and TSV files as tables: every way they are written gives the same rows."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from netsharp_engine.data import (
    DataError,
    ReadOptions,
    class_names,
    feature_count,
    find_files,
    read_table,
)

PLAIN = "age,height,label\n31,1.75,yes\n22,1.5,no\n40,1.625,yes\n"
NUMBERS = [[31, 1.75], [22, 1.5], [40, 1.625]]

WRITTEN = {
    "plain": PLAIN.encode(),
    "crlf": PLAIN.replace("\n", "\r\n").encode(),
    "cr only": PLAIN.replace("\n", "\r").encode(),
    "mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "no last line end": PLAIN.rstrip("\n").encode(),
    "blank lines": PLAIN.replace("\n", "\n\n").encode(),
    "semicolons": PLAIN.replace(",", ";").encode(),
    "tabs": PLAIN.replace(",", "\t").encode(),
    "bars": PLAIN.replace(",", "|").encode(),
    "spaces around": PLAIN.replace(",", " , ").encode(),
    "quoted": b'"age","height","label"\n"31","1.75","yes"\n22,1.5,no\n40,1.625,"yes"\n',
    "one quoted cell": PLAIN.replace("no", '"no"').encode(),
    "gzip": gzip.compress(PLAIN.encode()),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_every_way_of_writing_gives_the_same_rows(tmp_path, way):
    path = tmp_path / "people.csv"
    path.write_bytes(WRITTEN[way])
    table = read_table(str(path))
    assert [column.name for column in table.columns] == ["age", "height"]
    assert table.numbers.dtype == np.float32
    np.testing.assert_array_equal(table.numbers, np.float32(NUMBERS))
    assert table.classes == ("no", "yes")
    assert table.class_codes.tolist() == [1, 0, 1]
    assert table.label == "label"


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('city,x,label\n"Rome, Italy",1,a\n"say ""hi""",2,b\n"two\nlines",3,a\n')
    table = read_table(str(path), ReadOptions(categorical=("city",)))
    assert table.columns[0].levels == ("Rome, Italy", 'say "hi"', "two\nlines")
    assert table.codes[0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(table.numbers[:, 0], [1, 2, 3])


def test_lines_are_counted_through_quoted_line_ends(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('city,x,label\n"two\nlines",3,a\n"b",oops,a\n')
    with pytest.raises(DataError, match=r"odd\.csv, line 4, column 'x': 'oops' is not a number"):
        read_table(str(path), ReadOptions(categorical=("city",)))


@pytest.mark.parametrize(
    ("first", "options", "names"),
    [
        ("1,2,3\n4,5,6\n", {}, ["column1", "column2"]),
        ("a,b,c\n4,5,6\n", {}, ["a", "b"]),
        ("c,1,2\n5,0,1\n", {}, ["c", "1"]),
        ("1,2,3\n4,5,6\n", {"header": True}, ["1", "2"]),
        ("x,2,3\ny,5,6\n", {"header": False, "categorical": (1,)}, ["column1", "column2"]),
        ("x,2,3\ny,5,6\n", {"categorical": (1,)}, ["column1", "column2"]),
    ],
)
def test_headers_are_found_or_forced(tmp_path, first, options, names):
    path = tmp_path / "t.csv"
    path.write_text(first)
    table = read_table(str(path), ReadOptions(label=3, **options))
    assert [column.name for column in table.columns] == names


def test_a_name_that_is_expected_marks_the_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,kind\n3,4,a\n")
    table = read_table(str(path), ReadOptions(label="kind"))
    assert table.rows == 1
    assert [column.name for column in table.columns] == ["1", "2"]


def test_several_files_and_globs_are_one_table_whatever_the_order_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,label\n1,2,p\n")
    (tmp_path / "b.csv").write_text("label,y,x\nq,20,10\n")
    for paths in (["a.csv", "b.csv"], "*.csv"):
        table = read_table(paths, directory=str(tmp_path))
        np.testing.assert_array_equal(table.numbers, [[1, 2], [10, 20]])
        assert table.classes == ("p", "q")


def test_a_file_named_with_brackets_is_that_file(tmp_path):
    (tmp_path / "a[1].csv").write_text("x,label\n1,p\n")
    assert find_files("a[1].csv", str(tmp_path)) == [str(tmp_path / "a[1].csv")]


def test_rows_limit_spans_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,p\n2,q\n")
    (tmp_path / "b.csv").write_text("x,label\n3,p\n4,q\n")
    table = read_table("*.csv", ReadOptions(rows=3), directory=str(tmp_path))
    assert table.numbers[:, 0].tolist() == [1, 2, 3]


def test_labels_weights_and_marks_leave_the_features(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,w,held,y,id\n1,0.5,1,10,a\n2,2,0,20,b\n3,1,,30,c\n")
    options = ReadOptions(
        label="y", weight="w", split="held", exclude=("id",), task="regression", dtype="float64"
    )
    table = read_table(str(path), options)
    assert [column.name for column in table.columns] == ["x"]
    assert table.numbers.dtype == np.float64
    assert table.targets.tolist() == [10, 20, 30]
    assert table.weights.tolist() == [0.5, 2, 1]
    assert table.held_out.tolist() == [True, False, False]


def test_class_names_of_numbers_are_sorted_by_value_and_shortest(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,label\n1,10\n2,9.0\n3,-1\n4,2.50\n")
    table = read_table(str(path))
    assert table.classes == ("-1", "2.5", "9", "10")
    assert class_names(str(path)) == table.classes


def test_labels_read_alike_by_the_fast_and_the_slow_way(tmp_path):
    rows = [f"{row},{row % 12}" for row in range(300_000)]
    (tmp_path / "fast.csv").write_text("x,label\n" + "\n".join(rows) + "\n")
    rows[150_000] = '"150000","0"'
    (tmp_path / "slow.csv").write_text("x,label\n" + "\n".join(rows) + "\n")
    fast = read_table(str(tmp_path / "fast.csv"))
    slow = read_table(str(tmp_path / "slow.csv"))
    assert fast.classes == slow.classes == tuple(str(number) for number in range(12))
    np.testing.assert_array_equal(fast.class_codes, slow.class_codes)
    np.testing.assert_array_equal(fast.numbers, slow.numbers)
    np.testing.assert_array_equal(fast.numbers[:, 0], np.arange(300_000, dtype=np.float32))


def test_missing_cells(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,label\n1,,a\nNA,4,b\n3, ? ,a\n5,nan,b\n")
    with pytest.raises(DataError) as caught:
        read_table(str(path))
    message = "4 values are missing in 2 columns: column 1 'x' 1 (first in line 3); column 2 'y' 3"
    assert f"t.csv: {message} (first in line 2). Fill them, or set missing" in str(caught.value)
    table = read_table(str(path), ReadOptions(missing="mean"))
    assert np.isnan(table.numbers).tolist() == [
        [False, True],
        [True, False],
        [False, True],
        [False, True],
    ]


def test_progress_reaches_the_end(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))
    seen = []
    read_table(str(path), progress=seen.append)
    assert seen[-1].bytes_read == seen[-1].bytes_total == path.stat().st_size
    assert seen[-1].rows == 3
    assert seen[-1].remaining == 0


def test_feature_count_reads_the_header_alone_unless_columns_are_categorical(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,label\n1,2,7,x\n3,4,8,y\nnot a number,,,\n")
    assert feature_count(str(path)) == 3
    assert feature_count(str(path), ReadOptions(label="label", exclude=("b",))) == 2
    path.write_text("a,b,c,label\n1,2,red,x\n3,4,blue,y\n5,6,,y\n")
    options = ReadOptions(categorical=("c",))
    assert feature_count(str(path), options) == 2 + 3
    assert feature_count(str(path), options, unknown=False) == 2 + 2
    assert feature_count(str(path)) == 2 + 3


def test_a_weight_of_a_large_row_keeps_float64(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,label\n1,16777217\n2,3\n")
    assert read_table(str(path)).classes == ("3", "16777217")


READ_STDIN = """
from netsharp_engine.data import feature_count, read_table
assert feature_count("-") == 2
table = read_table("-")
print(table.rows, table.classes, table.paths[0])
"""


def test_standard_input_is_a_file_like_others():
    done = subprocess.run(
        [sys.executable, "-c", READ_STDIN],
        input=gzip.compress(PLAIN.encode()),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    found, path = done.stdout.decode().rsplit(" ", 1)
    assert found == "3 ('no', 'yes')"
    assert not os.path.exists(path.strip())
