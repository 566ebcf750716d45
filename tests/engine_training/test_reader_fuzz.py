"""Whatever bytes a data file holds, reading gives a table or a sentence."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netsharp_engine.data import DataError, Encoding, ReadOptions, class_names, read_table

CELLS = st.sampled_from(
    ["1", "-2.5", "", "nan", "inf", "1e400", "x", '"a,b"', '"', "é", " 7 ", "1_0", "?", "0x1", "\0"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
ROW = st.lists(CELLS, min_size=1, max_size=4)
OPTIONS = st.builds(
    ReadOptions,
    label=st.sampled_from([None, 1, 2, "x", "label"]),
    weight=st.sampled_from([None, None, 2]),
    categorical=st.sampled_from([(), (1,), ("x",)]),
    header=st.sampled_from([None, True, False]),
    missing=st.sampled_from(["error", "mean", "zero"]),
    task=st.sampled_from(["classification", "regression"]),
    rows=st.sampled_from([None, 2]),
)
QUICK = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def read(path, options):
    """Read as training does; DataError is the only error."""
    try:
        table = read_table(str(path), options)
        features = Encoding.fit(table, missing=options.missing).encode(table)
    except DataError:
        return
    assert np.isfinite(features).all()
    assert table.labelled


@QUICK
@given(rows=st.lists(ROW, max_size=6), end=ENDS, between=st.sampled_from(",;\t|"), options=OPTIONS)
def test_tables_of_odd_cells(tmp_path, rows, end, between, options):
    path = tmp_path / "t.csv"
    text = end.join(between.join(row) for row in rows)
    path.write_bytes(text.encode())
    read(path, options)


@QUICK
@given(content=st.binary(max_size=200), head=st.sampled_from([b"", b"x,label\n", b"PK\x03\x04"]))
def test_any_bytes(tmp_path, content, head):
    for name in ("t.csv", "t.csv.gz", "t.npz", "t-images-idx3-ubyte", "t.parquet"):
        path = tmp_path / name
        path.write_bytes(head + content)
        read(path, ReadOptions())


@pytest.mark.parametrize("packed", [False, True])
def test_an_idx_header_of_enormous_size_takes_no_memory(tmp_path, packed):
    path = tmp_path / "x.idx"
    content = b"\0\0\x08\x04" + b"\xff" * 16 + b"data"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=r"has 4 of the \d+ bytes that its header"):
        read_table(str(path))


MAGICS = [b"\x1f\x8b\x08\x00", b"\x93NUMPY\x01\x00", b"PAR1", b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02"]


@QUICK
@given(content=st.binary(max_size=120), magic=st.sampled_from(MAGICS))
def test_any_bytes_after_a_known_beginning(tmp_path, content, magic):
    path = tmp_path / "t.bin"
    path.write_bytes(magic + content)
    read(path, ReadOptions(label=1))


@pytest.mark.parametrize("options", [ReadOptions(label=1), ReadOptions(label="b")])
def test_class_names_of_any_table_is_those_of_reading(tmp_path, options):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,x,3\n2,y,4\n2,x,5\n" if options.label == "b" else "1,2\n3,4\n")
    categorical = ("a",) if options.label == "b" else ()
    full = ReadOptions(label=options.label, categorical=categorical)
    assert class_names(str(path), options) == read_table(str(path), full).classes
