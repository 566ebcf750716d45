"""Prepared tables in files: the bits of tables in memory, found again, never read wrongly."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netsharp_engine.data import DataError
from netsharp_engine.data.reading import arrays
from netsharp_engine.data.storage import files, stores
from netsharp_engine.data.storage.places import BESIDE, MOST_KEPT, listed
from netsharp_engine.train import TrainingData, feeding, load_data, read_settings, train
from netsharp_engine.train.loading import prepared
from netsharp_engine.train.settings.keys import KEYS
from netsharp_engine.train.tasks import OutputForm
from tests.engine_training.small_networks import layered

#: Keys that name the files, and how prepared tables are kept; a table names its files itself.
FILES = ("train", "test", "labels", "validation", "cache")
#: Keys that only the training reads, behind the table.
OF_TRAINING = (
    *("hidden_nodes", "optimizer", "learning_rate", "momentum", "nesterov", "weight_decay"),
    *("max_norm", "clip_norm", "clip_value", "dropout", "epochs", "batch_size", "seed", "shuffle"),
    *("init", "init_diameter", "patience", "threads", "checkpoint"),
    *("rate_reduction_ratio", "rate_reduction_frequency", "rate_reduction_error_ratio"),
    *("schedule", "schedule_epochs", "schedule_factor", "schedule_least"),
    *("adadelta_decay", "adadelta_constant", "adam_beta1", "adam_beta2", "adam_epsilon"),
)
ROWS = 700
SETTINGS = {"epochs": 2, "batch_size": 32, "learning_rate": 0.05}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few rows, so that small tables have many."""
    monkeypatch.setattr(stores, "BLOCK_NUMBERS", 300)


def rows_of_text(seed: int, rows: int = ROWS) -> list[str]:
    """Rows of numbers, of which some are missing, a colour, a weight, a number and a class."""
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 3)).round(4)
    lines = []
    for index, (a, b, c) in enumerate(values.tolist()):
        shown = "" if index % 11 == 5 else str(b)
        colour = ("red", "green", "blue")[index % 3 if a > 0 else 0]
        weight = 1 + index % 4
        lines.append(
            f"{a},{shown},{c},{colour},{weight},{2 * a + c + 1000:.4f},{'yes' if a > 0 else 'no'}"
        )
    return lines


HEAD = "a,b,c,colour,weight,number,label"


def written(path: Path, seed: int = 0, rows: int = ROWS) -> str:
    """A table in a file."""
    path.write_text("\n".join((HEAD, *rows_of_text(seed, rows))) + "\n")
    return str(path)


def loaded(folder: Path, *, cache: str, **flags: Any) -> TrainingData:
    """Data as settings want it, kept beside a model in a folder."""
    given = {"train": str(folder / "t.csv"), "label": "label", "missing": "mean", **SETTINGS}
    if given["label"] == "label" and "exclude" not in flags:
        given["exclude"] = "weight, number"
    settings = read_settings({}, {**given, "cache": cache, **flags})
    assert not isinstance(settings, list), settings
    return load_data(settings, model=str(folder / "m.model"))


def bits(data: TrainingData) -> list[Any]:
    """All that a training reads of data, and the weights that it comes to."""
    outputs = data.outputs if data.classes is None else len(data.classes)
    graph = layered(data.features, outputs, last="linear" if data.classes is None else "softmax")
    result = train(graph, data)
    parts = [part for part in (data.train, data.validation) if part is not None]
    return [
        data.fingerprint(),
        data.notes,
        data.encoding,
        data.normalizer.to_json(),
        data.scale,
        [
            None if each is None else (each.dtype, each.shape, each.tobytes())
            for part in parts
            for each in (part.matrix, part.index, part.targets, part.weights)
        ],
        {name: array.tobytes() for name, array in result.model.tensors.items()},
        result.report.metrics,
    ]


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


def kept_in(folder: Path) -> list[Path]:
    """The files of tables that are kept."""
    return sorted((folder / BESIDE).glob("*.table"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tables are read for: an entry for each."""
    from netsharp_engine.train.loading import load as loading

    seen: list[str] = []
    read = loading.read_table

    def counting(files: list[str], *args: Any, **keywords: Any) -> Any:
        seen.append(files[0])
        return read(files, *args, **keywords)

    monkeypatch.setattr(loading, "read_table", counting)
    return seen


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


def test_a_file_with_the_size_and_time_of_another_is_read_anew(tmp_path: Path) -> None:
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


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit of their own there")
def test_a_disk_that_fills_at_any_byte_is_told(tmp_path: Path) -> None:
    import resource

    written(tmp_path / "t.csv")
    wanted = loaded(tmp_path, cache="never").fingerprint()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    told = 0
    for limit in range(600, 40_000, 617):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            data = loaded(tmp_path, cache="always")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert data.fingerprint() == wanted, limit
        told += any("cannot be kept" in note for note in data.notes)
        for path in kept_in(tmp_path):
            path.unlink()
    assert told > 20


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
def test_what_somebody_made_up_is_damaged_and_blocks_nothing(
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


@pytest.mark.parametrize("after", [0, 3, 40])
def test_a_full_disk_is_told_and_the_table_read_into_memory(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "t.csv")
    wanted = bits(loaded(tmp_path, cache="never"))
    left = [after]
    write = stores.write_rows

    def filling(*args: Any) -> None:
        if not left[0]:
            raise stores.StoreError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        write(*args)

    for module in (stores, files):
        monkeypatch.setattr(module, "write_rows", filling)
    data = loaded(tmp_path, cache="always")
    *others, note = data.notes
    assert note == (
        f"The prepared table cannot be kept in {tmp_path / BESIDE}: No space left on device. "
        "It was read into memory."
    )
    assert bits(dataclasses.replace(data, notes=tuple(others))) == wanted
    assert [path.name for path in (tmp_path / BESIDE).iterdir()] == [".gitignore"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    written(tmp_path / "t.csv")
    (tmp_path / BESIDE).write_text("a file\n")
    data = loaded(tmp_path, cache="always")
    assert "cannot be kept" in data.notes[-1]
    assert data.train.rows == ROWS


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


def test_numbers_to_predict_are_found_again_where_nobody_set_the_task(tmp_path: Path) -> None:
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


def test_blocks_hold_every_row_once_and_mix_rows_of_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feeding, "BLOCK_BYTES", 40)
    monkeypatch.setattr(feeding, "BLOCKS_TOGETHER", 3)
    index = np.arange(100, 203, dtype=np.int32)
    order = feeding.block_order(index, 8, np.random.default_rng(1))
    assert sorted(order.tolist()) == index.tolist()
    assert order.tolist() != index.tolist()
    again = feeding.block_order(index, 8, np.random.default_rng(1))
    assert order.tolist() == again.tolist()
    # 21 blocks of 5 rows, of which the last has 3: the first rows are of three blocks.
    assert len({(row - 100) // 5 for row in order[:13].tolist()}) == 3


def test_blocks_in_memory_and_in_a_file_give_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "BLOCK_BYTES", 200)
    monkeypatch.setattr(feeding, "BLOCKS_TOGETHER", 4)
    written(tmp_path / "t.csv")
    flags: dict[str, Any] = {"shuffle": "blocks", "validation": 0.2}
    in_memory = bits(loaded(tmp_path, cache="never", **flags))
    assert bits(loaded(tmp_path, cache="always", **flags)) == in_memory
    assert bits(loaded(tmp_path, cache="always", **flags)) == in_memory
    assert bits(loaded(tmp_path, cache="never", validation=0.2)) != in_memory


@pytest.mark.parametrize("shuffle", [None, True, False])
def test_a_table_larger_than_its_share_of_memory_is_shuffled_by_blocks(
    shuffle: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody has chosen, and no stored run goes on."""
    from netsharp_engine.train.loading import load as loading

    written(tmp_path / "t.csv")
    size = loaded(tmp_path, cache="always").train.matrix.nbytes
    wanted = shuffle is not False
    for free, by_blocks in ((2 * size, False), (2 * size - 2, shuffle is None)):
        monkeypatch.setattr(loading, "free_memory", lambda free=free: free)
        data = loaded(tmp_path, cache="always", shuffle=shuffle)
        assert data.settings.shuffle == ("blocks" if by_blocks else wanted)
        assert any("blocks of its rows are shuffled" in note for note in data.notes) == by_blocks
    assert loaded(tmp_path, cache="never").settings.shuffle is True
    again = load_data(data.settings, model=str(tmp_path / "m.model"), resumes=True)
    assert again.settings.shuffle == data.settings.shuffle
    stored = dataclasses.replace(data.settings, shuffle=True)
    assert load_data(stored, model=str(tmp_path / "m.model"), resumes=True).settings.shuffle is True


def test_shuffling_that_is_neither_is_told() -> None:
    found = read_settings({}, {"shuffle": "sometimes"})
    assert found == ["--shuffle: true, false or \"blocks\" is needed, found 'sometimes'."]
    blocks = read_settings({"train": {"shuffle": "blocks"}})
    assert not isinstance(blocks, list)
    assert blocks.shuffle == "blocks"


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
def test_a_large_array_that_is_damaged_is_told(
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
