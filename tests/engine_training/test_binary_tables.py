"""NumPy archives, IDX files and Parquet as tables."""

from __future__ import annotations

import builtins
import gzip
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.data import DataError, ReadOptions, class_names, feature_count, read_table


def write_idx(path, array, packed=False):
    codes = {"uint8": 8, "int16": 0x0B, "float32": 0x0D}
    head = bytes((0, 0, codes[str(array.dtype)], array.ndim))
    head += struct.pack(f">{array.ndim}I", *array.shape)
    content = head + array.astype(array.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(gzip.compress(content) if packed else content)


@pytest.mark.parametrize("packed", [False, True])
def test_idx_images_with_their_labels(tmp_path, packed):
    suffix = ".gz" if packed else ""
    images = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
    write_idx(tmp_path / f"train-images-idx3-ubyte{suffix}", images, packed)
    write_idx(tmp_path / f"train-labels-idx1-ubyte{suffix}", np.uint8([7, 0, 7, 3]), packed)
    path = str(tmp_path / f"train-images-idx3-ubyte{suffix}")
    beside = read_table(path)
    label_path = str(tmp_path / f"train-labels-idx1-ubyte{suffix}")
    named = read_table(path, ReadOptions(labels=(label_path,)))
    for table in (beside, named):
        np.testing.assert_array_equal(table.numbers, images.reshape(4, 6))
        assert table.classes == ("0", "3", "7")
        assert table.class_codes.tolist() == [2, 0, 2, 1]
    assert feature_count(path) == 6
    assert class_names(path) == ("0", "3", "7")


def test_idx_of_other_types_is_read_big_endian(tmp_path):
    values = np.float32([[1.5, -2.25], [0.1, 1e9]])
    write_idx(tmp_path / "x.idx", values)
    write_idx(tmp_path / "y.idx", np.int16([-1, 1]))
    options = ReadOptions(labels=(str(tmp_path / "y.idx"),))
    table = read_table(str(tmp_path / "x.idx"), options)
    np.testing.assert_array_equal(table.numbers, values)
    assert table.classes == ("-1", "1")


def test_idx_faults(tmp_path):
    images = tmp_path / "a-images-idx3-ubyte"
    labels = tmp_path / "a-labels-idx1-ubyte"
    write_idx(images, np.zeros((3, 2, 2), np.uint8))
    write_idx(labels, np.zeros(2, np.uint8))
    with pytest.raises(DataError, match="has 2 labels for the 3 images of"):
        read_table(str(images))
    with pytest.raises(DataError, match="Are images and labels exchanged"):
        read_table(str(labels), ReadOptions(labels=(str(images),)))
    labels.write_bytes(b"\x12\x34\x56\x78")
    with pytest.raises(DataError, match="is not an IDX file: it starts with 12 34 56 78"):
        read_table(str(images))
    images.write_bytes(b"PNG image")
    with pytest.raises(DataError, match="is not an IDX file"):
        read_table(str(images))
    write_idx(images, np.zeros((3, 2, 2), np.uint8))
    images.write_bytes(images.read_bytes()[:-1])
    with pytest.raises(
        DataError, match=r"has 11 of the 12 bytes that its header \[3, 2, 2\] names"
    ):
        read_table(str(images))


def test_npz(tmp_path):
    path = tmp_path / "t.npz"
    x = np.arange(12, dtype=np.float64).reshape(3, 2, 2)
    np.savez_compressed(path, x=x, y=np.array(["b", "a", "b"]), weight=np.array([1, 2, 3]))
    table = read_table(str(path), ReadOptions(weight="weight"))
    np.testing.assert_array_equal(table.numbers, x.reshape(3, 4))
    assert table.classes == ("a", "b")
    assert table.weights.tolist() == [1, 2, 3]
    assert table.label == "y"
    np.savez(path, data=x, target=np.array([0.5, 1.5, 2.5]))
    table = read_table(str(path), ReadOptions(task="regression"))
    assert table.targets.tolist() == [0.5, 1.5, 2.5]
    assert feature_count(str(path)) == 4


def test_a_category_may_be_infinite(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, x=np.array([[1, np.inf], [2, 3], [3, np.nan]]), y=np.array(["b", "a", "b"]))
    table = read_table(str(path), ReadOptions(categorical=(2,)))
    assert table.columns[1].levels == ("3", "inf")
    assert table.codes[0].tolist() == [1, 0, -1]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    columns = {
        "x": pa.array([1, None, 3]),
        "flag": pa.array([True, False, True]),
        "colour": pa.array(["red", "blue", None]).dictionary_encode(),
        "label": pa.array([2.0, 1.0, 2.0]),
    }
    parquet.write_table(pa.table(columns), path)
    options = ReadOptions(categorical=("colour",), missing="zero")
    table = read_table(str(path), options)
    np.testing.assert_array_equal(table.numbers, [[1, 1], [np.nan, 0], [3, 1]])
    assert table.columns[2].levels == ("blue", "red")
    assert table.codes[0].tolist() == [1, 0, -1]
    assert table.classes == ("1", "2")
    with pytest.raises(DataError, match="row 2, column 'x': the value is missing"):
        read_table(str(path), ReadOptions(categorical=("colour",)))
    # Texts are categories, whether they are named so or not.
    assert read_table(str(path), ReadOptions(missing="zero")).columns == table.columns
    columns["day"] = pa.array([0, 1, 2], pa.date32())
    parquet.write_table(pa.table(columns), path)
    with pytest.raises(DataError, match=r"column 'day'.*date32.*categorical = \[\"day\"\]"):
        read_table(str(path), ReadOptions(missing="zero"))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="damaged Parquet file"):
        read_table(str(path))


def test_parquet_without_pyarrow_is_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and so on")
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=r'pip install "netsharp\[data\]"'):
        read_table(str(path))


def test_a_text_of_many_rows_is_kept_once(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    names = ["a" * 2**16, "b"] * 2048
    parquet.write_table(pa.table({"x": [1.0] * 4096, "label": names}), path)
    tracemalloc.start()
    table = read_table(str(path), ReadOptions(label="label"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.classes == ("a" * 2**16, "b")
    assert peak < 2**24
