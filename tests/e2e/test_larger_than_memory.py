"""A table that is larger than what a run may take: the 200 MB version of `make big`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.big import prepared_folder, trained

MEGABYTES = 200


@pytest.mark.costly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells anonymous memory by itself")
def test_a_table_of_200_mb_is_trained_on_in_less_than_itself(tmp_path: Path) -> None:
    rows = prepared_folder(tmp_path, MEGABYTES * 1_000_000)
    in_memory = rows * 40 * 4
    for _ in range(2):
        assert trained(tmp_path).memory < in_memory
    assert len(list((tmp_path / ".netsharp-cache").glob("*.table"))) == 1
