"""A file that is not a prepared table of this run is made again: spoiled, misplaced, or made up."""

from __future__ import annotations

import dataclasses
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.data.storage import files
from netsharp_engine.data.storage.places import BESIDE, listed
from netsharp_engine.train import TrainingData
from netsharp_engine.train.loading import prepared
from tests.engine_training.prepared.tables import bits, kept_in, loaded, written


def spoiled(path: Path, how: str) -> None:
    """Spoil a file of a table, as another program or a disk may."""
    data = path.read_bytes()
    changed = {
        "empty": b"",
        "cut": data[:-7],
        "half": data[: len(data) // 2],
        "zeros": bytes(len(data)),
        "flipped": data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
        "table": data[:-200] + bytes([data[-200] ^ 1]) + data[-199:],
        "foreign": b"netsharp table 9\n" + data[17:],
        "more": data + b"x",
    }
    path.write_bytes(changed[how])


@pytest.mark.parametrize(
    "how", ["empty", "cut", "half", "zeros", "flipped", "table", "foreign", "more"]
)
def test_a_spoiled_table_is_made_again(how: str, tmp_path: Path, reads: list[str]) -> None:
    written(tmp_path / "t.csv")
    wanted = bits(loaded(tmp_path, cache="always"))
    spoiled(kept_in(tmp_path)[0], how)
    assert bits(loaded(tmp_path, cache="always")) == wanted
    assert len(reads) == 2
    assert bits(loaded(tmp_path, cache="always")) == wanted
    assert len(reads) == 2


def test_a_table_in_the_place_of_another_is_not_taken(tmp_path: Path, reads: list[str]) -> None:
    written(tmp_path / "t.csv")
    loaded(tmp_path, cache="always")
    loaded(tmp_path, cache="always", normalizer="minmax")
    first, second = kept_in(tmp_path)
    shutil.copy2(first, second)
    for flags in ({}, {"normalizer": "minmax"}):
        data = loaded(tmp_path, cache="always", **flags)
        assert data.normalizer.name == flags.get("normalizer", "robust")
    assert len(reads) == 3


def test_a_table_that_says_impossible_things_is_made_again(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole files, but with rows and classes that do not exist."""
    written(tmp_path / "t.csv")
    keep = prepared.WantedData.keep
    for field, value in (("index", 10**6), ("targets", 7), ("targets", -1)):

        def wrongly(
            self: Any, store: Any, data: TrainingData, field: str = field, value: int = value
        ) -> bool:
            array = np.array(getattr(data.train, field))
            array[3] = value
            part = dataclasses.replace(data.train, **{field: array})
            return keep(self, store, dataclasses.replace(data, train=part))

        with monkeypatch.context() as patched:
            patched.setattr(prepared.WantedData, "keep", wrongly)
            loaded(tmp_path, cache="always")
        before = len(reads)
        assert bits(loaded(tmp_path, cache="always")) == bits(loaded(tmp_path, cache="never"))
        assert len(reads) == before + 2
        kept_in(tmp_path)[0].unlink()


#: Arrays of the wrong kind, by what they stand for: each would be refused by what computes.
MISFITS: list[tuple[str, Callable[[Any], Any]]] = [
    ("weights", lambda one: np.ones(len(one), "<i4")),
    ("weights", lambda one: np.ones(len(one), "<f4")),
    ("weights", lambda one: np.ones((len(one), 1))),
    ("sample_weights", lambda one: np.ones(3)),
    ("index", lambda one: one[:0]),
    ("index", lambda one: one.astype("<f8")),
    ("matrix", lambda one: one.astype("<f2")),
    ("matrix", lambda one: one.astype("<f8")),
    ("matrix", lambda one: one[:, :1]),
    ("targets", lambda one: one[:-1]),
]


@pytest.mark.parametrize(("field", "change"), MISFITS)
def test_a_table_whose_arrays_do_not_fit_is_made_again(
    field: str,
    change: Callable[[Any], Any],
    tmp_path: Path,
    reads: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written(tmp_path / "t.csv")
    keep = prepared.WantedData.keep

    def wrongly(self: Any, store: Any, data: TrainingData) -> bool:
        changed = change(getattr(data.train, field) if field != "sample_weights" else None)
        part = dataclasses.replace(data.train, **{field: changed})
        return keep(self, store, dataclasses.replace(data, train=part))

    flags = {"class_weights": "balanced"}
    with monkeypatch.context() as patched:
        patched.setattr(prepared.WantedData, "keep", wrongly)
        loaded(tmp_path, cache="always", **flags)
    before = len(reads)
    assert bits(loaded(tmp_path, cache="always", **flags)) == bits(
        loaded(tmp_path, cache="never", **flags)
    )
    assert len(reads) == before + 2


def sealed(text: bytes) -> bytes:
    """A whole file without arrays whose table is this text."""
    tail = files.TAIL.pack(len(files.MARK), len(text), zlib.crc32(text), files.MARK)
    return files.MARK + text + tail


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"written": 2, "values": {"sources": [["a\\u0000b", "1", "1", "1", "1"]]}}',
        b'{"written": 2, "values": {"sources": [["a", "1"]]}}',
        b'{"written": 2, "values": {"sources": ["abc", 7]}}',
        b'{"written": 2, "values": 7}',
    ],
    ids=["deep", "null", "short", "no lists", "no values"],
)
def test_what_someone_made_up_is_damaged_and_blocks_nothing(
    text: bytes, tmp_path: Path, reads: list[str]
) -> None:
    written(tmp_path / "t.csv")
    wanted = bits(loaded(tmp_path, cache="always"))
    (table,) = kept_in(tmp_path)
    for path in (table, table.with_name("other.table")):
        path.write_bytes(sealed(text))
        os.utime(path, (2, 2))
    assert [one.state for one in listed(str(tmp_path / BESIDE))] == ["damaged", "damaged"]
    assert bits(loaded(tmp_path, cache="always")) == wanted
    assert len(reads) == 2
