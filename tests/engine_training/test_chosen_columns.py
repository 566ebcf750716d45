"""The setting `columns`: features by name, in the order that it says, in every kind of table."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.data import DataError, ReadOptions, feature_count
from netsharp_engine.data.reading.read import read_table

TEXT = "id,a,b,c,kind,y\n1,2,3,4,u,0\n5,6,7,8,v,1\n9,1,2,3,u,1\n"


def test_features_come_as_they_are_chosen(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    options = ReadOptions(label="y", columns=("c", "kind", "A"), dtype="float64")
    table = read_table(str(path), options)
    assert [column.name for column in table.columns] == ["c", "kind", "a"]
    assert table.numbers.tolist() == [[4, 2], [8, 6], [3, 1]]
    assert feature_count(str(path), options) == 5
    assert feature_count(str(path), ReadOptions(label="y", columns=("id",))) == 1


def test_what_is_not_there_or_plays_another_part(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match=r"has no feature column 'kin'\. Did you mean 'kind'\?"):
        read_table(str(path), ReadOptions(label="y", columns=("a", "kin")))
    table = read_table(str(path), ReadOptions(label="y", columns=("y", "a", "b"), exclude=("b",)))
    assert [column.name for column in table.columns] == ["a"]
    with pytest.raises(DataError, match="has no column left for the features"):
        read_table(str(path), ReadOptions(label="y", columns=("y",)))


def test_parquet_gives_what_text_gives(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    columns = {"id": [1, 5, 9], "a": [2, 6, 1], "b": [3, 7, 2], "c": [4, 8, 3]}
    columns |= {"kind": ["u", "v", "u"], "y": [0, 1, 1]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    options = ReadOptions(label="y", columns=("b", "kind", "id"))
    tables = [read_table(str(tmp_path / name), options) for name in ("t.csv", "t.parquet")]
    np.testing.assert_array_equal(tables[0].numbers, tables[1].numbers)
    assert [c.name for c in tables[0].columns] == [c.name for c in tables[1].columns]
