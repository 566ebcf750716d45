"""Tables larger than memory are shuffled by blocks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.train import feeding, load_data, read_settings
from tests.engine_training.prepared.tables import bits, loaded, written


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
    """Where the user has not chosen, and no stored run is resumed."""
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


def test_shuffling_that_is_neither_is_reported() -> None:
    found = read_settings({}, {"shuffle": "sometimes"})
    assert found == ["--shuffle: true, false or \"blocks\" is needed, found 'sometimes'."]
    blocks = read_settings({"train": {"shuffle": "blocks"}})
    assert not isinstance(blocks, list)
    assert blocks.shuffle == "blocks"
