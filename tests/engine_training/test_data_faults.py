"""Every fault of a data file is one sentence that names the place and what to do."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from netsharp_engine.data import DataError, ReadOptions, read_table

CLASSES = ReadOptions(label="label")
FAULTS = {
    "ragged row": (
        b"x,y,label\n1,2,a\n1,2\n",
        CLASSES,
        ["t.csv, line 3: 2 values where the first row has 3", "delimiter"],
    ),
    "too many values": (
        b"x,y,label\n1,2,a\n1,2,3,a\n",
        CLASSES,
        ["t.csv, line 3: 4 values where the first row has 3"],
    ),
    "word in a numeric column": (
        b"x,y,label\n1,2,a\n1,red,b\n",
        CLASSES,
        ["t.csv, line 3, column 'y': 'red' is not a number", 'categorical = ["y"]'],
    ),
    "underscore in a number": (
        b"x,y,label\n1,2,a\n1,1_0,b\n",
        CLASSES,
        ["t.csv, line 3, column 'y': '1_0' is not a number"],
    ),
    "infinite number": (
        b"x,y,label\n1,2,a\n1,inf,b\n",
        CLASSES,
        ["t.csv, line 3, column 'y': inf is too large for float32"],
    ),
    "number beyond float32": (
        b"x,y,label\n1,1e39,a\n",
        CLASSES,
        ["line 2, column 'y': 1e+39 is too large for float32"],
    ),
    "no label column of that name": (
        b"x,y,lable\n1,2,a\n",
        CLASSES,
        ["t.csv has no label column 'label'. Did you mean 'lable'?"],
    ),
    "no label column at all": (
        b"x,y,z\n1,2,3\n",
        ReadOptions(),
        ["t.csv: which column is the label?", "The columns are: x, y, z."],
    ),
    "no such column number": (
        b"x,y,z\n1,2,3\n",
        ReadOptions(label=4),
        ["t.csv has 3 columns: there is no label column 4."],
    ),
    "categorical name": (
        b"colour,label\n1,a\n",
        ReadOptions(label="label", categorical=("color",)),
        ["no categorical column 'color'. Did you mean 'colour'?"],
    ),
    "label named twice": (
        b"x,label\n1,a\n",
        ReadOptions(label="label", categorical=("label",)),
        ["'label' is the label column and cannot also be categorical"],
    ),
    "empty": (b"", CLASSES, ["t.csv is empty: a header or at least one row is needed."]),
    "blank lines alone": (b"\n\n\n", CLASSES, ["t.csv is empty"]),
    "header alone": (b"x,label\n", CLASSES, ["t.csv has no rows below its header."]),
    "only a label": (b"label\na\n", CLASSES, ["no column left for the features"]),
    "damaged UTF-8": (
        b"x,label\n1,\xc3\xa9\n2,caf\xe9\n",
        CLASSES,
        ["t.csv, line 3: the byte e9", "is not UTF-8", "Save the file as UTF-8", "encoding"],
    ),
    "neither UTF-8 nor Windows-1252": (
        b"caf\x81,label\n1,a\n",
        CLASSES,
        ["t.csv, line 1: the byte 81"],
    ),
    "not the encoding that is named": (
        b"x,label\n1,caf\xe9\n",
        ReadOptions(encoding="utf-8"),
        ["t.csv, line 2: the byte e9"],
    ),
    "encoding": (b"x,label\n1,a\n", ReadOptions(encoding="klingon"), ["'klingon' is not known"]),
    "damaged UTF-16": (
        "x,label\n1,a\n".encode("utf-16") + b"\x00\xd8\x41",
        CLASSES,
        ["t.csv is not UTF-16 text", "Name another encoding"],
    ),
    "decimal": (b"x;label\n1;a\n", ReadOptions(decimal="dot"), ["decimal = 'dot' cannot be used"]),
    "decimal comma between commas": (
        b"x,label\n1,a\n",
        ReadOptions(decimal="comma"),
        ["separated by commas, so no number can have a decimal comma"],
    ),
    "open quote": (
        b'x,label\n1,a\n2,"b\n3,a\n',
        CLASSES,
        ["t.csv, line 3: a quoted value is opened and never closed"],
    ),
    "text after a quote": (
        b'x,label\n1,"a"b\n',
        CLASSES,
        ["t.csv, line 2: a closing quote is followed by more text"],
    ),
    "two columns of one name": (
        b"x,x,label\n1,2,a\n",
        CLASSES,
        ["columns 1 and 2 are both named 'x'"],
    ),
    "missing label": (
        b"x,label\n1,a\n2,\n",
        CLASSES,
        ["t.csv, line 3, column 'label': the label is missing. Fill it or remove the row."],
    ),
    "missing number label": (
        b"x,label\n1,2\n2,\n",
        ReadOptions(label="label", task="regression"),
        ["t.csv, line 3, column 'label': the label is missing"],
    ),
    "label that is no number": (
        b"x,label\n1,2\n2,red\n",
        ReadOptions(label="label", task="regression"),
        ["t.csv, line 3, column 'label': 'red' is not a number"],
    ),
    "negative weight": (
        b"x,w,label\n1,2,a\n2,-1,b\n",
        ReadOptions(label="label", weight="w"),
        ["t.csv, line 3, column 'w': the weight -1 is negative"],
    ),
    "split column": (
        b"x,held,label\n1,0,a\n2,maybe,b\n",
        ReadOptions(label="label", split="held"),
        ["t.csv, line 3, column 'held': 'maybe' does not say"],
    ),
    "truncated gzip": (
        gzip.compress(b"x,label\n" + b"1,a\n" * 5000)[:-20],
        CLASSES,
        ["t.csv ends in the middle of its gzip stream"],
    ),
    "damaged gzip": (
        gzip.compress(b"x,label\n1,a\n2,b\n")[:-8] + b"\1" * 8,
        CLASSES,
        ["t.csv is a damaged gzip file"],
    ),
    "binary": (b"\x7fELF\0\0\0\0\0", CLASSES, ["t.csv is not a table that can be read"]),
    "delimiter": (
        b"x,label\n1,a\n",
        ReadOptions(delimiter="comma or so"),
        ["The delimiter 'comma or so' cannot be used"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_text_faults(tmp_path, fault):
    content, options, reported = FAULTS[fault]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(str(path), options)
    for part in reported:
        assert part in str(caught.value)
    assert str(caught.value).rstrip()[-1] in ".?])"


def test_faults_far_into_a_file_name_their_line(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["1,2,a"] * 400_000
    rows[399_000] = "1,red,a"
    path.write_text("x,y,label\n" + "\n".join(rows))
    with pytest.raises(DataError, match="line 399002, column 'y': 'red'"):
        read_table(str(path), CLASSES)


def test_paths_that_are_no_file(tmp_path):
    (tmp_path / "digits.csv").write_text("x,label\n1,a\n")
    with pytest.raises(DataError, match=r"There is no file .*digit\.csv\. Did you mean"):
        read_table(str(tmp_path / "digit.csv"))
    with pytest.raises(DataError, match=r"is a directory\. Name its files or a glob"):
        read_table(str(tmp_path))
    with pytest.raises(DataError, match=r"No file matches .*\*\.tsv"):
        read_table(str(tmp_path / "*.tsv"))
    with pytest.raises(DataError, match="There is no directory"):
        read_table(str(tmp_path / "nowhere" / "x.csv"))
    with pytest.raises(DataError, match="No data file is named"):
        read_table([])


def test_files_that_are_not_one_table(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,label\n1,2,p\n")
    for content, reported in [
        ("x,z,label\n1,2,p\n", "has no column 'y', which"),
        ("x,y,z,label\n1,2,3,p\n", "has a column 'z', which"),
        ("5,6,7\n1,2,p\n", "has a header and"),
        ("5,6\n1,2\n", "has 2 columns"),
    ]:
        (tmp_path / "b.csv").write_text(content)
        with pytest.raises(DataError, match=reported):
            read_table(["a.csv", "b.csv"], CLASSES, directory=str(tmp_path))


def test_arrays_that_do_not_fit(tmp_path):
    path = tmp_path / "t.npz"
    for arrays, reported in [
        ({"x": np.zeros((3, 2)), "y": np.zeros(4)}, r"'y' has the shape \(4,\)"),
        ({"p": np.zeros((3, 2)), "q": np.zeros((3, 2))}, "name the features 'x'"),
        ({"x": np.array([["a", "b"]]), "y": np.zeros(1)}, "numbers are needed"),
        ({"x": np.zeros(3), "y": np.zeros(3)}, "features need one row per sample"),
        ({"x": np.zeros((0, 2)), "y": np.zeros(0)}, "has no rows"),
        ({"x": np.full((1, 1), np.nan), "y": np.zeros(1)}, "row 1, column 'column1'.*missing"),
        ({"x": np.full((1, 2), np.nan), "y": np.zeros(1)}, r"2 values are missing in 2 columns"),
    ]:
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=reported):
            read_table(str(path))


def test_pickled_arrays_are_never_loaded(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, x=np.array([[object()]], dtype=object), y=np.zeros(1))
    with pytest.raises(DataError, match="holds Python objects, which are never loaded"):
        read_table(str(path))


def test_damaged_archives(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, x=np.zeros((50, 2)), y=np.zeros(50))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"damaged \.npz"):
        read_table(str(path))
    path.write_bytes(b"no archive at all")
    with pytest.raises(DataError, match=r"is not a npz file: it starts with"):
        read_table(str(path))
