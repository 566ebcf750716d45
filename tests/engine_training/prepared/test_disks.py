"""Where a prepared table cannot be kept it is read into memory, with a note."""

from __future__ import annotations

import dataclasses
import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from netsharp_engine.data.storage import files, stores
from netsharp_engine.data.storage.places import BESIDE
from tests.engine_training.prepared.tables import ROWS, bits, kept_in, loaded, written


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit of their own there")
def test_a_disk_that_fills_at_any_byte_is_reported(tmp_path: Path) -> None:
    import resource

    written(tmp_path / "t.csv")
    wanted = loaded(tmp_path, cache="never").fingerprint()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    reported = 0
    for limit in range(600, 40_000, 617):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            data = loaded(tmp_path, cache="always")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert data.fingerprint() == wanted, limit
        reported += any("cannot be kept" in note for note in data.notes)
        for path in kept_in(tmp_path):
            path.unlink()
    assert reported > 20


@pytest.mark.parametrize("after", [0, 3, 40])
def test_a_full_disk_is_reported_and_the_table_read_into_memory(
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


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    written(tmp_path / "t.csv")
    (tmp_path / BESIDE).write_text("a file\n")
    data = loaded(tmp_path, cache="always")
    assert "cannot be kept" in data.notes[-1]
    assert data.train.rows == ROWS
