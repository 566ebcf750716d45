"""Prepared tables in files: the bits of tables in memory, found again until anything changes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netsharp_engine.data import DataError
from netsharp_engine.data.reading import arrays
from netsharp_engine.data.storage import files
from netsharp_engine.data.storage.places import BESIDE, MOST_KEPT, listed
from netsharp_engine.train import load_data, read_settings
from netsharp_engine.train.loading import prepared
from netsharp_engine.train.settings.keys import KEYS
from netsharp_engine.train.tasks import OutputForm
from tests.engine_training.prepared.tables import ROWS, SETTINGS, bits, kept_in, loaded, written

#: Keys that name the files, and how prepared tables are kept; a table names its files itself.
FILES = ("train", "test", "labels", "validation", "cache")
#: Keys that only the training reads, after the table is prepared.
OF_TRAINING = (
    *("hidden_nodes", "optimizer", "learning_rate", "momentum", "nesterov", "weight_decay"),
    *("max_norm", "clip_norm", "clip_value", "dropout", "epochs", "batch_size", "seed", "shuffle"),
    *("init", "init_diameter", "patience", "threads", "checkpoint", "quantize"),
    *("device", "precision"),
    *("rate_reduction_ratio", "rate_reduction_frequency", "rate_reduction_error_ratio"),
    *("schedule", "schedule_epochs", "schedule_factor", "schedule_least"),
    *("adadelta_decay", "adadelta_constant", "adam_beta1", "adam_beta2", "adam_epsilon"),
)


NUMBER = {"label": "number", "task": "regression", "exclude": "label"}
CASES: list[dict[str, Any]] = [
    *({"normalizer": name} for name in ("minmax", "minmax-zero", "gaussian", "robust", "none")),
    {"normalizer": "binning", "bins": 16, "validation": 0.2},
    {"optimizer": "sgd", "momentum": 0.9, "dtype": "float64"},
    {"missing": "drop", "validation": 0.3, "seed": 5},
    {"missing": "indicator", "exclude": "number", "weight": "weight"},
    {"missing": "zero", "class_weights": "balanced", "exclude": "number", "weight": "weight"},
    {**NUMBER, "weight": "weight", "validation": 0.25},
    {**NUMBER, "exclude": "label, colour", "normalizer": "binning"},
    {"label": ["number", "c"], "task": "regression", "exclude": "label"},
    {"label": 7, "rows": 333, "unknown_level": False, "exclude": "number"},
    {"label": "label", "exclude": "a, b, c, number, weight"},
]


@pytest.mark.parametrize("flags", CASES, ids=str)
def test_training_over_a_map_gives_the_bits_of_memory(
    flags: dict[str, Any], tmp_path: Path
) -> None:
    written(tmp_path / "t.csv")
    in_memory = bits(loaded(tmp_path, cache="never", **flags))
    assert not (tmp_path / BESIDE).exists()
    made, found = (loaded(tmp_path, cache="always", **flags) for _ in range(2))
    assert bits(made) == in_memory
    assert bits(found) == in_memory
    for data in (made, found):
        assert not data.train.matrix.flags.writeable


def test_validation_rows_of_another_file_are_kept_too(tmp_path: Path) -> None:
    written(tmp_path / "t.csv")
    other = written(tmp_path / "v.csv", seed=1, rows=90)
    in_memory = bits(loaded(tmp_path, cache="never", validation=other))
    for _ in range(2):
        data = loaded(tmp_path, cache="always", validation=other)
        assert bits(data) == in_memory
    assert data.validation is not None
    assert not data.validation.matrix.flags.writeable


def test_a_table_is_read_once_until_file_or_settings_change(
    tmp_path: Path, reads: list[str]
) -> None:
    path = written(tmp_path / "t.csv")
    first = loaded(tmp_path, cache="always").fingerprint()
    assert loaded(tmp_path, cache="always", epochs=9, learning_rate=0.5).fingerprint() == first
    assert len(reads) == 1
    loaded(tmp_path, cache="always", normalizer="minmax")
    assert (len(reads), len(kept_in(tmp_path))) == (2, 2)
    written(tmp_path / "t.csv", seed=8)
    again = loaded(tmp_path, cache="always").fingerprint()
    assert (len(reads), len(kept_in(tmp_path))) == (3, 2)
    assert again != first
    assert again == loaded(tmp_path, cache="never").fingerprint()
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    loaded(tmp_path, cache="always")
    assert len(reads) == 5


def test_every_key_shapes_the_data_or_is_known_not_to() -> None:
    """A key that is in neither list would let a table be found that was made otherwise."""
    named = {key.name for key in KEYS if key.section in ("data", "train")}
    apart = {*FILES, *OF_TRAINING}
    assert named == {*prepared.SHAPING, *apart}
    assert not apart & set(prepared.SHAPING)


def test_other_columns_are_another_table(tmp_path: Path, reads: list[str]) -> None:
    written(tmp_path / "t.csv")
    for columns in ("a, c", "c, a", "a"):
        kept = loaded(tmp_path, cache="always", columns=columns)
        plain = loaded(tmp_path, cache="never", columns=columns)
        assert [one.name for one in kept.encoding.columns] == columns.split(", ")
        np.testing.assert_array_equal(kept.train.matrix, plain.train.matrix)


def test_a_file_with_the_size_and_time_of_another_is_read_again(tmp_path: Path) -> None:
    """As copies that keep times, moves and archives leave it."""
    path = tmp_path / "t.csv"
    for seed, how in ((1, "written"), (2, "written"), (3, "moved")):
        written(tmp_path / "other.csv", seed=seed)
        text = (tmp_path / "other.csv").read_bytes()[:30_000].rpartition(b"\n")[0]
        other = tmp_path / "other.csv" if how == "moved" else path
        other.write_bytes(text + b"\n" + b" " * (30_000 - len(text)))
        os.utime(other, ns=(10**18, 10**18))
        if how == "moved":
            other.replace(path)
        always = loaded(tmp_path, cache="always").fingerprint()
        assert always == loaded(tmp_path, cache="never").fingerprint(), seed


def test_a_file_under_another_name_is_another_table(tmp_path: Path) -> None:
    """Its name says how it is read: what separates cells by commas need not by tabulators."""
    (tmp_path / "rows").write_text("y,a\tb\n" + "1,3\t4\n2,5\t6\n" * 40)
    for name in ("t.csv", "t.tsv"):
        (tmp_path / name).symlink_to(tmp_path / "rows")
    for name in ("t.csv", "t.tsv", "t.csv"):
        flags = {"train": str(tmp_path / name), "label": "2", "task": "multiclass", "exclude": []}
        always = loaded(tmp_path, cache="always", **flags)
        assert always.encoding == loaded(tmp_path, cache="never", **flags).encoding, name


@pytest.mark.skipif(sys.platform != "linux", reason="names are texts there")
def test_a_file_whose_name_is_no_text_is_found_again(tmp_path: Path, reads: list[str]) -> None:
    written(tmp_path / "t.csv")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/t\xff.csv")
    os.rename(tmp_path / "t.csv", odd)
    for _ in range(2):
        loaded(tmp_path, cache="always", train=odd)
    assert len(reads) == 1
    (found,) = listed(str(tmp_path / BESIDE))
    assert (found.sources, found.state) == ((odd,), "usable")


def test_the_newest_tables_stay(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All have one time of their own, which is rounded to seconds.
    monkeypatch.setattr(files, "time", SimpleNamespace(time=lambda: 1.7e9))
    written(tmp_path / "t.csv")
    for seed in range(MOST_KEPT + 3):
        loaded(tmp_path, cache="always", validation=0.2, seed=seed)
        time.sleep(0.02)  # a tick of the clock of the file system
    assert len(kept_in(tmp_path)) == MOST_KEPT
    before = len(reads)
    for seed in range(3, MOST_KEPT + 3):
        loaded(tmp_path, cache="always", validation=0.2, seed=seed)
    assert len(reads) == before


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "t.csv")
    from netsharp_engine.train.loading import load as loading

    make = loading.prepare

    def late(*args: Any, **keywords: Any) -> Any:
        data = make(*args, **keywords)
        os.utime(path, ns=(0, 12345))
        return data

    monkeypatch.setattr(loading, "prepare", late)
    assert loaded(tmp_path, cache="always").train.rows == ROWS
    assert kept_in(tmp_path) == []


def test_numbers_to_predict_are_found_again_where_no_one_set_the_task(tmp_path: Path) -> None:
    written(tmp_path / "t.csv")
    flags = {"train": str(tmp_path / "t.csv"), "label": "number", "exclude": "label", **SETTINGS}
    flags |= {"missing": "mean", "cache": "always", "learning_rate": None}
    settings = read_settings({}, flags)
    assert not isinstance(settings, list), settings
    output = OutputForm(1, "linear")
    made, found = (
        load_data(settings, output=output, model=str(tmp_path / "m.model")) for _ in range(2)
    )
    assert made.settings == found.settings
    assert found.task == "regression"
    assert bits(made) == bits(found)


def test_small_files_are_not_kept_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netsharp_engine.train.loading import load as loading

    path = written(tmp_path / "t.csv")
    loaded(tmp_path, cache="auto")
    assert not (tmp_path / BESIDE).exists()
    monkeypatch.setattr(loading, "LARGE", os.path.getsize(path))
    loaded(tmp_path, cache="auto")
    assert len(kept_in(tmp_path)) == 1


def test_without_a_model_tables_are_kept_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    written(tmp_path / "t.csv")
    flags = {"train": str(tmp_path / "t.csv"), "label": "label", "missing": "mean"}
    settings = read_settings({}, {**flags, "cache": "always"})
    assert not isinstance(settings, list), settings
    load_data(settings)
    assert len(list((tmp_path / "cache" / "netsharp" / "tables").glob("*.table"))) == 1


def in_other_forms(folder: Path) -> dict[str, str]:
    """One table of numbers as files of several forms, by their names."""
    import pyarrow as pa
    from pyarrow import parquet

    chance = np.random.default_rng(6)
    values = chance.normal(size=(500, 4)).astype(np.float32)
    codes = (values[:, 0] > 0).astype(np.int64)
    columns = {f"c{place}": values[:, place] for place in range(4)} | {"label": codes}
    parquet.write_table(pa.table(columns), folder / "t.parquet", row_group_size=70)
    np.savez(folder / "t.npz", x=values, y=codes)
    np.savez_compressed(folder / "packed.npz", x=values, y=codes)
    np.save(folder / "t.npy", np.column_stack([values, codes]))
    text = [
        f"{','.join(map(str, row))},{code}"
        for row, code in zip(values.tolist(), codes.tolist(), strict=True)
    ]
    for number, part in enumerate((text[:300], text[300:])):
        lines = "\n".join(("c0,c1,c2,c3,label", *part))
        (folder / f"part{number}.csv").write_text(lines + "\n")
    (folder / "t.tsv").write_text("\n".join(("c0,c1,c2,c3,label", *text)).replace(",", "\t"))
    names = ("t.parquet", "t.npz", "packed.npz", "t.npy", "part*.csv", "t.tsv")
    return {name: str(folder / name) for name in names}


@pytest.mark.parametrize("mapped", [True, False])
def test_files_of_every_form_are_kept(
    mapped: bool, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "LARGE_ARRAY", 1_000 if mapped else 1 << 26)
    for name, path in in_other_forms(tmp_path).items():
        label = {"t.npz": "y", "packed.npz": "y", "t.npy": "5"}.get(name, "label")
        flags = {"train": path, "label": label, "exclude": None, "validation": 0.1}
        in_memory = bits(loaded(tmp_path, cache="never", **flags))
        before = len(reads)
        assert bits(loaded(tmp_path, cache="always", **flags)) == in_memory, name
        assert bits(loaded(tmp_path, cache="always", **flags)) == in_memory, name
        assert len(reads) == before + 1
    (tmp_path / "part2.csv").write_text("c0,c1,c2,c3,label\n1,2,3,4,1\n")
    more = loaded(tmp_path, cache="always", train=str(tmp_path / "part*.csv"), exclude=None)
    assert more.train.rows == 501


@pytest.mark.parametrize("packed", [True, False])
def test_a_large_array_that_is_damaged_is_reported(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "LARGE_ARRAY", 1_000)
    path = tmp_path / "t.npz"
    values = np.random.default_rng(2).normal(size=(500, 4))
    (np.savez_compressed if packed else np.savez)(path, x=values, y=np.arange(500) % 2)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"is a damaged \.npz file"):
        loaded(tmp_path, cache="always", train=str(path), label="y", exclude=None)
